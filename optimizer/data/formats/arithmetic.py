"""Arithmetic: generated sums, the same for the same seed. Form 1 is a+b·c+d, form 2 is a+b·c+d−e·f, all of 0 to 29."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import Record, items_of, options_of, question, records, string
from optimizer.data.item import Item, Label, Task
from optimizer.errors import UsageError

NAME = "arithmetic"
BELOW = 30
_TERMS = {1: 4, 2: 6}
_COLUMNS = frozenset({"form", "numbers", "question", "answer"})


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
            "id": f"arithmetic:{sums.form}:{sums.seed}:{len(lines)}",
            "form": sums.form,
            "numbers": numbers,
            "question": f"What is {_expression(numbers)}?",
            "answer": str(_value(numbers)),
        }
        lines.append(json.dumps(record))
    return "\n".join(lines) + "\n"


class Arithmetic:
    """Every sum is its own cluster."""

    name = NAME
    title = "Arithmetic"
    task = Task.NUMBER
    licence = "generated here, nobody's"
    home = "generated here, by its name or optimizer data generate arithmetic"
    files: tuple[RemoteFile, ...] = ()
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {}

    def recognises(self, sample: Sample) -> bool:
        """By its columns."""
        return sample.columns >= _COLUMNS

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The sums of one file, each worked out again."""
        options_of(self.title, self.options, loading)

        def make(index: int, record: Record) -> Item:
            numbers, answer = record.get("numbers"), string(record, "answer")
            if (
                not isinstance(numbers, list)
                or len(numbers) not in _TERMS.values()
                or not all(isinstance(n, int) for n in numbers)
            ):
                raise ValueError(f"field 'numbers' must be a list of {' or '.join(map(str, _TERMS.values()))} whole numbers")
            if answer != str(_value(tuple(numbers))):
                raise ValueError(f"the answer of {_expression(tuple(numbers))} is {_value(tuple(numbers))}, not {answer}")
            return question(
                self.task, string(record, "id"), string(record, "question"), [answer], source=self.name,
                category=f"form {record['form']}",
            )  # fmt: skip

        yield from items_of(path, records(path), make)


def _expression(numbers: tuple[int, ...]) -> str:
    a, b, c, d, *rest = numbers
    return f"{a}+{b}*{c}+{d}" + (f"-{rest[0]}*{rest[1]}" if rest else "")


def _value(numbers: tuple[int, ...]) -> int:
    a, b, c, d, *rest = numbers
    return a + b * c + d - (rest[0] * rest[1] if rest else 0)
