from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from bot.errors import UsageError
from bot.platform.pulls.models import Account, PullRequest
from impact.path_globs import PathGlobs
from impact.text.strings import quote_input

# the rest of .gitignore's syntax (classes, escapes, comments) has another meaning, or none, here
_PATH = re.compile(r"!?[^#\[\]\\!][^\[\]\\!]*")
_BLANK = re.compile(r"\s")
# in one name; more are not needed to select files
_MAX_STARS = 3
# characters: the limit of a command, and enough for the path of any file
MAX_PATH_LENGTH = 1_000
BOTS = "bots"
_APP_SUFFIX = "[bot]"


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of several kinds. Values of one kind are alternatives; a pull request must match every kind in use.

    A path is a folder, a file or a glob in the syntax of ``.gitignore``: ``vllm/v1``, ``*.cu``, ``csrc/**/moe``.
    A ``!`` in front excludes matches from the preceding paths, or from all files. Authors and labels are
    compared case-insensitively; ``bots`` stands for every bot. ``not_authors`` are excluded.
    An invalid path raises UsageError.
    """

    paths: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    not_authors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for path in self.paths:
            if len(path) > MAX_PATH_LENGTH:
                raise UsageError(
                    f"path:{quote_input(path)} is too long: use up to {MAX_PATH_LENGTH:,} characters."
                )
            folders = path.split("/")
            if not _PATH.fullmatch(path) or any(folder.count("*") > _MAX_STARS for folder in folders):
                raise UsageError(
                    f"path:{quote_input(path)} can't be used: write vllm/v1, *.cu or csrc/**/moe instead."
                )

    def is_match(self, pull: PullRequest) -> bool:
        """Return whether the pull request matches; one without files matches no path filter."""
        if not self.may_match(pull):
            return False
        if not self.paths:
            return True
        files = pull.files or ()
        return any(self.has_path(file.path) or self.has_path(file.previous_path or file.path) for file in files)

    def has_path(self, path: str) -> bool:
        return not self.paths or _build_path_predicate(self.paths)(path)

    def may_match(self, pull: PullRequest) -> bool:
        names = _list_author_names(pull.author)
        is_unwanted = bool(self.not_authors) and _has_match(self.not_authors, names)
        return not is_unwanted and _has_match(self.authors, names) and _has_match(self.labels, pull.labels)

    def list_options(self) -> tuple[str, ...]:
        kinds = (
            ("path", self.paths),
            ("author", self.authors),
            ("label", self.labels),
            ("not-author", self.not_authors),
        )
        quoted = (
            (kind, f'"{value}"' if _BLANK.search(value) else value) for kind, each in kinds for value in each
        )
        return tuple(f"{kind}:{value}" for kind, value in quoted)

    def __str__(self) -> str:
        return " ".join(self.list_options())

    def __bool__(self) -> bool:
        return bool(self.paths or self.authors or self.labels or self.not_authors)


NO_FILTERS = Filters()


@lru_cache
def _build_path_predicate(paths: tuple[str, ...]) -> Callable[[str], bool]:
    if all(path.startswith("!") for path in paths):
        excluded = PathGlobs(path[1:] for path in paths)
        return lambda file: not excluded.has_match(file)
    return PathGlobs(paths).has_match


def _list_author_names(author: Account) -> tuple[str, ...]:
    """Return the names of an author. GitHub appends ``[bot]`` to the names of apps in some answers only."""
    name = author.login.removesuffix(_APP_SUFFIX)
    return (name, f"{name}{_APP_SUFFIX}", BOTS) if author.is_bot or name != author.login else (name,)


def _has_match(values: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return not values or not {name.casefold() for name in values}.isdisjoint(name.casefold() for name in names)
