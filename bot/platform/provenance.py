from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.text import format_count
from impact.text.strings import collapse_lines, truncate_text

_MAX_ITEMS = 8
_MAX_PATH_LENGTH = 80


class Provenance:
    """Record of what the model was shown for one answer; each is named once, in the order of reading."""

    def __init__(self) -> None:
        # by their kinds
        self._seen: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def add_days(self, title: str) -> None:
        self._seen["days"][title] = None

    def add_summary(self, number: int) -> None:
        self._seen["summaries"][f"#{number}"] = None

    def add_discussion(self, number: int) -> None:
        """Add what people wrote about a pull request."""
        self._seen["discussions"][f"#{number}"] = None

    def add_file(self, number: int, path: str) -> None:
        self._seen["files"][f"{shorten_path(path)} after #{number}"] = None

    def add_search(self, title: str) -> None:
        self._seen["searches"][title] = None

    def add_gap(self, what: str) -> None:
        """Add something that the answer could not take into account."""
        self._seen["gaps"][what] = None

    def add_diff(self, pull: PullRequest, files: tuple[ChangedFile, ...], left_out: tuple[str, ...]) -> None:
        if any(file.patch for file in files):
            self._seen["diffs"][f"#{pull.number}"] = None
        elif files and all(file.patch == "" for file in files):
            self.add_gap(f"the diff of #{pull.number} (not available)")
        self.add_unloaded([pull])
        self.add_unread_files(pull, files)
        for file in files:
            if file.patch is not None and file.path in left_out:
                self.add_gap(f"parts of {shorten_path(file.path)} of #{pull.number} (truncated)")

    def add_unloaded(self, pulls: Iterable[PullRequest]) -> None:
        for pull in pulls:
            if pull.files is None:
                self.add_gap(f"#{pull.number} (its files could not be loaded)")

    def add_unread_files(self, pull: PullRequest, files: tuple[ChangedFile, ...] | None = None) -> None:
        for file in (pull.files or ()) if files is None else files:
            what = f"{shorten_path(file.path)} of #{pull.number}"
            if file.is_unreadable:
                self.add_gap(f"{what} (its diff can't be read)")
            elif file.unread:
                self.add_gap(f"{format_count(file.unread, 'changed line')} of {what} (truncated)")
            elif file.patch is None and file.changed_lines:
                self.add_gap(f"{what} (too large, GitHub sends no diff)")
            elif file.patch is None and file.status != "renamed":
                self.add_gap(f"{what} (binary or empty)")

    @property
    def sources(self) -> str:
        seen = self._seen
        diffs, searches = [*seen["diffs"]], [*seen["searches"]]
        summaries = [number for number in seen["summaries"] if number not in diffs]
        parts = (
            # who searched the days has their list
            _format_list("", [f"the list of {title}" for title in seen["days"] if title not in searches]),
            _format_list("diffs of " if len(diffs) > 1 else "the diff of ", diffs),
            _format_list("summaries of " if len(summaries) > 1 else "the summary of ", summaries),
            _format_list("the discussion of ", [*seen["discussions"]]),
            _format_list("parts of ", [*seen["files"]]),
            _format_list("searched ", searches),
        )
        return "; ".join(filter(None, parts))

    @property
    def gaps(self) -> str:
        """What was not seen, as a clause; empty if nothing is missing."""
        return _format_list("", [*self._seen["gaps"]])


def _format_list(lead: str, items: list[str]) -> str:
    more = [f"{len(items) - _MAX_ITEMS} more"] if len(items) > _MAX_ITEMS else []
    return lead + ", ".join([*items[:_MAX_ITEMS], *more]) if items else ""


def shorten_path(path: str) -> str:
    return truncate_text(collapse_lines(path), _MAX_PATH_LENGTH)
