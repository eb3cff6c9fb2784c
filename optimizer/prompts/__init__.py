"""Prompt files: reading, checking and writing them, and the library of a folder of them.

Public names: PromptLibrary, Alternative (library), read_prompt, check_prompt, write_prompts (files).
"""
