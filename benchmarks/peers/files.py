"""The files of recorded pull requests before and after them, so that both tools read the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from bot.platform.pulls.diff import split_hunks
from impact.source.models import DiffSide
from tests.emulators.github.store import PullRecord
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit, read_commit


def lay_hunks(text: str, patch: str, side: DiffSide) -> str:
    """Return a text with the lines of a patch's hunks, of one side, at their line numbers.

    Lines that the text lacks before a hunk are the first line of the hunk: a file of about the right size.
    """
    lines = text.split("\n") if text else []
    for _, hunk in split_hunks(patch):
        shown = [line for line in hunk if line.mark != ("-" if side is DiffSide.NEW else "+")]
        if not shown:
            continue
        start = (shown[0].new if side is DiffSide.NEW else shown[0].old) - 1
        lines += [shown[0].text] * (start - len(lines))
        lines[start : start + len(shown)] = [line.text for line in shown]
    return "\n".join(lines)


def make_commits(record: PullRecord, clone: Path | None) -> Iterator[TreeCommit]:
    """Yield the base, the head and the merge of a pull request with the files that it changes.

    The lines around the hunks are those of the merge and its parent in ``clone``, if there is one.
    """
    merged = read_commit(clone, str(record.merge_commit_sha)) if clone else None
    before = FixedTree(dict(_make_entries(record, DiffSide.OLD, merged.parent if merged else None)))
    after = FixedTree(dict(_make_entries(record, DiffSide.NEW, merged)))
    base = TreeCommit(record.base_sha, before)
    yield base
    yield TreeCommit(record.head_sha, after, base)
    yield TreeCommit(str(record.merge_commit_sha), after, base)


def _make_entries(record: PullRecord, side: DiffSide, commit: TreeCommit | None) -> Iterable[tuple[str, Entry]]:
    absent = "added" if side is DiffSide.OLD else "removed"
    for file in record.files:
        if file["status"] == absent:
            continue
        path = file.get("previous_filename", file["filename"]) if side is DiffSide.OLD else file["filename"]
        entry = (commit.tree.find(path) if commit else None) or Entry()
        patch = file.get("patch")
        if patch:
            text = lay_hunks(entry.data.decode("utf-8", "replace"), patch, side)
            entry = replace(entry, data=text.encode())
        yield path, entry
