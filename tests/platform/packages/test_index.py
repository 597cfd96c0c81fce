"""Wheels from an index over HTTP: which one is chosen, what is kept, and what is refused."""

import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from localslack.loopback import Response
from packaging.utils import canonicalize_name
from packaging.version import Version

from bot.errors import PackageUnavailable
from bot.platform.packages import index as index_module
from bot.platform.packages.index import PackageIndex
from bot.platform.packages.wheels import open_wheel
from bot.settings.values import PackageIndexAddress
from tests.helpers.checks import is_one_sentence
from tests.helpers.package_index import JSON, PackageServer, make_wheel

NAME, VERSION = canonicalize_name("fast-engine"), Version("2.1")
PURE = "fast_engine-2.1-py3-none-any.whl"
WHEEL = make_wheel({"fast_engine/__init__.py": "def run():\n    return 1\n"})


@pytest.fixture
def server() -> Iterator[PackageServer]:
    with PackageServer() as running:
        yield running


@pytest.fixture
def index(server: PackageServer, tmp_path: Path) -> PackageIndex:
    return PackageIndex(PackageIndexAddress(f"{server.url}/simple"), tmp_path / "packages", seconds=2.0)


def refuse(index: PackageIndex) -> str:
    with pytest.raises(PackageUnavailable) as caught:
        index.load_wheel(NAME, VERSION)
    assert is_one_sentence(str(caught.value))
    assert [*index.folder.glob("*")] == [], "nothing of what is refused stays"
    return str(caught.value)


@pytest.mark.parametrize("kind", [JSON, "text/html; charset=utf-8"])
def test_the_smallest_wheel_of_the_version_is_loaded_once(
    kind: str, server: PackageServer, index: PackageIndex
) -> None:
    server.kind = kind
    server.add("fast_engine-2.1-cp311-cp311-manylinux_2_17_x86_64.whl", WHEEL + b"\0" * 9_000)
    server.add("fast_engine-2.1.tar.gz", b"no wheel")
    server.add("fast_engine-2.1.1-py3-none-any.whl", b"another version")
    server.add("fast_engine-2-not-a-wheel.whl", b"no name of a wheel")
    server.add(PURE, WHEEL)
    path = index.load_wheel(NAME, VERSION)
    assert path.read_bytes() == WHEEL
    assert index.load_wheel(NAME, VERSION) == path
    assert server.paths == ["/simple/fast-engine/", f"/files/{PURE}"]
    assert path.stat().st_mode & 0o077 == 0
    assert {each["user-agent"] for each in server.headers} == {"prdigest"}
    with open_wheel(path) as texts:
        assert texts.read_file("fast_engine/__init__.py").lines == ["def run():", "    return 1"]


@pytest.mark.parametrize("added", [[], ["fast_engine-2.2-py3-none-any.whl"], ["fast_engine-2.1.tar.gz"]])
def test_no_such_version_is_said(added: list[str], server: PackageServer, index: PackageIndex) -> None:
    for name in added:
        server.add(name, WHEEL)
    assert refuse(index) == "The package index has no wheel of fast-engine 2.1."


