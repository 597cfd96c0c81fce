"""The thread below the lead: what touches a team's code, each pull request once, what merges change for others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from bot.features.digest.rules import Digest
from bot.features.merges.review import ReviewVerdict
from bot.features.merges.summary import MAX_CLAIM_LENGTH
from bot.features.merges.view import (
    WIDE_LIMITS,
    Entry,
    format_more,
    format_outcome_fact,
    keep_title,
    make_list,
    render_attempts,
    render_finding_line,
    render_lines,
    shorten_branch,
)
from bot.features.summaries.view import format_size
from bot.features.touches.lines import (
    NEWS_TITLE,
    NO_LESSONS,
    BreakingMerge,
    HitContext,
    format_class_title,
    format_kind,
    list_contract_rows,
    make_code,
    make_verdict_row,
    name_level,
    render_action,
    render_example,
    render_hit_lessons,
    render_hit_start,
    render_line_link,
    render_news,
    render_number,
    render_touch,
    shorten_code,
    shorten_name,
    shorten_profile,
    sort_hits,
)
from bot.platform.models.packing import Coverage
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import OTHER_AREA
from bot.platform.slack.blocks import (
    MAX_BLOCKS,
    MAX_CHARACTERS,
    Block,
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_link,
    make_prose,
    make_section,
    make_text,
    split_groups,
)
from impact.contract.breaking import Breakage
from impact.contract.table import ContractTableRow
from impact.profile.models import MovedHit
from impact.text.strings import collapse_lines, truncate_text
from impact.touches.models import MergeTouches, Touch

_VERDICT_FACTS = {
    ReviewVerdict.CONFIRMED: "AI bug review: confirmed bug",
    ReviewVerdict.POSSIBLE: "AI bug review: unconfirmed bug",
}
# of one block: a third of a message, so that a large group is cut at a pull request and not pushed to the next
_BLOCK_CHARACTERS = 3_000
# more are counted: nobody decides about more in a day
MAX_HITS = 12
_MAX_TOUCHES = 4  # of a hit
_MAX_PLACES = 3  # of a touch
_MAX_UNREAD = 5
_MAX_NEWS = 4
_MAX_MOVED = 4
_MAX_ROWS = 12  # of a class of contract changes; the command lists all
_MAX_CODE_WORDS = 12
# a block for the hit, its buttons, and what was decided
_BLOCKS_OF_HIT = 3
# with so many a message takes no further hit
_MOST_BLOCKS = MAX_BLOCKS * 2 // _BLOCKS_OF_HIT - _BLOCKS_OF_HIT + 1
# for what is decided later, and for outcomes
_RESERVED_CHARACTERS = 1_500


def render_thread(digest: Digest) -> tuple[Post, ...]:
    """Render the messages of the thread: what touches the profile, what breaks, all merges, what they change."""
    urls = collect_urls(digest)
    opening = _render_gaps(digest)
    posts = list(_render_hits(digest, opening))
    blocks = [*([] if posts else opening), *map(_render_breaking_merge, digest.breaking)]
    asking = {action.number for action in digest.actions}
    for label, entries in digest.group_entries():
        title = truncate_text(collapse_lines(label), 100) or OTHER_AREA
        lines = ([_render_entry(entry, digest, urls, asking)] for entry in entries)
        blocks += (make_list(title, part) for part in split_groups(lines, _BLOCK_CHARACTERS))
    # what nobody's code is compared with would be a wall
    blocks += _render_contract_table(digest) if digest.touches else ()
    for place, part in enumerate(split_groups([[block] for block in blocks], MAX_CHARACTERS, MAX_BLOCKS), 1):
        # what was not read is no section
        sections = [block for block in part if block not in opening] or part
        titles = dict.fromkeys(str(block["elements"][0]["elements"][0]["text"]) for block in sections)
        posts.append(Post(escape_mrkdwn(f"Part {place}: {', '.join(titles)}"), tuple(part)))
    return tuple(posts)


def _render_gaps(digest: Digest) -> list[Block]:
    """Return what was not read, and which files that are; nothing if all was."""
    coverage = digest.coverage
    sentence, files = coverage.explain_gaps(is_empty=not digest.entries), coverage.name_files()
    texts = [make_text(sentence), *([make_text(f" {files}.", italic=True)] if files else [])]
    return [make_block(make_section(texts))] if sentence else []


def collect_urls(digest: Digest) -> dict[int, str]:
    """Return the addresses of the day's pull requests by number; only these numbers ever become links."""
    return {entry.number: entry.pull.url for entry in digest.entries}


