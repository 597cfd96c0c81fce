"""A fingerprint is another one exactly where the messages of a digest read otherwise."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.digest.models import CountCheck, Entry
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.history.relands import Attempt
from bot.domain.pull_requests.models import Account, LinkedIssue
from bot.domain.review.models import (
    BugFinding,
    BugReview,
    Certainty,
    FindingAdvice,
    FindingStatus,
    ReviewCoverage,
)
from bot.domain.risk.assessment import Risk
from bot.domain.summaries.diff_packing import Coverage
from bot.domain.summaries.models import ChangeType
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay
from bot.features.digest.rules import Digest, MultiDayDigest, Overview, Theme, UnknownDay
from bot.features.digest.view import compute_fingerprint, render_days, render_digest
from tests.helpers.builders import DAY, FOUND_QUOTE, NOON, digest, entry, failed, finding, pull, summary
from tests.helpers.tables import check_rows

LISTED = Risk(20.0, ("it is large", "its title speaks of speed"), tries=(Attempt(4, 5),))
FIRST = replace(entry(1, entry_summary=summary(action="Set the flag", risk_reason="It may stall")), risk=LISTED)
REVERTED = (entry(2), entry(3, title="Revert #2", merged_at=NOON + timedelta(hours=1)))
BASE = digest(FIRST, *REVERTED, overview=Overview("A calm day.", (Theme("Counting", (1, 2)),)))


def of_pull(**fields: Any) -> Digest:
    """The digest, whose first pull request is another in this."""
    return _with(replace(FIRST, pull=replace(FIRST.pull, **fields)))


def of_summary(**fields: Any) -> Digest:
    return _with(replace(FIRST, summary=replace(FIRST.summary, **fields)))


def of_risk(**fields: Any) -> Digest:
    return _with(replace(FIRST, risk=replace(LISTED, **fields)))


def _with(first: Entry) -> Digest:
    return replace(BASE, entries=(first, *BASE.entries[1:]))


def of_review(*findings: BugFinding, refuted: int = 0) -> Digest:
    """The digest, whose first pull request was reviewed in this."""
    return _with(replace(FIRST, review=BugReview(findings, refuted)))


FOUND = finding()
SHOWN = {
    "title": of_pull(title="Another"),
    "author": of_pull(author=Account("bea")),
    "merged by": of_pull(merged_by=Account("bea")),
    "merged at": of_pull(merged_at=NOON + timedelta(minutes=9)),
    "size": of_pull(additions=77),
    "files": of_pull(changed_files=12),
    "trivial": of_summary(type=ChangeType.TRIVIAL),
    "headline": of_summary(headline="Another"),
    "action": of_summary(action="Another"),
    "claim": of_summary(risk_reason="Another"),
    "coverage": of_summary(coverage=Coverage.CLIPPED),
    "fallback": of_summary(fallback=failed("the model is busy")),
    "reasons": of_risk(reasons=("it is old",)),
    "band": of_risk(points=13.0),
    "not listed": of_risk(points=0.0),
    "without history": of_risk(without_history=True),
    "tries": of_risk(tries=()),
    "area": _with(replace(FIRST, area="docs")),
    "an entry less": replace(BASE, entries=BASE.entries[1:]),
    "order": replace(BASE, entries=BASE.entries[::-1]),
    "outcomes": replace(BASE, outcomes=()),
    "a fate": replace(BASE, outcomes=tuple(replace(each, stands=False) for each in BASE.outcomes)),
    "name": replace(BASE, name="Motor"),
    "day": replace(BASE, day=LocalDay(dt.date(2026, 2, 27), DAY.zone)),
    "zone": replace(BASE, shows_zone=True),
    "overview": replace(BASE, overview=Overview("Another.")),
    "without the model": replace(BASE, overview=replace(BASE.overview, fallback=failed("the model is busy"))),
    "count": replace(BASE, count=CountCheck(9, "the commits of main")),
    "missing": replace(BASE, missing=("what was reverted since is not known",)),
    "view": replace(BASE, view=DigestView(only=ViewLevel.SUBSTANTIAL)),
    "hidden": replace(BASE, view=DigestView(only=ViewLevel.SUBSTANTIAL), hidden=4),
    "sparing": replace(BASE, is_reduced=True),
    "a finding": of_review(FOUND),
    "how many were reviewed": replace(BASE, review_coverage=ReviewCoverage(3, 2)),
    "why reviews stopped": replace(BASE, review_coverage=ReviewCoverage(3, 2, "the limit is reached")),
}
HIDDEN = {
    "cost": _with(replace(FIRST, cost=0.5)),
    "unknown cost": replace(BASE, overview=replace(BASE.overview, cost=None)),
    "cached": _with(replace(FIRST, from_cache=True)),
    "description": of_pull(body="A longer description."),
    "patches": of_pull(files=pull(1).remove_patches().files),
    "labels": of_pull(labels=("bug",)),
    "linked issues": of_pull(linked_issues=(LinkedIssue(3, "Counts twice"),)),
    "in the report alone": of_summary(technical_impact="Another.", key_insights="Another."),
    "fourth reason": of_risk(reasons=LISTED.reasons),
    "cost of reviews": replace(BASE, review_coverage=ReviewCoverage(cost=0.5)),
    "no bug found, and listed as before": of_review(refuted=2),
}
# the same of a digest with a finding
SHOWN_OF_FINDING = {
    "consequence": of_review(finding("It stalls")),
    "trigger": of_review(finding(trigger="a request is empty")),
    "status": of_review(finding(status=FindingStatus.POSSIBLE)),
    "advice": of_review(finding(advice=FindingAdvice.WATCH)),
    "line": of_review(finding(evidence=replace(FOUND_QUOTE, line=8))),
}
HIDDEN_OF_FINDING = {
    "affected": of_review(finding(affected="Nobody")),
    "certainty": of_review(finding(certainty=Certainty.LOW)),
    "quote": of_review(finding(evidence=replace(FOUND_QUOTE, quote="return counts[0]  # first"))),
    "a weaker one": of_review(finding("It is slow", status=FindingStatus.POSSIBLE), FOUND, refuted=3),
}


@pytest.mark.slow
@check_rows(SHOWN)
def test_what_is_shown_tells_a_digest_from_another(changed: Digest) -> None:
    assert compute_fingerprint(changed) != compute_fingerprint(BASE)
    first, second = render_digest(BASE), render_digest(changed)
    assert (first.lead, first.thread) != (second.lead, second.thread), "or this would be no case"


@pytest.mark.parametrize("changed", HIDDEN.values(), ids=HIDDEN)
def test_what_is_not_shown_does_not(changed: Digest) -> None:
    assert compute_fingerprint(changed) == compute_fingerprint(BASE)
    assert render_digest(changed).thread == render_digest(BASE).thread


@check_rows(SHOWN_OF_FINDING)
def test_what_is_shown_of_a_finding_tells_digests_apart(changed: Digest) -> None:
    assert compute_fingerprint(changed) != compute_fingerprint(of_review(FOUND))
    assert render_digest(changed).lead != render_digest(of_review(FOUND)).lead


def test_a_review_that_takes_an_entry_off_the_list_tells_digests_apart() -> None:
    high = replace(FIRST, risk=replace(LISTED, points=13.0))
    cleared = replace(high, review=BugReview())
    assert compute_fingerprint(_with(high)) != compute_fingerprint(_with(cleared))


@check_rows(HIDDEN_OF_FINDING)
def test_what_only_details_show_of_a_finding_does_not(changed: Digest) -> None:
    assert compute_fingerprint(changed) == compute_fingerprint(of_review(FOUND))
    first, second = render_digest(of_review(FOUND)), render_digest(changed)
    assert (first.lead, first.thread) == (second.lead, second.thread)


def several(*digests: Digest, unknown: tuple[UnknownDay, ...] = ()) -> MultiDayDigest:
    return MultiDayDigest(Span(dt.date(2026, 2, 27), DAY.date, DAY.zone), digests, unknown)


@check_rows([name for name in SHOWN if name != "name"])
def test_several_days_are_told_apart_by_each_of_them(name: str) -> None:
    eve = digest(entry(8), day=LocalDay(dt.date(2026, 2, 27), DAY.zone))
    base, changed = several(eve, BASE), several(eve, SHOWN[name])
    assert compute_fingerprint(changed) != compute_fingerprint(base)


def test_days_that_are_not_known_and_notes_count() -> None:
    base = several(BASE)
    gap = several(BASE, unknown=(UnknownDay(dt.date(2026, 2, 27), "GitHub is away"),))
    made: list[Callable[[], str]] = [
        lambda: compute_fingerprint(base),
        lambda: compute_fingerprint(gap),
        lambda: compute_fingerprint(base, ["One"]),
        lambda: compute_fingerprint(base, ["Two"]),
        lambda: compute_fingerprint(BASE),
    ]
    assert len({make() for make in made}) == len(made)
    assert render_days(base, ["One"]).fingerprint == compute_fingerprint(base, ["One"])
