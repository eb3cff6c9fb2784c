"""Benchmarks are fetched whole, once, and from then on a changed file is noticed; every fault says what to do."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from optimizer.cli import app
from optimizer.data import named
from optimizer.data.fetch import LOCK_FILE, benchmark_folder, fetch, fetched_path, is_fetched
from optimizer.data.formats.arithmetic import Sums, sums_text
from optimizer.data.formats.base import RemoteFile
from optimizer.data.shipped import data_path
from optimizer.errors import UsageError, UserError

TEXT = b"".join(b"line %d of the file\n" % i for i in range(20_000))


@dataclass
class Home:
    """A web server whose files a test writes. `cut`: after how many bytes each of the next answers breaks off."""

    files: dict[str, bytes] = field(default_factory=dict)
    tags: bool = True
    kind: str = "application/octet-stream"
    cut: list[int] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Send a file, or what is left of it, as a static server does."""
        name, wanted = request.path.removeprefix("/"), request.headers.get("Range", "")
        self.asked.append((name, wanted))
        if name not in self.files:
            request.send_error(404)
            return
        content = self.files[name]
        tag = f'"{hashlib.sha256(content).hexdigest()[:8]}"'
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and request.headers.get("If-Range") == tag else 0
        request.send_response(206 if start else 200)
        request.send_header("Content-Length", str(len(content) - start))
        request.send_header("Content-Type", self.kind)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        if self.tags:
            request.send_header("ETag", tag)
        request.end_headers()
        end = start + self.cut.pop(0) if self.cut else None
        request.wfile.write(content[start:end])
        request.close_connection = True


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A home on the loopback, and a cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    found = Home()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.answer(self)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()


@dataclass
class Benchmark:
    """What fetching needs to know of one."""

    files: tuple[RemoteFile, ...]
    name: str = "tiny"
    title: str = "Tiny"
    licence: str = "MIT"
    home: str = "https://example.org/tiny"


def tiny(home: Home, *names: str) -> Benchmark:
    return Benchmark(tuple(RemoteFile(f"{home.url}/{name}", name, name.partition(".")[0]) for name in names or ("test.jsonl",)))


def quiet(line: str) -> None:
    pass


def recorded(folder: Path) -> dict[str, dict[str, object]]:
    entries: dict[str, dict[str, object]] = json.loads((folder / LOCK_FILE).read_text(encoding="utf-8"))["files"]
    return entries


def tar_of(files: dict[str, bytes]) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return whole.getvalue()


def test_files_are_fetched_once_with_the_licence_shown_first_and_recorded(home: Home, tmp_path: Path) -> None:
    home.files = {"test.jsonl": TEXT, "train.jsonl": b"{}\n"}
    benchmark = tiny(home, "test.jsonl", "train.jsonl")
    lines: list[str] = []
    assert not is_fetched(benchmark, tmp_path)
    paths = fetch(benchmark, tmp_path, lines.append)
    assert [path.read_bytes() for path in paths] == [TEXT, b"{}\n"]
    assert lines[0] == "Tiny, from https://example.org/tiny; licence: MIT"
    assert recorded(tmp_path)["test.jsonl"] == {
        "bytes": len(TEXT), "sha256": hashlib.sha256(TEXT).hexdigest(), "url": f"{home.url}/test.jsonl",
    }  # fmt: skip
    assert is_fetched(benchmark, tmp_path)
    fetch(benchmark, tmp_path, quiet)
    assert len(home.asked) == 2
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == [
        LOCK_FILE, "test.jsonl", "train.jsonl",
    ]  # fmt: skip
    assert not list(tmp_path.glob(".*partial*"))


def test_a_download_that_breaks_off_goes_on_where_it_stopped(home: Home, tmp_path: Path) -> None:
    home.files, home.cut = {"test.jsonl": TEXT}, [1000, 2000]
    lines: list[str] = []
    fetch(tiny(home), tmp_path, lines.append)
    assert (tmp_path / "test.jsonl").read_bytes() == TEXT
    assert [wanted for _, wanted in home.asked] == ["", "bytes=1000-", "bytes=3000-"]
    assert any("trying again" in line for line in lines)


