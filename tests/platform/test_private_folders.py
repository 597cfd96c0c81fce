"""What the embedded store writes is for its user alone, whatever the umask and whatever was there before."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.__main__ import main
from bot.platform.private_folders import restrict_permissions
from bot.platform.store.connection import connect_embedded
from bot.platform.store.embedded.server import stop_embedded
from tests.helpers.processes.command import prdigest

pytestmark = pytest.mark.slow


def readable_by_others(folder: Path) -> list[str]:
    """What in a folder, itself included, others may do anything with; a link's own mode says nothing."""
    return [str(each) for each in (folder, *folder.rglob("*")) if is_readable_by_others(each)]


def is_readable_by_others(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        # the server replaces some of its files while we look
        return False
    return not stat.S_ISLNK(mode) and bool(mode & 0o077)


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_everything_that_the_store_writes_is_private(tmp_path: Path) -> None:
    state = tmp_path / "made" / "too" / "state"
    with connect_embedded(state) as client:
        client.set("key", "value")
        client.bgrewriteaof()
        assert {"valkey.log", "appendonlydir"} <= {each.name for each in (state / "valkey").iterdir()}
        assert readable_by_others(tmp_path / "made") == []
    stop_embedded(state)


def test_what_an_earlier_version_left_open_is_closed(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with connect_embedded(state) as client:
        client.set("key", "value")
    stop_embedded(state)
    # the mirrors are there, too
    (state / "mirror" / "octo").mkdir(parents=True)
    for each in (state, *state.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    with connect_embedded(state) as client:
        assert client.get("key") == b"value"
        assert readable_by_others(state) == []
    stop_embedded(state)


def test_a_folder_that_serves_others_too_stays_open_and_ours_in_it_do_not(tmp_path: Path) -> None:
    state = tmp_path / "shared"
    state.mkdir()
    state.chmod(0o755)
    (state / "another's.txt").write_text("for all")
    (state / "another's.txt").chmod(0o644)
    done = prdigest("votes", settings={"PRDIGEST_STATE_DIR": str(state)}, folder=state.parent)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE(state.stat().st_mode) == 0o755
    open_to_all = {Path(name).name for name in readable_by_others(state)}
    assert open_to_all == {"shared", "another's.txt"}
    stop_embedded(state)


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("another's")
    outside.chmod(0o644)
    ours = tmp_path / "state" / "valkey"
    ours.mkdir(parents=True)
    (ours / "link").symlink_to(outside)
    (ours / "folder").symlink_to(tmp_path)
    restrict_permissions(ours.parent, frozenset({"valkey"}))
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
    assert stat.S_IMODE(ours.stat().st_mode) == 0o700


def test_a_mask_that_hides_nothing_makes_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("PRDIGEST_STATE_DIR", str(state))
    monkeypatch.setattr(sys, "argv", ["prdigest", "votes"])
    os.umask(0o000)
    assert main() == 0
    assert readable_by_others(state) == []
    stop_embedded(state)
