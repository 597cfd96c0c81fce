"""How lists of risky changes look, and their score: in counts, compared to chance and to size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.dates import Span
from bot.features.merges.outcomes import MergeOutcome
from bot.features.merges.review import ReviewVerdict
from bot.features.merges.view import (
    MAX_SENTENCE,
    NO_HISTORY,
    RISK_COLUMNS,
    Entry,
    make_list,
    render_lines,
    render_may_break,
    render_outcome,
    render_outcomes,
    render_risk,
    render_risk_row,
    render_riskiest_title,
)
from bot.features.risks.rules import (
    MIN_DIFFERING,
    MIN_DIFFERING_REVERTED,
    MIN_EXPECTED_BY_CHANCE,
    MIN_LISTED,
    MIN_REVERTED,
    ReviewScore,
    ReviewScoreVerdict,
    Tally,
    TrackRecordScore,
    TrackRecordVerdict,
)
from bot.features.touches.lines import (
    WIDE_TOUCHES,
    BreakingMerge,
    HitContext,
    make_sentence,
    render_breaking,
    render_touches,
)
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import (
    MIN_TABLE_ROWS,
    Block,
    Element,
    Post,
    choose_fitting_blocks,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_section,
    make_table,
    make_text,
)
from bot.platform.slack.terminal import format_message
from bot.text import format_count
from impact.coverage import CoveredList
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import TouchReport

_ELSEWHERE = ": ask for fewer days to see them"
_MAX_TOUCHES, _MAX_HITS, _MAX_BREAKING = 10, 8, 8
# at vLLM's share of 1.3 %, none of so many would be reverted or repaired in 2 of 100 such periods
_SURPRISING_COUNT = 300
_KINDS = {
    ReviewVerdict.CONFIRMED: "with a confirmed bug",
    ReviewVerdict.POSSIBLE: "with a possible bug",
    ReviewVerdict.NOTHING: "where it found nothing",
    None: "without an AI review",
}


# --- the list


@dataclass(frozen=True, slots=True)
class RiskList:
    """The answer to "what may hurt?" for some days.

    ``taken_back`` are the outcomes that stand, ``older`` are reverts of earlier merges.
    ``merged`` pull requests were merged in the days, and ``matching`` of them match the filters. What was not read
    for any part of the answer is in the coverage of ``riskiest``. ``is_reduced`` is the same as in
    :class:`bot.features.merges.view.Digest`.

    ``breaking`` are those that break callers, whatever their band.
    ``touches`` says what the merges mean for a profile, None without one; then only those ``touching`` it match.

    A request for the ``top`` ones gets that number: those ``below`` the threshold follow, riskiest first.
    ``ranked`` is the number of candidates. ``muted`` are left out for the only reader.
    """

    name: str
    span: Span
    filters: str
    merged: int
    matching: int
    taken_back: tuple[MergeOutcome, ...]
    older: tuple[PullRequest, ...]
    riskiest: CoveredList[Entry]
    below: tuple[Entry, ...] = ()
    top: int | None = None
    ranked: int = 0
    notes: tuple[str, ...] = ()
    is_reduced: bool = False
    touches: TouchReport | None = None
    touching: tuple[PullRequest, ...] = ()
    breaking: tuple[BreakingMerge, ...] = ()
    muted: tuple[PullRequest, ...] = ()

    @property
    def table_entries(self) -> tuple[Entry, ...]:
        """The entries that a table shows, of which a message has one: the longer list, if it is long enough."""
        return max(self.riskiest.ignore_coverage(), self.below, key=len)

    @property
    def urls(self) -> dict[int, str]:
        """The addresses of what is listed, by number."""
        listed = (*self.riskiest.ignore_coverage(), *self.below)
        return {entry.number: entry.pull.url for entry in listed}


def render_risk_list(risk_list: RiskList) -> Post:
    name = truncate_text(collapse_lines(risk_list.name), 60)
    count = risk_list.riskiest.label(lambda _: f" · {_format_merged(risk_list)}")
    title = f"Risky changes · {name} · {risk_list.span.title}{count}"
    has_hits = risk_list.touches is not None and not risk_list.touches.touching.is_empty
    is_empty = risk_list.riskiest.is_empty and not risk_list.breaking and not has_hits
    gaps = risk_list.riskiest.coverage.explain_gaps(is_empty=is_empty)
    gaps += f" {_format_merged(risk_list)}." if gaps and risk_list.matching else ""
    touches: list[Block] = []
    if risk_list.touches:
        context = HitContext.build(risk_list.touching, risk_list.taken_back)
        limits = replace(WIDE_TOUCHES, hits=_MAX_TOUCHES)
        touches += render_touches(risk_list.touches, context, limits, _ELSEWHERE)
    # links in the model's text, and then words, are left out if they would not fit
    blocks = choose_fitting_blocks(
        [
            make_header(title),
            *([make_sentence(gaps)] if gaps else []),
            *touches,
            *render_breaking(risk_list.breaking, most=_MAX_BREAKING),
            *render_outcomes(risk_list.taken_back, risk_list.older, _ELSEWHERE),
            *_render_riskiest(risk_list, limit, links=links),
            *_render_below_bar(risk_list, limit, links=links),
            *_render_notes(risk_list),
        ]
        for limit, links in ((MAX_SENTENCE, True), (180, False), (80, False), (40, False))
    )
    return Post(escape_mrkdwn(title), tuple(blocks))


def _format_merged(risk_list: RiskList) -> str:
    if not risk_list.merged:
        return "nothing merged"
    matching = f"{risk_list.matching:,} of " if risk_list.filters else ""
    return f"{matching}{risk_list.merged:,} merged"


def _render_riskiest(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the riskiest entries, or that there are none where all was read."""
    if not risk_list.riskiest.is_empty:
        title = render_riskiest_title(is_reduced=risk_list.is_reduced)
        # what was not read stands above all
        yield from risk_list.riskiest.render_below(
            lambda entries: _render_entries(title, risk_list, entries, limit, links=links)
        )
    elif not risk_list.riskiest.coverage.is_complete or (risk_list.touches and not risk_list.matching):
        return
    elif risk_list.filters and risk_list.merged and not risk_list.matching:
        sentence = f"No pull request of these days matches {_format_filters(risk_list)}."
        yield make_block(make_section([make_text(sentence)]))
    elif risk_list.merged:
        is_first = not (risk_list.taken_back or risk_list.breaking)
        sentence = "Nothing stands out." if is_first else "Nothing else stands out."
        yield make_block(make_section([make_text(sentence)]))


