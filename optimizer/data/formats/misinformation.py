"""Questions with misinformation about each, as MINT publishes them: items, and the passages that lie beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from optimizer.data.fields import answer_texts, digest
from optimizer.data.formats.base import RemoteFile, Sample
from optimizer.data.formats.questions import NO_ANSWER, QuestionFormat
from optimizer.data.formats.records import Blank, Reading, Record, text_of
from optimizer.data.item import LETTERS, Item, Task
from optimizer.data.passages import PLAIN, Passage, PassageKind
from optimizer.data.rows import read_rows
from optimizer.errors import UserError

_FALSE, _STYLES, _IRRELEVANT = "false_fact", "misinformation_by_strategy", "irrelevant_true_information"
_OUR_STYLES = {"other": "unconstrained"}
_FOLDER = "https://raw.githubusercontent.com/jonas-becker/mint/main/MINT-dataset_v1.1"
_PARTS = ("complex_web_questions", "ethics_commonsense", "winogrande")


class Misinformation(QuestionFormat):
    """A question with options is a choice, one without (or with a single one, the answer itself) is answered in text.

    A right option is given by its text, its letter or its number. What number the first one has follows from the whole file:
    0 where a 0 stands anywhere, 1 where a number equal to that of the options does. Options: `first` (0 or 1) says it instead;
    `gold` names WinoGrande files, with commas, whose labels have to agree: items that they do not have or contradict are left
    out, since their passages were written against the wrong answer. What is written about an item is read by `passages`.
    """

    name = "mint"
    title = "MINT, questions with misinformation"
    task = Task.CHOICE
    licence = "see its home"
    home = "https://github.com/jonas-becker/mint"
    files = tuple(RemoteFile(f"{_FOLDER}/{part}_misinformed.json", f"{part}_misinformed.json") for part in _PARTS)
    options = {"first": "|0|1", "gold": ""}

    def recognises(self, sample: Sample) -> bool:
        return {_FALSE, _STYLES} <= sample.columns

    def records(self, reading: Reading) -> Iterator[tuple[int, dict[str, Any]]]:
        """The records, each with the number of its first option under "first" and with what the gold files say under "gold"."""
        rows = list(read_rows(reading.path))
        given = reading.options["first"]
        first = int(given) if given else _first_number(reading.path, rows)
        gold = _gold(reading.options["gold"])
        for line, row in rows:
            yield line, {**row, "first": first, "gold": gold}

    def from_record(self, record: Record, reading: Reading) -> Iterable[Item]:
        id, question, choices = _id(record), _question(record), _choices(record)
        about = record.get("metadata")
        # Questions that were made from one of WebQuestionsSP belong together.
        cluster = (about.get("webqsp_ID") or "") if isinstance(about, dict) else ""
        if not choices:
            # A single option is the answer itself.
            answers = answer_texts(record.get("options") or record.get("answer") or record.get("answers"))
            if answers:
                yield self.question(reading, id, question, answers, cluster=cluster, task=Task.TEXT)
            else:
                reading.loading.leave_out(NO_ANSWER, id)
            return
        right, gold = _right_choice(record.get("answer"), choices, record["first"]), record["gold"]
        if gold is not None and gold.get(question) != right:
            reading.loading.leave_out("the gold files say otherwise" if question in gold else "not in the gold files", id)
            return
        yield self.question(reading, id, question, [LETTERS[choices.index(right)]], choices, cluster)


def passages(path: Path, only: Collection[str] | None = None) -> Iterator[Passage]:
    """The passages of such a file: false ones, plain and in each style, and the true one that has nothing to do with it.

    Args:
        path: the file that the items come from, or a folder of such files.
        only: ids of items; all of the file if left out.

    Raises:
        UserError: a passage is no text; the message names the file and the line.
    """
    mint = Misinformation()
    for file in mint.files_in(path) if path.is_dir() else [path]:
        for line, record in read_rows(file):
            try:
                item = mint.named(_id(record))
                if only is None or item in only:
                    yield from _passages(item, record)
            except Blank:
                continue  # it became no item either
            except ValueError as error:
                raise UserError(f"{file}, line {line}: {error}") from error


def _passages(item: str, record: Record) -> Iterator[Passage]:
    styles = record.get(_STYLES) or {}
    if not isinstance(styles, dict):
        raise ValueError(f"column {_STYLES!r} must map styles to texts")
    texts: list[tuple[PassageKind, str, object]] = [(PassageKind.FALSE, PLAIN, record.get(_FALSE))]
    texts += [(PassageKind.FALSE, _OUR_STYLES.get(str(style), str(style)), text) for style, text in styles.items()]
    texts.append((PassageKind.IRRELEVANT_TRUE, PLAIN, record.get(_IRRELEVANT)))
    for kind, style, text in texts:
        if text is not None and not isinstance(text, str):
            raise ValueError(f"the {kind} passage in style {style!r} must be text, but is a {type(text).__name__}")
        if text and text.strip():
            yield Passage(item, kind, style, Misinformation.name, text.strip())


def _question(record: Record) -> str:
    return text_of(record, "sentence" if "sentence" in record else "question")


def _id(record: Record) -> str:
    return str(record.get("MINT_ID") or record.get("id") or digest(_question(record)))


def _choices(record: Record) -> list[str]:
    """The options, if there are at least two of them."""
    options = record.get("options") or []
    if not isinstance(options, list) or (len(options) > 1 and not all(isinstance(option, str) for option in options)):
        raise ValueError("column 'options' must be a list of texts, or null")
    return [option.strip() for option in options] if len(options) > 1 else []


def _first_number(path: Path, rows: Sequence[tuple[int, Record]]) -> int | None:
    """Whether options are counted from 0 or from 1; None where none is given by number.

    Raises:
        UserError: the numbers do not tell. That they are all the same says more: they are hardly labels.
    """
    numbered = [(str(row["answer"]), _choices(row)) for _, row in rows if str(row.get("answer")).isdigit() and _choices(row)]
    numbered = [(number, choices) for number, choices in numbered if number not in choices]
    if not numbered:
        return None
    from_0, from_1 = any(n == "0" for n, _ in numbered), any(int(n) == len(choices) for n, choices in numbered)
    if from_0 != from_1:
        return 0 if from_0 else 1
    found = ", ".join(sorted({number for number, _ in numbered}))
    raise UserError(
        f"{path}: the answers of its {len(numbered)} questions with options are {found}, which does not say whether options are "
        "counted from 0 or from 1, nor, if it is one number only, that it is a label at all; give option first=0 or first=1, and "
        "where the questions are WinoGrande's, option gold=FILE with its train and dev files to keep the items they confirm"
    )


def _right_choice(answer: object, choices: list[str], first: int | None) -> str:
    text = str(answer).strip()
    if text in choices:
        return text
    if text.isdigit() and first is not None and 0 <= int(text) - first < len(choices):
        return choices[int(text) - first]
    if len(text) == 1 and text in LETTERS[: len(choices)]:
        return choices[LETTERS.index(text)]
    raise ValueError(f"the answer {text!r} is none of the options, nor the letter or number of one")


def _gold(names: str) -> dict[str, str] | None:
    """Sentence -> right option, from WinoGrande files; None where none are named."""
    if not names:
        return None
    found: dict[str, str] = {}
    for name in names.split(","):
        path = Path(name.strip())
        for line, record in read_rows(path):
            answer = str(record.get("answer") or "")
            if answer not in ("", "1", "2"):
                raise UserError(f"{path}, line {line}: the answer is {answer!r}; gold files are WinoGrande's, with 1 or 2")
            if answer:
                found[text_of(record, "sentence")] = text_of(record, f"option{answer}")
    return found
