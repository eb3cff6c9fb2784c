"""Imports point downwards only, and importing the package stays cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent / "optimizer"
LEVEL = {
    "sections": -1,
    "errors": 0, "config": 0, "stats": 0,
    "models": 1, "prompts": 1, "data": 1,
    "debate": 2, "uncertainty": 2,
    "runs": 3,
    "search": 4, "analysis": 4, "misinformation": 4,
    "integrations": 5, "report": 5, "api": 5,
    "cli": 6, "__main__": 7, "__init__": -1,
}  # fmt: skip
HEAVY = {"litellm", "dspy", "torch", "optuna", "pandas", "pyarrow", "scipy", "huggingface_hub", "xllamacpp"}
NEEDED = {"search/program.py": {"dspy"}}  # a dspy program is a class of dspy's; whoever reflects imports the module late


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def part_of(path: Path) -> str:
    relative = path.relative_to(ROOT)
    return relative.parts[0].removesuffix(".py")


def imported(path: Path, top_level_only: bool = False) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_downwards(path: Path) -> None:
    own = LEVEL[part_of(path)]
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "optimizer" or len(parts) == 1:
            continue
        other = LEVEL[parts[1]]
        same_folder = part_of(path) == parts[1]
        assert (
            same_folder
            or other < own
            or {part_of(path), parts[1]} <= {"models", "prompts", "data"}
            or ({part_of(path), parts[1]} == {"search", "analysis"})
        ), f"{path} imports {name}"


@pytest.mark.parametrize("part", ["sections", "stats"])
def test_the_lowest_layer_imports_nothing_of_ours_but_itself(part: str) -> None:
    for path in modules():
        if part_of(path) == part:
            ours = {name for name in imported(path) if name.startswith("optimizer.") and name.split(".")[1] != part}
            assert not ours, f"{path} imports {ours}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_heavy_packages_are_not_imported_at_module_level(path: Path) -> None:
    heavy = {name.split(".")[0] for name in imported(path, top_level_only=True)} & set(HEAVY)
    assert heavy == NEEDED.get(path.relative_to(ROOT).as_posix(), set())


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import sys; sys.argv = ['optimizer', '--help']\n"
        "import optimizer.cli\n"
        "try:\n    optimizer.cli.main()\nexcept SystemExit:\n    pass\n"
        "print('LOADED', sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = result.stderr.split("LOADED")[1]
    for name in (*HEAVY, "pydantic", "aiohttp", "numpy"):
        assert f"'{name}'" not in loaded, name


def test_every_setting_is_in_the_docs() -> None:
    from pydantic import BaseModel

    from optimizer.config import Settings

    text = (ROOT.parent / "docs" / "settings.md").read_text(encoding="utf-8")
    for name, entry in Settings.model_fields.items():
        inner = entry.annotation
        names = (
            [f"{name}.{part}" for part in inner.model_fields]
            if isinstance(inner, type) and issubclass(inner, BaseModel)
            else [name]
        )
        for full in names:
            assert f"`{full}`" in text, full
