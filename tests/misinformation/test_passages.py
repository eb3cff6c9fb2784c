"""Models write passages and judge them: what is usable, what is left out, resuming, and figures with known answers."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from sklearn.metrics import cohen_kappa_score

from optimizer.config import Settings
from optimizer.data.item import Item, Task
from optimizer.data.passages import JudgeFlags, Passage, PassageKind, load_passages, write_passages
from optimizer.errors import UsageError, UserError
from optimizer.misinformation.arms import Design
from optimizer.misinformation.judge_figures import report_on
from optimizer.misinformation.judging import JudgeModel, ask_judge, judge_passages, read_flags, read_judge
from optimizer.misinformation.making import Made, Order, make_passages
from optimizer.misinformation.records import read_records
from optimizer.misinformation.run import run_misinformation
from optimizer.misinformation.writing import STYLES, ask_passage, read_reply, stated_answer, wrong_answer
from optimizer.models.chat import ChatReply
from optimizer.report.passages import remarks, tables, to_json
from optimizer.report.propagation import exchange_table, propagation_report
from tests.conftest import Scripted, completion, make_items, write_items
from tests.misinformation.made import gullible, run_settings

FALSE, TRUE = PassageKind.FALSE, PassageKind.TRUE
EVIDENCE = "The museum of Tarnholm was opened on a rainy Tuesday by the mayor and her two sons in front of a small crowd."


def long_text(*mark: str) -> str:
    """Long enough, and with other words after other marks."""
    return f"{' '.join(mark)} " + " ".join(f"word{crc32(repr(mark).encode()) % 1000}x{n}" for n in range(20)) + "."


def written(*mark: str) -> dict[str, Any]:
    return completion(json.dumps({"passage": long_text(*mark)}))


def writer(body: dict[str, Any]) -> Any:
    """Usable replies to everything; each says what was asked."""
    text = body["messages"][-1]["content"]
    if "Say the same" in text:
        source = text.split("Passage:\n")[1].split("\n")[0]
        return written("reworded", str(len(source)), str(sum(map(ord, source))))
    for style, words in STYLES.items():
        if words in text:
            return written(style, str(len(text)), text.split("Passage:\n")[1].split(" word")[0])
    if "general remarks" in text:
        return completion(
            json.dumps({"passage": "Much can be said about this and more could be added, as is so often so with such things."})
        )
    if "Claim:" not in text:
        return completion("hello")
    claim = text.split("Claim:")[1].split('"""')[1].strip()
    return written("not so" if "is not true" in text else "so", claim)


def data(folder: Path, count: int = 4) -> None:
    (folder / "data").mkdir()
    write_items(folder / "data" / "items.jsonl", [replace(item, evidence=(EVIDENCE,)) for item in make_items(count)])


def make(settings: Settings, order: Order, to: Path | None = None) -> Made:
    return asyncio.run(make_passages(settings, order, to))


def test_kinds_and_styles_are_written_from_the_plain_passage_under_the_models_name(server: Scripted, tmp_path: Path) -> None:
    server.script = writer
    data(tmp_path)
    kinds = (FALSE, TRUE, PassageKind.IRRELEVANT_FALSE, PassageKind.FILLER)
    made = make(run_settings(server, tmp_path), Order(kinds))
    assert made.path == tmp_path / "data" / "passages.jsonl"
    found = load_passages(made.path)
    assert found == made.passages
    counts = Counter(each.kind for each in found)
    assert counts == {FALSE: 36, TRUE: 36, PassageKind.IRRELEVANT_FALSE: 36, PassageKind.FILLER: 4}
    assert {each.provenance for each in found if each.kind in (FALSE, TRUE)} == {"scripted"}
    of = {(each.item, each.kind, each.style): each.text for each in found}
    for item in make_items(4):
        wrong = "not so" if item.label == "grounded" else "so"
        assert of[item.id, FALSE, "plain"].startswith(f"{wrong} {item.claim}")
        assert not of[item.id, TRUE, "plain"].startswith(f"{wrong} {item.claim}")
        assert of[item.id, FALSE, "rumor"].startswith("rumor")
        assert f"{wrong} {item.claim}" in of[item.id, FALSE, "rumor"]
        assert item.claim not in of[item.id, PassageKind.IRRELEVANT_FALSE, "plain"]
    assert (made.bad_replies, made.unusable, made.replies) == (0, [], 4 * 18 + 4)


