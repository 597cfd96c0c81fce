"""Which pull requests of a list someone asks for: by path, author and label."""

from __future__ import annotations

from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from bot.domain.pulls import PullRequest


@dataclass(frozen=True, slots=True)
class Filters:
    """Values of one kind are alternatives; a pull request must fit every kind that is given.

    A path is a folder, a file or a glob, as ``.gitignore`` reads it: ``vllm/v1``, ``*.cu``, ``csrc/**/moe``.
    Authors and labels are compared without regard to case.
    """

    paths: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def admit(self, pull: PullRequest) -> bool:
        """Whether the pull request fits; one without files fits no path."""
        return self.admit_facts(pull) and self._fits_paths(pull)

    def admit_facts(self, pull: PullRequest) -> bool:
        """Whether it fits by what is known without its files."""
        return _fits(self.authors, (pull.author.login,)) and _fits(self.labels, pull.labels)

    def _fits_paths(self, pull: PullRequest) -> bool:
        if not self.paths:
            return True
        spec = GitIgnoreSpec.from_lines(self.paths)
        return any(spec.match_file(file.path) for file in pull.files or ())

    def words(self) -> tuple[str, ...]:
        """As they are written in a command."""
        kinds = (("path", self.paths), ("author", self.authors), ("label", self.labels))
        return tuple(f"{kind}:{_quoted(value)}" for kind, values in kinds for value in values)

    def __str__(self) -> str:
        return " ".join(self.words())

    def __bool__(self) -> bool:
        return bool(self.paths or self.authors or self.labels)


EVERYTHING = Filters()


def _fits(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    return not wanted or not {name.casefold() for name in wanted}.isdisjoint(name.casefold() for name in found)


def _quoted(value: str) -> str:
    return f'"{value}"' if any(char.isspace() for char in value) else value