def _render_entry(entry: Entry, digest: Digest, urls: Mapping[int, str], asking: Collection[int]) -> list[Element]:
    pull, summary = entry.pull, entry.summary
    when = f"{digest.day.to_local_time(pull.merge_time):%H:%M}"
    when += f" into {shorten_branch(pull)}" if pull.other_branch else ""
    facts = [
        format_size(pull),
        f"{pull.author.login}, merged {when} by {pull.merged_by.login}",
        *(format_outcome_fact(each) for each in digest.outcomes if each.pull.number == entry.number),
        _VERDICT_FACTS.get(entry.review.verdict, "") if entry.review else "",
        summary.fallback_note,
        f"diff {summary.coverage}" if summary.coverage is not Coverage.FULL else "",
    ]
    # all of it is bold, and nothing of it code
    plain = truncate_text(collapse_lines(pull.title).replace("`", ""), 160)
    title = make_text(f" {plain}", bold=not summary.is_trivial)
    headline = (
        [] if summary.is_fallback else [make_text(": "), *make_prose(summary.headline, urls, MAX_CLAIM_LENGTH)]
    )
    # those of the tests' own environment concern nobody else
    action = summary.action if entry.number in asking else ""
    finding = entry.strongest_finding
    bug = render_finding_line(pull, finding, urls, WIDE_LIMITS, 240) if finding else []
    return [
        make_link(pull.url, f"#{entry.number}"),
        title,
        *headline,
        # without what ends its last sentence
        *([make_text(". "), *bug[:-1]] if bug else []),
        *([make_text(". May need action: "), *make_prose(action, urls, 240)] if action else []),
        *render_attempts(entry),
        make_text(f" ({'; '.join(filter(None, facts))})", italic=True),
    ]


# --- what touches a team's code


def _render_hits(digest: Digest, opening: list[Block]) -> Iterator[Post]:
    """Yield the hits of a day, strongest first, and what became of deprecations; no message without any."""
    report = digest.touches
    if report is None:
        return
    context = HitContext.build((entry.pull for entry in digest.entries), digest.outcomes, digest.others)
    lessons = digest.lessons or NO_LESSONS
    profile = shorten_profile(report.profile)
    rest = [*filter(None, (_render_news(digest), _render_moves(digest)))]

    def show(hits: Sequence[MergeTouches]) -> Iterator[list[Block]]:
        known = replace(context, lessons=render_hit_lessons(hits[:MAX_HITS], lessons))
        yield from (_render_hit(hit, report.profile, known) for hit in hits[:MAX_HITS])
        if unread := lessons.explain_gap():
            yield [make_context(unread)]
        yield from rest
        if len(hits) > MAX_HITS:
            more = format_more(len(hits) - MAX_HITS)
            yield [make_context(f"{more}: /prdigest touches lists all that touches {profile}")]

    # that nothing touches is in the channel
    groups = sort_hits(report, context.taken_back).render_below(show) or rest
    groups = [opening, *groups] if groups and opening else groups
    text = escape_mrkdwn(f"What touches {profile}")
    for blocks in split_groups(groups, MAX_CHARACTERS - _RESERVED_CHARACTERS, _MOST_BLOCKS):
        yield Post(text, tuple(blocks))


def _render_hit(hit: MergeTouches, profile: str, context: HitContext) -> list[Block]:
    pull = context.pulls.get(hit.number)
    title = truncate_text(collapse_lines(hit.title or (pull.title if pull else "")).replace("`", ""), 120)
    lines = [*render_lines(hit.touches, _MAX_TOUCHES, lambda touch: _render_touch(touch, pull))]
    lines += [context.lessons[hit.number]] if hit.number in context.lessons else []
    below = [make_bullets(lines, indent=1)] if lines else []
    below += render_example(context.others[hit.number]) if hit.number in context.others else []
    block = make_block(make_bullets([render_hit_start(hit, context, name_level(hit.level), title)]), *below)
    return [block, make_verdict_row(pull, profile)] if pull else [block]


def _render_touch(touch: Touch, pull: PullRequest | None) -> list[Element]:
    """Return the line of a touch, with the team's own line and the other places with the same effect."""
    code = make_code(truncate_text(collapse_lines(touch.use.text), 120))
    elements = [*render_touch(touch, pull), *([make_text(". Ours: "), *code] if code else [])]
    others = list(dict.fromkeys((use.path, use.line) for use in touch.uses))[1:]
    for place, (path, line) in enumerate(others[:_MAX_PLACES]):
        name = truncate_text(collapse_lines(path), 90)
        elements += [make_text(", " if place else ", also at "), *make_code(f"{name}:{line}" if line else name)]
    if len(others) > _MAX_PLACES:
        elements.append(make_text(f" {format_more(len(others) - _MAX_PLACES)}"))
    return [*elements, *render_action(touch, 40)]


