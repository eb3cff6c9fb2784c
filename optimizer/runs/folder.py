"""One run, one folder: what was asked for, what happened, what came out. A folder is never silently reused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from optimizer.debate.records import Debate, debate_from_json
from optimizer.errors import UserError
from optimizer.prompts.files import write_text
from optimizer.runs.events import EventLog, read_events
from optimizer.sections import MisinformationSettings, ProtocolSettings

_NAME = re.compile(r"\d{8}-\d{6}-(?P<name>.+)")


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of a run, by what they are."""

    path: Path

    @property
    def name(self) -> str:
        match = _NAME.fullmatch(self.path.name)
        return match["name"] if match else self.path.name

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    @property
    def calls(self) -> Path:
        return self.path / "calls.jsonl"

    @property
    def server_log(self) -> Path:
        return self.path / "server.log"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def winner(self) -> Path:
        return self.path / "winner"

    def candidate(self, identity: str) -> Path:
        """The folder with a candidate's texts."""
        return self.path / "candidates" / identity

    @property
    def finished(self) -> bool:
        return (self.path / "summary.json").exists()

    def resolved(self) -> dict[str, Any]:
        """Everything that decides the run's result, as it was when the run began."""
        return _read_json(self.path / "resolved.json")

    def summary(self) -> dict[str, Any]:
        """The result. Raises UserError where the run is not finished."""
        if not self.finished:
            raise UserError(f"{self.path}: the run is not finished; give the command that began it again, it goes on from there")
        return _read_json(self.path / "summary.json")

    def write_json(self, file: str, content: Mapping[str, Any]) -> None:
        """Write a JSON file whole."""
        write_text(self.path / file, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    def debates(self) -> list[Debate]:
        """All finished debates of the run, in the order in which they ended."""
        return list(self.each_debate())

    def each_debate(self) -> Iterator[Debate]:
        """The same one by one, for runs that are larger than memory; none where the run has no events yet."""
        if self.events.exists():
            for event in read_events(self.events, "debate"):
                yield debate_from_json(event["debate"])

    def failures(self) -> list[Debate]:
        """The debates that failed and were not held again since: they are missing, each with its reason."""
        held = {(debate.candidate, debate.item, debate.sample) for debate in self.debates()}
        failed = [debate_from_json(event["debate"]) for event in read_events(self.events, "failed_debate")]
        last = {(debate.candidate, debate.item, debate.sample): debate for debate in failed}
        return [debate for key, debate in last.items() if key not in held]

    def open_events(self) -> EventLog:
        """The event log, ready to be appended to."""
        return EventLog(self.events)


def all_runs(root: Path) -> list[RunFolder]:
    """The runs in a folder, oldest first."""
    if not root.is_dir():
        return []
    return [RunFolder(path) for path in sorted(root.iterdir()) if (path / "resolved.json").exists()]


def find_run(root: Path, wanted: str = "", finished: bool = False, kinds: Sequence[str] = ()) -> RunFolder:
    """The run that a user means: a path, a folder name, the end of one, or the latest when nothing is given.

    Args:
        root: the folder of runs.
        wanted: what the user wrote.
        finished: whether unfinished runs are passed over.
        kinds: optimize, compare ...; runs of other kinds are passed over, all are taken if empty.

    Raises:
        UserError: there is none; the message lists the latest ones.
    """
    if wanted and (Path(wanted) / "resolved.json").exists():
        return RunFolder(Path(wanted))
    runs = [
        run for run in all_runs(root) if (run.finished or not finished) and (not kinds or run.resolved().get("kind") in kinds)
    ]
    matching = [run for run in runs if not wanted or wanted in (run.path.name, run.name)]
    if matching:
        return matching[-1]
    known = ", ".join(run.path.name for run in runs[-5:]) or "none yet; make optimize PERSONA=skeptic makes one"
    raise UserError(
        f"{root}: no {'finished ' if finished else ''}run {wanted!r}; latest: {known}"
        if wanted
        else f"{root}: no run there ({known})"
    )


def open_run(root: Path, name: str, resolved: Mapping[str, Any], config: str, fresh: bool = False) -> tuple[RunFolder, bool]:
    """The folder for a run, and whether it existed before.

    The latest folder of that name is taken up if it was begun with the same settings, data and prompts. One that is
    unfinished and differs is refused; a finished one that differs, or `fresh`, makes a new folder.

    Raises:
        UserError: an unfinished run of that name was begun otherwise; the message gives the difference.
    """
    wanted = json.loads(json.dumps(resolved))
    usual = {"protocol": ProtocolSettings().model_dump(mode="json"), "rules": MisinformationSettings().model_dump(mode="json")}
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", name)  # as folders are called
    for run in reversed(all_runs(root)):
        if run.name != name or fresh:
            continue
        # A setting that came after a run was begun had its default there.
        begun = {key: {**usual.get(key, {}), **value} if key in usual else value for key, value in run.resolved().items()}
        changes = differences(begun, wanted)
        if not changes:
            return run, True
        if not run.finished:
            raise UserError(
                f"{run.path}: is unfinished and was begun differently ({'; '.join(changes[:4])}); "
                "give the same command to go on, or --new for a new run"
            )
        break
    folder = RunFolder(_new_folder(root, name))
    write_text(folder.path / "config.toml", config)
    folder.write_json("resolved.json", wanted)
    return folder, False


def differences(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """`name: old -> new` for every value that differs, nested names joined by dots."""
    changes: list[str] = []
    for key in sorted({*old, *new}):
        before, after = old.get(key), new.get(key)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            changes += differences(before, after, f"{prefix}{key}.")
        elif before != after:
            changes.append(f"{prefix}{key}: {_short(before)} -> {_short(after)}")
    return changes


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _new_folder(root: Path, name: str) -> Path:
    stamp = datetime.now().strftime("%Y%m%d-%H%M%S")
    path = root / f"{stamp}-{name}"
    try:
        path.mkdir(parents=True)
    except FileExistsError as error:
        raise UserError(f"{path}: exists already; another run began in this very second, try again") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be made ({error.strerror}); choose another place with --runs") from error
    return path


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: cannot be read ({error}); is this a run folder?") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: is no JSON object")
    return content
