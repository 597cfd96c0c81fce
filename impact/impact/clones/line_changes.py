"""Which lines of a downstream tree changed until a later one."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher

from impact.git.clone_trees import CloneTrees
from impact.source.models import BlobVersion
from impact.text.strings import count_common


class LineChanges:
    """The changed lines between two trees. A file that is gone has all its lines changed, a moved one none."""

    def __init__(self, trees: CloneTrees, before: Mapping[str, str], after: Mapping[str, str]) -> None:
        self._trees = trees
        self._before = before
        self._after = after
        self._blobs = frozenset(after.values())
        self._kept: dict[str, frozenset[int]] = {}

    def has_changed(self, path: str, line: int) -> bool:
        """Return whether a line of a file, counted from 1, is gone or different."""
        blob = self._before.get(path)
        if blob is None or blob in self._blobs:
            return False
        if path not in self._kept:
            self._kept[path] = self._find_kept(path)
        return line not in self._kept[path]

    def _find_kept(self, path: str) -> frozenset[int]:
        """Return the numbers of the lines of a file that are the same later."""
        if path not in self._after:
            return frozenset()
        old, new = (
            self._trees.read_file(BlobVersion(path, files[path])).lines for files in (self._before, self._after)
        )
        start = count_common(old, new)
        end = count_common(old[start:][::-1], new[start:][::-1])
        kept = {*range(start), *range(len(old) - end, len(old))}
        matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=True)
        for block in matcher.get_matching_blocks():
            kept.update(range(start + block.a, start + block.a + block.size))
        return frozenset(line + 1 for line in kept)