def _render_below_bar(risk_list: RiskList, limit: int, *, links: bool) -> Iterator[Block]:
    """Yield the entries below the threshold that ``top:N`` requested, and a note if fewer than N can be ranked."""
    top = risk_list.top
    if risk_list.below and top:
        title = [make_text("Less risky", bold=True), make_text(f" (listed because of top:{top})", italic=True)]
        yield from _render_entries(title, risk_list, risk_list.below, limit, links=links)
    if top and risk_list.matching and risk_list.ranked < top:
        yield make_context(f"top:{top}: only {format_count(risk_list.ranked, 'pull request')} can be ranked.")


def _render_entries(
    title: list[Element], risk_list: RiskList, entries: Sequence[Entry], limit: int, *, links: bool
) -> Iterator[Block]:
    """Yield entries below a title; ``limit`` is the characters of the rules' reasons and of the model's."""
    urls = risk_list.urls if links else {}
    if len(entries) < MIN_TABLE_ROWS or entries != risk_list.table_entries:
        yield make_block(make_section(title), make_bullets(render_risk(entry, urls, limit) for entry in entries))
        return
    history = f" · {NO_HISTORY}" if any(entry.risk.without_history for entry in entries) else ""
    caption = "".join(element["text"] for element in title)
    yield make_table(f"{caption}{history}", RISK_COLUMNS, [render_risk_row(entry) for entry in entries])
    claims = [
        [make_link(entry.pull.url, f"#{entry.number}", bold=True), make_text(" "), *claim]
        for entry in entries
        if (claim := render_may_break(entry, urls, limit))
    ]
    if claims:
        yield make_list("What may break", claims)


def _format_filters(risk_list: RiskList) -> str:
    return truncate_text(collapse_lines(risk_list.filters), 300)


