r"""Numbers as people and models write them: signs, separators, currency, per cent, fractions, powers of ten. Values are exact.

`12`, `12.0`, `$12`, `12 %`, `1,200`, `−5`, `1/2`, `1 1/2`, `½`, `\frac{1}{2}`, `3 × 10^4`, `2 million`. A unit or a per cent sign
belongs to the question and is left out: `40 %` is 40. Number words (`twelve`) and ordinals (`3rd`) are no numbers here.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

_SUPERSCRIPTS = str.maketrans({character: f"^{digit}" for digit, character in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_MINUS = str.maketrans({"\u2212": "-", "\u2012": "-", "\ufe63": "-", "\uff0d": "-", "\u2044": "/"})
_VULGAR = re.compile("[¼½¾⅐-⅞]")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{\s*(-?\d+)\s*\}\s*\{\s*(\d+)\s*\}")
LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mathit)\s*\{([^{}]*)\}")
_MULTIPLES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "k": 10**3, "m": 10**6, "b": 10**9}
_CURRENCY = r"[$€£¥₹]"
_NUMBER = re.compile(
    rf"(?P<sign>(?<![\w.)\]])[-+–](?=[$€£¥₹.\d])|\b(?:minus|negative)\s+)?(?:(?P<currency>{_CURRENCY})\s?(?P<inner>-)?)?"
    r"(?:(?<![A-Za-z\d_^])(?P<digits>\d(?:[\d.,\u00a0\u202f'’]*\d)?)|(?<![\w.])(?P<point>\.\d+))"
    r"(?:\^\{?(?P<raised>\d{1,2})\}?)?"
    r"(?:\s*/\s*(?P<below>\d+)(?P<date>/\d+)?|\s+(?P<above>\d+)\s*/\s*(?P<beneath>\d+)(?!\s*/))?"
    r"(?:[eE](?P<exponent>[+-]?\d{1,2})\b|\s*(?:[x×*]|\\times|\\cdot)\s*10\s*\^\s*\{?(?P<power>[+-]?\d{1,2})\}?)?"
    r"(?:\s*(?P<multiple>thousand|million|billion|trillion)\b|(?P<letter>[kKmMbB])(?!\w))?"
)  # fmt: skip
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:([,\u00a0\u202f'’])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_LONGEST = 60  # digits of one number; what is longer is none


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, from `start` to `end`. `value` is None where digits and marks make no number: `1.2.3`, `12,34`."""

    start: int
    end: int
    value: Fraction | None


def tidy(text: str) -> str:
    """The text with one spelling for minus signs, fractions and digits, and without the LaTeX around numbers."""
    text = _VULGAR.sub(lambda match: " " + unicodedata.normalize("NFKC", match[0]), text.translate(_SUPERSCRIPTS))
    # Spaces that group digits would become plain ones.
    text = "".join(c if c in "\u00a0\u202f" else unicodedata.normalize("NFKC", c) for c in text).translate(_MINUS)
    text = LATEX_TEXT.sub(r"\1", _FRACTION.sub(r" \1/\2", text))
    return text.replace("{,}", ",").replace("\\,", "").replace("\\!", "").replace("\\$", "$").replace("\\%", "%")


def numbers_in(text: str) -> list[Number]:
    """All numbers of a tidied text, in order. Digits within words (`H2O`) and ordinals are none."""
    found = []
    for match in _NUMBER.finditer(text):
        if not _ORDINAL.match(text, match.end()):
            start, end = match.start(), match.end()
            value = _value(match, text)
            found.append(Number(start, end, value))
    return found


def read_number(text: str) -> Fraction | None:
    """The value of a text that is one number and nothing else but currency and per cent; otherwise None."""
    tidied = tidy(text).strip()
    found = numbers_in(tidied)
    if len(found) != 1:
        return None
    rest = tidied[: found[0].start] + tidied[found[0].end :]
    return found[0].value if not re.sub(rf"{_CURRENCY}|[%\s]", "", rest) else None


def number_text(value: Fraction) -> str:
    """The canonical text of a value: `12`, `-0.5`, and `1/3` where the decimals do not end."""
    below = value.denominator
    for prime in (2, 5):
        while below % prime == 0:
            below //= prime
    if value.denominator == 1 or below != 1:
        return str(value)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value * 10**places)).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def _value(match: re.Match[str], text: str) -> Fraction | None:
    digits = match["digits"] or f"0{match['point']}"
    if len(digits) > _LONGEST or match["date"]:
        return None
    if _PLAIN.fullmatch(digits):
        value = Fraction(digits)
    elif _GROUPED.fullmatch(digits):
        value = Fraction(re.sub("[,\u00a0\u202f'’]", "", digits))
    else:
        return None
    value **= int(match["raised"] or 1)
    below, above = int(match["below"] or match["beneath"] or 1), int(match["above"] or 0)
    if below == 0:
        return None
    value = value + Fraction(above, below) if match["above"] else value / below
    value *= Fraction(10) ** int(match["exponent"] or match["power"] or 0)
    unit = match["multiple"] or (match["letter"] or "").lower()
    if unit and (match["multiple"] or match["currency"] or unit == "k"):  # 5 m are metres, $5m are millions
        value *= _MULTIPLES[unit]
    sign = (match["sign"] or "").strip().lower()
    spelled = sign in ("minus", "negative") and not re.search(r"\d\s*$", text[: match.start()])  # 10 minus 5 is no -5
    return -value if sign in ("-", "–") or spelled or match["inner"] else value
