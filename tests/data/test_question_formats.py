"""Question benchmarks are read from files in exactly their published form, and every fault is named with file and line."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.formats.answers import answer_texts
from optimizer.data.formats.arithmetic import Sums, parse_sums, sums_text
from optimizer.data.formats.base import Format, Loading
from optimizer.data.formats.misinformation import passages
from optimizer.data.formats.questions import QUESTION_FORMATS
from optimizer.data.item import Item, Task
from optimizer.data.passages import PassageKind
from optimizer.errors import UsageError, UserError

FORMATS: dict[str, Format] = {entry.name: entry for entry in QUESTION_FORMATS}


def as_csv(*rows: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def as_lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


MMLU = as_csv(
    ["How many sides has\na hexagon?", "4", "5", "6", "8", "C"],
    ['Which word is "a, b" here?', "one, two", "none", "both", "neither", "A"],
)
MMLU_DEV = as_csv(*([f"Solved question {i}?", "w", "x", "y", "z", "ABCDA"[i]] for i in range(5)))
GSM8K = as_lines(
    {"question": "Ann has 2 nests of 3 eggs. How many?", "answer": "She has 2*3=<<2*3=6>>6 eggs.\n#### 6"},
    {"question": "A barn costs a lot. How much?", "answer": "It costs <<1200*10=12000>>that.\n#### $12,000"},
    {"question": "It froze. How many degrees?", "answer": "Below zero.\n#### -3.5"},
)
SOCRATIC = as_lines(
    {"question": "Ann has 2 nests of 3 eggs. How many?", "answer": "How many eggs? ** She has 2*3=<<2*3=6>>6 eggs.\n#### 6"}
)
TRUTHFUL_JSON = json.dumps(
    [
        {
            "question": f"Do frogs give people warts, case {i}?",
            "mc0_targets": {"No, they do not": 1, "Yes, by touch": 0},
            "mc1_targets": {"No, they do not": 1, "Yes, by touch": 0, "Only green ones": 0, "Only at night": 0},
            "mc2_targets": {"No, they do not": 1, "Nobody gets any": 1, "Yes, by touch": 0},
        }
        for i in range(40)
    ]
)
TRUTHFUL_CSV = as_csv(
    ["Type", "Category", "Question", "Best Answer", "Best Incorrect Answer", "Correct Answers", "Incorrect Answers", "Source"],
    [
        "Adversarial", "Folklore", "Do frogs give people warts, case 0?", "No, they do not", "Yes, by touch",
        "No, they do not; Nobody gets any", "Yes, by touch; Only green ones; Only at night", "https://example.org",
    ],
)  # fmt: skip
WINO = as_lines(
    {"qID": "3ABC-1", "sentence": "Ann thanked Eve because _ had helped.", "option1": "Ann", "option2": "Eve", "answer": "2"},
    {"qID": "3ABC-2", "sentence": "Ann thanked Eve because _ was helped.", "option1": "Ann", "option2": "Eve", "answer": "1"},
    {
        "qID": "9XYZ-1",
        "sentence": "The cup broke the plate as the _ was hard.",
        "option1": "cup",
        "option2": "plate",
        "answer": "",
    },
)
WINO_INSTRUCTION = json.dumps(
    [
        {
            "instruction": "Please choose the correct answer to fill in the blank to complete the given sentence: "
            f"Ann thanked Eve because _ {verb} helped.\n\nOption1: {first} Option2: {second} Answer format: option1/option2",
            "input": "",
            "output": f"the correct answer is {answer}",
            "answer": answer,
        }
        for verb, first, second, answer in (("had", "Ann", "Eve", "option2"), ("was", "Eve", "Ann", "option2"))
    ]
)
ETHICS = as_csv(
    ["label", "input", "is_short", "edited"],
    ["0", "I fed the neighbour's cat while she was away.", "True", "False"],
    ["1", "I kicked the neighbour's cat while she was away.", "True", "False"],
    ["1", "I sold the bridge twice.", "True", "False"],
    ["0", "AITA for leaving early? | It was late, and I had told them so.", "False", "False"],
)
CWQ = json.dumps(
    [
        {
            "ID": "WebQTrn-1_a", "answers": [{"answer": "Bern", "aliases": ["Berne"], "answer_id": "m.1"}, {"answer": "Basel"}],
            "composition_answer": "switzerland", "compositionality_type": "composition", "created": "2018-02-13T02:07:47",
            "machine_question": "q", "question": "Which towns have that bear?", "sparql": "", "webqsp_ID": "WebQTrn-1",
            "webqsp_question": "q",
        },
        {"ID": "WebQTest-2_b", "question": "Which one?", "compositionality_type": "conjunction", "webqsp_ID": "WebQTest-2"},
    ],
    indent=1,
)  # fmt: skip
STYLES = ("clickbait", "hoax", "rumor", "satire", "propaganda", "framing", "conspiracy", "other")


def mint(item_id: str, **fields: Any) -> dict[str, Any]:
    """A record with its passages."""
    return {
        "MINT_ID": item_id,
        "id": "62e4",
        "false_fact": f"A false fact about {item_id}.",
        "misinformation_by_strategy": {style: f"{style} about {item_id}." for style in STYLES},
        "irrelevant_true_information": "Snow is white.",
        "avg_misinformation_tokens": 9,
        **fields,
    }


MINT = json.dumps(
    [
        mint("E1", sentence="I fed the cat.", options=["Acceptable", "Unacceptable"], answer="0"),
        mint("E2", sentence="I kicked the cat.", options=["Acceptable", "Unacceptable"], answer="1"),
        mint(
            "C1", sentence="Which town has that bear?", options=None, metadata={"webqsp_ID": "WebQTrn-1"},
            answer={"aliases": [["Berne"], []], "answer": ["Bern", "Basel"], "answer_id": ["m.1", "m.2"]},
        ),
    ]
)  # fmt: skip

PUBLISHED = {
    "mmlu": ("college_geometry_test.csv", MMLU),
    "gsm8k": ("test.jsonl", GSM8K),
    "truthfulqa": ("mc_task.json", TRUTHFUL_JSON),
    "arithmetic": ("sums.jsonl", sums_text(Sums(2, 3))),
    "winogrande": ("dev.jsonl", WINO),
    "ethics": ("cm_test.csv", ETHICS),
    "complexwebquestions": ("ComplexWebQuestions_dev.json", CWQ),
    "mint": ("ethics_commonsense_misinformed.json", MINT),
}
VARIANTS = {
    "gsm8k": ("test_socratic.jsonl", SOCRATIC),
    "truthfulqa": ("TruthfulQA.csv", TRUTHFUL_CSV),
    "winogrande": ("test.json", WINO_INSTRUCTION),
}


def read(folder: Path, name: str, file: str, text: str, **options: str) -> tuple[list[Item], Loading]:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    loading = Loading(options=options)
    return list(FORMATS[name].items(path, loading)), loading


@pytest.mark.parametrize("name", PUBLISHED)
def test_an_unknown_option_is_an_error_that_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"has no option 'depth'; it has"):
        read(tmp_path, name, *PUBLISHED[name], depth="3")


@pytest.mark.parametrize("name", PUBLISHED)
def test_questions_have_an_answer_a_cluster_and_ids_of_their_own(tmp_path: Path, name: str) -> None:
    items, _ = read(tmp_path, name, *PUBLISHED[name])
    assert len({item.id for item in items}) == len(items) > 0
    for item in items:
        assert item.claim
        assert item.cluster
        assert item.answers
        assert item.label is None
        assert not item.evidence
        if item.task is Task.CHOICE:
            assert "ABCDEFGHIJ".index(item.answers[0]) < len(item.choices)


def test_mmlu_takes_subject_and_split_from_the_name_and_keeps_lines_and_commas_in_cells(tmp_path: Path) -> None:
    items, _ = read(tmp_path, "mmlu", *PUBLISHED["mmlu"])
    assert [(item.category, item.split, item.answers) for item in items] == [("college_geometry", "test", (a,)) for a in "CA"]
    assert items[0].claim == "How many sides has\na hexagon?"
    assert items[1].choices == ("one, two", "none", "both", "neither")


def test_mmlu_with_five_shots_puts_the_solved_questions_first_as_published(tmp_path: Path) -> None:
    (tmp_path / "data/dev").mkdir(parents=True)
    (tmp_path / "data/dev/college_geometry_dev.csv").write_text(MMLU_DEV, encoding="utf-8")
    items, _ = read(tmp_path, "mmlu", "data/test/college_geometry_test.csv", MMLU, shots="5")
    expected = "The following are multiple choice questions (with answers) about college geometry.\n\n"
    for i in range(5):
        expected += f"Solved question {i}?\nA. w\nB. x\nC. y\nD. z\nAnswer: {'ABCDA'[i]}\n\n"
    assert items[0].claim == expected + "How many sides has\na hexagon?"
    plain, _ = read(tmp_path, "mmlu", "data/test/college_geometry_test.csv", MMLU)
    assert [item.cluster for item in items] == [item.cluster for item in plain]
    assert plain[0].claim == "How many sides has\na hexagon?"


def test_mmlu_shots_need_enough_examples_that_are_not_the_questions_themselves(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"takes its examples from .*dev/college_geometry_dev\.csv, which is not there"):
        read(tmp_path, "mmlu", "data/test/college_geometry_test.csv", MMLU, shots="5")
    with pytest.raises(UserError, match="its questions are the examples"):
        read(tmp_path, "mmlu", "data/dev/college_geometry_dev.csv", MMLU_DEV, shots="5")
    with pytest.raises(UserError, match="has 5 examples, fewer than shots=6"):
        read(tmp_path, "mmlu", "data/test/college_geometry_test.csv", MMLU, shots="6")


def test_a_folder_of_mmlu_files_is_read_as_one(tmp_path: Path) -> None:
    for subject in ("b", "a"):
        (tmp_path / f"{subject}_test.csv").write_text(MMLU, encoding="utf-8")
    items = list(FORMATS["mmlu"].items(tmp_path, Loading()))
    assert [item.category for item in items] == ["a", "a", "b", "b"]


def test_gsm8k_numbers_lose_marks_and_solutions_become_rationales(tmp_path: Path) -> None:
    items, _ = read(tmp_path, "gsm8k", *PUBLISHED["gsm8k"])
    assert [item.answers for item in items] == [("6",), ("12000",), ("-3.5",)]
    assert items[0].rationale == "She has 2*3=6 eggs."
    socratic, _ = read(tmp_path, "gsm8k", *VARIANTS["gsm8k"])
    assert socratic[0].cluster == items[0].cluster
    assert socratic[0].id != items[0].id
    assert socratic[0].split == "test"


def test_truthfulqa_choices_are_shuffled_by_the_seed_so_that_the_right_one_is_anywhere(tmp_path: Path) -> None:
    items, _ = read(tmp_path, "truthfulqa", *PUBLISHED["truthfulqa"])
    again, _ = read(tmp_path, "truthfulqa", *PUBLISHED["truthfulqa"])
    other, _ = read(tmp_path, "truthfulqa", *PUBLISHED["truthfulqa"], seed="1")
    assert items == again
    assert items != other
    assert {item.answers[0] for item in items} == {"A", "B", "C", "D"}
    assert all(item.choices["ABCD".index(item.answers[0])] == "No, they do not" for item in items)


def test_truthfulqa_from_csv_is_the_same_question_as_from_json(tmp_path: Path) -> None:
    from_json, _ = read(tmp_path, "truthfulqa", *PUBLISHED["truthfulqa"])
    from_csv, _ = read(tmp_path, "truthfulqa", *VARIANTS["truthfulqa"])
    assert from_csv[0].category == "Folklore"
    assert (from_csv[0].id, from_csv[0].choices, from_csv[0].answers) == (
        from_json[0].id, from_json[0].choices, from_json[0].answers,
    )  # fmt: skip
    for name, text in (PUBLISHED["truthfulqa"], VARIANTS["truthfulqa"]):
        binary, _ = read(tmp_path, "truthfulqa", name, text, targets="mc0")
        assert sorted(binary[0].choices) == ["No, they do not", "Yes, by touch"]


def test_truthfulqa_in_the_form_of_the_hub(tmp_path: Path) -> None:
    row = {"question": "Q?", "mc1_targets": {"choices": ["right", "wrong"], "labels": [1, 0]}}
    items, _ = read(tmp_path, "truthfulqa", "validation.jsonl", as_lines(row))
    assert items[0].choices["AB".index(items[0].answers[0])] == "right"


def test_winogrande_twins_are_one_cluster_and_unanswered_ones_are_reported(tmp_path: Path) -> None:
    items, loading = read(tmp_path, "winogrande", *PUBLISHED["winogrande"])
    assert [(item.cluster, item.answers, item.choices) for item in items] == [
        ("winogrande:3ABC", ("B",), ("Ann", "Eve")),
        ("winogrande:3ABC", ("A",), ("Ann", "Eve")),
    ]
    assert loading.left_out == {"no published answer": ["winogrande:9XYZ-1"]}
    passed_on, _ = read(tmp_path, "winogrande", *VARIANTS["winogrande"])
    assert [(item.claim, item.choices, item.answers) for item in passed_on] == [
        ("Ann thanked Eve because _ had helped.", ("Ann", "Eve"), ("B",)),
        ("Ann thanked Eve because _ was helped.", ("Eve", "Ann"), ("B",)),
    ]
    assert passed_on[0].cluster == passed_on[1].cluster


def test_ethics_label_1_is_wrong_and_twins_are_one_cluster(tmp_path: Path) -> None:
    items, _ = read(tmp_path, "ethics", *PUBLISHED["ethics"])
    assert [item.answers[0] for item in items] == ["A", "B", "B", "A"]
    assert items[0].choices == ("acceptable", "wrong")
    assert [item.category for item in items] == ["short", "short", "short", "long"]
    assert items[0].cluster == items[1].cluster
    assert len({item.cluster for item in items}) == 3
    long, _ = read(tmp_path, "ethics", *PUBLISHED["ethics"], length="long")
    assert [item.id for item in long] == ["ethics:cm_test:3"]


def test_complexwebquestions_takes_all_answers_with_their_aliases(tmp_path: Path) -> None:
    items, loading = read(tmp_path, "complexwebquestions", *PUBLISHED["complexwebquestions"])
    assert [(item.id, item.answers, item.cluster, item.category, item.split) for item in items] == [
        ("WebQTrn-1_a", ("Bern", "Berne", "Basel"), "webqsp:WebQTrn-1", "composition", "dev")
    ]
    assert loading.left_out == {"no published answer": ["WebQTest-2_b"]}


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("Bern", ("Bern",)),
        (["Bern", " Basel ", "Bern"], ("Bern", "Basel")),
        ({"answer": "Bern", "aliases": ["Berne"]}, ("Bern", "Berne")),
        ({"answer": ["Bern", "Basel"], "aliases": [["Berne"], []]}, ("Bern", "Basel", "Berne")),
        ([{"answer": None, "aliases": ["Berne"]}], ("Berne",)),
        (None, ()),
        ([], ()),
    ],
)
def test_answers_may_be_written_in_several_ways(value: Any, texts: tuple[str, ...]) -> None:
    assert answer_texts(value) == texts


def test_misinformation_is_a_choice_with_options_and_a_text_without(tmp_path: Path) -> None:
    items, _ = read(tmp_path, "mint", *PUBLISHED["mint"])
    assert [(item.id, item.task, item.answers) for item in items] == [
        ("E1", Task.CHOICE, ("A",)),
        ("E2", Task.CHOICE, ("B",)),
        ("C1", Task.TEXT, ("Bern", "Basel", "Berne")),
    ]
    assert items[2].cluster == "webqsp:WebQTrn-1"


def test_a_single_option_is_the_answer_itself(tmp_path: Path) -> None:
    rows = json.dumps([mint("C2", sentence="Which town?", options=[["Bern", "Berne"]], answer="0")])
    items, _ = read(tmp_path, "mint", "c.json", rows)
    assert (items[0].task, items[0].answers) == (Task.TEXT, ("Bern", "Berne"))


@pytest.mark.parametrize(
    ("answers", "letters"),
    [(["1", "2"], "AB"), (["0", "1"], "AB"), ([0, 1], "AB"), (["Ann", "Eve"], "AB"), (["B", "A"], "BA")],
)
def test_a_right_option_may_be_a_number_from_0_or_1_a_text_or_a_letter(tmp_path: Path, answers: list[Any], letters: str) -> None:
    rows = [mint(f"M{i}", question=f"Who, {i}?", options=["Ann", "Eve"], answer=answer) for i, answer in enumerate(answers)]
    items, _ = read(tmp_path, "mint", "x_misinformed.json", json.dumps(rows))
    assert [item.answers[0] for item in items] == [*letters]


def test_answers_that_are_all_1_are_no_labels_until_gold_files_confirm_them(tmp_path: Path) -> None:
    sentences = ["Ann thanked Eve because _ had helped.", "Ann thanked Eve because _ was helped.", "Nobody knows _."]
    rows = json.dumps([mint(f"W{i}", sentence=text, options=["Ann", "Eve"], answer="1") for i, text in enumerate(sentences)])
    with pytest.raises(UserError, match=r"the answers of its 3 questions with options are 1, which does not say .*option gold"):
        read(tmp_path, "mint", "w.json", rows)
    assert len(read(tmp_path, "mint", "w.json", rows, first="1")[0]) == 3
    gold = tmp_path / "dev.jsonl"
    gold.write_text(WINO, encoding="utf-8")
    items, loading = read(tmp_path, "mint", "w.json", rows, first="1", gold=str(gold))
    assert [(item.id, item.answers) for item in items] == [("W1", ("A",))]
    assert loading.left_out == {"the gold files say otherwise": ["W0"], "not in the gold files": ["W2"]}


def test_passages_are_the_false_ones_in_every_style_and_the_irrelevant_true_one(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(MINT, encoding="utf-8")
    found = list(passages(path, only={"E2"}))
    ours = ["plain", *STYLES[:-1], "unconstrained"]
    assert [(entry.kind, entry.style) for entry in found] == [
        *((PassageKind.FALSE, style) for style in ours),
        (PassageKind.IRRELEVANT_TRUE, "plain"),
    ]
    assert {entry.item for entry in found} == {"E2"}
    assert len(list(passages(path))) == 30


@pytest.mark.parametrize("form", [1, 2])
def test_generated_sums_are_right_different_and_the_same_for_the_same_seed(tmp_path: Path, form: int) -> None:
    text = sums_text(Sums(form, 50, 7))
    items, _ = read(tmp_path, "arithmetic", "s.jsonl", text)
    assert len({item.claim for item in items}) == 50
    for item, line in zip(items, text.splitlines(), strict=True):
        numbers = json.loads(line)["numbers"]
        assert len(numbers) == (4, 6)[form - 1]
        assert all(0 <= number < 30 for number in numbers)
        assert str(eval(item.claim.removeprefix("What is ").removesuffix("?"))) == item.answers[0]
    assert text == sums_text(Sums(form, 50, 7)) != sums_text(Sums(form, 50, 8))
    assert sums_text(Sums(form, 60, 7)).startswith(text)


def test_sums_by_name() -> None:
    assert parse_sums("") == Sums(1, 100, 0)
    assert parse_sums("form=2, n=7,seed=3") == Sums(2, 7, 3)
    for bad in ("form=3", "n=0", "n=many", "size=3"):
        with pytest.raises(UsageError, match="arithmetic"):
            parse_sums(bad)


@pytest.mark.parametrize(
    ("name", "file", "text", "message"),
    [
        ("mmlu", "a_test.csv", MMLU + "one,two\n", r"a_test\.csv, line 4: has 2 cells"),
        ("mmlu", "a_test.csv", MMLU + "q,1,2,3,4,E\n", r"line 4: the answer is 'E'; it must be one of A, B, C, D"),
        ("mmlu", "a_test.csv", MMLU + '"cut off', r"line 4: not CSV \(.*\); it may have been cut off"),
        ("gsm8k", "test.jsonl", GSM8K + as_lines({"question": "q", "answer": "6"}), r"line 4: the answer has no line #### N"),
        ("gsm8k", "test.jsonl", as_lines({"question": "q", "answer": "#### six"}), r"line 1: .* is 'six', which is no number"),
        ("gsm8k", "test.jsonl", as_lines({"answer": "#### 6"}), r"line 1: has no field 'question'; it has answer"),
        ("gsm8k", "test.jsonl", GSM8K + "{oops\n", r"line 4: not JSON"),
        ("truthfulqa", "mc_task.json", TRUTHFUL_JSON[:-1], r"mc_task\.json: ends before its list does"),
        (
            "truthfulqa", "mc.json", json.dumps([{"question": "q", "mc1_targets": {"a": 1, "b": 1}}]),
            r"line 1: mc1_targets has 2 right answers",
        ),
        ("winogrande", "dev.jsonl", WINO.replace('"2"', '"3"', 1), r"line 1: the answer is '3'; it must be 1 or 2"),
        ("ethics", "cm_test.csv", ETHICS + "2,x,True,False\n", r"line 6: the label is '2'"),
        ("ethics", "cm_test.csv", ETHICS + "0,x\n", r"line 6: has 2 cells, but the header has 4 columns"),
        ("complexwebquestions", "dev.json", CWQ.replace('"Bern"', "7"), r"line 2: an answer must be text, .* but is a int"),
        ("arithmetic", "s.jsonl", sums_text(Sums()).replace('"answer": "', '"answer": "9', 1), r"line 1: the answer of .* not 9"),
        ("mint", "m.json", MINT.replace('"answer": "1"', '"answer": "7"'), r"line 1: the answer '7' is none of the options"),
    ],
)  # fmt: skip
def test_a_bad_record_is_named_with_file_and_line(tmp_path: Path, name: str, file: str, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, name, file, text)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mmlu", {"shots": "few"}, "shots must be a whole number"),
        ("truthfulqa", {"targets": "mc2"}, "TruthfulQA: option targets is 'mc2'; it can be mc1 or mc0"),
        ("ethics", {"length": "medium"}, "option length is 'medium'; it can be all or short or long"),
        ("mint", {"first": "2"}, "MINT: option first is '2'; it can be 0 or 1"),
    ],
)
def test_a_bad_option_is_named(tmp_path: Path, name: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, name, *PUBLISHED[name], **options)


# Beginnings of the published files, not part of this repository: name -> path under $PANEL_SAMPLES, and what must hold.
SAMPLES: dict[str, tuple[str, Callable[[list[Item]], bool]]] = {
    "mmlu": ("mmlu/data/test", lambda items: len({item.category for item in items}) > 1),
    "gsm8k": ("gsm8k/grade_school_math/data/test.jsonl", lambda items: items[2].answers == ("70000",)),
    "winogrande": ("winogrande/dataset/winogrande/test.json", lambda items: items[0].cluster == items[1].cluster),
    "ethics": ("ethics/commonsense/cm_test.csv", lambda items: items[0].cluster == items[1].cluster),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_real_files_are_read_whole(name: str) -> None:
    folder = os.environ.get("PANEL_SAMPLES")
    if not folder:
        pytest.skip("PANEL_SAMPLES names no folder with samples of published files")
    path = Path(folder) / SAMPLES[name][0]
    loading = Loading()
    items = list(FORMATS[name].items(path, loading))
    assert len(items) >= 20
    assert not loading.left_out
    assert SAMPLES[name][1](items)
