"""Prompt optimisation for panels of LLM judges: search the prompts, measure honestly, export the winner.

Importing this package is cheap on purpose: everything heavy is imported by the module that needs it.
"""

__version__ = "0.1.0"
