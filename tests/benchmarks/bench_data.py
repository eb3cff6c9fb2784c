"""Reading and checking data: 100,000 rows against a plain json.loads pass over the same file, and memory as files grow."""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

from optimizer.data.loaders import read_items
from tests.benchmarks.table import record

ROWS = 100_000

CHECK = textwrap.dedent(
    """
    import json, resource, sys
    from optimizer.analysis.check import check_file
    from optimizer.config import load_settings
    checked = check_file(load_settings({"data": sys.argv[1]}))
    used = resource.getrusage(resource.RUSAGE_SELF)
    near = sum(int(finding.where.split()[0]) for finding in checked.findings if "nearly" in finding.problem)
    print(json.dumps({"items": checked.items, "near": near, "peak": used.ru_maxrss / 1024, "seconds": used.ru_utime}))
    """
)


def write_rows(path: Path, count: int) -> Path:
    """Claims of 18 words on passages of 150, three a cluster; one claim in 500 nearly repeats an earlier one."""
    draw = random.Random(7)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 11))) for _ in range(20_000)]
    evidence = earlier = ""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            if number % 3 == 0:
                evidence = " ".join(draw.choices(words, k=150))
            claim = " ".join(draw.choices(words, k=18))
            if number % 500 == 499:
                claim = f"{earlier} indeed"
            if number % 100 == 0:
                earlier = claim
            row = {
                "id": f"item-{number}", "claim": claim, "evidence": [evidence], "cluster": f"document-{number // 3}",
                "label": draw.choice(["grounded", "not_grounded"]), "category": "number", "domain": "history", "rationale": "So.",
            }  # fmt: skip
            file.write(json.dumps(row) + "\n")
    return path


def cpu_of(action: Callable[[], object]) -> float:
    """The least CPU seconds of three goes."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        action()
        return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before

    return min(once() for _ in range(3))


def checked(path: Path) -> dict[str, float]:
    result = subprocess.run([sys.executable, "-c", CHECK, str(path)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    told: dict[str, float] = json.loads(result.stdout)
    return told


def test_data_reading_and_checking_against_plain_json(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "items.jsonl", ROWS)

    def plain() -> None:
        with path.open(encoding="utf-8") as file:
            for line in file:
                json.loads(line)

    def ours() -> None:
        for _ in read_items(path):
            pass

    bare, read, started = cpu_of(plain), cpu_of(ours), time.perf_counter()
    told = checked(path)
    wall = time.perf_counter() - started
    size = path.stat().st_size / 2**20
    record(f"reading {ROWS} rows, {size:.0f} MB", f"{read:.2f} s of CPU, json.loads {bare:.2f}", f"{read / bare:.1f}", "≤ 7")
    record(
        f"data check of {ROWS} rows",
        f"{told['seconds']:.1f} s of CPU, {wall:.1f} s in all, {told['peak']:.0f} MB peak, json.loads {bare:.2f} s",
        f"{told['seconds'] / bare:.1f}",
        "≤ 25",
    )
    assert told["items"] == ROWS
    assert told["near"] >= 200
    assert read / bare <= 7
    assert told["seconds"] / bare <= 25


def test_data_check_memory_grows_by_hashes_alone(tmp_path: Path) -> None:
    small, large = (write_rows(tmp_path / f"{count}.jsonl", count) for count in (10_000, ROWS))
    peaks = [checked(path)["peak"] for path in (small, large)]
    an_item = (peaks[1] - peaks[0]) * 2**20 / (ROWS - 10_000)
    of_text = (large.stat().st_size - small.stat().st_size) / (ROWS - 10_000)
    record(
        "data check, memory an item more",
        f"{an_item:.0f} bytes, its row has {of_text:.0f} ({peaks[0]:.0f} MB peak at 10000 rows, {peaks[1]:.0f} at {ROWS})",
        f"{an_item / of_text:.2f}",
        "≤ .5",
    )
    assert an_item / of_text <= 0.5