def test_a_file_that_is_there_is_never_overwritten(server: Scripted, tmp_path: Path) -> None:
    server.script = writer
    data(tmp_path)
    make(run_settings(server, tmp_path), Order((FALSE,), ("plain",)))
    before, asked = (tmp_path / "data" / "passages.jsonl").read_bytes(), len(server.requests)
    with pytest.raises(UserError, match="is there already"):
        make(run_settings(server, tmp_path), Order((FALSE,), ("rumor",)))
    assert (tmp_path / "data" / "passages.jsonl").read_bytes() == before
    assert len(server.requests) == asked


def test_unusable_replies_are_asked_again_twice_at_most_and_then_left_out_and_listed(server: Scripted, tmp_path: Path) -> None:
    seeds: dict[str, list[int]] = {}

    def script(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        if "Claim number 0" in text and "Passage:" not in text:
            seeds.setdefault("0", []).append(body["seed"])
            return completion(json.dumps({"passage": EVIDENCE}))
        if "Claim number 1" in text and "Passage:" not in text:
            seeds.setdefault("1", []).append(body["seed"])
            return writer(body) if body["seed"] == 2 else completion('{"passage": "It is', "length")
        return writer(body)

    server.script = script
    data(tmp_path)
    made = make(run_settings(server, tmp_path), Order((FALSE,), ("plain", "rumor")))
    assert seeds == {"0": [0, 1, 2], "1": [0, 1, 2]}
    assert made.bad_replies == 5
    assert [(each.item, each.style, each.problem) for each in made.unusable] == [
        ("item-0", "plain", "copies the evidence: 'the museum of tarnholm was opened on a rainy tuesday by the'"),
        ("item-0", "rumor", "has no plain passage to start from"),
    ]
    assert {each.item for each in load_passages(made.path)} == {"item-1", "item-2", "item-3"}


def test_after_failed_calls_nothing_is_written_and_the_same_command_asks_only_what_is_missing(
    server: Scripted, tmp_path: Path, fast_retries: list[float]
) -> None:
    broken = True

    def script(body: dict[str, Any]) -> Any:
        return (400, {}, "no") if broken and "Claim number 3" in body["messages"][-1]["content"] else writer(body)

    server.script = script
    data(tmp_path)
    settings, order = run_settings(server, tmp_path), Order((FALSE,), ("plain", "hoax"))
    with pytest.raises(UserError, match=r"1 of 4 items failed .*again, it goes on"):
        make(settings, order)
    assert not (tmp_path / "data" / "passages.jsonl").exists()
    broken, asked = False, len(server.requests)
    made = make(settings, order)
    assert (len(made.passages), made.paid) == (8, 2)
    assert len(server.requests) - asked == 2 + 1  # and the probe of the server


def test_a_paraphrase_keeps_kind_and_style_and_names_both_writers(server: Scripted, tmp_path: Path) -> None:
    server.script = writer
    data(tmp_path)
    first = make(run_settings(server, tmp_path), Order((FALSE, TRUE), ("plain", "satire")))
    with pytest.raises(UsageError, match="--from FILE"):
        make(run_settings(server, tmp_path), Order(paraphrase=True), tmp_path / "other.jsonl")
    order = Order((FALSE,), source=first.path, paraphrase=True)
    second = make(run_settings(server, tmp_path), order, tmp_path / "other.jsonl")
    assert Counter((each.kind, each.style) for each in second.passages) == {(FALSE, "plain"): 4, (FALSE, "satire"): 4}
    assert {each.provenance for each in second.passages} == {"scripted paraphrasing scripted"}
    assert not {each.text for each in second.passages} & {each.text for each in first.passages}


def test_writers_and_paraphrases_are_rows_of_the_table_of_who_wrote_and_who_read(server: Scripted, tmp_path: Path) -> None:
    server.script = writer
    data(tmp_path)
    settings = run_settings(server, tmp_path)
    first = make(settings, Order((FALSE,), ("plain",)))
    second = make(settings, Order((FALSE,), source=first.path, paraphrase=True), tmp_path / "other.jsonl")

    def reader(body: dict[str, Any]) -> Any:
        """Believes what it reads, but for paraphrases."""
        text = body["messages"][-1]["content"]
        believed = text if "reworded" in text else text.replace("word", "false passage")
        return gullible({**body, "messages": [{"content": believed}]})

    server.script = reader
    reports = []
    for path in (first.path, second.path):
        flags = {"misinformation.passages": str(path), "runs": str(tmp_path / path.stem)}
        own = run_settings(server, tmp_path, **flags)
        run = asyncio.run(run_misinformation(own, Design(exposed=(0, 3), baselines=())))
        reports.append(propagation_report(run.path.name, "reader", read_records(run), 3))
    _, head, rows = exchange_table(reports)
    assert head == ("written by", "reader")
    assert [row[0] for row in rows] == ["scripted", "scripted paraphrasing scripted"]
    assert rows[0][1].startswith("+100.0")
    assert rows[1][1].startswith("+0.0")


@pytest.mark.parametrize(
    ("text", "finish", "problem"),
    [
        ("", "stop", "is empty"),
        ('{"passage": "' + long_text(), "length", "was cut off"),
        ("Here you are.", "stop", "has no passage in it"),
        ("I'm sorry, I cannot do that.", "stop", "refuses"),
        ('{"passage": "   "}', "stop", "is empty"),
        ('{"passage": "Too short."}', "stop", "has 2 words; 15 to 80 are usable"),
        (json.dumps({"passage": "word " * 81}), "stop", "has 81 words; 15 to 80 are usable"),
        (json.dumps({"passage": "As we know, " + EVIDENCE.lower()}), "stop", "copies the evidence"),
        (json.dumps({"passage": "I cannot write this, as it would be false. " * 3}), "stop", "refuses"),
        (json.dumps({"passage": long_text("fine")}), "stop", ""),
    ],
)
def test_a_reply_is_taken_or_refused_with_a_reason(text: str, finish: str, problem: str) -> None:
    item = replace(make_items(1)[0], evidence=(EVIDENCE,))
    found = read_reply(ChatReply(text, finish), item)
    assert found.problem.startswith(problem)
    assert bool(found.text) == (not problem)


def test_a_rewrite_that_copies_its_source_is_none_and_filler_names_nothing() -> None:
    item = make_items(1)[0]
    reply = ChatReply(json.dumps({"passage": f"You will not believe it. {long_text('so')}"}), "stop")
    assert "copies what it was to rewrite" in read_reply(reply, item, long_text("so"), paraphrase=True).problem
    assert not read_reply(reply, item, long_text("so")).problem
    assert read_reply(reply, item, f"You will not  believe it. {long_text('so')}").problem == "is what it was to rewrite"
    named = ChatReply(json.dumps({"passage": long_text("people like Tarnholm,")}), "stop")
    assert "is to name nothing" in read_reply(named, item, filler=True).problem


def test_questions_are_written_for_a_wrong_choice_or_for_a_wrong_answer_of_the_models_own() -> None:
    choice = Item("q", "Which?", (), None, "c", task=Task.CHOICE, choices=("red", "green", "blue"), answers=("B",))
    assert wrong_answer(choice) in ("A", "C")
    assert stated_answer(choice, True) == "the answer is green"
    assert stated_answer(choice, False) in ("the answer is red", "the answer is blue")
    assert "The right answer: green" in ask_passage(choice, FALSE, 0).messages[1].content
    open_one = Item("q", "Who?", (), None, "c", task=Task.TEXT, answers=("Ada", "Ada L."))
    request = ask_passage(open_one, FALSE, 0)
    assert json.loads(request.schema)["required"] == ["answer", "passage"]
    assert json.loads(ask_passage(open_one, TRUE, 0).schema)["required"] == ["passage"]
    good = ChatReply(json.dumps({"answer": "Grace", "passage": long_text()}), "stop")
    assert read_reply(good, open_one).answer == "Grace"
    assert "which is right" in read_reply(replace(good, text=good.text.replace("Grace", "ada")), open_one).problem


def test_a_judge_is_a_name_with_or_without_a_server() -> None:
    assert read_judge("qwen@http://a:1/v1") == JudgeModel("qwen", "http://a:1/v1")
    assert read_judge("openai/gpt") == JudgeModel("openai/gpt")
    with pytest.raises(UsageError, match="has no model"):
        read_judge("@http://a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"implied_answer": "no", "contradicts_gold": true, "supports_wrong": false, "names_wrong": true}',
            (True, False, True, "no"),
        ),
        ('Sure: {"contradicts_gold": "yes", "supports_wrong": "No", "names_wrong": "no"}', (True, False, False, "")),
        ('{"contradicts_gold": true, "supports_wrong": true}', None),
        ('{"contradicts_gold": true, "supports_wrong": "perhaps", "names_wrong": true}', None),
        ("yes", None),
    ],
)
def test_a_judges_answer_is_read_whole_or_not_at_all(text: str, expected: tuple[Any, ...] | None) -> None:
    assert read_flags(ChatReply(text, "stop")) == (None if expected is None else JudgeFlags(*expected))


