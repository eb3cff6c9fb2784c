"""A mixture of data files with fixed shares, both labels in balance, drawn by a seed: a TOML file that names its sources."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field, ValidationError

from optimizer.data.formats.base import Loading, RemoteFile, Sample
from optimizer.data.formats.records import chosen_options
from optimizer.data.item import Item, Label, Task
from optimizer.data.labels import parse_label_map
from optimizer.data.shipped import data_path
from optimizer.data.splits import spread
from optimizer.errors import UserError
from optimizer.sections import Strict


class _Source(Strict):
    """One source: its file (beside the recipe) or data set, its part of the whole, and how it is read."""

    data: str
    share: float = Field(default=1.0, gt=0)
    format: str = ""
    label_map: str = ""
    options: dict[str, str] = Field(default_factory=dict)


class _Recipe(Strict):
    """A mixture: the seed that draws, how many items in all (0: as many as shares and balance allow), and the sources."""

    seed: int = 0
    items: int = Field(default=0, ge=0)
    sources: tuple[_Source, ...] = Field(min_length=1)


class Composed:
    """Reads a recipe: `seed`, `items`, and `[[sources]]` with `data`, `share`, `format`, `label_map` and `options`.

    Each source gives its share of the items, as many of one label as of the other, over as many clusters as possible. Shares are
    parts of their sum. The same recipe and files give the same items.
    """

    name = "composed"
    title = "a mixture of other files, by shares"
    task = Task.CLAIM
    licence = "the sources'"
    home = "docs/data.md"
    files: tuple[RemoteFile, ...] = ()
    labels: Mapping[str, Label] = {}
    options: Mapping[str, str] = {"seed": "", "items": ""}

    def recognises(self, sample: Sample) -> bool:
        """Whether it is a TOML file with sources."""
        return sample.path.suffix.lower() == ".toml" and "sources" in sample.columns

    def items(self, path: Path, loading: Loading) -> Iterator[Item]:
        """The items drawn, source by source, in the order of their files.

        Raises:
            UserError: the recipe is bad, or a source has too few items of a label.
        """
        recipe = _read_recipe(path, _given(chosen_options(self.name, self.options, loading)))
        pools = _pools(path, recipe, loading)
        shares = [source.share for source in recipe.sources]
        counts = divide(recipe.items, shares) if recipe.items else _largest(pools, shares)
        used: Counter[str] = Counter()
        for source, pool, count in zip(recipe.sources, pools, counts, strict=True):
            yield from _draw(path, source.data, pool, count, recipe.seed, used)


def recipe_sources(path: Path) -> list[str]:
    """What a recipe draws from, as `data_path` takes it. Raises UserError where the recipe is bad."""
    return [_place(path, source.data) for source in _read_recipe(path, {}).sources]


def divide(total: int, shares: Sequence[float]) -> list[int]:
    """`total` in whole parts as the shares say, by the largest remainder; ties go to the earlier share."""
    exact = [total * share / sum(shares) for share in shares]
    parts = [int(value) for value in exact]
    order = sorted(range(len(shares)), key=lambda index: (parts[index] - exact[index], index))
    for index in order[: total - sum(parts)]:
        parts[index] += 1
    return parts


def _given(options: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if value}


def _read_recipe(path: Path, overrides: Mapping[str, str]) -> _Recipe:
    try:
        return _Recipe.model_validate({**tomllib.loads(path.read_text(encoding="utf-8-sig")), **overrides})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as TOML ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        unknown = first["type"] == "extra_forbidden"
        fields = ", ".join((_Source if len(first["loc"]) > 1 else _Recipe).model_fields)
        problem = f"is unknown; known are {fields}" if unknown else f"{first['msg']} (got {first['input']!r})"
        raise UserError(f"{path}: {name}: {problem}") from error


def _pools(path: Path, recipe: _Recipe, loading: Loading) -> list[list[Item]]:
    """The items of each source. An item that two sources have is of the earlier one."""
    taken: set[str] = set()
    pools: list[list[Item]] = []
    for source in recipe.sources:
        pool = []
        for item in _load(path, source, loading):
            if item.id in taken:
                loading.leave_out(f"{source.data}: is in an earlier source too", item.id)
            else:
                pool.append(item)
        groups = by_label(pool)
        if not groups or (len(groups) == 1 and None not in groups):
            has = f"holds {next(iter(groups))} items only" if groups else "has no item that an earlier one has not"
            raise UserError(f"{path}: source {source.data} {has}, so it cannot be balanced; leave it away or take more of it")
        taken.update(item.id for item in pool)
        pools.append(pool)
    return pools


def by_label(items: Sequence[Item]) -> dict[Label | None, list[Item]]:
    """The items of each label, in their order; grounded before not_grounded."""
    groups: dict[Label | None, list[Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: str(item.label)):
        groups[item.label].append(item)
    return dict(groups)


def _place(recipe: Path, data: str) -> str:
    """A file beside the recipe goes first."""
    return str(recipe.parent / data) if (recipe.parent / data).exists() else data


def _load(recipe: Path, source: _Source, loading: Loading) -> list[Item]:
    path = data_path(_place(recipe, source.data))
    if not path.exists():
        raise UserError(f"{recipe}: source {source.data}: no such data file beside it, and no data set or benchmark of that name")
    if path.suffix.lower() == ".toml":
        raise UserError(f"{recipe}: source {source.data} is a mixture itself; name its sources here instead")
    try:
        labels = {**parse_label_map(source.label_map), **loading.labels}
    except ValueError as error:
        raise UserError(f"{recipe}: source {source.data}: {error}") from error
    from optimizer.data.datafile import load_data  # late: it knows all formats, this one too

    own = Loading(labels, source.options, require_label=loading.require_label)
    data = load_data(path, own, source.format)
    loading.read.update({f"{data.format}: {name}": label for name, label in own.read.items()})
    for reason, ids in own.left_out.items():
        loading.left_out.setdefault(f"{source.data}: {reason}", []).extend(ids)
    return data.items


def _largest(pools: Sequence[Sequence[Item]], shares: Sequence[float]) -> list[int]:
    """The largest counts in the shares that leave every source's labels in balance; even in all, so that the whole is too."""
    room = [len(groups) * min(map(len, groups.values())) for groups in map(by_label, pools)]
    total = min(int(have * sum(shares) / share) + 1 for have, share in zip(room, shares, strict=True))
    while total % 2 or any(part > have for part, have in zip(divide(total, shares), room, strict=True)):
        total -= 1
    return divide(total, shares)


def _draw(path: Path, name: str, pool: Sequence[Item], count: int, seed: int, used: Counter[str]) -> Iterator[Item]:
    """`count` items of a source, its labels in balance; an odd one goes to the label that the mixture has fewest of."""
    groups = by_label(pool)
    extra = sorted(groups, key=lambda label: (used[str(label)], str(label)))[: count % len(groups)]
    chosen: set[str] = set()
    for label, members in groups.items():
        wanted = count // len(groups) + (label in extra)
        if wanted > len(members):
            raise UserError(
                f"{path}: source {name} has {len(members)} items of label {label}, but {wanted} are asked for; lower its share "
                "or items, or leave items away to take as many as there are"
            )
        used[str(label)] += wanted
        # A size of 0 would take all.
        chosen.update(item.id for item in (spread(members, seed, wanted) if wanted else []))
    return (item for item in pool if item.id in chosen)
