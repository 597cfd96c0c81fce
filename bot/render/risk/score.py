"""The answer to ``/prrisks score``: the results of the lists in counts, compared to chance and to size."""

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
# at vLLM's share of 1.3 %, none of so many would be reverted or repaired in 2 of 100 such periods
_SURPRISING = 300
_NOTHING = (
    "There is nothing to score: no digest of these days was kept with what it listed. Have one posted every day "
    "with /prdigest subscribe at 09:00, and ask again in a month, when what it listed had time to be reverted."
)
_COUNTED = (
    "Counted: reverts and repairs that name what they undo, after its digest and within 30 days of its merge."
)


def score_post(name: str, span: Span, score: Score) -> Post:
    """Render the score of some days of a repository as a message."""
    title = f"How good was the risk list? · {shorten(one_line(name), 60)} · {span.title}"
    return Post(escape(title), (header(title), *_blocks(score)))


def score_lines(score: Score) -> str:
    """Format the score for a terminal, without the title."""
    return message(Post("", tuple(_blocks(score))))


def _blocks(score: Score) -> Iterator[Block]:
    """Yield the blocks below the title."""
    if score.digests:
        yield block(bullets([text(sentence)] for sentence in (_listed(score), _beside(score), _recall(score))))
        verdict = score.verdict.value
        yield block(section([text(verdict.capitalize(), bold=True), text(f": {_reason(score)}")]))
        yield from _hits(score)
    else:
        yield block(section([text(_NOTHING)]))
    notes = [*_notes(score)]
    if notes:
        yield context(" ".join(notes))


def _listed(score: Score) -> str:
    """Return how many were listed, and how many of these were reverted or repaired."""
    listed, others, shown = score.listed, score.others, score.shown
    where = f"of {plural(shown.pulls, 'merged pull request')}, in {plural(score.digests, 'digest')}."
    if not listed.pulls:
        return f"Listed: none {where} {_fate(others)} ({_share(others)})."
    low, high = listed.interval
    least = f"{_share(listed)}, 95 % interval {_percent(low)} to {_percent(high)} %"
    comparison = f", of all others {_share(others)}" if others.pulls else ""
    return f"Listed: {listed.pulls:,} {where} {_fate(listed)} ({least}){comparison}."


def _fate(tally: Tally) -> str:
    """Return how many were reverted and how many repaired."""
    if not tally.taken_back:
        return "None of them was reverted or repaired"
    counts = ((tally.reverted, "reverted"), (tally.repaired, "repaired"))
    parts = " and ".join(f"{count:,} {what}" for count, what in counts if count)
    return f"Later taken back: {parts}"


def _beside(score: Score) -> str:
    """Return what a random choice and the lines added would have found."""
    return (
        f"As many drawn at random from each digest would have found {_number(score.by_chance)}, "
        f"those with the most lines added {_number(score.by_lines)}; "
        f"the list found {score.listed.taken_back:,}."
    )


def _recall(score: Score) -> str:
    """Return how many of the reverted and repaired ones had been listed."""
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
        return "Nothing that was shown was reverted or repaired after its digest."
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _reason(score: Score) -> str:
    """Return what the verdict is based on."""
    luck, shortfall = _rare(score.luck), _rare(score.shortfall)
    match score.verdict:
        case Verdict.BETTER:
            return f"chance alone would find as many or more in {luck} of such periods."
        case Verdict.NOT_BETTER:
            return (
                f"a list that doubles the odds would find so few in only {shortfall} of such periods. Where that "
                "holds for 180 days, digests list at most one pull request, of the highest band."
            )
    if not score.is_large:
        return (
            f"a verdict takes {LEAST_LISTED} listed and {LEAST_TAKEN_BACK} reverted or repaired, "
            f"and here are {score.listed.pulls:,} and {score.shown.taken_back:,}."
        )
    if score.by_chance < LEAST_BY_CHANCE:
        least = _number(LEAST_BY_CHANCE)
        return f"chance would find {_number(score.by_chance)}, and a verdict takes {least}."
    return (
        f"chance alone would find as many or more in {luck} of such periods, and a list that doubles the odds "
        f"so few in {shortfall}."
    )


def _hits(score: Score) -> Iterator[Block]:
    """Yield the listed pull requests that were reverted or repaired."""
    items = [pair(hit) for hit in score.hits]
    if len(items) > _MOST_HITS:
        items[_MOST_HITS - 1 :] = [[text(f"and {len(items) - _MOST_HITS + 1:,} more: ask for fewer days")]]
    if items:
        yield block(section([text("Listed, and later taken back", bold=True)]), bullets(items))


def _notes(score: Score) -> Iterator[str]:
    """Yield what the counts are based on, and what they leave out."""
    if score.digests:
        yield _COUNTED
    if score.young:
        verb = "is" if score.young == 1 else "are"
        yield f"{score.young:,} of the listed {verb} younger than 30 days: some may still be reverted."
    if score.known:
        verb = "was" if score.known == 1 else "were"
        yield f"{plural(score.known, 'pull request')} {verb} left out: already taken back when the digest came."
    if score.unrated:
        verb = "was" if score.unrated == 1 else "were"
        yield f"{plural(score.unrated, 'digest')} {verb} posted before scores were kept."
    if score.shown.pulls >= _SURPRISING and not score.shown.taken_back:
        yield "Perhaps reverts are written in another way here: I know those that name what they take back."
    if len(score.versions) > 1:
        yield f"The rules changed meanwhile: {shorten(', '.join(score.versions), 200)}."


def _share(tally: Tally) -> str:
    """Format the share of a tally that was reverted or repaired."""
    return f"{_percent(tally.taken_back / tally.pulls)} %"


def _percent(share: float) -> str:
    """Format a share in percent: a whole number from ten on; below, one decimal place."""
    return f"{100 * share:.0f}" if share >= 0.0995 else _number(100 * share)


def _number(expected: float) -> str:
    """Format an expected number, or a small share, to one decimal place."""
    return "less than 0.1" if 0 < expected < 0.05 else f"{expected:,.1f}".removesuffix(".0")


def _rare(probability: float) -> str:
    """Format a probability in percent."""
    return f"{_percent(probability)} %"
