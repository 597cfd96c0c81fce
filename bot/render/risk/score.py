"""The answer to ``/prrisks score``: what came of the lists in counts, beside chance and beside size."""

from __future__ import annotations

from collections.abc import Iterator

from bot.domain.text.strings import one_line, plural, shorten
from bot.domain.time.date_range import Span
from bot.domain.track_record.score import LEAST_BY_CHANCE, LEAST_LISTED, LEAST_TAKEN_BACK, Score, Tally, Verdict
from bot.ports import Post
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Block, block, bullets, context, header, section, text
from bot.render.blocks.terminal import message
from bot.render.digest.parts import pair

_MOST_HITS = 8
# at vLLM's share of 1.3 %, none of so many would be taken back in 2 of 100 such periods
_SURPRISING = 300
_NOTHING = (
    "There is nothing to score: no digest of these days was kept with what it listed. Have one posted every day "
    "with /prdigest subscribe at 09:00, and ask again in a month, when what it listed had time to be reverted."
)
_COUNTED = (
    "Counted: reverts and repairs that name what they undo, after its digest and within 30 days of its merge."
)


def score_post(name: str, span: Span, found: Score) -> Post:
    """The score of some days of a repository as a message."""
    title = f"How good was the risk list? · {shorten(one_line(name), 60)} · {span.title}"
    return Post(escape(title), (header(title), *_blocks(found)))


def score_lines(found: Score) -> str:
    """The same for a terminal, less the title."""
    return message(Post("", tuple(_blocks(found))))


def _blocks(found: Score) -> Iterator[Block]:
    if found.digests:
        yield block(bullets([text(sentence)] for sentence in (_listed(found), _beside(found), _recall(found))))
        verdict = found.verdict.value
        yield block(section([text(verdict.capitalize(), bold=True), text(f": {_reason(found)}")]))
        yield from _hits(found)
    else:
        yield block(section([text(_NOTHING)]))
    notes = [*_notes(found)]
    if notes:
        yield context(" ".join(notes))


def _listed(found: Score) -> str:
    listed, others, shown = found.listed, found.others, found.shown
    where = f"of {plural(shown.pulls, 'merged pull request')}, in {plural(found.digests, 'digest')}."
    if not listed.pulls:
        return f"Listed: none {where} {_fate(others)} ({_share(others)})."
    low, high = listed.interval
    least = f"{_share(listed)}, 95 % interval {_percent(low)} to {_percent(high)} %"
    beside = f", of all others {_share(others)}" if others.pulls else ""
    return f"Listed: {listed.pulls:,} {where} {_fate(listed)} ({least}){beside}."


def _fate(tally: Tally) -> str:
    if not tally.taken_back:
        return "None of them was reverted or repaired"
    counts = ((tally.reverted, "reverted"), (tally.repaired, "repaired"))
    told = " and ".join(f"{count:,} {what}" for count, what in counts if count)
    return f"Later taken back: {told}"


def _beside(found: Score) -> str:
    return (
        f"As many drawn at random from each digest would have found {_number(found.by_chance)}, "
        f"those with the most lines added {_number(found.by_lines)}; the list found {found.listed.taken_back:,}."
    )


def _recall(found: Score) -> str:
    kinds = (
        ("reverted", found.shown.reverted, found.listed.reverted),
        ("repaired", found.shown.repaired, found.listed.repaired),
    )
    told = [
        f"of {count:,} that {'was' if count == 1 else 'were'} {what} after the digest, {listed or 'none'} "
        f"had been listed"
        for what, count, listed in kinds
        if count
    ]
    if not told:
        return "Nothing that was shown was reverted or repaired after its digest."
    sentence = "; ".join(told)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _reason(found: Score) -> str:
    luck, shortfall = _rare(found.luck), _rare(found.shortfall)
    match found.verdict:
        case Verdict.BETTER:
            return f"chance alone would find as many or more in {luck} of such periods."
        case Verdict.NOT_BETTER:
            return (
                f"a list that doubles the odds would find so few in only {shortfall} of such periods. Where that "
                "holds for 180 days, digests list at most one pull request, of the highest band."
            )
    if not found.is_large:
        return (
            f"a verdict takes {LEAST_LISTED} listed and {LEAST_TAKEN_BACK} reverted or repaired, "
            f"and here are {found.listed.pulls:,} and {found.shown.taken_back:,}."
        )
    if found.by_chance < LEAST_BY_CHANCE:
        return f"chance would find {_number(found.by_chance)}, and a verdict takes {_number(LEAST_BY_CHANCE)}."
    return (
        f"chance alone would find as many or more in {luck} of such periods, and a list that doubles the odds "
        f"so few in {shortfall}."
    )


def _hits(found: Score) -> Iterator[Block]:
    items = [pair(hit) for hit in found.hits]
    if len(items) > _MOST_HITS:
        items[_MOST_HITS - 1 :] = [[text(f"and {len(items) - _MOST_HITS + 1:,} more: ask for fewer days")]]
    if items:
        yield block(section([text("Listed, and later taken back", bold=True)]), bullets(items))


def _notes(found: Score) -> Iterator[str]:
    """What the counts rest on, and what they leave out."""
    if found.digests:
        yield _COUNTED
    if found.young:
        are = "is" if found.young == 1 else "are"
        yield f"{found.young:,} of the listed {are} younger than 30 days: some may still be reverted."
    if found.known:
        were = "was" if found.known == 1 else "were"
        yield f"{plural(found.known, 'pull request')} {were} left out: already taken back when the digest came."
    if found.unrated:
        were = "was" if found.unrated == 1 else "were"
        yield f"{plural(found.unrated, 'digest')} {were} posted before scores were kept."
    if found.shown.pulls >= _SURPRISING and not found.shown.taken_back:
        yield "Perhaps reverts are written in another way here: I know those that name what they take back."
    if len(found.versions) > 1:
        yield f"The rules changed meanwhile: {shorten(', '.join(found.versions), 200)}."


def _share(tally: Tally) -> str:
    return f"{_percent(tally.taken_back / tally.pulls)} %"


def _percent(share: float) -> str:
    """Whole from ten on; below, what is after the point matters."""
    return f"{100 * share:.0f}" if share >= 0.0995 else _number(100 * share)


def _number(expected: float) -> str:
    """An expected number, or a small share, to one place."""
    return "less than 0.1" if 0 < expected < 0.05 else f"{expected:,.1f}".removesuffix(".0")


def _rare(probability: float) -> str:
    return f"{_percent(probability)} %"