def test_the_judge_is_told_what_is_right_and_wrong_and_not_whether_the_passage_is_true() -> None:
    item = make_items(2)[1]
    text = ask_judge(item, Passage(item.id, FALSE, "rumor", "tests", "A rumour.")).messages[1].content
    assert "Right: the claim is not true.\nWrong: the claim is true." in text
    assert '"""\nA rumour.\n"""' in text
    assert "false" not in text.casefold().replace("claim number 1 is false.", "")


def judging(contradicts: str, supports: str) -> Any:
    """A judge that says yes where a word stands in the passage."""

    def script(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        if "Passage:" not in text:
            return completion('{"verdict": "yes"}')
        passage = text.split("Passage:\n")[1].split('"""')[1]
        if "garbled" in passage:
            return completion("well")
        said = {
            "implied_answer": "x",
            "contradicts_gold": contradicts in passage,
            "supports_wrong": supports in passage,
            "names_wrong": False,
        }
        assert body["temperature"] == 0
        return completion(json.dumps(said))

    return script


def test_two_judges_flag_every_passage_and_the_figures_are_those_of_an_oracle(
    replicas: tuple[Scripted, Scripted], tmp_path: Path
) -> None:
    one, two = replicas
    two.name = "other"
    one.script, two.script = judging("c", "s"), judging("c1", "s")
    data(tmp_path, 6)
    texts = ["c1 s", "c2 s", "c1", "s", "x", "c1 s"]
    given = [Passage(f"item-{n}", FALSE, "plain", "tests", text) for n, text in enumerate(texts)]
    given += [
        Passage("item-0", TRUE, "plain", "tests", "x", {"third": JudgeFlags(False, False, False)}),
        Passage("item-1", TRUE, "plain", "tests", "s"),
        Passage("item-2", TRUE, "plain", "tests", "garbled"),
        Passage("gone", FALSE, "plain", "tests", "of an item that is not there"),
    ]
    path = tmp_path / "data" / "passages.jsonl"
    write_passages(path, given)
    judges = [JudgeModel("", one.base_url), JudgeModel("", two.base_url)]
    settings = run_settings(one, tmp_path, **{"misinformation.support_alone": "never"})
    report = asyncio.run(judge_passages(settings, judges))
    found = load_passages(path)
    assert [(each.item, each.kind, each.text) for each in found] == [(each.item, each.kind, each.text) for each in given]
    assert found[6].flags["third"] == JudgeFlags(False, False, False)
    assert found[1].flags == {"scripted": JudgeFlags(True, True, False, "x"), "other": JudgeFlags(False, True, False, "x")}
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row.get("verified") for row in rows] == [True, False, False, False, False, True, None, None, None, None]
    kappa = {each.question: each for each in report.agreements}
    read = [*texts, "x", "s"]
    expected = cohen_kappa_score(["c" in text for text in read], ["c1" in text for text in read])
    assert kappa["contradicts_gold"].kappa == pytest.approx(expected)
    assert (kappa["supports_wrong"].kappa, kappa["supports_wrong"].passages) == (1.0, 8)
    assert math.isnan(kappa["names_wrong"].kappa)
    assert [(each.judge, each.verified, each.passages) for each in report.left_out] == [
        ("", 2, 6),
        ("scripted", 2, 6),
        ("other", 3, 6),
    ]
    false, true = report.counts
    assert (false.passages, false.judged, false.verified) == (6, 6, 2)
    assert false.yes["scripted"] == {"contradicts_gold": 4, "supports_wrong": 4, "names_wrong": 0}
    assert (true.passages, true.judged) == (3, 2)
    assert report.unusable == ("scripted: item-2 true plain", "other: item-2 true plain")
    assert to_json(report)["agreements"][2]["kappa"] is None
    assert len(tables(report)) == 3
    assert "2 answers could not be read" in remarks(report)[0]
    asked = len(one.requests) + len(two.requests)
    again = asyncio.run(judge_passages(settings, judges))
    assert (again.paid, load_passages(path)) == (0, found)
    assert len(one.requests) + len(two.requests) <= asked + 4  # probes of the servers

    alone = asyncio.run(judge_passages(run_settings(one, tmp_path), judges, tmp_path / "copy.jsonl"))
    assert alone.counts[0].verified == 4  # for claims it is enough to support the wrong answer


