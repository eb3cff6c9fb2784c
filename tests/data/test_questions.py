"""Questions in our own form: which task they are, how answers are read, and that nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.item import Item, Label, Task
from optimizer.data.loaders import load_items
from optimizer.data.splits import split_items
from optimizer.errors import UserError
from tests.conftest import make_items

CHOICES = ["red", "green", "A"]


def load(tmp_path: Path, *rows: dict[str, Any], **options: Any) -> list[Item]:
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return load_items(path, **options)


@pytest.mark.parametrize(
    ("fields", "task", "answers"),
    [
        ({"choices": CHOICES, "answer": "B"}, Task.CHOICE, ("B",)),
        ({"choices": CHOICES, "answer": "b"}, Task.CHOICE, ("B",)),
        ({"choices": CHOICES, "answer": "green"}, Task.CHOICE, ("B",)),
        ({"choices": CHOICES, "answer": ["red", "B"]}, Task.CHOICE, ("A", "B")),
        ({"choices": [1, 2.0, 3], "answer": 2}, Task.CHOICE, ("B",)),
        ({"choices": None, "answer": "160"}, Task.NUMBER, ("160",)),
        ({"answer": 12.0}, Task.NUMBER, ("12",)),
        ({"answer": "$1,200.50"}, Task.NUMBER, ("$1,200.50",)),
        ({"answer": "−5"}, Task.NUMBER, ("−5",)),
        ({"answer": "42 km"}, Task.TEXT, ("42 km",)),
        ({"answer": "1998", "task": "text"}, Task.TEXT, ("1998",)),
        ({"answer": ["Ada", "Ada", "Lovelace"]}, Task.TEXT, ("Ada", "Lovelace")),
        ({"answer": {"answer": "Ada", "aliases": ["A. L."]}}, Task.TEXT, ("Ada", "A. L.")),
        ({"answer": ["1", "one"]}, Task.TEXT, ("1", "one")),
    ],
)
def test_a_row_with_a_question_is_of_the_task_that_its_answer_says(
    tmp_path: Path, fields: dict[str, Any], task: Task, answers: tuple[str, ...]
) -> None:
    (item,) = load(tmp_path, {"id": "q", "question": "Which?", "source": "s", **fields})
    assert (item.task, item.answers, item.label, item.claim, item.evidence, item.source) == (
        task,
        answers,
        None,
        "Which?",
        (),
        "s",
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"choices": CHOICES, "answer": "A"}, "'A' is the letter of one choice and the text of another"),
        (
            {"choices": CHOICES, "answer": "D"},
            "'D' is neither the letter nor the exact text of a choice; choices are red,",
        ),
        ({"choices": CHOICES, "answer": 0}, "'0' is neither the letter nor the exact text"),
        ({"choices": CHOICES, "answer": "gree"}, "'gree' is neither"),
        ({"choices": ["red", "red"], "answer": "A"}, "'red' stands there twice"),
        ({"choices": ["red"], "answer": "A"}, "has 1 choices; give 2 to 26"),
        ({"choices": "red, green", "answer": "A"}, "column 'choices' must be a list of texts"),
        ({"choices": ["red", None], "answer": "A"}, "column 'choices' must be a list of texts"),
        ({"choices": CHOICES, "answer": "1", "task": "number"}, "a question of task number has no choices"),
        ({"answer": "twelve", "task": "number"}, "answer 'twelve' is no number"),
        ({"answer": "x", "task": "choice"}, "has 0 choices"),
        ({"answer": "x", "task": "essay"}, "task 'essay' of a question is none of choice, number, text"),
        ({"answer": None}, "column 'answer' is empty"),
        ({"answer": []}, "column 'answer' is empty"),
        ({"answer": True}, "column 'answer' must be text, but is a bool"),
        ({"answer": [["a"]]}, "a list of answers holds texts and numbers"),
        ({"answer": {"text": "x"}}, "has the fields answer and aliases, but has text"),
    ],
)
def test_what_could_mean_two_things_or_nothing_is_an_error_with_its_line(
    tmp_path: Path, fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match="line 1: ") as error:
        load(tmp_path, {"question": "Which?", **fields})
    assert message in str(error.value)


def test_claims_stay_claims_whatever_other_columns_they_have(tmp_path: Path) -> None:
    row = {"claim": "c", "evidence": "e", "label": "yes", "question": "Which?", "answer": "x", "task": "QA"}
    (item,) = load(tmp_path, row)
    assert (item.task, item.label, item.answers) == (Task.CLAIM, Label.GROUNDED, ())
    assert load(tmp_path, {**row, "task": "text"})[0].task is Task.TEXT


def test_columns_can_be_renamed_and_evidence_is_kept(tmp_path: Path) -> None:
    row = {"q": "Which?", "options": CHOICES, "gold": "red", "context": ["One.", "Two."]}
    columns = {"question": "q", "choices": "options", "answer": "gold", "evidence": "context"}
    (item,) = load(tmp_path, row, columns=columns)
    assert (item.claim, item.answers, item.evidence) == ("Which?", ("A",), ("One.", "Two."))


def test_questions_without_answers_are_read_where_none_are_needed(tmp_path: Path) -> None:
    first, second = load(tmp_path, {"question": "Which?", "choices": CHOICES}, {"question": "Who?"}, require_label=False)
    assert (first.task, first.answers, second.task) == (Task.CHOICE, (), Task.TEXT)


def test_choices_in_a_csv_cell_are_a_json_list(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text('question,choices,answer\nWhich?,"[""red"", ""blue""]",blue\nHow many?,,12\n', encoding="utf-8")
    first, second = load_items(path)
    assert (first.choices, first.answers, second.task) == (("red", "blue"), ("B",), Task.NUMBER)


def test_the_same_question_or_evidence_is_one_cluster(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "question": "Which?", "answer": "x"},
        {"id": "2", "question": "Which?", "answer": "y"},
        {"id": "3", "question": "Who?", "answer": "x", "evidence": "e"},
        {"id": "4", "question": "Where?", "answer": "y", "evidence": ["e"]},
        {"id": "5", "question": "Where?", "answer": "y", "cluster": "own"},
    ]
    clusters = [item.cluster for item in load(tmp_path, *rows)]
    assert clusters[0] == clusters[1]
    assert clusters[2] == clusters[3]
    assert (len(set(clusters)), clusters[4]) == (3, "own")


def test_right_choices_are_in_balance_over_the_splits(tmp_path: Path) -> None:
    rows = [{"id": f"q{i}", "question": f"Which {i}?", "choices": CHOICES, "answer": "BC"[i % 2]} for i in range(80)]
    splits = split_items(load(tmp_path, *rows), 0, {"test": 10})
    for members in (splits.train, splits.dev, splits.test):
        right = [item.answers[0] for item in members]
        assert abs(right.count("B") - right.count("C")) <= 1
    assert len(splits.test) == 10


def test_questions_of_one_kind_are_split_and_claims_of_one_label_are_still_refused(tmp_path: Path) -> None:
    numbers = load(tmp_path, *({"question": f"How many {i}?", "answer": 1} for i in range(20)))
    assert len(split_items(numbers, 0, {}).dev) == 7
    with pytest.raises(UserError, match="holds only the label grounded"):
        split_items([item for item in make_items(40) if item.label is Label.GROUNDED], 0, {})
