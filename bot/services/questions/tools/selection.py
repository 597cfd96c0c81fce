"""The selection of pull requests, files and places by the arguments of a tool."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.conversations.search import has_word
from bot.domain.digest.models import Entry
from bot.domain.pull_requests.diff import split_hunks
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.risk.assessment import RiskBand
from bot.services.questions.tools.schemas import SelectionArguments
from bot.services.source.text_limits import join_items

# characters
_MAX_POSITIONS_LENGTH = 3_000
_SIDES = {"+": "added", "-": "removed", " ": "unchanged"}
_BAND_LABELS = [band.label for band in RiskBand]


def is_selected(entry: Entry, arguments: SelectionArguments) -> bool:
    """Return whether an entry matches the arguments besides paths, authors and labels."""
    merged_by = {name.casefold() for name in arguments.merged_by}
    return (
        (not arguments.areas or has_word(entry.area, tuple(area.casefold() for area in arguments.areas)))
        and (not merged_by or entry.pull.merged_by.login.casefold() in merged_by)
        and (not arguments.types or entry.summary.type.value in arguments.types)
        and (
            not arguments.least_risk
            or _BAND_LABELS.index(entry.risk.band.label) >= _BAND_LABELS.index(arguments.least_risk)
        )
    )


def restrict_files(entries: tuple[Entry, ...], paths: tuple[str, ...]) -> tuple[Entry, ...]:
    """Return the entries with only those of their files that match the paths."""
    if not paths:
        return entries
    return tuple(
        replace(entry, pull=replace(entry.pull, files=select_files(entry.pull, paths))) for entry in entries
    )


def select_files(pull: PullRequest, paths: tuple[str, ...]) -> tuple[ChangedFile, ...]:
    """Return the files of a pull request that match the paths; all if there are no paths."""
    is_chosen = Filters(paths=paths).is_match
    return tuple(file for file in pull.files or () if not paths or is_chosen(replace(pull, files=(file,))))


def find_places(files: tuple[ChangedFile, ...], text: str) -> list[str]:
    """Return the hunks that contain the text, as in the diff.

    If several lines contain it, their sides and numbers come first: the hunks show neither.
    """
    words = (text.strip().casefold(),)
    lines = _list_positions(files, words)
    for file in files:
        hunks = [
            (header, part)
            for header, part in split_hunks(file.patch or "")
            if any(has_word(each.text, words) for each in part)
        ]
        if hunks:
            lines.append(f"=== {file.path} ({file.status}, +{file.additions} -{file.deletions})")
        for header, part in hunks:
            lines += [header, *(each.patch_text for each in part)]
    return lines or [f"No place in it contains {text!r}."]


def _list_positions(files: tuple[ChangedFile, ...], words: tuple[str, ...]) -> list[str]:
    """Return the side and number of each line that contains a word, if there are several such lines."""
    places = [
        f"{file.path}:{line.old if line.mark == '-' else line.new} ({_SIDES[line.mark]})"
        for file in files
        for _, lines in split_hunks(file.patch or "")
        for line in lines
        if has_word(line.text, words)
    ]
    if len(places) < 2:
        return []
    return [f"It stands in {len(places):,} lines: {join_items(places, _MAX_POSITIONS_LENGTH)}"]
