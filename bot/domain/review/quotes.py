"""The search for the quote of a finding in the code that the reviewer was shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.domain.pull_requests.diff import DiffPosition, DiffSide, list_quote_positions
from bot.domain.pull_requests.models import PullRequest
from bot.domain.source.excerpts import SourceExcerpt
from bot.domain.summaries.models import Evidence, Quote
from bot.domain.summaries.quote_evidence import is_evidence


def locate_finding(quote: Quote, pull: PullRequest, excerpts: Iterable[SourceExcerpt]) -> Evidence | None:
    """Return the quote with its only position, or with the one that it names; None if it proves nothing.

    ``excerpts`` are lines that were shown of files at the pull request's commit. They are searched before the
    diff, whose numbers are those of the pull request's own branch. Deleted lines are in the diff alone.
    """
    if not is_evidence(quote.quote):
        return None
    shown = _list_in_excerpts(quote, excerpts) if quote.side is DiffSide.NEW else {}
    places = shown or _list_in_diff(quote, pull)
    place = _choose_place(places, quote.line)
    if place is None:
        return None
    return Evidence(quote.path, quote.quote.strip(), place.side, place.line, places[place])


def _choose_place(places: Mapping[DiffPosition, bool], line: int) -> DiffPosition | None:
    named = [place for place in places if place.line == line]
    candidates = named or list(places)
    return candidates[0] if len(candidates) == 1 else None


def _list_in_excerpts(quote: Quote, excerpts: Iterable[SourceExcerpt]) -> dict[DiffPosition, bool]:
    """Return the positions in the lines that were shown, each with whether it is of a changed line."""
    places: dict[DiffPosition, bool] = {}
    for excerpt in excerpts:
        if excerpt.path != quote.path:
            continue
        for place in list_quote_positions(excerpt.patch, quote.quote):
            # a line that was shown without marks may have been shown with them, too
            is_known = excerpt.has_marks and place.side is DiffSide.NEW
            if place.side is DiffSide.NEW and (is_known or place not in places):
                places[place] = place.is_change if is_known else True
    return places


def _list_in_diff(quote: Quote, pull: PullRequest) -> dict[DiffPosition, bool]:
    """Return the positions in the diff on the quote's side; on the other one if there are none."""
    patch = next((file.patch for file in pull.files or () if file.path == quote.path), None)
    places = list_quote_positions(patch or "", quote.quote)
    of_side = [place for place in places if place.side is quote.side]
    return {place: place.is_change for place in of_side or places}
