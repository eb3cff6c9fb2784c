"""Arithmetic: generated sums, the same for the same seed. Form 1 is a+b·c+d, form 2 is a+b·c+d−e·f, all of 0 to 29."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass

from optimizer.data.formats.base import Sample
from optimizer.data.formats.questions import QuestionFormat
from optimizer.data.formats.records import Reading, Record, text_of
from optimizer.data.item import Item, Task
from optimizer.errors import UsageError

NAME = "arithmetic"
BELOW = 30
_TERMS = {1: 4, 2: 6}


@dataclass(frozen=True, slots=True)
class Sums:
    """Which sums: `form` 1 or 2, how many (`n`, all different), and the seed they are drawn with."""

    form: int = 1
    n: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if self.form not in _TERMS:
            raise UsageError(f"arithmetic: form must be 1 (a+b·c+d) or 2 (a+b·c+d−e·f), but is {self.form}")
        if not 0 < self.n <= 100_000:
            raise UsageError(f"arithmetic: n must be 1 to 100,000, but is {self.n}")

    @property
    def text(self) -> str:
        """As it stands in a data name."""
        return f"form={self.form},n={self.n},seed={self.seed}"


def parse_sums(text: str) -> Sums:
    """Read `form=2,n=100,seed=0`; what is left out has its default. Raises UsageError with the bad part."""
    given: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, value = part.partition("=")
        if name not in ("form", "n", "seed") or not value.lstrip("-").isdigit():
            raise UsageError(
                f"arithmetic: {part!r} is not form=NUMBER, n=NUMBER or seed=NUMBER; e.g. arithmetic:form=2,n=100,seed=0"
            )
        given[name] = int(value)
    return Sums(**given)


def sums_text(sums: Sums) -> str:
    """The file of these sums: JSON lines in the format that `Arithmetic` reads."""
    draw = random.Random(f"{sums.form}:{sums.seed}")
    seen: set[tuple[int, ...]] = set()
    lines: list[str] = []
    while len(lines) < sums.n:
        numbers = tuple(draw.randrange(BELOW) for _ in range(_TERMS[sums.form]))
        if numbers in seen:
            continue
        seen.add(numbers)
        record = {
            "id": f"{sums.form}:{sums.seed}:{len(lines)}",
            "form": sums.form,
            "numbers": numbers,
            "question": f"What is {_expression(numbers)}?",
            "answer": str(_value(numbers)),
        }
        lines.append(json.dumps(record))
    return "\n".join(lines) + "\n"


class Arithmetic(QuestionFormat):
    """Every sum is its own cluster, and is worked out again when it is read."""

    name = NAME
    title = "generated sums"
    task = Task.NUMBER
    licence = "generated here, nobody's"
    home = "its name, or optimizer data generate arithmetic"

    def recognises(self, sample: Sample) -> bool:
        return {"form", "numbers", "question", "answer"} <= sample.columns

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        numbers, answer = record.get("numbers"), text_of(record, "answer")
        if not isinstance(numbers, list) or len(numbers) not in _TERMS.values() or not all(isinstance(n, int) for n in numbers):
            raise ValueError(f"column 'numbers' must be a list of {' or '.join(map(str, _TERMS.values()))} whole numbers")
        if answer != str(_value(tuple(numbers))):
            raise ValueError(f"the answer of {_expression(tuple(numbers))} is {_value(tuple(numbers))}, not {answer}")
        yield self.question(
            reading, text_of(record, "id"), text_of(record, "question"), [answer], category=f"form {record['form']}"
        )


def _expression(numbers: tuple[int, ...]) -> str:
    a, b, c, d, *rest = numbers
    return f"{a}+{b}*{c}+{d}" + (f"-{rest[0]}*{rest[1]}" if rest else "")


def _value(numbers: tuple[int, ...]) -> int:
    a, b, c, d, *rest = numbers
    return a + b * c + d - (rest[0] * rest[1] if rest else 0)
