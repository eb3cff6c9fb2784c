"""A small data set in the toolkit's own format, for a user to replace by their own."""

from __future__ import annotations

import json
from pathlib import Path

from optimizer.data.passages import FILLER_FILE, PASSAGES_FILE
from optimizer.data.shipped import datasets_folder
from optimizer.errors import UserError
from optimizer.prompts.files import write_text

_CLUSTERS = 6  # enough for a run and for the claim-only check
_ABOUT = """# {name}

Say here what these items are, where the evidence comes from, who set the labels and how they were checked, and under
which licence they may be used. `optimizer data card` puts this text before the figures.

## The format

`items.jsonl`, one claim a line: `id`, `cluster` (claims on the same evidence share it), `claim`, `evidence` (a list of
texts), `label` (grounded or not_grounded), and, if you like, `category`, `domain`, `difficulty` and `rationale` (one line:
why the label is right; reflection reads it). Claims of a cluster should differ in one detail that flips the label.

`passages.jsonl`, if you test misinformation: `item`, `kind` (false supports the wrong label, true the right one), `style`
(plain and others, one word each), `provenance` (who wrote it), `text`; and, if you like, the wrong `answer` that it
suggests, and the `flags` of judges. Of the kinds irrelevant_true, irrelevant_false and filler, what is not there is made.
`filler.txt` has sentences without names or facts, one a line.
"""


def scaffold(folder: Path) -> list[Path]:
    """Write the files of a new data set, filled with a few shipped items as examples; the paths written.

    Raises:
        UserError: the folder holds one of the files already; nothing is written then.
    """
    starter = datasets_folder() / "starter"
    rows = [json.loads(line) for line in (starter / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    clusters = list(dict.fromkeys(row["cluster"] for row in rows))
    kept = set(clusters[:: max(1, len(clusters) // _CLUSTERS)][:_CLUSTERS])
    items = [row for row in rows if row["cluster"] in kept]
    ids = {row["id"] for row in items}
    passages = [
        line for line in (starter / PASSAGES_FILE).read_text(encoding="utf-8").splitlines() if json.loads(line)["item"] in ids
    ]
    contents = {
        "items.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in items),
        PASSAGES_FILE: "\n".join(passages) + "\n",
        FILLER_FILE: (starter / FILLER_FILE).read_text(encoding="utf-8"),
        "about.md": _ABOUT.format(name=folder.name),
    }
    for name in contents:
        if (folder / name).exists():
            raise UserError(f"{folder / name}: exists already; choose another folder, or take that file away first")
    for name, text in contents.items():
        write_text(folder / name, text)
    return [folder / name for name in contents]
