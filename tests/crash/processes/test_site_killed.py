"""A process that writes a site is killed after each file in turn: it works, and the next run does the rest."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree.ElementTree import parse

import pytest

from bot.adapters.files.site_folder import LocalSiteFolder, open_site_folder
from bot.domain.archive.models import ArchivedDay
from bot.services.archive.site_writer import MARKER, write_site
from tests.helpers.archive import HEADING, Page, day, days, deadline, merge, outcome

FIRST = days(4)[1:3]
# a day before it, a day after it, and one that was edited
EDITED = day(merge(5, outcomes=(outcome(),)), merge(6), date=FIRST[1].date)
SECOND = (days(4)[0], FIRST[0], EDITED, days(4)[3])


class DeadlyFolder(LocalSiteFolder):
    """A folder whose process is killed in the middle of a file."""

    def __init__(self, root: Path, files: int) -> None:
        super().__init__(root)
        self._left = files

    def _replace(self, target: Path, content: bytes) -> None:
        self._left -= 1
        if self._left < 0:
            (target.parents[len(target.relative_to(self._root).parts) - 1] / ".prdigest-part").write_bytes(
                content[: len(content) // 2]
            )
            os.kill(os.getpid(), signal.SIGKILL)
        super()._replace(target, content)


def write(root: Path, made: tuple[ArchivedDay, ...]) -> tuple[str, ...]:
    with open_site_folder(root, MARKER) as folder:
        return write_site(folder, HEADING, made, [deadline()]).written


def write_until_killed(root: Path, made: tuple[ArchivedDay, ...], files: int) -> bool:
    """Write in a process of its own, which is killed in the middle of a file. Return whether it was."""
    child = os.fork()
    if child == 0:
        with open_site_folder(root, MARKER):
            write_site(DeadlyFolder(root, files), HEADING, made, [deadline()])
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def read_all(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def check_works(root: Path) -> None:
    """Check that all that a reader can come to is whole, and that no link between pages leads nowhere."""
    seen, waiting = set(), [root / "index.html"] if (root / "index.html").exists() else []
    while waiting:
        path = waiting.pop()
        text = path.read_text()
        assert text.rstrip().endswith("</html>")
        seen.add(path)
        links = (urlsplit(url) for url in Page(text).list_values("href", ["a"]))
        pages = {
            (path.parent / link.path).resolve() for link in links if not link.netloc and link.path[-5:] == ".html"
        }
        waiting += pages - seen
    if (root / "feed.atom").exists():
        parse(root / "feed.atom")  # noqa: S314 (our own)


@pytest.mark.parametrize("before", [(), FIRST], ids=["a new site", "a site that exists"])
def test_a_killed_run_leaves_a_site_that_works_and_the_next_one_completes_it(
    before: tuple[ArchivedDay, ...], tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    if before:
        write(whole, before)
    write(whole, SECOND)
    expected, kills = read_all(whole), 0
    while True:
        root = tmp_path / f"killed {kills}"
        if before:
            write(root, before)
        if not write_until_killed(root, SECOND, kills):
            break
        check_works(root)
        write(root, SECOND)
        assert read_all(root) == expected
        assert write(root, SECOND) == ()
        kills += 1
    assert kills >= (5 if before else 12)
