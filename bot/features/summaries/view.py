"""How one pull request looks: as a message, in a window, in a terminal and as JSON; and the form that asks for it.

The names of the four sections stand with the summary (:mod:`bot.features.merges.summary`), because the report and
the search use them too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from typing import Any

from bot.features.merges.others import NO_OTHERS, OthersOfMerge, render_others
from bot.features.merges.review import BugReview, is_worth_listing
from bot.features.merges.risk import BASE_RATE, HIGHEST_BAND_THRESHOLD, RISK_THRESHOLD, RULE_MEANINGS, RiskBand
from bot.features.merges.summary import MAX_CLAIM_LENGTH, Evidence, describe_fallback
from bot.features.merges.view import (
    LOAD_HISTORY,
    NO_HISTORY,
    Entry,
    LeadRule,
    format_band,
    render_quote,
    render_review,
    shorten_branch,
)
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import ChangedFile, PullRequest, Reference
from bot.platform.slack.blocks import (
    CLOSE_LABEL,
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
    make_plain_text,
    make_prose,
    make_section,
    make_text,
    make_watch_button,
)
from bot.platform.slack.notices import describe_error
from bot.platform.slack.terminal import format_message
from bot.redaction import redact_text
from bot.text import format_count
from impact.repository import Repository
from impact.text.strings import collapse_lines, remove_invisible, truncate_text

View = dict[str, Any]

FORM, REFERENCE = "reference_form", "reference"
# characters of a section and number of quotes: the first that fit the 9,000 characters of a message
_MESSAGE_SIZES = ((1_000, 4), (700, 3), (450, 1))
# characters of a section and of a text of a finding in a window; Slack accepts 250,000 as JSON, in which an emoji
# takes twelve
_WINDOW_SIZES = ((2_800, 600), (1_000, 150))
_MAX_VIEW_LENGTH = 240_000
_MAX_FILES, _MAX_FINDINGS = 20, 12
_MAX_REPOSITORIES = 10


# --- the message and the window


def render_summary(entry: Entry, zone: tzinfo = UTC) -> Post:
    """Render all that is known of an entry as a message; times are in ``zone``."""
    pull = entry.pull
    blocks = choose_fitting_blocks(
        [
            render_title(pull),
            render_key_points(entry),
            *render_review(entry, 2, 240),
            *_render_sections(entry, length),
            *_render_evidence(entry, quotes),
            *_render_largest_files(pull),
            make_context(format_facts(entry, zone)),
        ]
        for length, quotes in _MESSAGE_SIZES
    )
    return Post(escape_mrkdwn(f"#{pull.number} {truncate_text(pull.title, 200)}"), tuple(blocks))


def render_details(
    entry: Entry, zone: tzinfo = UTC, lead: Sequence[LeadRule] = (), others: OthersOfMerge = NO_OTHERS
) -> View:
    """Render the window of an entry: why it is rated so, the AI bug review, all sections, quotes and files.

    ``lead`` are the rules that put it into the lead of a digest, ``others`` what other downstreams did about it.
    """
    blocks: list[Block] = []
    rating = list(_render_rating(entry))
    for length, finding in _WINDOW_SIZES:
        blocks = [
            render_title(entry.pull),
            render_key_points(entry, names_reasons=not rating),
            *rating,
            *_render_lead_rules(lead),
            *render_review(entry, _MAX_FINDINGS, finding),
            *_render_sections(entry, length),
            *_render_evidence(entry, None),
            *([make_block(make_bullets(render_others(others)))] if others.total else []),
            *_render_files(entry.pull),
            make_context(format_facts(entry, zone)),
            {"type": "actions", "elements": [make_watch_button(Reference(entry.pull.repository, entry.number))]},
            make_context("Watch sends you direct messages: where it is now, and what becomes of it."),
        ]
        if len(json.dumps(blocks)) <= _MAX_VIEW_LENGTH:
            break
    return _build_view(entry.number, blocks)


def render_loading_view(reference: Reference) -> View:
    sentence = f"Reading {reference.repository}#{reference.number}…"
    return _build_view(reference.number, [make_block(make_section([make_text(sentence)]))])


def render_error_view(error: Exception, reference: str, number: int) -> View:
    return _build_view(number, [make_block(make_section([make_text(describe_error(error, reference))]))])


def _build_view(number: int, blocks: list[Block]) -> View:
    """Build a window; Slack allows 24 characters in a title."""
    return {
        "type": "modal",
        "title": make_plain_text(f"#{number}", 24),
        "close": make_plain_text(CLOSE_LABEL, 24),
        "blocks": blocks,
    }


def render_title(pull: PullRequest) -> Block:
    """Return the heading; the number stands below, where it can be a link."""
    return make_header(collapse_lines(pull.title) or f"#{pull.number}")


def render_key_points(entry: Entry, *, names_reasons: bool = True) -> Block:
    number = make_link(entry.pull.url, f"#{entry.number}")
    lines = [
        [number, make_text(" "), *make_prose(entry.summary.headline, {}, MAX_CLAIM_LENGTH)],
        [make_text("Risk: ", bold=True), make_text(_describe_risk(entry, names_reasons=names_reasons))],
    ]
    if entry.summary.action:
        lines.append([make_text("May need action: ", bold=True), *make_prose(entry.summary.action, {}, 240)])
    return make_block(make_bullets(lines))


def _describe_risk(entry: Entry, *, names_reasons: bool) -> str:
    """Return the band, all reasons unless they follow, and its rate of repairs; no probability of this one."""
    if entry.pull.files is None:
        return "not assessed because its files could not be read"
    if entry.is_revert:
        return "not assessed because it is a revert"
    reasons = truncate_text("; ".join(entry.risk.reasons), 900) if names_reasons else ""
    return f"{format_band(entry.risk)}{f': {reasons}' if reasons else ''} {format_band_rate(entry.risk.band)}"


def _render_rating(entry: Entry) -> Iterator[Block]:
    """Yield why it is rated so: the points of each rule with what they mean, and what the sum means."""
    risk = entry.risk
    if entry.pull.files is None or entry.is_revert or not risk.fired:
        return
    lines = []
    for rule in sorted(risk.fired, key=lambda each: -each.points):
        # those without points explain nothing of the sum
        if abs(rule.points) < 0.05:
            continue
        name, meaning = RULE_MEANINGS.get(rule.rule, (rule.rule, "a rule of this repository"))
        reason = truncate_text(collapse_lines(rule.sentence or name), 200)
        lines.append([make_text(f"{rule.points:+.1f}", bold=True), make_text(f" {reason}: {meaning}")])
    # limited for mass changes, and lowered without product code
    total = sum(rule.points for rule in risk.fired)
    limited = "" if abs(total - risk.points) < 0.1 else ", lowered since it is a mass change or no product code"
    steps = f"high risk begins at {RISK_THRESHOLD}, highest at {HIGHEST_BAND_THRESHOLD}"
    lines.append([make_text(f"{risk.points:.1f} points", bold=True), make_text(f"{limited}: {steps}")])
    yield make_block(make_section([make_text("Why this rating", bold=True)]), make_bullets(lines))
    if risk.without_history:
        yield make_context(f"Not counted: {NO_HISTORY}. An operator loads it with {LOAD_HISTORY}.")


def _render_lead_rules(lead: Sequence[LeadRule]) -> Iterator[Block]:
    """Yield why it stood in the lead of a digest, or what kept it out; nothing if no rule did."""
    lines = [[make_text(rule.meaning)] for rule in lead]
    if lines:
        is_out = {*lead} <= {LeadRule.NOT_REACHABLE, LeadRule.LESS_WANTED}
        title = "Why it was not in the lead" if is_out else "Why it was in the lead"
        yield make_block(make_section([make_text(title, bold=True)]), make_bullets(lines))


def format_band_rate(band: RiskBand) -> str:
    return (
        f"(about 1 in {round(100 / band.repaired)} such changes needed a fix within two weeks, "
        f"average 1 in {round(100 / BASE_RATE)}; measured on vLLM, 2025)"
    )


def _render_sections(entry: Entry, length: int) -> Iterator[Block]:
    for name, content in entry.summary.sections:
        yield make_block(make_section([make_text(f"{name}\n", bold=True), *make_prose(content, {}, length)]))


def _render_evidence(entry: Entry, most: int | None) -> Iterator[Block]:
    if items := [render_quote(entry.pull, evidence) for evidence in entry.summary.evidence[:most]]:
        yield make_block(make_section([make_text("Found in the diff", bold=True)]), make_bullets(items))


def _render_largest_files(pull: PullRequest) -> Iterator[Block]:
    lines = [
        f"{truncate_text(collapse_lines(file.path), 120)} {format_lines(file)}" for file in pull.largest_files[:3]
    ]
    if lines:
        rest = pull.changed_files - len(lines)
        yield make_context(" · ".join([*lines, *([_format_more_files(rest)] if rest > 0 else [])]))


def _render_files(pull: PullRequest) -> Iterator[Block]:
    items: list[list[Element]] = [
        [
            make_text(truncate_text(collapse_lines(file.path), 160) or "(unnamed)", code=True),
            make_text(f" {file.status}, {format_lines(file)}"),
        ]
        for file in pull.largest_files[:_MAX_FILES]
    ]
    rest = pull.changed_files - len(items)
    if items and rest > 0:
        items.append([make_link(f"{pull.url}/files", _format_more_files(rest))])
    if items:
        yield make_block(make_section([make_text("Files", bold=True)]), make_bullets(items))


def _format_more_files(count: int) -> str:
    return f"and {format_count(count, 'more file', 'more files')}"


def format_facts(entry: Entry, zone: tzinfo = UTC) -> str:
    """Format whether it is trivial, size, author and merge, and what was not read; times are in ``zone``."""
    pull, summary = entry.pull, entry.summary
    parts = [
        "trivial" if summary.is_trivial else "",
        format_size(pull),
        f"{pull.author.login}, {format_merge_state(pull, zone)}",
        f"diff {summary.coverage}" if summary.coverage is not Coverage.FULL else "",
        summary.fallback_note,
    ]
    return " · ".join(filter(None, parts))


def format_size(pull: PullRequest) -> str:
    """Format files and lines, such as ``2 files, +1,234 −5``."""  # noqa: RUF002 (a minus)
    return f"{format_count(pull.changed_files, 'file')}, {format_lines(pull)}"


def format_lines(change: PullRequest | ChangedFile) -> str:
    return f"+{change.additions:,} −{change.deletions:,}"  # noqa: RUF001 (a minus)


def format_merge_state(pull: PullRequest, zone: tzinfo = UTC) -> str:
    """Format when, in ``zone``, and by whom it was merged, or that it is not."""
    if not pull.is_merged:
        return f"not merged ({pull.state.lower()})"
    into = f" into {shorten_branch(pull)}" if pull.other_branch else ""
    return f"merged {pull.merge_time.astimezone(zone):%Y-%m-%d %H:%M %Z}{into} by {pull.merged_by.login}"


# --- the form, and the shortcut on a message


def render_reference_form() -> View:
    element = {
        "type": "plain_text_input",
        "action_id": REFERENCE,
        "max_length": 500,
        "focus_on_load": True,
        "placeholder": make_plain_text("35617, owner/repo#35617 or its web address", 150),
    }
    field = {
        "type": "input",
        "block_id": REFERENCE,
        "label": make_plain_text("Pull request", 75),
        "hint": make_plain_text("The summary comes as a direct message.", 150),
        "element": element,
    }
    return {
        "type": "modal",
        "callback_id": FORM,
        "title": make_plain_text("Explain a pull request", 24),
        "submit": make_plain_text("Explain", 24),
        "close": make_plain_text(CLOSE_LABEL, 24),
        "blocks": [field],
    }


def read_reference_text(view: Mapping[str, Any]) -> str:
    field = view["state"]["values"].get(REFERENCE, {}).get(REFERENCE, {})
    return str(field.get("value") or "")


def format_none_named(repositories: Sequence[Repository]) -> str:
    names = ", ".join(map(str, repositories[:_MAX_REPOSITORIES]))
    rest = len(repositories) - _MAX_REPOSITORIES
    more = f" and {format_count(rest, 'other', 'others')}" if rest > 0 else ""
    return f"I found no pull request of {names}{more} in that message."


def format_left_out(named: int, left_out: int) -> str:
    return (
        f"That message names {named} pull requests. I summarize the first {named - left_out} and leave out "
        f"{left_out}: ask for them by number."
    )


# --- for terminals and scripts


def format_summary(entry: Entry) -> str:
    pull, summary = entry.pull, entry.summary
    review = format_message(Post("", tuple(render_review(entry, _MAX_FINDINGS, 600))))
    quotes = [f"  {quote.path}:{quote.line}  {quote.quote}" for quote in summary.evidence]
    size = f"{format_count(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions}"
    merge = f"{pull.author.login}, {format_merge_state(pull)}"
    rated = f", {NO_HISTORY}" if entry.risk.without_history else ""
    risky = f"Risky{rated}: {'; '.join(entry.risk.reasons)}."
    parts = [
        f"#{pull.number} {pull.title}",
        summary.headline,
        f"{'trivial · ' if summary.is_trivial else ''}{size} · {merge} · diff read: {summary.coverage}",
        *([risky] if is_worth_listing(entry) else []),
        *([f"May need action: {summary.action}"] if summary.action else []),
        *([review] if review else []),
        *(f"{name}\n{text}" for name, text in summary.sections),
        *(["\n".join(["Evidence (checked against the diff)", *quotes])] if quotes else []),
        pull.url,
    ]
    return redact_text(remove_invisible("\n\n".join(parts)))


def build_summary_json(entry: Entry) -> dict[str, Any]:
    """Return plain values only; times are ISO 8601 in UTC, null if there is none."""
    pull, summary = entry.pull, entry.summary
    return {
        "repository": str(pull.repository),
        "number": pull.number,
        "title": pull.title,
        "url": pull.url,
        "state": pull.state,
        "author": pull.author.login,
        "merged_by": pull.merged_by.login if pull.is_merged else None,
        "merged_at": pull.merged_at.isoformat() if pull.merged_at else None,
        "additions": pull.additions,
        "deletions": pull.deletions,
        "files": [file.path for file in pull.files or ()],
        "type": summary.type.value,
        "headline": summary.headline,
        "condition": summary.condition,
        "what_changed_and_why": summary.what_changed_and_why,
        "technical_impact": summary.technical_impact,
        "potential_risks": summary.potential_risks,
        "risks": [{"claim": risk.claim, "where": risk.where, "kind": risk.kind} for risk in summary.risks],
        "key_insights": summary.key_insights,
        "risk_reason": summary.risk_reason,
        "action": summary.action,
        "evidence": [_build_evidence_json(pull, quote) for quote in summary.evidence],
        "coverage": summary.coverage.value,
        "left_out": list(summary.left_out),
        "fallback": describe_fallback(summary.fallback) or None,
        "risk": {
            "listed": is_worth_listing(entry),
            "reasons": list(entry.risk.reasons),
            "without_history": entry.risk.without_history,
        },
        "review": _build_review_json(pull, entry.review) if entry.review else None,
        "from_cache": entry.from_cache,
        "cost_usd": entry.cost,
    }


def _build_review_json(pull: PullRequest, review: BugReview) -> dict[str, Any]:
    findings = [
        {
            "status": finding.status.value,
            "consequence": finding.consequence,
            "trigger": finding.trigger,
            "affected": finding.affected,
            "certainty": finding.certainty.value,
            "advice": finding.advice.value,
            "wait_for": finding.wait_for or None,
            "repaired_by": finding.repaired_by or None,
            "reverted": finding.is_reverted,
            "evidence": _build_evidence_json(pull, finding.evidence) if finding.evidence else None,
        }
        for finding in review.ranked_findings
    ]
    return {"verdict": review.verdict.value, "findings": findings, "refuted": review.refuted}


def _build_evidence_json(pull: PullRequest, evidence: Evidence) -> dict[str, Any]:
    place = {"path": evidence.path, "quote": evidence.quote, "side": evidence.side.value, "line": evidence.line}
    return {**place, "url": evidence.build_url(pull)}
