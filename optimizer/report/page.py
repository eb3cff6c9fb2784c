"""A run as one self-contained HTML page. Everything that comes from models and data is escaped."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from optimizer.analysis.comparison import compare_run
from optimizer.prompts.files import read_prompt, write_text
from optimizer.report.comparison import HEAD, LEGEND, remarks, table_rows
from optimizer.report.figures import percent
from optimizer.runs.folder import RunFolder

_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}
.result{font-size:1.1rem;background:#f2f5f9;border-left:5px solid #35618e;padding:.8rem 1rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}td,th{border-bottom:1px solid #ddd;padding:.35rem .5rem;text-align:left}
td.n,th.n{text-align:right}pre{white-space:pre-wrap;background:#f7f7f7;padding:.7rem;margin:.3rem 0}
ins{background:#d6f2d9;text-decoration:none}del{background:#fadcdc}small{color:#555}
@media(prefers-color-scheme:dark){body{background:#16181b;color:#e4e4e4}.result{background:#20262e}pre{background:#202225}
td,th{border-color:#3a3d42}ins{background:#1f4a26}del{background:#5a2626}small{color:#aaa}}
"""


CONDITION_HEAD = ["condition", "items", "seed", "winner", "difference", "95 % interval", "won / lost", "p"]


def condition_rows(test: dict[str, Any]) -> list[list[str]]:
    """A row a condition of the sealed test, from a run's summary."""
    rows = []
    for row in test["conditions"]["rows"]:
        found = row["difference"]
        rows.append(
            [row["condition"], str(found["items"]), percent(row["seed"]), percent(row["winner"]),
             f"{100 * found['difference']:+.1f}", f"{100 * found['low']:+.1f} to {100 * found['high']:+.1f}",
             f"{found['wins']} / {found['losses']}", f"{found['p']:.3f}"]
        )  # fmt: skip
    return rows


def write_report(run: RunFolder) -> Path:
    """Write report.html; its path.

    Raises:
        UserError: the run is not finished.
    """
    summary, resolved = run.summary(), run.resolved()
    result = summary["result"]
    comparison = compare_run(run)
    body = [
        f"<h1>{_e(run.path.name)}</h1>",
        f"<p>{_e(', '.join(resolved['components']))} on {_e(resolved['data']['name'])}, "
        f"judged by {_e(resolved['model']['name'])}.</p>",
        f'<p class="result">{_e(" ".join(filter(None, (result["statement"], summary.get("seal")))))}</p>',
        "<h2>Sealed test</h2>",
        _test_table(result["test"]),
        *([_table(CONDITION_HEAD, condition_rows(result["test"]))] if result["test"].get("conditions") else []),
        "<h2>Seed against winner</h2>",
        *_diffs(run, result, resolved["prompts"]),
        "<h2>Candidates on dev</h2>",
        "<p><small>The search decided on these items, so the scores of the chosen are flattering. Dropped candidates were "
        f"stopped early. {_e(LEGEND)}</small></p>",
        _table(HEAD, table_rows(comparison)),
        *(f"<p><small>{_e(line)}</small></p>" for line in remarks(comparison)),
        "<h2>Headroom</h2>",
        _headroom(result["headroom"]),
        "<h2>Spent</h2>",
        _spent(summary["spent"], result["calls"]),
    ]
    title = f"{run.path.name}: {result['test']['verdict']}"
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{_e(title)}</title><style>{_STYLE}</style></head><body>{''.join(body)}</body></html>\n"
    )
    write_text(run.report, page)
    return run.report


def _e(value: object) -> str:
    return escape(str(value), quote=True)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = "".join(f"<th>{_e(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{_e(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"


def _test_table(test: dict[str, Any]) -> str:
    rows = []
    for name in ("seed", "winner"):
        accuracy = test[name]
        value = accuracy["right"] / accuracy["items"] if accuracy["items"] else None
        rows.append(
            [
                name,
                accuracy["items"],
                accuracy["right"],
                percent(value),
                f"{percent(accuracy['low'])} to {percent(accuracy['high'])}",
            ]
        )
    difference = test["difference"]
    note = (
        f"Winner minus seed: {100 * difference['difference']:+.1f} points, 95 % interval {100 * difference['low']:+.1f} to "
        f"{100 * difference['high']:+.1f}; {difference['wins']} items won, {difference['losses']} lost; cluster sign-flip "
        f"p {difference['p']:.3f}, exact McNemar {difference['mcnemar_p']:.3f}; {difference['unpaired']} items unpaired."
    )
    return _table(["", "items", "right", "accuracy", "95 % interval"], rows) + f"<p>{_e(note)}</p>"


def _diffs(run: RunFolder, result: dict[str, Any], seeds: dict[str, str]) -> list[str]:
    parts = []
    for component, before in seeds.items():
        after = read_prompt(run.winner / f"{component}.md")[0]
        if before != after:
            parts.append(f"<h3>{_e(component)}</h3><pre>{_word_diff(before, after)}</pre>")
    return parts or ["<p>The winner is the seed.</p>"]


def _word_diff(before: str, after: str) -> str:
    """Deleted and inserted words marked, line breaks kept."""
    old, new = before.split(" "), after.split(" ")
    pieces = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(_e(" ".join(old[a:b])))
            continue
        if b > a:
            pieces.append(f"<del>{_e(' '.join(old[a:b]))}</del>")
        if d > c:
            pieces.append(f"<ins>{_e(' '.join(new[c:d]))}</ins>")
    return " ".join(pieces)


def _headroom(headroom: dict[str, Any]) -> str:
    if not headroom:
        return "<p>No candidate was evaluated on all of dev.</p>"
    wrong = headroom["always_wrong"]
    text = (
        f"{len(wrong)} of {headroom['items']} dev items are wrong under all {headroom['candidates']} fully evaluated candidates. "
        f"Best single candidate {percent(headroom['best'])}, oracle {percent(headroom['oracle'])}; the oracle rises with the "
        "number of candidates by luck alone."
    )
    return f"<p>{_e(text)}</p>" + (f"<p><small>{_e(', '.join(wrong))}</small></p>" if wrong else "")


def _spent(spent: dict[str, Any], calls: int) -> str:
    rows = [
        [purpose, counts.get("calls", 0), counts.get("paid", 0), counts.get("hits", 0), counts.get("prompt_tokens", 0),
         counts.get("cached_tokens", 0), counts.get("completion_tokens", 0)]
        for purpose, counts in spent["by_purpose"].items()
    ]  # fmt: skip
    head = ["purpose", "calls", "paid", "from cache", "prompt tokens", "of them cached", "generated"]
    cost = f" They cost {spent['cost_usd']:.4f} US dollars." if "cost_usd" in spent else ""
    incidents = "".join(f"<li>{_e(text)}</li>" for text in spent.get("incidents", ()))
    return (
        _table(head, rows)
        + f"<p>{calls} different calls; last start took {spent['seconds']:.0f} s.{cost}</p>"
        + (f"<p>What befell the servers:</p><ul>{incidents}</ul>" if incidents else "")
    )
