"""A process that writes a site is killed after each file in turn: it works, and the next run does the rest."""

from __future__ import annotations

import signal
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree.ElementTree import parse

import pytest

from bot.adapters.files.site_folder import open_site_folder
from bot.domain.archive.models import ArchivedDay
from bot.services.archive.site_writer import MARKER, write_site
from tests.helpers.data.archive import HEADING, Page, deadline
from tests.helpers.processes.command import Caught
from tests.helpers.processes.killed_site import AFTER, BEFORE


def write(root: Path, made: tuple[ArchivedDay, ...]) -> tuple[str, ...]:
    with open_site_folder(root, MARKER) as folder:
        return write_site(folder, HEADING, made, [deadline()]).written


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
        pages = {(path.parent / link.path).resolve() for link in links if link.path[-5:] == ".html"}
        waiting += pages - seen
    if (root / "feed.atom").exists():
        parse(root / "feed.atom")  # noqa: S314 (our own)


@pytest.mark.parametrize("before", [(), BEFORE], ids=["a new site", "a site that exists"])
def test_a_killed_run_leaves_a_site_that_works_and_the_next_one_completes_it(
    before: tuple[ArchivedDay, ...], tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    if before:
        write(whole, before)
    files = len(write(whole, AFTER))
    expected = read_all(whole)
    roots = [tmp_path / f"killed-{kills}" for kills in range(files + 1)]
    for root in roots if before else ():
        write(root, before)
    module = "tests.helpers.processes.killed_site"
    done = Caught(str(tmp_path), str(len(roots)), module=module, settings={}, folder=tmp_path).await_end()
    # the last one is done before it would be killed
    assert [int(code) for code in done.stdout.split()] == [-signal.SIGKILL] * files + [0], done.stderr
    for root in roots:
        check_works(root)
        write(root, AFTER)
        assert read_all(root) == expected
        assert write(root, AFTER) == ()
