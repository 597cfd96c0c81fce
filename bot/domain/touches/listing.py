"""What the merges of some days do to a team's code, as digests and commands use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.pull_requests.models import PullRequest
from bot.domain.time.date_range import Span
from bot.domain.touches.decisions import TouchVerdict
from impact.contract.models import MergeContract
from impact.touches.models import TouchReport


@dataclass(frozen=True, slots=True)
class JudgedMerges:
    """A report, and the contracts that it was made from, in the order of the merges."""

    report: TouchReport
    contracts: tuple[MergeContract, ...] = ()


@dataclass(frozen=True, slots=True)
class TouchList:
    """A report on some days. ``verdicts`` are what people said, by the number of the pull request."""

    name: str
    span: Span
    report: TouchReport
    pulls: tuple[PullRequest, ...] = ()
    verdicts: Mapping[int, tuple[TouchVerdict, ...]] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