def test_a_download_that_brings_nothing_any_more_ends_and_the_next_command_goes_on(home: Home, tmp_path: Path) -> None:
    home.files, home.cut = {"test.jsonl": TEXT}, [1000, 0, 0, 0]
    with pytest.raises(UserError, match=r"1 of 1 files could not be fetched.* goes on where it stopped"):
        fetch(tiny(home), tmp_path, quiet)
    assert not (tmp_path / "test.jsonl").exists()
    home.asked.clear()
    fetch(tiny(home), tmp_path, quiet)
    assert (tmp_path / "test.jsonl").read_bytes() == TEXT
    assert [wanted for _, wanted in home.asked] == ["bytes=1000-"]


def test_the_beginning_of_another_file_is_not_gone_on_with(home: Home, tmp_path: Path) -> None:
    home.files, home.cut = {"test.jsonl": TEXT}, [1000, 0, 0, 0]
    with pytest.raises(UserError):
        fetch(tiny(home), tmp_path, quiet)
    home.files["test.jsonl"] = TEXT.upper()
    fetch(tiny(home), tmp_path, quiet)
    assert (tmp_path / "test.jsonl").read_bytes() == TEXT.upper()


def test_without_a_tag_a_broken_download_begins_anew(home: Home, tmp_path: Path) -> None:
    home.files, home.cut, home.tags = {"test.jsonl": TEXT}, [1000], False
    fetch(tiny(home), tmp_path, quiet)
    assert (tmp_path / "test.jsonl").read_bytes() == TEXT
    assert [wanted for _, wanted in home.asked] == ["", ""]


def test_another_file_at_the_second_fetch_is_refused_until_it_is_accepted(home: Home, tmp_path: Path) -> None:
    home.files = {"test.jsonl": TEXT}
    fetch(tiny(home), tmp_path, quiet)
    (tmp_path / "test.jsonl").unlink()
    home.files["test.jsonl"] = b"other\n"
    with pytest.raises(UserError, match=r"no longer gives the test\.jsonl .* give the same command with --accept"):
        fetch(tiny(home), tmp_path, quiet)
    assert not (tmp_path / "test.jsonl").exists()
    fetch(tiny(home), tmp_path, quiet, accept=True)
    assert (tmp_path / "test.jsonl").read_bytes() == b"other\n"
    assert recorded(tmp_path)["test.jsonl"]["bytes"] == 6


def test_a_file_that_changed_here_is_refused_until_it_is_accepted(home: Home, tmp_path: Path) -> None:
    home.files = {"test.jsonl": TEXT}
    fetch(tiny(home), tmp_path, quiet)
    (tmp_path / "test.jsonl").write_bytes(b"edited\n")
    with pytest.raises(UserError, match=r"test\.jsonl: is not what it was .* delete it and run .*--accept to keep it"):
        fetch(tiny(home), tmp_path, quiet)
    fetch(tiny(home), tmp_path, quiet, accept=True)
    assert (tmp_path / "test.jsonl").read_bytes() == b"edited\n"
    fetch(tiny(home), tmp_path, quiet)
    assert len(home.asked) == 1


def test_what_is_not_there_is_told_with_address_and_place_and_works_once_it_is_put_there(home: Home, tmp_path: Path) -> None:
    home.files = {"test.jsonl": TEXT}
    benchmark = tiny(home, "test.jsonl", "train.jsonl")
    with pytest.raises(UserError) as error:
        fetch(benchmark, tmp_path, quiet)
    assert f"{home.url}/train.jsonl to {tmp_path / 'train.jsonl'} (the server answers 404 Not Found)" in str(error.value)
    assert f"{home.url}/test.jsonl" not in str(error.value)
    (tmp_path / "train.jsonl").write_bytes(b"by hand\n")
    fetch(benchmark, tmp_path, quiet)
    assert recorded(tmp_path)["train.jsonl"]["bytes"] == 8
    assert len(home.asked) == 2


def test_without_network_every_file_is_named_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    free = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    free.server_close()  # nothing listens there now
    url = f"http://127.0.0.1:{free.server_port}"
    benchmark = Benchmark((RemoteFile(f"{url}/all.zip#all/dev.jsonl", "dev.jsonl"), RemoteFile(f"{url}/t.csv", "t.csv")))
    with pytest.raises(UserError, match="2 of 2 files could not be fetched") as error:
        fetch(benchmark, tmp_path, quiet)
    assert f"all/dev.jsonl of {url}/all.zip to {tmp_path / 'dev.jsonl'} (no connection:" in str(error.value)
    assert f"{url}/t.csv to {tmp_path / 't.csv'} (no connection:" in str(error.value)


