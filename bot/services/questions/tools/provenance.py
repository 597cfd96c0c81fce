"""The provenance of an answer: what was read for it, and what could not be seen."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.text.strings import collapse_lines, format_count, truncate_text

_MAX_ITEMS = 8
_MAX_PATH_LENGTH = 80


class Provenance:
    """Record of what the model was shown for one question."""

    def __init__(self) -> None:
        self._days: dict[str, None] = {}
        self._records: dict[int, None] = {}
        self._diffs: dict[int, None] = {}
        self._discussions: dict[int, None] = {}
        self._files: dict[str, None] = {}
        self._searched: dict[str, None] = {}
        self._unseen: dict[str, None] = {}

    def add_days(self, title: str) -> None:
        """Add the list of the merges of some days."""
        self._days[title] = None

    def add_summary(self, number: int) -> None:
        """Add the facts and summary of a pull request."""
        self._records[number] = None

    def add_discussion(self, number: int) -> None:
        """Add what people wrote about a pull request."""
        self._discussions[number] = None

    def add_search(self, title: str) -> None:
        """Add a search of the diffs or texts of some days."""
        self._searched[title] = None

    def add_file(self, number: int, path: str) -> None:
        """Add a part of a file as it is after a pull request."""
        self._files[f"{_format_path(path)} after #{number}"] = None

    def add_unread_source(self, number: int, path: str, problem: str) -> None:
        """Add a file that could not be read as it is after a pull request; ``problem`` is a clause."""
        self.add_gap(f"{_format_path(path)} after #{number} ({problem})")

    def add_uses(self, number: int, name: str, where: str) -> None:
        """Add a search for a name; ``where`` says in which files."""
        self._searched[f"{where} after #{number} for {_format_path(name)}"] = None

    def add_profile_search(self, profile: str, name: str) -> None:
        """Add a search for a name or path in a profile."""
        self._searched[f"the profile {profile} for {_format_path(name)}"] = None

    def add_diff(self, pull: PullRequest, files: tuple[ChangedFile, ...], left_out: tuple[str, ...]) -> None:
        """Add the diff of these files of a pull request; ``left_out`` are those that did not fit completely."""
        if any(file.patch for file in files):
            self._diffs[pull.number] = None
        elif files and all(file.patch == "" for file in files):
            self.add_gap(f"the diff of #{pull.number} (not available)")
        self.add_unloaded([pull])
        self.add_unread_files(pull, files)
        for file in files:
            if file.patch is not None and file.path in left_out:
                self.add_gap(f"parts of {_format_path(file.path)} of #{pull.number} (truncated)")

    def add_unloaded(self, pulls: Iterable[PullRequest]) -> None:
        """Add those of the pull requests whose files could not be loaded."""
        for pull in pulls:
            if pull.files is None:
                self.add_gap(f"#{pull.number} (its files could not be loaded)")

    def add_unread_files(self, pull: PullRequest, files: tuple[ChangedFile, ...] | None = None) -> None:
        """Add those of these files, or of all of the pull request, that have no text on GitHub."""
        for file in (pull.files or ()) if files is None else files:
            if file.is_unreadable:
                self.add_gap(f"{_format_path(file.path)} of #{pull.number} (its diff can't be read)")
            elif file.unread:
                self.add_gap(
                    f"{format_count(file.unread, 'changed line')} of {_format_path(file.path)} "
                    f"of #{pull.number} (truncated)"
                )
            elif file.patch is None and file.changed_lines:
                self.add_gap(f"{_format_path(file.path)} of #{pull.number} (too large, GitHub sends no diff)")
            elif file.patch is None and file.status != "renamed":
                self.add_gap(f"{_format_path(file.path)} of #{pull.number} (binary or empty)")

    def add_gap(self, what: str) -> None:
        """Add something that the answer could not take into account."""
        self._unseen[what] = None

    @property
    def sources(self) -> str:
        """What was read, as a clause; empty if nothing was."""
        diffs, records = list(self._diffs), [number for number in self._records if number not in self._diffs]
        # who searched the days has their list
        listed = [title for title in self._days if title not in self._searched]
        return "; ".join(
            part
            for part in (
                _format_list("", [f"the list of {title}" for title in listed]),
                _format_list(
                    "diffs of " if len(diffs) > 1 else "the diff of ", [f"#{number}" for number in diffs]
                ),
                _format_list(
                    "summaries of " if len(records) > 1 else "the summary of ", [f"#{n}" for n in records]
                ),
                _format_list("the discussion of ", [f"#{number}" for number in self._discussions]),
                _format_list("parts of ", list(self._files)),
                _format_list("searched ", list(self._searched)),
            )
            if part
        )

    @property
    def gaps(self) -> str:
        """What was not seen, as a clause; empty if nothing is missing."""
        return _format_list("", list(self._unseen))


def _format_list(lead: str, items: list[str]) -> str:
    more = [f"{len(items) - _MAX_ITEMS} more"] if len(items) > _MAX_ITEMS else []
    return lead + ", ".join([*items[:_MAX_ITEMS], *more]) if items else ""


def _format_path(path: str) -> str:
    return truncate_text(collapse_lines(path), _MAX_PATH_LENGTH)
