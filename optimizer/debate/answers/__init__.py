"""Readers of answers in free text, one a task: choice, number, text. `statements` finds where an answer is announced.

A reader returns the set of different answers that a text gives, in canonical form: one is the answer, several are ambiguous,
none is none. With `cut` the text was cut at its end, and what touches the end is not believed.
"""
