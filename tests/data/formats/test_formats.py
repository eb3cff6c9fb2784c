"""What each benchmark's records become: labels, clusters, evidence, ids, splits, and what is left out."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from optimizer.data.datafile import Data, load_data
from optimizer.data.formats import recognise
from optimizer.data.formats.base import Loading
from optimizer.data.formats.families import Families
from optimizer.data.formats.records import split_of
from optimizer.data.item import Item, Label
from optimizer.data.loaders import load_items
from optimizer.errors import UsageError, UserError
from tests.data.formats import published
from tests.data.formats.published import FILES, write_lines

G, N = Label.GROUNDED, Label.NOT_GROUNDED


def read(folder: Path, what: str, labels: dict[str, Label] | None = None, **options: str) -> Data:
    return load_data(FILES[what][1](folder), Loading(labels or {}, options))


@pytest.mark.parametrize(
    ("what", "labels", "clusters"),
    [
        ("vitaminc", [G, N, N, G], ["Harbour Lights", "Harbour Lights", "Harbour Lights", "Loch Orrin"]),
        ("wice", [G, N, N], ["Brae", "Brae", "Tarn"]),
        ("wice_oracle", [G, G, N], ["Brae", "Brae", "Brae"]),
        ("ragtruth", [G, N, N, N, G], ["11", "11", "12", "13", "13"]),
        ("scifact", [G, N, N, N], ["100", "100", "100", "300"]),
        ("fever_symmetric_v0.1", [N, G, G, N], ["111897", "111897", "111897", "89891"]),
        ("fever_symmetric_v0.2", [N, G, G, N], ["111897", "111897", "111897", "89891"]),
        ("feverous_text", [G, N, N], ["Brae Mill", "Brae Mill", "Tarn"]),
        ("fool_me_twice", [G, N, N], ["Brae", "Brae", "Tarn"]),
    ],
)
def test_labels_and_clusters_are_the_benchmarks(tmp_path: Path, what: str, labels: list[Label], clusters: list[str]) -> None:
    data = read(tmp_path, what)
    assert [item.label for item in data.items] == labels
    assert [item.cluster for item in data.items] == [f"{data.format}:{cluster}" for cluster in clusters]


@pytest.mark.parametrize("what", [what for what in FILES if what not in ("own", "composed")])
def test_items_name_their_benchmark_and_come_out_the_same_again(tmp_path: Path, what: str) -> None:
    path = FILES[what][1](tmp_path)
    known = recognise(path)
    items, again = list(known.items(path, Loading())), list(known.items(path, Loading()))
    assert items == again
    assert len({item.id for item in items}) == len(items)
    for item in items:
        assert item.source == known.name
        assert item.id.startswith(f"{known.name}:")
        assert item.cluster.startswith(f"{known.name}:")
        assert item.evidence
        assert all(passage.strip() for passage in item.evidence)


def test_vitaminc_keeps_the_label_and_the_split_as_published(tmp_path: Path) -> None:
    items = read(tmp_path, "vitaminc").items
    assert [item.category for item in items] == ["SUPPORTS", "REFUTES", "NOT ENOUGH INFO", "SUPPORTS"]
    assert {item.split for item in items} == {"test"}
    assert items[0].id == "vitaminc:5ed4de07c9e7_1"


def test_wice_shows_the_sentences_one_a_passage_and_chunks_have_ids_of_their_own(tmp_path: Path) -> None:
    claims, chunks = read(tmp_path / "a", "wice").items, read(tmp_path / "b", "wice_oracle").items
    assert claims[0].id == "wice:dev00001"
    assert claims[0].evidence == tuple(published.WICE[0]["evidence"])
    assert chunks[0].id.startswith("wice_oracle:test00001:")
    assert chunks[0].id != chunks[1].id


class TestRagTruth:
    def test_what_does_not_join_is_left_out_with_its_id(self, tmp_path: Path) -> None:
        assert read(tmp_path, "ragtruth").left_out == {
            "its source_id is not in source_info.jsonl beside it": ["6"],
            "a source without a response in response.jsonl": ["14"],
        }

    def test_the_evidence_follows_the_task(self, tmp_path: Path) -> None:
        summary, _, answer, overview, _ = read(tmp_path, "ragtruth").items
        assert summary.evidence == ("A hotel opened.",)
        assert summary.claim == "The hotel has a pool, says response 1."
        assert answer.evidence == ("There is a pool.", "It is heated.")
        assert answer.claim == "Question: is there a pool\nAnswer: The hotel has a pool, says response 3."
        assert overview.evidence == (
            "name: The Hotel",
            'hours: {"Monday": "9:0-22:30"}',
            'attributes: {"Music": null, "WiFi": "no"}',
            "business_stars: 3.0",
            'review_info: {"review_stars": 1.0, "review_text": "Cold."}',
            'review_info: {"review_stars": 5.0, "review_text": "Warm."}',
        )
        assert [item.category for item in (summary, answer, overview)] == ["Summary", "QA", "Data2txt"]

    def test_the_split_is_the_records(self, tmp_path: Path) -> None:
        assert Counter(item.split for item in read(tmp_path, "ragtruth").items) == {"train": 4, "test": 1}

    @pytest.mark.parametrize(
        ("options", "labels"),
        [
            ({}, [G, N, N, N, G]),
            ({"implicit_true": "grounded"}, [G, N, G, N, G]),
            ({"due_to_null": "grounded"}, [G, N, N, G, G]),
            ({"implicit_true": "grounded", "due_to_null": "grounded"}, [G, N, G, G, G]),
        ],
    )
    def test_options_say_which_spans_count(self, tmp_path: Path, options: dict[str, str], labels: list[Label]) -> None:
        assert [item.label for item in read(tmp_path, "ragtruth", **options).items] == labels

    def test_a_label_map_says_which_types_of_span_count(self, tmp_path: Path) -> None:
        data = read(tmp_path, "ragtruth", {"evident_conflict": G})
        assert [item.label for item in data.items] == [G, G, N, N, G]
        assert data.labels["evident_conflict"] is G

    def test_responses_of_bad_quality_can_be_left_out(self, tmp_path: Path) -> None:
        data = read(tmp_path, "ragtruth", quality="good")
        assert len(data.items) == 4
        assert data.left_out["its quality is truncated"] == ["5"]


class TestHaluEval:
    def test_a_pair_is_two_items_of_one_cluster(self, tmp_path: Path) -> None:
        for what in ("halueval_dialogue", "halueval_summarization"):
            right, wrong = read(tmp_path, what).items
            assert (right.label, wrong.label) == (G, N)
            assert right.cluster == wrong.cluster
            assert right.evidence == wrong.evidence
            assert right.category == what.partition("_")[2]

    def test_the_claim_carries_the_question_or_the_dialogue(self, tmp_path: Path) -> None:
        assert read(tmp_path, "halueval_qa").items[0].claim == "Question: How deep is Lake Orrin?\nAnswer: 40 m"
        response = read(tmp_path, "halueval_dialogue").items[0]
        assert response.claim == (
            "Dialogue: [Human]: Do you know Orrin? [Assistant]: The film?\nResponse: Yes, it is by Ada Marsh."
        )
        assert read(tmp_path, "halueval_summarization").items[1].claim == "Bridge burned."

    def test_records_on_the_same_knowledge_are_one_cluster_and_failed_generations_no_items(self, tmp_path: Path) -> None:
        data = read(tmp_path, "halueval_qa")
        assert [item.label for item in data.items] == [G, N, G]
        assert len({item.cluster for item in data.items}) == 1
        assert [len(ids) for ids in data.left_out.values()] == [1]

    def test_yes_means_hallucinated(self, tmp_path: Path) -> None:
        assert [item.label for item in read(tmp_path, "halueval_samples").items] == [G, N]

    def test_general_queries_have_no_evidence(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"holds no items; 1 left out because: general_data.json has no knowledge .*\(1\)"):
            read(tmp_path, "halueval_general")


class TestSciFact:
    def test_each_cited_abstract_is_an_item(self, tmp_path: Path) -> None:
        data = read(tmp_path, "scifact")
        assert [item.id for item in data.items] == ["scifact:1:100", "scifact:2:100", "scifact:2:200", "scifact:3:300"]
        assert [item.category for item in data.items] == ["SUPPORT", "CONTRADICT", "not_enough_info", "not_enough_info"]
        assert {item.split for item in data.items} == {"dev"}
        assert data.left_out == {"its abstract is not in corpus.jsonl": ["4:404"]}

    def test_all_items_show_whole_abstracts_unless_rationales_are_asked_for(self, tmp_path: Path) -> None:
        assert {len(item.evidence) for item in read(tmp_path, "scifact").items} == {3}
        evidence = [item.evidence for item in read(tmp_path, "scifact", evidence="rationale").items]
        assert evidence == [
            ("100 b.",),
            ("100 a.", "100 b.", "100 c."),
            ("200 a.", "200 b.", "200 c."),
            ("300 a.", "300 b.", "300 c."),
        ]

    def test_the_corpus_can_lie_elsewhere(self, tmp_path: Path) -> None:
        claims = write_lines(tmp_path / "claims_dev.jsonl", published.SCIFACT)
        corpus = write_lines(tmp_path / "far" / "corpus.jsonl", published.SCIFACT_CORPUS)
        assert len(load_items(claims, options={"corpus": str(corpus)})) == 4
        with pytest.raises(UserError, match=r"no such corpus; option corpus names SciFact's corpus.jsonl"):
            load_items(claims, options={"corpus": str(tmp_path / "none.jsonl")})

    def test_without_a_corpus_every_claim_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"holds no items; 5 left out because: its abstract is not in corpus.jsonl \(1:100"):
            load_items(write_lines(tmp_path / "claims_dev.jsonl", published.SCIFACT))

    def test_the_test_file_has_nothing_to_judge(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"2 left out because: cites no abstract and has no label"):
            read(tmp_path, "scifact_test")

    def test_a_rationale_beyond_its_abstract_is_an_error(self, tmp_path: Path) -> None:
        row = {**published.SCIFACT[0], "evidence": {"100": [{"sentences": [9], "label": "SUPPORT"}]}}
        write_lines(tmp_path / "corpus.jsonl", published.SCIFACT_CORPUS)
        with pytest.raises(UserError, match=r"line 1: abstract 100 has 3 sentences, but evidence names sentence 9"):
            load_items(write_lines(tmp_path / "claims_dev.jsonl", [row]), options={"evidence": "rationale"})

    def test_an_exported_table_is_the_same(self, tmp_path: Path) -> None:
        import pandas

        lines = FILES["scifact"][1](tmp_path)
        pandas.DataFrame(published.SCIFACT).to_parquet(tmp_path / "claims_dev.parquet")
        assert load_items(tmp_path / "claims_dev.parquet") == load_items(lines)

    def test_the_mirror_is_told_by_its_folder_and_is_ours_elsewhere(self, tmp_path: Path) -> None:
        data = read(tmp_path, "scifact_mirror")
        assert [item.label for item in data.items] == [G, N, N]
        assert data.items[0].cluster == data.items[1].cluster != data.items[2].cluster
        elsewhere = write_lines(tmp_path / "x" / "dev.jsonl", published.SCIFACT_MIRROR)
        assert recognise(elsewhere).name == "optimizer"
        assert load_items(elsewhere, format="scifact_mirror")[0].id == data.items[0].id


class TestFeverous:
    def test_passages_have_their_page_and_plain_links(self, tmp_path: Path) -> None:
        item = read(tmp_path, "feverous_text").items[0]
        assert item.evidence == ("Brae Mill: Brae Mill stands on the Orrin.", "Orrin: Its mill dates from 1871.")
        assert (item.id, item.category, item.split) == ("feverous:3385", "Multi-hop Reasoning", "dev")

    def test_evidence_that_is_only_ids_is_reported(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"1 left out because: its evidence is ids of the FEVEROUS wiki database.*\(71874\)"):
            read(tmp_path, "feverous_ids")


def test_fool_me_twice_shows_the_writers_evidence_or_what_was_retrieved(tmp_path: Path) -> None:
    gold = read(tmp_path, "fool_me_twice").items[0]
    assert (gold.evidence, gold.domain) == (("Brae has a mill.", "It burned."), "History")
    assert read(tmp_path, "fool_me_twice", evidence="retrieved").items[0].evidence == ("It is remembered.", "It burned.")


def test_aggrefact_clusters_by_document_and_names_the_data_set(tmp_path: Path) -> None:
    first, second, third = read(tmp_path, "llm_aggrefact").items
    assert [item.label for item in (first, second, third)] == [G, N, G]
    assert first.cluster == second.cluster != third.cluster
    assert [item.category for item in (first, second, third)] == ["Set-A", "Set-A", "Set-B"]


def test_a_label_map_overrides_the_formats(tmp_path: Path) -> None:
    data = read(tmp_path, "wice", {"partially_supported": G})
    assert [item.label for item in data.items] == [G, G, N]
    assert data.record == {
        "format": "wice",
        "labels": {"not_supported": "not_grounded", "partially_supported": "grounded", "supported": "grounded"},
    }


def bad(what: list[dict[str, Any]], **changes: Any) -> list[dict[str, Any]]:
    return [what[0], {**what[1], **changes}]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            bad(published.VITAMINC, label="MAYBE"),
            r"line 2: label 'MAYBE' is unknown; known are not_enough_info, refutes,",
        ),
        (bad(published.VITAMINC, label=None), r"line 2: column 'label' has no label"),
        (bad(published.VITAMINC, evidence=["E"]), r"line 2: column 'evidence' must hold text, but is a list"),
        (bad(published.VITAMINC, unique_id="5ed4de07c9e7_1"), r"two different items have the id 'vitaminc:5ed4de07c9e7_1'"),
        (bad(published.SCIFACT, evidence=[1]), r"line 2: column 'evidence' must be an object of documents"),
        (bad(published.RAGTRUTH, labels="none"), r"line 2: column 'labels' must be a list of spans"),
        (bad(published.WICE, evidence="E"), r"line 2: column 'evidence' must hold a list of texts"),
        (bad(published.FOOL_ME_TWICE, gold_evidence="E"), r"line 2: column 'gold_evidence' must hold a list of objects"),
        (
            [published.VITAMINC[0], {"unique_id": "x", "case_id": "c"}],
            r"line 2: has no column 'claim'; it has unique_id, case_id",
        ),
    ],
)
def test_a_bad_record_is_named_with_its_line(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    write_lines(tmp_path / "source_info.jsonl", published.RAGTRUTH_SOURCES)
    with pytest.raises(UserError, match=message):
        load_items(write_lines(tmp_path / "d.jsonl", rows))


def test_a_repeated_record_is_one_item(tmp_path: Path) -> None:
    data = load_data(write_lines(tmp_path / "d.jsonl", [*published.AGGREFACT, published.AGGREFACT[0]]), Loading())
    assert len(data.items) == 3
    assert data.left_out == {"repeats an earlier record": [data.items[0].id]}


@pytest.mark.parametrize(
    ("rows", "reason", "left"),
    [
        (bad(published.VITAMINC, evidence=" "), "its evidence is empty", 1),
        (bad(published.WICE, evidence=[]), "its evidence is empty", 1),
        (bad(published.FOOL_ME_TWICE, gold_evidence=[]), "its evidence is empty", 1),
        (bad(published.HALUEVAL_QA, hallucinated_answer=""), "its hallucinated_answer is empty", 3),
    ],
)
def test_records_without_a_text_are_left_out(tmp_path: Path, rows: list[dict[str, Any]], reason: str, left: int) -> None:
    data = load_data(write_lines(tmp_path / "d.jsonl", rows), Loading())
    assert data.left_out == {reason: ["d.jsonl, line 2"]}
    assert len(data.items) == left


def test_a_hallucination_that_is_the_right_answer_is_kept_apart(tmp_path: Path) -> None:
    row = {**published.HALUEVAL_QA[0], "hallucinated_answer": "40 m"}
    right, wrong = load_items(write_lines(tmp_path / "d.json", [row]))
    assert (right.label, wrong.label) == (G, N)
    assert right.id != wrong.id


def test_unlabelled_records_are_read_where_no_label_is_needed(tmp_path: Path) -> None:
    row = {name: value for name, value in published.VITAMINC[0].items() if name != "label"}
    path = write_lines(tmp_path / "d.jsonl", [row])
    assert load_items(path, require_label=False, format="vitaminc")[0].label is None


@pytest.mark.parametrize(
    ("what", "options", "message"),
    [
        ("vitaminc", {"nulls": "x"}, r"format vitaminc has no option 'nulls'; it has none"),
        ("ragtruth", {"due_to_null": "no"}, r"option due_to_null of format ragtruth is 'no'; it can be not_grounded or grounded"),
        ("own", {"x": "y"}, r"format optimizer has no option 'x'; it has none"),
    ],
)
def test_unknown_options_are_errors(tmp_path: Path, what: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(tmp_path, what, **options)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("dev.jsonl", "dev"),
        ("claims_train.jsonl", "train"),
        ("fever_symmetric_test.jsonl", "test"),
        ("validation-00000-of-00001.parquet", "dev"),
        ("latest.jsonl", ""),
        ("qa_data.json", ""),
    ],
)
def test_the_split_is_told_by_the_files_name(name: str, split: str) -> None:
    assert split_of(Path(name)) == split


def test_families_are_joined_through_others() -> None:
    families = Families()
    for names in (["a"], ["b", "c"], ["d"], ["c", "a"], []):
        families.join(names)
    assert [families.of(name) for name in "abcd"] == ["a", "a", "a", "d"]


_SAMPLES = os.environ.get("PANEL_SAMPLES", "")
_GROUNDEDNESS = ("vitaminc*", "wice", "ragtruth", "halueval", "scifact", "fever_symmetric", "feverous")


@pytest.mark.skipif(not _SAMPLES, reason="PANEL_SAMPLES names no folder with samples of the published files")
def test_every_sample_of_the_published_files_is_read_or_says_why_not() -> None:
    folders = [folder for pattern in _GROUNDEDNESS for folder in Path(_SAMPLES).glob(pattern)]
    files = sorted(file for folder in folders for file in folder.rglob("*.json*"))
    assert files
    for file in files:
        known, loading = recognise(file), Loading()
        items: list[Item] = list(known.items(file, loading))
        assert known.name != "optimizer", file
        assert items or loading.left_out, file
        assert len({item.id for item in items}) == len(items), file
