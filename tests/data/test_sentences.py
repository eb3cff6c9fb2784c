"""Sentences and words, as measures of texts need them."""

from __future__ import annotations

import pytest

from optimizer.data.sentences import sentences, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rose. It fell.", ["It rose.", "It fell."]),
        ("It rose by 3.5 %, says Dr. Adams. Then it fell!", ["It rose by 3.5 %, says Dr. Adams.", "Then it fell!"]),
        ("J. K. Rowling wrote it, e.g. in 1997. True?", ["J. K. Rowling wrote it, e.g. in 1997.", "True?"]),
        ('He said "No." Then he left', ['He said "No."', "Then he left"]),
        (
            "The answer is B. It is in no. 4. So no. The dates differ.",
            ["The answer is B.", "It is in no. 4.", "So no.", "The dates differ."],
        ),
        ("one line\nanother\n\nthird", ["one line", "another", "third"]),
        ("雨が降った。晴れた。", ["雨が降った。", "晴れた。"]),
        ("... !\n", []),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_words_are_lower_case_with_numbers_and_single_characters_of_scripts_without_spaces() -> None:
    assert words("The 3rd, “É” 雨水!") == ["the", "3rd", "é", "雨", "水"]
