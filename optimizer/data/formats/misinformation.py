"""Questions with misinformation about each, as MINT publishes them: items, and the passages that lie beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from optimizer.data.formats.answers import answer_texts
from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.reading import (
    LETTERS,
    Record,
    items_of,
    leave_out,
    options_of,
    question,
    records,
    string,
    text_key,
)
from optimizer.data.item import Item, Label, Task
from optimizer.data.passages import PLAIN, Passage, PassageKind
from optimizer.errors import UserError

_FALSE, _STYLES, _IRRELEVANT = "false_fact", "misinformation_by_strategy", "irrelevant_true_information"
_OUR_STYLES = {"other": "unconstrained"}
_FOLDER = "https://raw.githubusercontent.com/jonas-becker/mint/main/MINT-dataset_v1.1"
_PARTS = ("complex_web_questions", "ethics_commonsense", "winogrande")


class Misinformation:
    """A question with options is a choice, one without (or with a single one, the answer itself) is answered in text.

    A right option is given by its text, its letter or its number. What number the first one has follows from the whole file:
    0 where a 0 stands anywhere, 1 where a number equal to that of the options does. Options: `first` (0 or 1) says it instead;
    `gold` names WinoGrande files, with commas, whose labels have to agree: items that they do not have or contradict are left
    out, since their passages were written against the wrong answer.
    """

    name = "mint"
    title = "MINT"
    task = Task.CHOICE
    licence = "see its home"
    home = "https://github.com/jonas-becker/mint"
    files: tuple[RemoteFile, ...] = tuple(
        RemoteFile(f"{_FOLDER}/{part}_misinformed.json", f"{part}_misinformed.json") for part in _PARTS
    )
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {"first": "|0|1", "gold": ""}

    def recognises(self, sample: Sample) -> bool:
        """By the two fields with misinformation."""
        return sample.columns >= {_FALSE, _STYLES}

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The questions, without their passages; see `passages`."""
        options = options_of(self.title, self.options, loading)
        rows = list(records(path))
        first = int(options["first"]) if options["first"] else _first_number(path, [record for _, record in rows])
        gold = _gold(options["gold"])

        def make(index: int, record: Record) -> Item | None:
            item_id, text, choices = _item_id(record), string(record, "sentence", "question"), _choices(record)
            cluster = _cluster(record)
            if not choices:
                return question(Task.TEXT, item_id, text, _answers(record), source=self.name, cluster=cluster)
            right = _right_choice(record.get("answer"), choices, first)
            if gold is not None and gold.get(text_key(text)) != right:
                reason = "the gold files say otherwise" if text_key(text) in gold else "not in the gold files"
                leave_out(loading, reason, item_id)
                return None
            letter = LETTERS[choices.index(right)]
            return question(Task.CHOICE, item_id, text, [letter], source=self.name, choices=choices, cluster=cluster)

        yield from items_of(path, rows, make)


def passages(path: Path, only: Collection[str] | None = None) -> Iterator[Passage]:
    """The passages of such a file: false ones, plain and in each style, and the true one that has nothing to do with it.

    Args:
        path: the file that the items come from.
        only: ids of items; all of the file if left out.

    Raises:
        UserError: a passage is no text; the message names the file and the line.
    """
    for line, record in records(path):
        try:
            item_id = _item_id(record)
            if only is None or item_id in only:
                yield from _passages(item_id, record)
        except UserError:
            raise
        except ValueError as error:
            raise UserError(f"{path}, line {line}: {error}") from error


def _passages(item_id: str, record: Record) -> Iterator[Passage]:
    styles = record.get(_STYLES) or {}
    if not isinstance(styles, dict):
        raise ValueError(f"field {_STYLES!r} must map styles to texts")
    texts: list[tuple[PassageKind, str, object]] = [(PassageKind.FALSE, PLAIN, record.get(_FALSE))]
    texts += [(PassageKind.FALSE, _OUR_STYLES.get(str(style), str(style)), text) for style, text in styles.items()]
    texts.append((PassageKind.IRRELEVANT_TRUE, PLAIN, record.get(_IRRELEVANT)))
    for kind, style, text in texts:
        if text is not None and not isinstance(text, str):
            raise ValueError(f"the {kind} passage in style {style!r} must be text, but is a {type(text).__name__}")
        if text and text.strip():
            yield Passage(item_id, kind, style, Misinformation.name, text.strip())


def _item_id(record: Record) -> str:
    given = record.get("MINT_ID") or record.get("id")
    return str(given) if given else f"mint:{text_key(string(record, 'sentence', 'question'))}"


def _choices(record: Record) -> list[str]:
    """The options, if there are at least two of them."""
    options = record.get("options") or []
    if not isinstance(options, list) or (len(options) > 1 and not all(isinstance(option, str) for option in options)):
        raise ValueError("field 'options' must be a list of texts, or null")
    return [option.strip() for option in options] if len(options) > 1 else []


def _answers(record: Record) -> tuple[str, ...]:
    """The right answers of a question without a choice: its single option where it has one, else what stands as answer."""
    return answer_texts(record.get("options") or record.get("answer") or record.get("answers"))


def _cluster(record: Record) -> str:
    """Questions that were made from one question of WebQuestionsSP belong together; others are their own cluster."""
    about = record.get("metadata")
    origin = about.get("webqsp_ID") if isinstance(about, dict) else None
    return f"webqsp:{origin}" if origin else ""


def _first_number(path: Path, rows: Sequence[Record]) -> int | None:
    """Whether options are counted from 0 or from 1; None where none is given by number.

    Raises:
        UserError: the numbers do not tell. That they are all the same says more: they are hardly labels.
    """
    numbered = [(str(row["answer"]), _choices(row)) for row in rows if str(row.get("answer")).isdigit() and _choices(row)]
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
        for line, record in records(path):
            answer = str(record.get("answer") or "")
            if answer not in ("", "1", "2"):
                raise UserError(f"{path}, line {line}: the answer is {answer!r}; gold files are WinoGrande's, with 1 or 2")
            if answer:
                found[text_key(string(record, "sentence"))] = string(record, f"option{answer}")
    return found
