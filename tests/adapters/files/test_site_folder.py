"""The folder of a site: it takes no folder of others, follows no link, and no two processes write at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.files.site_folder import open_site_folder
from bot.domain.errors import UsageError

MARKER = ".marker"


def test_a_file_is_written_once(tmp_path: Path) -> None:
    with open_site_folder(tmp_path / "new", MARKER) as folder:
        assert folder.read_file("days/a.html") is None
        assert folder.list_names("days") == ()
        assert folder.write_file("days/a.html", b"1")
        assert not folder.write_file("days/a.html", b"1")
        assert folder.write_file("days/a.html", b"2")
        assert folder.read_file("days/a.html") == b"2"
        assert folder.list_names("days") == ["a.html"]


def test_a_folder_of_others_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds other files"), open_site_folder(tmp_path, MARKER):
        pass
    assert [each.name for each in tmp_path.iterdir()] == ["letter.txt"]


def test_what_a_killed_run_left_is_no_file_of_others(tmp_path: Path) -> None:
    (tmp_path / ".prdigest-part").write_text("half")
    with open_site_folder(tmp_path, MARKER) as folder:
        folder.write_file(MARKER, b"")
    assert [each.name for each in tmp_path.iterdir()] == [MARKER]


def test_two_processes_do_not_write_at_once(tmp_path: Path) -> None:
    with (
        open_site_folder(tmp_path, MARKER),
        pytest.raises(UsageError, match="wait until it is done"),
        open_site_folder(tmp_path, MARKER),
    ):
        pass
    with open_site_folder(tmp_path, MARKER):
        pass


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="choose another folder"), open_site_folder(tmp_path / "file", MARKER):
        pass


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "site"
    outside.mkdir()
    (outside / "a.html").write_text("theirs")
    with open_site_folder(root, MARKER) as folder:
        folder.write_file(MARKER, b"")
        (root / "days").symlink_to(outside)
        with pytest.raises(UsageError, match="remove the link"):
            folder.write_file("days/a.html", b"ours")
        with pytest.raises(UsageError, match="remove the link"):
            folder.list_names("days")
        (root / "index.html").symlink_to(outside / "a.html")
        with pytest.raises(UsageError):
            folder.read_file("index.html")
        assert folder.write_file("index.html", b"ours")
        (root / ".prdigest-part").symlink_to(outside / "a.html")
        assert folder.write_file("other.html", b"ours")
    assert (outside / "a.html").read_text() == "theirs"
    assert (root / "index.html").read_bytes() == b"ours"


@pytest.mark.parametrize("path", ["../a", "/a", "a/../b", "a/b/c", "", "a/", "days/..", "days/.", "a\0b"])
def test_a_path_outside_is_none_of_a_site(path: str, tmp_path: Path) -> None:
    with open_site_folder(tmp_path, MARKER) as folder, pytest.raises(UsageError):
        folder.write_file(path, b"")
