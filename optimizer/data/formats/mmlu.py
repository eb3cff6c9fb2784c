"""MMLU: questions with four choices on 57 subjects, as CSV without a header, one file a subject and split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import LETTERS, csv_rows, items_of, options_of, question, question_cluster
from optimizer.data.item import Item, Label, Task
from optimizer.errors import UserError

_CHOICES = LETTERS[:4]
_COLUMNS = frozenset(map(str, range(len(_CHOICES) + 2)))
_ARCHIVE = "https://people.eecs.berkeley.edu/~hendrycks/data.tar"


class Mmlu:
    """One file, or a folder of them. Option `shots` puts so many solved questions of the subject's dev file before each."""

    name = "mmlu"
    title = "MMLU"
    task = Task.CHOICE
    licence = "MIT"
    home = "https://github.com/hendrycks/test"
    files: tuple[RemoteFile, ...] = tuple(
        RemoteFile(f"{_ARCHIVE}#data/{folder}/", f"data/{folder}/", split)
        for folder, split in (("test", "test"), ("val", "dev"), ("dev", "train"))
    )
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {"shots": "0"}

    def recognises(self, sample: Sample) -> bool:
        """Six cells without a header, the last of them A to D."""
        last = str(len(_CHOICES) + 1)
        return (
            sample.columns == _COLUMNS
            and bool(sample.rows)
            and all(str(row.get(last)).strip() in [*_CHOICES] for row in sample.rows)
        )

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The questions; the file's name gives the subject and the split."""
        shots = _shots(options_of(self.title, self.options, loading)["shots"])
        for file in sorted(path.glob("*.csv")) if path.is_dir() else [path]:
            yield from self._file_items(file, shots)

    def _file_items(self, path: Path, shots: int) -> Iterator[Item]:
        subject, split = _subject_and_split(path)
        before = _examples(path, subject, split, shots) if shots else ""

        def make(index: int, cells: list[str]) -> Item:
            text, choices, letter = _parts(cells)
            return question(
                self.task, f"mmlu:{subject}:{split or 'all'}:{index}", before + text, [letter], source=self.name,
                choices=choices, cluster=question_cluster(text), category=subject, split=_OURS.get(split, ""),
            )  # fmt: skip

        yield from items_of(path, csv_rows(path), make)


# The five questions a subject of the authors' dev folder are for examples; their validation split is val.
_OURS = {"dev": "train", "val": "dev", "test": "test"}


def _shots(text: str) -> int:
    if not text.isdigit():
        raise UserError(f"MMLU: option shots must be a whole number, 0 or 5 as published, but is {text!r}")
    return int(text)


def _subject_and_split(path: Path) -> tuple[str, str]:
    subject, separator, split = path.stem.rpartition("_")
    return (subject, split) if separator and split in _OURS else (path.stem, "")


def _parts(cells: list[str]) -> tuple[str, list[str], str]:
    if len(cells) != len(_COLUMNS):
        raise ValueError(f"has {len(cells)} cells; a line is the question, {len(_CHOICES)} choices and a letter")
    letter = cells[-1].strip()
    if letter not in [*_CHOICES]:
        raise ValueError(f"the answer is {letter!r}; it must be one of {', '.join(_CHOICES)}")
    return cells[0].strip(), [cell.strip() for cell in cells[1:-1]], letter


def _examples(path: Path, subject: str, split: str, shots: int) -> str:
    """The solved questions as they stand before the question in the published few-shot prompt."""
    if split == "dev":
        raise UserError(f"{path}: its questions are the examples; take the test or val file where shots is not 0")
    places = [path.parent.parent / "dev" / f"{subject}_dev.csv", path.parent / f"{subject}_dev.csv"]
    source = next((place for place in places if place.is_file()), None)
    if source is None:
        raise UserError(
            f"{path}: shots={shots} takes its examples from {places[0]}, which is not there; put it there or use shots=0"
        )
    texts = []
    for line, cells in csv_rows(source):
        try:
            text, choices, letter = _parts(cells)
        except ValueError as error:
            raise UserError(f"{source}, line {line}: {error}") from error
        options = "".join(f"\n{name}. {choice}" for name, choice in zip(_CHOICES, choices, strict=True))
        texts.append(f"{text}{options}\nAnswer: {letter}\n\n")
    if len(texts) < shots:
        raise UserError(f"{source}: has {len(texts)} examples, fewer than shots={shots}")
    intro = f"The following are multiple choice questions (with answers) about {subject.replace('_', ' ')}.\n\n"
    return intro + "".join(texts[:shots])
