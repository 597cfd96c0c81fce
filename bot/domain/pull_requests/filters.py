"""Filters of pull requests by path, author and label."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Account, PullRequest
from bot.domain.pull_requests.path_globs import Globs
from bot.domain.text.strings import quoted

# the rest of .gitignore's syntax (classes, escapes, comments) has another meaning, or none, here
_PATH = re.compile(r"!?[^#\[\]\\!][^\[\]\\!]*")
# in one name; more are not needed to select files
_MOST_STARS = 3
# characters: the limit of a command, and enough for the path of any file
LONGEST_PATH = 1_000
BOTS = "bots"
_APP = "[bot]"


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of several kinds. Values of one kind are alternatives; a pull request must match every kind in use.

    A path is a folder, a file or a glob in the syntax of ``.gitignore``: ``vllm/v1``, ``*.cu``, ``csrc/**/moe``.
    A ``!`` in front excludes matches from the preceding paths, or from all files. Authors and labels are
    compared case-insensitively; ``bots`` stands for every bot. ``not_authors`` are excluded.

    Raises:
        UsageError: a path is invalid.
    """

    paths: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    not_authors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for path in self.paths:
            if len(path) > LONGEST_PATH:
                raise UsageError(f"path:{quoted(path)} is too long: use up to {LONGEST_PATH:,} characters.")
            folders = path.split("/")
            if not _PATH.fullmatch(path) or any(folder.count("*") > _MOST_STARS for folder in folders):
                raise UsageError(f"path:{quoted(path)} can't be used: write vllm/v1, *.cu or csrc/**/moe instead.")

    def admit(self, pull: PullRequest) -> bool:
        """Return whether the pull request matches; one without files matches no path filter."""
        return self.admit_facts(pull) and self._fits_paths(pull)

    def admit_facts(self, pull: PullRequest) -> bool:
        """Return whether the pull request matches all filters that need no files."""
        names = _names_of(pull.author)
        is_unwanted = bool(self.not_authors) and _fits(self.not_authors, names)
        return not is_unwanted and _fits(self.authors, names) and _fits(self.labels, pull.labels)

    def _fits_paths(self, pull: PullRequest) -> bool:
        if not self.paths:
            return True
        is_chosen = _chosen(self.paths)
        files = pull.files or ()
        return any(is_chosen(file.path) or is_chosen(file.previous_path or file.path) for file in files)

    def words(self) -> tuple[str, ...]:
        """Return the filters as options of a command."""
        kinds = (
            ("path", self.paths),
            ("author", self.authors),
            ("label", self.labels),
            ("not-author", self.not_authors),
        )
        return tuple(f"{kind}:{_quoted(value)}" for kind, values in kinds for value in values)

    def __str__(self) -> str:
        return " ".join(self.words())

    def __bool__(self) -> bool:
        return bool(self.paths or self.authors or self.labels or self.not_authors)


EVERYTHING = Filters()


@lru_cache
def _chosen(paths: tuple[str, ...]) -> Callable[[str], bool]:
    """Return a predicate for the files that the paths select."""
    if all(path.startswith("!") for path in paths):
        excluded = Globs(path[1:] for path in paths)
        return lambda file: not excluded.match(file)
    return Globs(paths).match


def _names_of(author: Account) -> tuple[str, ...]:
    """Return the names of an author. GitHub appends ``[bot]`` to the names of apps in some answers only."""
    name = author.login.removesuffix(_APP)
    return (name, f"{name}{_APP}", BOTS) if author.is_bot or name != author.login else (name,)


def _fits(values: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return not values or not {name.casefold() for name in values}.isdisjoint(name.casefold() for name in names)


def _quoted(value: str) -> str:
    return f'"{value}"' if any(char.isspace() for char in value) else value
