"""Whether the classes of paths fit a repository: how many of its pull requests would be without product code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from bot.domain.paths import PathClass, PathClasses
from bot.domain.pulls import ChangedFile
from bot.domain.texts import one_line, shorten

# of vLLM's merges from March to December 2025, 22 % touched neither product code nor the build; in a repository
# that ships code from examples/, which the defaults call documentation, it was 36 %
_USUAL, _MOST = 0.20, 0.30
# 20 % of fewer are over 30 % by chance more than once in forty times
_FEWEST = 60
_PRODUCT = frozenset({PathClass.PRODUCT, PathClass.BUILD, PathClass.LOCK})
# folders that a warning names; more would hide the one that matters
_NAMED = 3
_LONGEST_NAME = 60


class HasFiles(Protocol):
    """A pull request, as far as it is looked at here. ``files`` is None where they are not known."""

    @property
    def files(self) -> Sequence[ChangedFile] | None: ...


@dataclass(frozen=True, slots=True)
class Fit:
    """Of so many pull requests whose files are known, how many touch neither product code nor the build.

    ``folders`` are those at the root that hold most of these, with their class and in how many they were touched.
    """

    pulls: int
    without_product: int
    folders: tuple[tuple[str, PathClass, int], ...] = ()

    @property
    def share(self) -> float:
        """From 0 to 1; 0 where there is no pull request."""
        return self.without_product / self.pulls if self.pulls else 0.0

    @property
    def is_doubtful(self) -> bool:
        """Whether more than 30 % are without product code, of enough pull requests to tell."""
        return self.pulls >= _FEWEST and self.share > _MOST

    @property
    def warning(self) -> str:
        """One sentence that says what to look at, empty where the classes fit."""
        if not self.is_doubtful:
            return ""
        named = ", ".join(f"{folder} ({kind}, in {count:,})" for folder, kind, count in self.folders)
        return (
            f"The path classes may not fit this repository: {self.share:.0%} of its {self.pulls:,} pull requests"
            f" touch no product code, where {_USUAL:.0%} is usual, but mostly {named}: if shipped code lies"
            " there, name it as product in the file of PRDIGEST_PATHS."
        )


def share_without_product(pulls: Iterable[HasFiles], classes: PathClasses) -> Fit:
    """How many touch neither product code nor the build; those without files, as far as known, don't count."""
    known = [[(file.path, classes.classify(file.path)) for file in pull.files] for pull in pulls if pull.files]
    without = [files for files in known if not any(kind in _PRODUCT for _, kind in files)]
    counts = Counter(place for files in without for place in {(_folder(path), kind) for path, kind in files})
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_NAMED]
    return Fit(len(known), len(without), tuple((folder, kind, count) for (folder, kind), count in ranked))


def _folder(path: str) -> str:
    """The folder at the root, or the file there."""
    first, *below = PurePosixPath(path).parts
    name = shorten(one_line(first), _LONGEST_NAME)
    return f"{name}/" if below else name