def _render_notes(risk_list: RiskList) -> Iterator[Block]:
    notes = [*([_format_filters(risk_list)] if risk_list.filters else []), *dict.fromkeys(risk_list.notes)]
    if notes:
        yield make_context(truncate_text(" · ".join(notes), 800))


# --- the score


def render_score(name: str, span: Span, score: TrackRecordScore) -> Post:
    title = f"How good was the risk list? · {truncate_text(collapse_lines(name), 60)} · {span.title}"
    return Post(escape_mrkdwn(title), (make_header(title), *_render_score_blocks(score)))


def format_score(score: TrackRecordScore) -> str:
    return format_message(Post("", tuple(_render_score_blocks(score))))


def _render_score_blocks(score: TrackRecordScore) -> Iterator[Block]:
    if score.digests:
        right = (
            f"Right: this list {score.listed.taken_back:,}; random picks {_format_number(score.by_chance)}; "
            f"largest changes {_format_number(score.by_lines)}."
        )
        lines = (_format_listed(score), right, _format_recall(score))
        yield make_block(make_bullets([make_text(line)] for line in lines))
        verdict = make_text(score.verdict.value.capitalize(), bold=True)
        yield make_block(make_section([verdict, make_text(f": {_explain_verdict(score)}")]))
        yield from _render_reviews(score)
        yield from _render_hits(score)
    else:
        sentence = (
            "There is nothing to score: no digest with ratings was posted on these days. Subscribe with /prdigest "
            "subscribe at 09:00, and ask again in a month."
        )
        yield make_block(make_section([make_text(sentence)]))
    if notes := list(_list_limits(score)):
        yield make_context(" ".join(notes))


def _format_listed(score: TrackRecordScore) -> str:
    listed, others, shown = score.listed, score.others, score.shown
    where = f"of {format_count(shown.pulls, 'merged pull request')}, in {format_count(score.digests, 'digest')}."
    if not listed.pulls:
        return f"Listed: none {where} {_format_outcomes(others)} ({_format_share(others)})."
    low, high = listed.interval
    least = f"{_format_share(listed)}, 95% interval {_format_percent(low)} to {_format_percent(high)}%"
    comparison = f", of all others {_format_share(others)}" if others.pulls else ""
    return f"Listed: {listed.pulls:,} {where} {_format_outcomes(listed)} ({least}){comparison}."


def _format_outcomes(tally: Tally) -> str:
    if not tally.taken_back:
        return "None of them was reverted or repaired"
    counts = ((tally.reverted, "reverted"), (tally.repaired, "repaired"))
    return f"Later: {' and '.join(f'{count:,} {what}' for count, what in counts if count)}"


def _format_recall(score: TrackRecordScore) -> str:
    kinds = (
        ("reverted", score.shown.reverted, score.listed.reverted),
        ("repaired", score.shown.repaired, score.listed.repaired),
    )
    parts = [
        f"of {count:,} that {'was' if count == 1 else 'were'} {what} after the digest, {listed or 'none'} "
        f"had been listed"
        for what, count, listed in kinds
        if count
    ]
    if not parts:
        return "No change was reverted or repaired after its digest."
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _explain_verdict(score: TrackRecordScore) -> str:
    by_chance, by_list = f"{_format_percent(score.p_value)}%", f"{_format_percent(score.shortfall_p_value)}%"
    match score.verdict:
        case TrackRecordVerdict.BETTER:
            return f"random picks would do as well in {by_chance} of such periods."
        case TrackRecordVerdict.NOT_BETTER:
            return (
                f"a useful list would find so few in only {by_list} of such periods. "
                "If that holds for 180 days, digests list at most one change of the highest band."
            )
    if not score.is_large:
        return (
            f"a verdict needs {MIN_LISTED} listed and {MIN_REVERTED} reverted or repaired changes; there are "
            f"{score.listed.pulls:,} and {score.shown.taken_back:,}."
        )
    if score.by_chance < MIN_EXPECTED_BY_CHANCE:
        least = _format_number(MIN_EXPECTED_BY_CHANCE)
        return f"random picks would find {_format_number(score.by_chance)}; a verdict needs {least}."
    return f"random picks would do as well in {by_chance} of such periods, a useful list as badly in {by_list}."