def _render_news(digest: Digest) -> list[Block]:
    """Return what was announced, became due or was removed of what the profile uses."""
    url, steps = _find_address(digest), digest.deprecations
    lines = list(render_news(((step.news, step.used) for step in steps[:_MAX_NEWS]), url))
    if len(steps) > _MAX_NEWS:
        lines.append([make_text(format_more(len(steps) - _MAX_NEWS))])
    return [make_list(NEWS_TITLE, lines)] if lines else []


def _render_moves(digest: Digest) -> list[Block]:
    """Return one line with the earlier merges that touch since the profile moved, and those that no longer do."""
    began = list({hit.number: hit for move in digest.moves for hit in move.began}.values())
    ended = list({hit.number: hit for move in digest.moves for hit in move.ended}.values())
    elements = [make_text("Since your code moved: ", bold=True)]
    if began:
        words = "now touches you" if len(began) == 1 else "now touch you"
        elements += [*_render_moved(began, digest), make_text(f" {words}")]
    if began and ended:
        elements.append(make_text("; "))
    if ended:
        words = "no longer does" if len(ended) == 1 else "no longer do"
        elements += [*_render_moved(ended, digest), make_text(f" {words}")]
    return [make_block(make_section([*elements, make_text(".")]))] if began or ended else []


def _render_moved(hits: Sequence[MovedHit], digest: Digest) -> list[Element]:
    url, elements = _find_address(digest), list[Element]()
    for hit in hits[:_MAX_MOVED]:
        number = f"#{hit.number}"
        elements += [
            *([make_text(", ")] if elements else []),
            make_link(f"{url}/pull/{hit.number}", number) if url else make_text(number),
            *([make_text(" "), *make_code(shorten_name(hit.name))] if hit.name else []),
        ]
    rest = len(hits) - _MAX_MOVED
    return [*elements, make_text(f" {format_more(rest)}")] if rest > 0 else elements


def _find_address(digest: Digest) -> str:
    """Return the address of the repository, empty for a day without merges, which does not know it."""
    return f"{digest.entries[0].pull.web}/{digest.repository}" if digest.entries else ""


# --- what merges change for others


def _render_breaking_merge(merge: BreakingMerge) -> Block:
    """Return what a merge breaks, each with a link to its line."""

    def render(breakage: Breakage) -> list[Element]:
        name = make_code(shorten_name(breakage.change.name))
        effect = [make_text(" "), *make_prose(breakage.effect, {}, 160)]
        return [*name, *effect, *render_line_link(breakage.change, merge.pull)]

    title = f"Breaking: #{merge.number} {keep_title(merge.pull)}".rstrip()
    return make_list(title, render_lines(merge.breakages, _MAX_ROWS, render, ": /prdigest contract lists all"))


def _render_contract_table(digest: Digest) -> Iterator[Block]:
    """Yield a block for each class of contract changes, what was removed first."""
    pulls = {entry.number: entry.pull for entry in digest.entries}
    shown = [contract for contract in digest.contracts if contract.number in pulls]
    for subject, group in groupby(list_contract_rows(shown), lambda row: row.change.subject):
        rows = list(group)
        lines = render_lines(rows, _MAX_ROWS, lambda row: _render_row(row, pulls.get(row.number)))
        yield make_list(format_class_title(subject, len(rows)), lines)


def _render_row(row: ContractTableRow, pull: PullRequest | None) -> list[Element]:
    """Return a row: the merge, the name, what happened to it, and its new name or the line before and after."""
    change = row.change
    before, after = (shorten_code(text, _MAX_CODE_WORDS) for text in (change.before, change.after))
    # what differs may be cut off
    texts = (before, after) if before != after else ()
    versions = [
        make_code(text) for text in ((shorten_name(change.new_name),) if change.new_name else texts) if text
    ]
    return [
        *render_number(row.number, pull),
        make_text(" "),
        *make_code(shorten_name(change.name)),
        make_text(f" {format_kind(change)}", bold=True),
        *(
            element
            for place, version in enumerate(versions)
            for element in (make_text(" → " if place else ": "), *version)
        ),
        *render_line_link(change, pull),
    ]
