"""Which pull requests of a list someone asks for: by path, author and label."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Account, PullRequest
from bot.domain.pull_requests.path_globs import Globs
from bot.domain.text.strings import quoted

# the rest of .gitignore's syntax (classes, escapes, comments) means other things, or nothing, here
_PATH = re.compile(r"!?[^#\[\]\\!][^\[\]\\!]*")
# in one name; nobody needs more to say which files they mean
_MOST_STARS = 3
# characters: as many as a command may have, and room for the path of any file
LONGEST_PATH = 1_000
BOTS = "bots"
_APP = "[bot]"


@dataclass(frozen=True, slots=True)
class Filters:
    """Values of one kind are alternatives; a pull request must fit every kind that is given.

    A path is a folder, a file or a glob, as ``.gitignore`` reads it: ``vllm/v1``, ``*.cu``, ``csrc/**/moe``; with
    ``!`` in front it takes away from those before it, or from all.
    Authors and labels are compared without regard to case; ``bots`` stands for every author that is one.
    ``not_authors`` take away.

    Raises:
        UsageError: a path is none.
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
        """Whether the pull request fits; one without files fits no path."""
        return self.admit_facts(pull) and self._fits_paths(pull)

    def admit_facts(self, pull: PullRequest) -> bool:
        """Whether it fits by what is known without its files."""
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
        """As they are written in a command."""
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
    """Whether a file is among the paths."""
    if all(path.startswith("!") for path in paths):
        taken_away = Globs(path[1:] for path in paths)
        return lambda file: not taken_away.match(file)
    return Globs(paths).match


def _names_of(author: Account) -> tuple[str, ...]:
    """GitHub names apps with ``[bot]`` behind, here and not there; other bots only look like people."""
    name = author.login.removesuffix(_APP)
    return (name, f"{name}{_APP}", BOTS) if author.is_bot or name != author.login else (name,)


def _fits(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    return not wanted or not {name.casefold() for name in wanted}.isdisjoint(name.casefold() for name in found)


def _quoted(value: str) -> str:
    return f'"{value}"' if any(char.isspace() for char in value) else value
