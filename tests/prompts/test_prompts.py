"""Prompt files hold instructions only; what is wrong with one is said with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.errors import UsageError, UserError
from optimizer.prompts.files import read_prompt, write_text
from optimizer.prompts.library import load_library


def test_the_shipped_library_has_a_seed_and_three_different_alternatives_each() -> None:
    library = load_library()
    assert tuple(library.seeds) == ("skeptic", "advocate", "expert", "source_skepticism")
    for component, alternatives in library.alternatives.items():
        texts = {alternative.text for alternative in alternatives} | {library.seeds[component]}
        assert len(texts) == len(alternatives) + 1 >= 4
        assert all(alternative.idea for alternative in alternatives)


def test_front_matter_is_stripped_and_rules_inside_the_text_stay(tmp_path: Path) -> None:
    file = tmp_path / "p.md"
    file.write_bytes("\ufeff---\r\nidea: short\r\n---\r\nFirst.\r\n\r\n---\r\n\r\nSecond.\r\n".encode())
    text, head = read_prompt(file)
    assert (text, head) == ("First.\n\n---\n\nSecond.", {"idea": "short"})


@pytest.mark.parametrize("placeholder", ["{claim}", "{{evidence}}", "{{ item.text }}", "{% if x %}", "${claim}"])
def test_a_placeholder_is_explained_with_its_line(tmp_path: Path, placeholder: str) -> None:
    file = tmp_path / "seed.md"
    file.write_text(f"---\nidea: x\n---\nJudge this.\n{placeholder} it is.\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"seed\.md: line 5 has the placeholder .* instructions only"):
        read_prompt(file)


def test_braces_that_are_no_placeholder_are_text(tmp_path: Path) -> None:
    file = tmp_path / "seed.md"
    file.write_text('Sets like {a, b} and {"verdict": "yes"} are fine.', encoding="utf-8")
    assert read_prompt(file)[0].startswith("Sets like {a, b}")


def test_a_file_that_is_empty_or_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.md").write_text("---\nidea: x\n---\n\n", encoding="utf-8")
    (tmp_path / "latin.md").write_bytes("Urteile über es.".encode("cp1252"))
    with pytest.raises(UserError, match=r"empty\.md: is empty"):
        read_prompt(tmp_path / "empty.md")
    with pytest.raises(UserError, match=r"latin\.md: byte 8 is not UTF-8"):
        read_prompt(tmp_path / "latin.md")


def test_own_files_replace_seeds_and_a_new_folder_is_a_new_persona(tmp_path: Path) -> None:
    (tmp_path / "linguist").mkdir()
    (tmp_path / "linguist" / "seed.md").write_text("You are the Linguist.", encoding="utf-8")
    (tmp_path / "skeptic.md").write_text("Doubt.", encoding="utf-8")
    library = load_library(tmp_path)
    assert library.personas == ("skeptic", "advocate", "expert", "linguist")
    assert library.seeds["skeptic"] == "Doubt."
    assert library.alternatives["skeptic"] == ()
    assert "advocate, expert, source_skepticism" in library.notes[0]
    assert library.components("linguist") == ("linguist",)


def test_an_unknown_persona_lists_the_valid_ones() -> None:
    with pytest.raises(UsageError, match="'sceptic'; valid are skeptic, advocate, expert, source_skepticism and all"):
        load_library().components("sceptic")
    assert load_library().components("all") == ("skeptic", "advocate", "expert", "source_skepticism")


def test_a_missing_or_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder of prompts"):
        load_library(tmp_path / "none")
    with pytest.raises(UserError, match="holds no prompts"):
        load_library(tmp_path)


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        write_text(tmp_path / "taken", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_panel_seats_who_is_named_in_that_order() -> None:
    library = load_library()
    seated = library.seated("source_skepticism, expert,skeptic")
    assert list(seated.seeds) == ["expert", "skeptic", "source_skepticism"]
    assert set(seated.alternatives) == set(seated.seeds)
    assert library.seated("expert").personas == ("expert",)
    with pytest.raises(UserError, match="panel: 'sceptic' has no prompt; there are skeptic, advocate"):
        library.seated("sceptic")
    with pytest.raises(UserError, match="seats no persona"):
        library.seated("source_skepticism")
