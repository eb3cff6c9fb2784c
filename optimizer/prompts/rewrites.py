"""Rewrites of a prompt that keep its meaning: what changes under them is noise, and no better prompt.

At temperature 0 a prompt repeated gives the same answers. How much luck there is in an oracle over several prompts shows
when the prompts say the same.
"""

from __future__ import annotations

import itertools
import re

_ROLE = re.compile(r"\AYou are (?P<role>(?:the|an?) [^.,:;]+?)(?P<rest>[.,] |\.\Z)")
_ROLE_OPENINGS = ("You are {}", "Your role is that of {}", "Act as {}", "In this panel you are {}", "You speak as {}")
_PLAIN_OPENINGS = ("", "Note: ", "Please keep in mind: ", "Remember: ", "Bear this in mind: ")
_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z])")


def rewrites(text: str, count: int) -> list[str]:
    """At most `count` texts that say what `text` says, all different from it and from each other, always the same ones.

    Openings are exchanged, and sentences are set as prose, one a line, or as a list: 14 rewrites at the most, fewer for a
    text of one sentence.
    """
    match = _ROLE.match(text)
    layouts = (_prose, _lines, _bullets)
    found: list[str] = []
    # Openings vary fastest, so that few rewrites differ in more than their layout.
    for layout, opening in itertools.product(layouts, range(len(_ROLE_OPENINGS))):
        if match:
            opened = _ROLE_OPENINGS[opening].format(match["role"]) + match["rest"] + text[match.end() :]
        else:
            opened = _PLAIN_OPENINGS[opening] + text
        changed = layout(opened.strip())
        if changed != text and changed not in found:
            found.append(changed)
    return found[:count]


def _prose(text: str) -> str:
    return text


def _lines(text: str) -> str:
    return _SENTENCE_END.sub("\n", text)


def _bullets(text: str) -> str:
    return "\n".join(f"- {line}" for line in _lines(text).splitlines())
