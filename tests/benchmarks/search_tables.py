"""The tables of the search in docs/benchmarks.md, from the rows that `make bench ARGS="-k search"` left.

python -m tests.benchmarks.search_tables
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tests.benchmarks.bench_search import BUDGETS, GEPA, LAWS, OTHER_LAWS, PRICES, Run, gepa_run, kept, mean, ours

_CLAIMS_FROM = 1000  # seeds of the runs whose claims are counted


def main() -> None:
    """Print both tables."""
    mine, theirs = list(kept(ours).values()), list(kept(gepa_run).values())
    print("\n".join(grid([run for run in mine if run["seed"] < _CLAIMS_FROM], theirs)))
    print()
    print("\n".join(claims([run for run in mine if run["seed"] >= _CLAIMS_FROM])))
    print(f"\nmost spent beyond the budget: {max(run['spent'] - run['budget'] for run in mine):g}")


def grid(mine: list[Run], theirs: list[Run]) -> list[str]:
    """Ours against gepa's best setting, a row for each law, price and budget."""
    lines = [
        "| law | price | budget | ours | gepa, best setting | it reports | gepa and sealed test | ours minus gepa |",
        "|---|---|---|---|---|---|---|---|",
    ]
    by_cell: dict[tuple[str, float, int], list[Run]] = defaultdict(list)
    for run in mine:
        by_cell[run["law"], run["price"], run["budget"]].append(run)
    for law in LAWS:
        for price in sorted(PRICES):
            for budget in sorted(BUDGETS):
                own = {run["seed"]: run for run in by_cell[law, price, budget]}
                cell = [run for run in theirs if (run["law"], run["price"], run["budget"]) == (law, price, budget)]
                plain = {each: [run for run in cell if setting(run) == each and "claims" not in run] for each in GEPA}
                _whole(
                    own.keys() and all(own.keys() == {run["seed"] for run in runs} for runs in plain.values()), law, price, budget
                )
                best = max(plain, key=lambda each: mean(run["true"] for run in plain[each])[0])
                tested = {run["seed"]: run["true"] for run in cell if setting(run) == best and "claims" in run}
                _whole(tested.keys() == own.keys(), law, price, budget)
                difference = mean(own[run["seed"]]["true"] - run["true"] for run in plain[best])
                lines.append(
                    f"| {law} | {price} | {budget} | {figure(run['true'] for run in own.values())} "
                    f"| {figure(run['true'] for run in plain[best])} ({best[0]}, {best[1]}) "
                    f"| {figure(run['reported'] for run in plain[best])} | {figure(tested.values())} "
                    f"| {short('{:+.3f}±{:.3f}'.format(*difference))} |"
                )
    return lines


def claims(mine: list[Run]) -> list[str]:
    """What the sealed test said, a row for each law."""
    lines = [
        "| law | runs | start | true | reported − true | called better | at one-sided .05 |",
        "|---|---|---|---|---|---|---|",
    ]
    for law in (*LAWS, *OTHER_LAWS):
        runs = [run for run in mine if run["law"] == law]
        _whole(runs, law, "any", "any")
        bias = mean(run["reported"] - run["true"] for run in runs)
        lines.append(
            f"| {law} | {len(runs)} | {figure(run['started'] for run in runs)} | {figure(run['true'] for run in runs)} "
            f"| {short('{:+.4f}±{:.4f}'.format(*bias))} | {sum(run['claims'] for run in runs)} "
            f"| {sum(run['one_sided'] for run in runs)} |"
        )
    return lines


def _whole(there: object, law: str, price: object, budget: object) -> None:
    if not there:
        raise SystemExit(f'{law}, price {price}, budget {budget}: rows are missing; go on with make bench ARGS="-k search"')


def setting(run: Run) -> tuple[int, int]:
    """gepa's validation items and minibatch."""
    return run["val"], run["minibatch"]


def figure(values: Iterable[float]) -> str:
    """Mean and half width, without the zero before the point."""
    return short("{:.3f}±{:.3f}".format(*mean(values)))


def short(text: str) -> str:
    return text.replace("0.", ".")


if __name__ == "__main__":
    main()