def _render_reviews(score: TrackRecordScore) -> Iterator[Block]:
    reviews = score.reviews
    if not reviews.has_reviews:
        return
    posted, by_rules = _format_taken_back(score.listed), _format_taken_back(reviews.by_rules)
    lines = [
        f"With reading, as posted: {posted}.",
        f"Rules alone: {by_rules}.",
        _format_differences(reviews),
        *(
            f"{tally.pulls:,} {_KINDS[verdict]}: {_format_share_of_taken_back(tally)}."
            for verdict, tally in reviews.by_verdict
            if tally.pulls
        ),
        _format_review_verdict(reviews),
    ]
    yield make_block(
        make_section([make_text("Two lists: rules alone, and with the AI bug review", bold=True)]),
        make_bullets([make_text(line)] for line in lines),
    )


def _format_differences(reviews: ReviewScore) -> str:
    if not reviews.differing.pulls:
        return "The two lists are the same."
    added, left_out = (
        f"{tally.pulls:,} ({tally.taken_back or 'none'} later reverted or repaired)"
        for tally in (reviews.added, reviews.left_out)
    )
    parts = [
        *([f"put {added} on the list"] if reviews.added.pulls else []),
        *([f"took {left_out} off it"] if reviews.left_out.pulls else []),
    ]
    return f"The AI bug review {' and '.join(parts)}."


def _format_review_verdict(reviews: ReviewScore) -> str:
    sentence = reviews.verdict.value[0].upper() + reviews.verdict.value[1:]
    if reviews.verdict is ReviewScoreVerdict.NEITHER:
        return f"{sentence}."
    if reviews.verdict is not ReviewScoreVerdict.TOO_FEW:
        return f"{sentence}: chance alone gives such a difference in at most 5% of such periods."
    return (
        f"{sentence}: that takes {MIN_DIFFERING} in which the lists differ, {MIN_DIFFERING_REVERTED} of them "
        f"reverted or repaired. Here are {reviews.differing.pulls:,} and {reviews.differing.taken_back:,}."
    )


def _format_taken_back(tally: Tally) -> str:
    return f"{tally.pulls:,}, {_format_share_of_taken_back(tally)}" if tally.pulls else "none"


def _format_share_of_taken_back(tally: Tally) -> str:
    low, high = tally.interval
    return (
        f"{tally.taken_back:,} of them reverted or repaired ({_format_share(tally)}, "
        f"95% interval {_format_percent(low)} to {_format_percent(high)}%)"
    )


def _render_hits(score: TrackRecordScore) -> Iterator[Block]:
    lists = {"Listed": score.hits, "On the list of the rules alone": score.reviews.missed}
    for name, hits in lists.items():
        title = f"{name}, and later reverted or repaired"
        most = len(hits) if len(hits) <= _MAX_HITS else _MAX_HITS - 1
        if hits:
            yield make_list(title, render_lines(hits, most, render_outcome, ": ask for fewer days"))


def _list_limits(score: TrackRecordScore) -> Iterator[str]:
    if score.digests:
        yield (
            "Counted: reverts and repairs that name the change, after its digest and within 30 days of its merge."
        )
    if score.young:
        verb = "is" if score.young == 1 else "are"
        yield f"{score.young:,} of the listed {verb} younger than 30 days: some may still be reverted."
    if score.known:
        verb = "was" if score.known == 1 else "were"
        left_out = f"{format_count(score.known, 'pull request')} {verb} left out"
        yield f"{left_out}: reverted or repaired before the digest."
    if score.shown.pulls >= _SURPRISING_COUNT and not score.shown.taken_back:
        yield "Reverts may be worded differently here: I only recognize those that name the reverted change."
    if len(score.versions) > 1:
        versions = truncate_text(", ".join(score.versions), 200)
        yield f"The rules changed during this time: {versions}."


def _format_share(tally: Tally) -> str:
    return f"{_format_percent(tally.taken_back / tally.pulls)}%"


def _format_percent(share: float) -> str:
    """Format a share in percent: a whole number from ten on; below, one decimal place."""
    return f"{100 * share:.0f}" if share >= 0.0995 else _format_number(100 * share)


def _format_number(expected: float) -> str:
    return "less than 0.1" if 0 < expected < 0.05 else f"{expected:,.1f}".removesuffix(".0")
