"""Sections on several panels side by side."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.analysis.panels import PanelDifference, Panels
from optimizer.report.figures import percent, with_interval
from optimizer.report.sections import Section, number, points

_BY_ROUND = ("phi, round 1", "phi, last", "oracle, round 1", "oracle, last")


def panel_sections(found: Panels) -> list[Section]:
    """The tables of several panels side by side, called A, B, C …"""
    letters = [_letter(place) for place in range(len(found.rows))]
    rows = [
        (
            letter,
            str(row.debates),
            with_interval(row.accuracy),
            number(row.first.phi),
            number(row.last.phi),
            with_interval(row.first.oracle),
            with_interval(row.last.oracle),
            f"{row.last.best} {percent(row.last.best_accuracy)}",
        )
        for letter, row in zip(letters, found.rows, strict=True)
    ]
    side = Section(
        "Panels side by side",
        ("panel", "debates", "accuracy", *_BY_ROUND, "best persona, last"),
        tuple(rows),
        (
            ("phi", "do the personas err on the same items? The mean over their pairs; 1: always together, 0: independently"),
            ("oracle", "the share of items that at least one persona gets right: what a perfect vote could reach, and no more"),
            ("best persona", "if it beats the panel's accuracy, the vote costs more than it brings"),
            ("in brackets", "the 95 % interval, drawn over clusters"),
        ),
        tuple(f"{letter} is {row.name} ({row.model})." for letter, row in zip(letters, found.rows, strict=True)),
    )
    return [side, _panel_differences(found.differences, letters)]


def _panel_differences(differences: Sequence[PanelDifference], letters: Sequence[str]) -> Section:
    rows = [
        (
            f"{letter} minus {letters[0]}",
            str(each.items),
            points(each.accuracy),
            number(each.phi_first, signed=True),
            number(each.phi_last, signed=True),
            points(each.oracle_first),
            points(each.oracle_last),
        )
        for letter, each in zip(letters[1:], differences, strict=True)
    ]
    left_out = [
        f"{letter} minus {letters[0]}: {each.unpaired} items are in one of both alone and left out."
        for letter, each in zip(letters[1:], differences, strict=True)
        if each.unpaired
    ]
    return Section(
        "Differences on the items that both have",
        ("panels", "items", "accuracy", *_BY_ROUND),
        tuple(rows),
        (
            ("accuracy, oracle", "points more (+) or less; an interval that holds 0 may be luck"),
            ("phi", "below 0: the personas err less alike; that pays only if the oracle or the accuracy rises with it"),
        ),
        tuple(left_out),
    )


def _letter(place: int) -> str:
    """A to Z, then A2, B2 …"""
    return chr(ord("A") + place % 26) + (str(place // 26 + 1) if place >= 26 else "")