ENDLESS = itertools.repeat(b"x" * 60_000)
REFUSED = {
    "a form": ("/simple/fast-engine/", Response(200, b"<html>Sign in</html>", {"Content-Type": "text/html"})),
    "no JSON": ("/simple/fast-engine/", Response(200, b"<html>", {"Content-Type": JSON})),
    "deep JSON": ("/simple/fast-engine/", Response(200, b"[" * 100_000, {"Content-Type": JSON})),
    "another shape": ("/simple/fast-engine/", Response(200, b'{"files": 3}', {"Content-Type": JSON})),
    "an error": ("/simple/fast-engine/", Response(503)),
    "an endless page": ("/simple/fast-engine/", Response(200, chunks=ENDLESS, headers={"Content-Type": JSON})),
    "an endless wheel": (f"/files/{PURE}", Response(200, chunks=ENDLESS)),
    "a packed wheel": (f"/files/{PURE}", Response(200, WHEEL, {"Content-Encoding": "gzip"})),
    "a wheel that is gone": (f"/files/{PURE}", Response(404)),
    "other bytes": (f"/files/{PURE}", Response(200, WHEEL + b" ")),
    "a loop": (f"/files/{PURE}", Response(302, headers={"Location": f"/files/{PURE}"})),
    "another host": (f"/files/{PURE}", Response(302, headers={"Location": "http://127.0.0.1:9/x.whl"})),
    "the same host without TLS": (f"/files/{PURE}", Response(302, headers={"Location": "http://example.com/x.whl"})),
    "another scheme": (f"/files/{PURE}", Response(302, headers={"Location": "file:///etc/passwd"})),
    "no address": (f"/files/{PURE}", Response(302, headers={"Location": "http://[::1"})),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_index_should_send_is_refused(
    name: str, server: PackageServer, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "MAX_WHEEL", 2_000_000)
    monkeypatch.setattr(index_module, "_MAX_PAGE", 2_000_000)
    server.add(PURE, WHEEL)
    path, answer = REFUSED[name]
    server.answers[path] = answer
    assert refuse(index).startswith("fast-engine 2.1 could not be read: ")


@pytest.mark.parametrize("sha256", ["", "0" * 64, "0" * 63, "g" * 64])
def test_a_wheel_needs_its_checksum(sha256: str, server: PackageServer, index: PackageIndex) -> None:
    server.add(PURE, WHEEL, sha256)
    assert "checksum" in refuse(index)


def test_a_wheel_that_is_too_large_is_not_asked_for(
    server: PackageServer, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "MAX_WHEEL", 10)
    server.add(PURE, WHEEL)
    assert "has more than" in refuse(index)
    assert server.paths == ["/simple/fast-engine/"]


def test_files_elsewhere_are_read_where_the_settings_name_their_host(
    server: PackageServer, tmp_path: Path
) -> None:
    with PackageServer() as elsewhere:
        server.base = elsewhere.url
        for each in (server, elsewhere):
            each.add(PURE, WHEEL)
        own = PackageIndexAddress(f"{server.url}/simple")
        with pytest.raises(PackageUnavailable, match="do not allow"):
            PackageIndex(own, tmp_path).load_wheel(NAME, VERSION)
        assert elsewhere.paths == []
        both = PackageIndexAddress(own.url, frozenset({elsewhere.url.removeprefix("http://")}))
        assert PackageIndex(both, tmp_path).load_wheel(NAME, VERSION).read_bytes() == WHEEL


def test_a_silent_index_is_not_waited_for_long(server: PackageServer, tmp_path: Path) -> None:
    def drip() -> Iterator[bytes]:
        for _ in range(600):
            time.sleep(0.05)
            yield b" "

    server.answers["/simple/fast-engine/"] = Response(200, chunks=drip(), headers={"Content-Type": JSON})
    index = PackageIndex(PackageIndexAddress(f"{server.url}/simple"), tmp_path / "packages", seconds=0.4)
    began = time.monotonic()
    assert refuse(index) == "fast-engine 2.1 could not be read: the package index did not send it in time."
    assert time.monotonic() - began < 5


def test_the_folder_is_bounded(
    server: PackageServer, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "MAX_FOLDER", 3 * len(WHEEL) - 1)
    paths = []
    for number, version in enumerate(("2.1", "2.2", "2.3")):
        server.add(f"fast_engine-{version}-py3-none-any.whl", WHEEL)
        paths.append(index.load_wheel(NAME, Version(version)))
        os.utime(paths[-1], (number, number))
    assert [path.exists() for path in paths] == [False, True, True]
    assert index.measure_folder() == (2, 2 * len(WHEEL))


def test_a_check_tells_whether_the_index_lists_a_package(server: PackageServer, index: PackageIndex) -> None:
    assert not index.check(NAME)
    server.add(PURE, WHEEL)
    assert index.check(NAME)
    server.answers["/simple/fast-engine/"] = Response(500)
    with pytest.raises(PackageUnavailable, match="answered with 500"):
        index.check(NAME)
    closed = PackageIndex(PackageIndexAddress("http://127.0.0.1:9/simple"), index.folder, seconds=2.0)
    with pytest.raises(PackageUnavailable, match="can't be reached"):
        closed.check(NAME)