def test_one_judge_or_the_same_twice_is_refused(server: Scripted, tmp_path: Path) -> None:
    server.script = judging("c", "s")
    data(tmp_path)
    write_passages(tmp_path / "data" / "passages.jsonl", [Passage("item-0", FALSE, "plain", "tests", "c s")])
    settings = run_settings(server, tmp_path)
    with pytest.raises(UsageError, match="give --judge twice"):
        asyncio.run(judge_passages(settings, [JudgeModel("a")]))
    with pytest.raises(UsageError, match="named twice"):
        asyncio.run(judge_passages(settings, [JudgeModel("a"), JudgeModel("a")]))
    same = [JudgeModel("", server.base_url), JudgeModel("scripted", server.base_url)]
    with pytest.raises(UsageError, match="are the same model"):
        asyncio.run(judge_passages(settings, same))
    assert not load_passages(tmp_path / "data" / "passages.jsonl")[0].flags


def test_with_three_judges_leaving_one_out_asks_the_two_others() -> None:
    yes, no = JudgeFlags(True, True, False), JudgeFlags(True, False, False)
    passages = [
        Passage("a", FALSE, "plain", "t", "1", {"x": yes, "y": yes, "z": no}),
        Passage("b", FALSE, "plain", "t", "2", {"x": yes, "y": yes, "z": yes}),
        Passage("c", FALSE, "plain", "t", "3", {"x": no, "y": yes, "z": yes}),
    ]
    report = report_on(passages, ["x", "y", "z"], dict.fromkeys("abc", False))
    assert [(each.judge, each.verified) for each in report.left_out] == [("", 1), ("x", 2), ("y", 1), ("z", 2)]
    assert len(report.agreements) == 9
