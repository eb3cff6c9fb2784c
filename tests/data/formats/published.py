"""Small files in exactly the fields and shapes that the benchmarks are published in; the contents are made up."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def vitaminc_row(case: str, number: int, label: str, page: str = "Harbour Lights") -> Row:
    return {
        "unique_id": f"{case}_{number}",
        "case_id": case,
        "wiki_revision_id": "927477259",
        "label": label,
        "claim": f"Harbour Lights sold more than {number} million records .",
        "evidence": f"Harbour Lights has sold {number + 1} million records , by its label 's count in {case} .",
        "page": page,
    }


VITAMINC = [
    vitaminc_row("5ed4de07c9e7", 1, "SUPPORTS"),
    vitaminc_row("5ed4de07c9e7", 2, "REFUTES"),
    vitaminc_row("5ee39329c9e7", 1, "NOT ENOUGH INFO"),
    vitaminc_row("5ee3932bc9e7", 1, "SUPPORTS", page="Loch Orrin"),
]


def wice_row(id: str, label: str, title: str) -> Row:
    return {
        "label": label,
        "supporting_sentences": [[1], [1, 2]] if label != "not_supported" else [[]],
        "claim": f"The mill at {title} was built in 1871 ({id}).",
        "evidence": ["(meta data) TITLE: A mill", f"The mill at {title} dates from 1871.", "It burned in 1902."],
        "meta": {"id": id, "claim_title": title, "claim_section": "History.", "claim_context": ""},
    }


WICE = [
    wice_row("dev00001", "supported", "Brae"),
    wice_row("dev00002", "partially_supported", "Brae"),
    wice_row("dev00003", "not_supported", "Tarn"),
]


def wice_chunk(id: str, label: str, chunk: list[int]) -> Row:
    sentences = ["A mill", "It dates from 1871.", "It burned in 1902.", "Nobody was hurt."]
    return {
        "label": label,
        "claim": f"The mill was built in 1871 ({id}).",
        "evidence": [sentences[index] for index in chunk],
        "meta": {"id": id, "claim_title": "Brae", "claim_section": "History.", "chunk_idx": chunk, "oracle_idx": [1]},
    }


WICE_ORACLE = [
    wice_chunk("test00001", "supported", [0, 1]),
    wice_chunk("test00001", "supported", [1, 2]),
    wice_chunk("test00002", "partially_supported", [1, 3]),
]


def span(label_type: str = "Evident Conflict", **flags: bool) -> Row:
    return {"start": 4, "end": 9, "text": "hotel", "meta": "note", "label_type": label_type, **flags}


def response(id: str, source: str, labels: list[Row], quality: str = "good", split: str = "train") -> Row:
    return {
        "id": id,
        "source_id": source,
        "model": "some-7B-instruct",
        "temperature": 0.7,
        "labels": labels,
        "split": split,
        "quality": quality,
        "response": f"The hotel has a pool, says response {id}.",
    }


RAGTRUTH = [
    response("1", "11", []),
    response("2", "11", [span()], split="test"),
    response("3", "12", [span("Subtle Baseless Info", implicit_true=True, due_to_null=False)]),
    response("4", "13", [span("Evident Baseless Info", implicit_true=False, due_to_null=True)]),
    response("5", "13", [], quality="truncated"),
    response("6", "99", []),
]
RAGTRUTH_SOURCES = [
    {"source_id": "11", "task_type": "Summary", "source": "CNN/DM", "source_info": "A hotel opened.", "prompt": "Summarize"},
    {
        "source_id": "12",
        "task_type": "QA",
        "source": "MARCO",
        "source_info": {"question": "is there a pool", "passages": "passage 1:There is a pool.\n\npassage 2:It is heated.\n\n"},
        "prompt": "Answer",
    },
    {
        "source_id": "13",
        "task_type": "Data2txt",
        "source": "Yelp",
        "source_info": {
            "name": "The Hotel",
            "hours": {"Monday": "9:0-22:30"},
            "attributes": {"Music": None, "WiFi": "no"},
            "business_stars": 3.0,
            "review_info": [{"review_stars": 1.0, "review_text": "Cold."}, {"review_stars": 5.0, "review_text": "Warm."}],
        },
        "prompt": "Write",
    },
    {"source_id": "14", "task_type": "Summary", "source": "CNN/DM", "source_info": "Nobody answered.", "prompt": "Summarize"},
]

HALUEVAL_QA = [
    {
        "knowledge": " Lake Orrin lies in the north. It is 40 m deep.",
        "question": "How deep is Lake Orrin?",
        "right_answer": "40 m",
        "hallucinated_answer": "It is the deepest lake, 90 m.",
    },
    {
        "knowledge": " Lake Orrin lies in the north. It is 40 m deep.",
        "question": "Where is Lake Orrin?",
        "right_answer": "in the north",
        "hallucinated_answer": "failed!",
    },
]
HALUEVAL_DIALOGUE = [
    {
        "knowledge": "Orrin is a film directed by Ada Marsh.",
        "dialogue_history": "[Human]: Do you know Orrin? [Assistant]: The film?",
        "right_response": "Yes, it is by Ada Marsh.",
        "hallucinated_response": "Yes, it is by Bea Stone.",
    }
]
HALUEVAL_SUMMARY = [
    {"document": "The bridge closed on Monday.", "right_summary": "Bridge closed.", "hallucinated_summary": "Bridge burned."}
]
HALUEVAL_SAMPLES = [
    {"knowledge": "Orrin is 40 m deep.", "question": "How deep is Orrin?", "answer": "40 m", "hallucination": "no"},
    {"knowledge": "Orrin is 40 m deep.", "question": "How deep is Orrin?", "answer": "90 m", "hallucination": "yes"},
]
HALUEVAL_GENERAL = [
    {"ID": "1", "user_query": "List words.", "chatgpt_response": "a, b", "hallucination": "no", "hallucination_spans": []}
]

SCIFACT = [
    {
        "id": 1,
        "claim": "Salt raises pressure.",
        "evidence": {"100": [{"sentences": [1], "label": "SUPPORT"}]},
        "cited_doc_ids": [100],
    },
    {
        "id": 2,
        "claim": "Salt lowers pressure.",
        "evidence": {
            "100": [{"sentences": [1], "label": "CONTRADICT"}, {"sentences": [0, 2], "label": "CONTRADICT"}],
        },
        "cited_doc_ids": [100, 200],
    },
    {"id": 3, "claim": "Sugar raises pressure.", "evidence": {}, "cited_doc_ids": [300]},
    {"id": 4, "claim": "Tea raises pressure.", "evidence": {}, "cited_doc_ids": [404]},
]
SCIFACT_CORPUS = [
    {
        "doc_id": number,
        "title": "A paper",
        "abstract": [f"{number} a.", f"{number} b.", f"{number} c."],
        "structured": False,
    }
    for number in (100, 200, 300, 500)
]
SCIFACT_TEST = [{"id": 7, "claim": "Coffee raises pressure."}, {"id": 8, "claim": "Water raises pressure."}]
SCIFACT_MIRROR = [
    {"claim": "Salt raises pressure.", "evidence": "Pressure rose with salt.", "label": "SUPPORTS", "id": 0},
    {"claim": "Salt lowers pressure.", "evidence": "Pressure rose with salt.", "label": "REFUTES", "id": 1},
    {"claim": "Tea raises pressure.", "evidence": "Tea was drunk.", "label": "NOT_ENOUGH_INFO", "id": 2},
]

FEVER_SYMMETRIC_1 = [
    {"id": "111897", "label": "REFUTES", "claim": "Orrin is a river .", "evidence_sentence": "Orrin is a lake ."},
    {"id": "1118970000002", "label": "SUPPORTS", "claim": "Orrin is a river .", "evidence_sentence": "Orrin is a river ."},
    {"id": "1118970000003", "label": "SUPPORTS", "claim": "Orrin is a lake .", "evidence_sentence": "Orrin is a lake ."},
    {"id": "89891", "label": "REFUTES", "claim": "Ada was born in 2011 .", "evidence_sentence": "Ada was born in 1911 ."},
]
FEVER_SYMMETRIC_2 = [
    {
        "id": row["id"],
        "claim": row["claim"],
        "evidence": row["evidence_sentence"],
        "sentence1": row["evidence_sentence"],
        "sentence2": row["claim"],
        "gold_label": row["label"],
        "label": row["label"],
        "evid": [[row["evidence_sentence"], 1.0]],
    }
    for row in FEVER_SYMMETRIC_1
]

FEVEROUS_TEXT = [
    {
        "id": 3385,
        "claim": "Brae Mill was built in 1871 on the Orrin.",
        "label": "supports",
        "challenge": "Multi-hop Reasoning",
        "evidence": "Brae Mill\tBrae Mill stands on the [[River_Orrin|Orrin]].\nOrrin\tIts [[mill]] dates from 1871.",
    },
    {
        "id": 7966,
        "claim": "The Orrin has no mill.",
        "label": "refutes",
        "challenge": "Other",
        "evidence": "Orrin\tIts [[mill]] dates from 1871.",
    },
    {"id": 12, "claim": "Tarn is dry.", "label": "refutes", "challenge": "Other", "evidence": "Tarn\tTarn is a lake."},
]
FEVEROUS_IDS = [
    {
        "evidence": [
            {
                "content": ["Brae Mill_sentence_1", "Brae Mill_cell_0_3_1"],
                "context": {"Brae Mill_sentence_1": ["Brae Mill_title"], "Brae Mill_cell_0_3_1": ["Brae Mill_title"]},
            }
        ],
        "id": 71874,
        "claim": "Brae Mill was built in 1871.",
        "label": "SUPPORTS",
        "annotator_operations": [{"operation": "start", "value": "start", "time": "0"}],
        "challenge": "Combining Tables and Text",
    },
]


def passage(text: str) -> Row:
    return {"section_header": "Summary", "text": text}


def fool_row(id: str, label: str, page: str) -> Row:
    return {
        "category": "History",
        "correct_votes": 1,
        "gold_evidence": [
            passage(f"{page} has a mill."),
            passage("It burned."),
        ],
        "id": id,
        "label": label,
        "retrieved_evidence": [
            passage("It is remembered."),
            passage("It burned."),
        ],
        "text": f"The mill of {page} burned ({id}).",
        "total_likes": 0,
        "total_votes": 1,
        "wikipedia_page": page,
    }


FOOL_ME_TWICE = [fool_row("01EI", "SUPPORTS", "Brae"), fool_row("01YZ", "REFUTES", "Brae"), fool_row("03qZ", "REFUTES", "Tarn")]
AGGREFACT = [
    {"dataset": "Set-A", "doc": "The mill burned.", "claim": "It burned.", "label": 1, "contamination_identifier": "x"},
    {"dataset": "Set-A", "doc": "The mill burned.", "claim": "It was sold.", "label": 0, "contamination_identifier": "x"},
    {"dataset": "Set-B", "doc": "The lake froze.", "claim": "It froze.", "label": 1, "contamination_identifier": "x"},
]
OWN = [
    {"id": "a", "claim": "It burned.", "evidence": ["The mill burned."], "label": "grounded", "cluster": "mill", "split": "dev"},
    {"id": "b", "claim": "It was sold.", "evidence": ["The mill burned."], "label": "not_grounded", "cluster": "mill"},
]
COMPOSED = """seed = 1
[[sources]]
data = "own.jsonl"
"""


def _lines(name: str, rows: list[Row]) -> Callable[[Path], Path]:
    return lambda folder: write_lines(folder / name, rows)


def _ragtruth(folder: Path) -> Path:
    write_lines(folder / "source_info.jsonl", RAGTRUTH_SOURCES)
    return write_lines(folder / "response.jsonl", RAGTRUTH)


def _scifact(folder: Path) -> Path:
    write_lines(folder / "corpus.jsonl", SCIFACT_CORPUS)
    return write_lines(folder / "claims_dev.jsonl", SCIFACT)


def _array(folder: Path) -> Path:
    path = folder / "dev.json"
    path.write_text(json.dumps(FEVEROUS_TEXT, indent=2), encoding="utf-8")
    return path


def _composed(folder: Path) -> Path:
    write_lines(folder / "own.jsonl", OWN)
    path = folder / "mixture.toml"
    path.write_text(COMPOSED, encoding="utf-8")
    return path


# What each file is, its format, and what writes it into an empty folder.
FILES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "own": ("optimizer", _lines("own.jsonl", OWN)),
    "composed": ("composed", _composed),
    "vitaminc": ("vitaminc", _lines("test.jsonl", VITAMINC)),
    "wice": ("wice", _lines("dev.jsonl", WICE)),
    "wice_oracle": ("wice_oracle", _lines("test.jsonl", WICE_ORACLE)),
    "ragtruth": ("ragtruth", _ragtruth),
    "halueval_qa": ("halueval", _lines("qa_data.json", HALUEVAL_QA)),
    "halueval_dialogue": ("halueval", _lines("dialogue_data.json", HALUEVAL_DIALOGUE)),
    "halueval_summarization": ("halueval", _lines("summarization_data.json", HALUEVAL_SUMMARY)),
    "halueval_samples": ("halueval", _lines("qa_samples.jsonl", HALUEVAL_SAMPLES)),
    "halueval_general": ("halueval", _lines("general_data.json", HALUEVAL_GENERAL)),
    "scifact": ("scifact", _scifact),
    "scifact_test": ("scifact", _lines("claims_test.jsonl", SCIFACT_TEST)),
    "scifact_mirror": ("scifact_mirror", _lines("scifact_oracle/dev.jsonl", SCIFACT_MIRROR)),
    "fever_symmetric_v0.1": ("fever_symmetric", _lines("fever_symmetric_full.jsonl", FEVER_SYMMETRIC_1)),
    "fever_symmetric_v0.2": ("fever_symmetric", _lines("fever_symmetric_dev.jsonl", FEVER_SYMMETRIC_2)),
    "feverous_text": ("feverous", _array),
    "feverous_ids": ("feverous", _lines("feverous_dev_challenges.jsonl", FEVEROUS_IDS)),
    "fool_me_twice": ("fool_me_twice", _lines("dev.jsonl", FOOL_ME_TWICE)),
    "llm_aggrefact": ("llm_aggrefact", _lines("dev.jsonl", AGGREFACT)),
}