def test_a_web_page_is_no_data_file(home: Home, tmp_path: Path) -> None:
    home.files, home.kind = {"test.jsonl": b"<html>sign in</html>"}, "text/html; charset=utf-8"
    with pytest.raises(UserError, match="a web page where the file should be"):
        fetch(tiny(home), tmp_path, quiet)
    assert not (tmp_path / "test.jsonl").exists()


def test_members_of_one_archive_are_taken_in_one_download(home: Home, tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("set_1.1/dev.jsonl", "dev\n")
        archive.writestr("set_1.1/train.jsonl", "train\n")
    home.files = {"set.zip": whole.getvalue()}
    names = ("dev.jsonl", "train.jsonl", "gone.jsonl")
    files = tuple(RemoteFile(f"{home.url}/set.zip#set_1.1/{name}", name) for name in names)
    fetch(Benchmark(files[:2]), tmp_path / "whole", quiet)
    assert (tmp_path / "whole" / "train.jsonl").read_text(encoding="utf-8") == "train\n"
    assert len(home.asked) == 1
    with pytest.raises(
        UserError, match=r"1 of 3 files .* set_1\.1/gone\.jsonl of .*set\.zip to .* \(the archive has no such member\)"
    ):
        fetch(Benchmark(files), tmp_path, quiet)
    assert sorted(recorded(tmp_path)) == ["dev.jsonl", "train.jsonl"]


def test_a_folder_of_an_archive_is_taken_whole_and_nothing_leaves_it(home: Home, tmp_path: Path) -> None:
    home.files = {
        "d.tar.gz": tar_of(
            {"./data/test/a_test.csv": b"a", "data/test/b_test.csv": b"b", "data/test/._b_test.csv": b"x",
             "data/test/../../escaped.csv": b"x", "data/dev/a_dev.csv": b"d"}
        )
    }  # fmt: skip
    folder = tmp_path / "in" / "here"
    benchmark = Benchmark((RemoteFile(f"{home.url}/d.tar.gz#data/test/", "data/test/", "test"),))
    fetch(benchmark, folder, quiet)
    assert list(recorded(folder)) == ["data/test/a_test.csv", "data/test/b_test.csv"]
    assert not list(tmp_path.rglob("escaped.csv"))
    (folder / "data/test/a_test.csv").unlink()
    assert not is_fetched(benchmark, folder)
    home.files["d.tar.gz"] = tar_of({"data/test/a_test.csv": b"a"})
    with pytest.raises(UserError, match=r"no longer gives the data/test/b_test\.csv"):
        fetch(benchmark, folder, quiet)


def test_an_archive_that_is_none_is_thrown_away(home: Home, tmp_path: Path) -> None:
    home.files = {"set.zip": b"PK but no more"}
    with pytest.raises(UserError, match="is no readable archive"):
        fetch(Benchmark((RemoteFile(f"{home.url}/set.zip#dev.jsonl", "dev.jsonl"),)), tmp_path, quiet)
    assert not list(tmp_path.glob(".*partial"))


def test_a_full_disk_is_named(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(1, 1, 1000))
    home.files = {"test.jsonl": TEXT}
    with pytest.raises(UserError, match="free some space, or set XDG_CACHE_HOME"):
        fetch(tiny(home), tmp_path, quiet)


def test_the_hub_goes_through_its_client_and_its_refusal_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    asked: list[tuple[object, ...]] = []

    def found(url: str, **options: object) -> None:
        asked.append((url,))

    def download(repo: str, file: str, *, repo_type: str, revision: str | None, local_dir: Path) -> str:
        asked.append((repo, file, repo_type, revision))
        local_dir.mkdir()
        (local_dir / "x").write_bytes(b"data")
        return str(local_dir / "x")

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", found)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    benchmark = Benchmark((RemoteFile("hf://datasets/owner/set@v1/data/test.csv", "test.csv"),))
    fetch(benchmark, tmp_path, quiet)
    assert (tmp_path / "test.csv").read_bytes() == b"data"
    assert asked[1] == ("owner/set", "data/test.csv", "dataset", "v1")

    def gated(url: str, **options: object) -> None:
        raise OSError("Access to dataset owner/set is restricted; log in")

    monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", gated)
    (tmp_path / "test.csv").unlink()
    with pytest.raises(UserError, match=r"Access to dataset owner/set is restricted"):
        fetch(benchmark, tmp_path, quiet)


def test_data_by_name_is_the_fetched_file_and_a_part_of_it_by_its_name_or_split(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    home.files = {
        "test.jsonl": TEXT,
        "train_xl.jsonl": b"{}\n",
        "d.tar.gz": tar_of({"data/test/astronomy_test.csv": b"a"}),
    }
    benchmark = Benchmark(
        (
            RemoteFile(f"{home.url}/test.jsonl", "test.jsonl", "test"),
            RemoteFile(f"{home.url}/train_xl.jsonl", "train_xl.jsonl", "train"),
            RemoteFile(f"{home.url}/d.tar.gz#data/test/", "data/test/", "dev"),
        )
    )
    monkeypatch.setattr(named, "benchmarks", lambda: {"tiny": benchmark})
    with pytest.raises(UserError, match=r"test\.jsonl is not there; run optimizer data fetch tiny"):
        data_path("tiny")
    folder = benchmark_folder(benchmark)
    fetch(benchmark, folder, quiet)
    assert data_path("tiny") == folder / "test.jsonl"
    assert data_path("tiny:train") == data_path("tiny:train_xl.jsonl") == folder / "train_xl.jsonl"
    assert data_path("tiny:astronomy") == folder / "data/test/astronomy_test.csv"
    assert data_path("tiny:dev") == folder / "data/test"
    with pytest.raises(UsageError, match=r"tiny: has no part 'fly'; its parts are test\.jsonl, train_xl\.jsonl, data/test/"):
        data_path("tiny:fly")
    (folder / "data/test/astronomy_test.csv").write_bytes(b"edited")
    with pytest.raises(UserError, match="is not what it was"):
        fetched_path(benchmark, "dev")
    assert data_path("no_such.jsonl") == Path("no_such.jsonl")
    (tmp_path / "tiny").write_text("a file of the user's own goes first", encoding="utf-8")
    assert data_path("tiny") == Path("tiny")


def test_arithmetic_by_name_is_generated(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    path = data_path("arithmetic:form=2,n=5,seed=3")
    assert path.read_text(encoding="utf-8") == sums_text(Sums(2, 5, 3))
    path.write_text("spoilt", encoding="utf-8")
    assert data_path("arithmetic:n=5,form=2,seed=3").read_text(encoding="utf-8") == sums_text(Sums(2, 5, 3))


def test_the_command_fetches_into_a_folder_and_lists(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home.files = {"test.jsonl": TEXT}
    benchmark = tiny(home)
    monkeypatch.setattr(named, "benchmarks", lambda: {"tiny": benchmark})
    run = CliRunner()
    before = json.loads(run.invoke(app, ["data", "fetch", "--list", "--json"]).stdout)
    assert [(row["name"], row["licence"], row["fetched"]) for row in before] == [("tiny", "MIT", False)]
    result = run.invoke(app, ["data", "fetch", "tiny", "--to", str(tmp_path / "there")])
    assert result.exit_code == 0
    assert (tmp_path / "there/tiny/test.jsonl").read_bytes() == TEXT
    assert "licence: MIT" in result.stdout
    unknown = run.invoke(app, ["data", "fetch", "nothing"])
    assert isinstance(unknown.exception, UsageError)
    assert "unknown benchmark 'nothing'; known are tiny" in str(unknown.exception)


def test_the_command_generates_sums(tmp_path: Path) -> None:
    run, target = CliRunner(), tmp_path / "sums.jsonl"
    assert run.invoke(app, ["data", "generate", "arithmetic", "--form", "2", "--n", "4", "--to", str(target)]).exit_code == 0
    assert target.read_text(encoding="utf-8") == sums_text(Sums(2, 4, 0))
    assert isinstance(run.invoke(app, ["data", "generate", "poems", "--to", str(target)]).exception, UsageError)


def test_every_benchmark_says_where_it_comes_from() -> None:
    for entry in named.benchmarks().values():
        assert entry.licence
        assert entry.home.startswith("https://")
        assert all(file.url.startswith(("https://", "hf://datasets/")) for file in entry.files)
        assert len({file.name for file in entry.files}) == len(entry.files)
