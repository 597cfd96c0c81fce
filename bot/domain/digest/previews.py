"""What the preview of a link shows: facts of one pull request, or of the merges of a range."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TypeAlias

from bot.domain.digest.since_page import SincePage
from bot.domain.history.outcomes import MergeOutcome
from bot.domain.pull_requests.models import PullRequest
from bot.domain.risk.assessment import Risk
from bot.domain.touches.models import MergeTouches


@dataclass(frozen=True, slots=True)
class PullPreview:
    """A pull request: its headline if it was summarised before, its risk, and what became of it.

    ``merged_on`` is the date of its merge in the bot's time zone, None if it is not merged. ``risk`` is None where
    its files are unknown. ``touches`` is what it means for ``profile``, None without one, or if nobody could read
    that.
    """

    pull: PullRequest
    merged_on: dt.date | None = None
    headline: str = ""
    risk: Risk | None = None
    outcome: MergeOutcome | None = None
    profile: str = ""
    touches: MergeTouches | None = None


@dataclass(frozen=True, slots=True)
class RangePreview:
    """The merges of a range, by the names of its two ends. ``url`` is the address of its page."""

    start: str
    end: str
    url: str
    page: SincePage


PreviewCard: TypeAlias = PullPreview | RangePreview
