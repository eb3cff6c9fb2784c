"""The prompts of a panel: a seed for each component, and alternatives to try instead.

A folder holds `<component>/seed.md` and `<component>/alternatives/*.md`, or just `<component>.md` as a run exports them.
Every folder or file but source_skepticism is a persona, so a new folder is a new persona.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from optimizer.config import Settings
from optimizer.errors import UsageError, UserError
from optimizer.prompts.files import read_prompt

SOURCE_SKEPTICISM = "source_skepticism"
STANDARD_PERSONAS = ("skeptic", "advocate", "expert")


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another text for a component: its file name without the ending, the text, and one line on its idea."""

    name: str
    text: str
    idea: str


@dataclass(frozen=True, slots=True)
class PromptLibrary:
    """Seeds and alternatives by component; personas in speaking order, source_skepticism last."""

    seeds: dict[str, str]
    alternatives: dict[str, tuple[Alternative, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def personas(self) -> tuple[str, ...]:
        return tuple(name for name in self.seeds if name != SOURCE_SKEPTICISM)

    def seated(self, panel: str) -> PromptLibrary:
        """Only who is named, with commas, in that speaking order; the sentence about sources only if it is named.

        Raises:
            UserError: a name is unknown, or nobody sits there.
        """
        named = [name.strip() for name in panel.split(",") if name.strip()]
        for name in named:
            if name not in self.seeds:
                raise UserError(f"panel: {name!r} has no prompt; there are {', '.join(self.seeds)}")
        ordered = [name for name in dict.fromkeys(named) if name != SOURCE_SKEPTICISM]
        if not ordered:
            raise UserError(f"panel {panel!r} seats no persona; name at least one of {', '.join(self.personas)}")
        if SOURCE_SKEPTICISM in named:
            ordered.append(SOURCE_SKEPTICISM)
        kept = {name: texts for name, texts in self.alternatives.items() if name in ordered}
        return PromptLibrary({name: self.seeds[name] for name in ordered}, kept, self.notes)

    def components(self, wanted: str) -> tuple[str, ...]:
        """The components that `wanted` names: one of them, several joined by commas, or `all`.

        Raises:
            UsageError: one of the names is unknown; the message lists the valid ones.
        """
        if wanted == "all":
            return tuple(self.seeds)
        names = tuple(dict.fromkeys(name.strip() for name in wanted.split(",") if name.strip()))
        for name in names or (wanted,):
            if name not in self.seeds:
                raise UsageError(f"unknown persona {name!r}; valid are {', '.join(self.seeds)} and all")
        return names


def load_library(folder: Path | None = None) -> PromptLibrary:
    """The shipped prompts, with those of a user's own folder in their place.

    Raises:
        UserError: the folder does not exist, holds no prompts, or a file in it is bad.
    """
    shipped = _read_folder(shipped_personas())
    if folder is None:
        return shipped
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder of prompts; it should hold <persona>/seed.md files")
    own = _read_folder(folder)
    if not own.seeds:
        raise UserError(f"{folder}: holds no prompts; put <persona>/seed.md or <persona>.md in it")
    kept = [name for name in shipped.seeds if name not in own.seeds]
    seeds = {**shipped.seeds, **own.seeds}
    ordered = [*STANDARD_PERSONAS, *sorted(set(own.seeds) - set(STANDARD_PERSONAS) - {SOURCE_SKEPTICISM}), SOURCE_SKEPTICISM]
    notes = (f"{folder} has no {', '.join(kept)}: the shipped seed is used",) if kept else ()
    return PromptLibrary(
        seeds={name: seeds[name] for name in ordered},
        # Alternatives of a component go with its seed: the shipped ones were written for the shipped seed.
        alternatives={**{name: shipped.alternatives[name] for name in kept}, **own.alternatives},
        notes=notes,
    )


def chosen_library(settings: Settings) -> PromptLibrary:
    """The prompts that the settings name, and who of them sits on the panel. Raises UserError as `load_library` and `seated`."""
    library = load_library(Path(settings.prompts) if settings.prompts else None)
    return library.seated(settings.panel) if settings.panel else library


def shipped_personas() -> Path:
    """The personas/ folder: in the wheel inside the package, in a checkout beside it."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_shipped" / "personas"
    return inside if inside.is_dir() else package.parent / "personas"


def _read_folder(folder: Path) -> PromptLibrary:
    seeds: dict[str, str] = {}
    alternatives: dict[str, tuple[Alternative, ...]] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and any(path.rglob("*.md")):
            seeds[path.name] = read_prompt(path / "seed.md")[0]
            alternatives[path.name] = tuple(_alternative(file) for file in sorted((path / "alternatives").glob("*.md")))
        elif path.suffix == ".md" and path.stem.lower() != "readme":
            seeds[path.stem] = read_prompt(path)[0]
            alternatives[path.stem] = ()
    order = [
        name for name in (*STANDARD_PERSONAS, *sorted(set(seeds) - set(STANDARD_PERSONAS) - {SOURCE_SKEPTICISM})) if name in seeds
    ]
    order += [SOURCE_SKEPTICISM] if SOURCE_SKEPTICISM in seeds else []
    return PromptLibrary({name: seeds[name] for name in order}, {name: alternatives[name] for name in order})


def _alternative(path: Path) -> Alternative:
    text, head = read_prompt(path)
    return Alternative(name=path.stem, text=text, idea=head.get("idea", ""))
