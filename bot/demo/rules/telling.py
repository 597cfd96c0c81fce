"""Puts an answer together from what the tools said: their counts, numbers, names and sentences, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bot.demo.rules.asked import Asked, Kind
from bot.demo.rules.declining import NO_DIFFS
from bot.demo.rules.findings import Told, lines_of, merged_in
from bot.demo.rules.known import Known
from bot.demo.rules.looking import Used, demanding, found_on, known_in, riskiest
from bot.demo.rules.matching import named, tell_flags, tell_place, tell_topic, tell_unmatched
from bot.demo.rules.summing import tell_day, tell_largest, tell_most_by, tell_trivial, tell_untested
from bot.demo.rules.wording import (
    EXAMPLES,
    MUCH,
    at,
    dated,
    ended,
    labelled,
    listed,
    part_of,
    sentences,
    sized,
    to_do,
)
from bot.domain.text.strings import format_count

# words of one pull request, where there are several
_LITTLE = 22
_MOST = 8
_UNCLEAR = f"I can't tell from this question what to look for: ask, for example, {EXAMPLES}."


def answer_to(asked: Asked, record: str, used: Sequence[Used]) -> str:
    """The answer, in Markdown."""
    if asked.reason:
        return asked.reason if asked.kind is Kind.LOST else f"{asked.reason} Ask, for example, {EXAMPLES}."
    known = Known(asked, record, tuple(used))
    has_results = any(not each.is_error for each in used)
    if known.unknown_days and not has_results:
        return known.unknown_days
    if known.lists and not known.all and asked.kind is not Kind.TRIVIAL:
        return f"There is nothing to tell: of what was asked there are no pull requests ({known.total})."
    found = _TELLERS[asked.kind](known) if has_results else ()
    parts = [known.unknown_days, *found, *([] if asked.days else known.refusals)]
    return "\n\n".join(filter(None, parts)) or _UNCLEAR


# single ones


def _about(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        yield f"**#{told.number}: {ended(told.headline or told.title)}**"
        yield part_of(told, "What changed and why", MUCH)
        yield part_of(told, "Technical impact", MUCH)
        yield to_do(told)
        yield f"By {told.author}, merged by {told.merger}: {sized(told)}, {told.band} risk."


def _risk_of(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        yield f"**#{told.number} is rated {told.band} risk**: {told.reasons or 'no risk rule matched'}."
        yield labelled("What its summary warns of", told.sections.get("Potential risks", ""))
        yield to_do(told) or "Its summary names nothing that you have to do."


def _who_of(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        merged = f"**{told.merger}** merged it on {at(told.when)}"
        yield f"#{told.number} ({told.title}) is by **{told.author}**; {merged}."


def _when_of(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        yield f"#{told.number} ({told.title}) was merged on {at(told.when)} by {told.merger}."


def _code_of(known: Known) -> Iterable[str]:
    yield f"{NO_DIFFS} GitHub has it: follow the link of the number."
    yield from _files_of(known)


def _files_of(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        named = ", ".join(f"`{path}`" for path in told.files[:_MOST])
        more = f" and {len(told.files) - _MOST} more" if len(told.files) > _MOST else ""
        yield f"#{told.number} changes {sized(told)}: {named}{more}."


# what was taken back, and what is risky


def _taken_back(known: Known) -> Iterable[str]:
    before, _, _ = known.back.partition("Rated riskiest by rules:")
    said = lines_of(before)[1:]
    lines = [line for line in said if not known.asked.numbers or _names(line, known.asked.numbers)]
    merged = merged_in([known.back])
    if lines and any(line.startswith("#") for line in lines):
        yield "\n".join(f"- {sentences(line, MUCH)}" for line in lines if line.startswith("#"))
    elif merged.days:
        yield f"Nothing that was merged on {dated(merged.days)} has been reverted, as far as the tools can see."


def _names(line: str, numbers: Iterable[int]) -> bool:
    return any(f"#{number} " in f"{line} " for number in numbers)


def _riskiest(known: Known) -> Iterable[str]:
    numbers = riskiest(known.asked, known.used)
    told = [known.pulls[number] for number in numbers if number in known.pulls]
    if not told:
        yield f"None of the {known.total} is rated risky."
        return
    yield f"**Most likely to cause trouble: {listed(each.number for each in told)}**, of the {known.total}:"
    yield "\n".join(f"- {_rated(each)}" for each in told)


def _rated(told: Told) -> str:
    why = f"{told.band.capitalize()} risk: {told.reasons}."
    said = part_of(told, "Potential risks", _LITTLE)
    return f"#{told.number} {ended(told.headline or told.title)} {why} {said}".rstrip()


# what needs action


def _breaks(known: Known) -> Iterable[str]:
    numbers = demanding(known.asked, known.record, known.used)
    acting = [known.pulls[number] for number in numbers if number in known.pulls and known.pulls[number].action]
    # a thread about a single one has not read the others: who did not read all can't say how many of all there are
    is_all = all(told.is_whole for told in known_in(known.record, known.used).values())
    among = known.total if is_all else format_count(len(known.pulls), "pull request") + " that I read"
    if not acting:
        yield f"None of the {among} requires changes on your side, as far as the summaries tell."
        return
    yield f"**{len(numbers)} of the {among} may require changes on your side:**"
    yield "\n".join(f"- #{told.number} {ended(told.headline)} **To do:** {told.action}" for told in acting)
    yield from _on_topic(known, numbers)


def _on_topic(known: Known, numbers: Sequence[int]) -> Iterable[str]:
    """Which of them are about what was asked, and what is about it without asking anything."""
    found = found_on(known.asked, known.record, known.used)
    close, topics = () if found.is_weak else found.named, named(found.topics, "and")
    acting, others = [n for n in close if n in numbers], [n for n in close if n not in numbers]
    yield f"Those that have to do with {topics} come first: {listed(acting)}." if acting else ""
    yield f"Also about {topics}, but requiring nothing: {listed(others)}." if others else ""
    yield from tell_unmatched(known, found)


_TELLERS: Mapping[Kind, Callable[[Known], Iterable[str]]] = {
    Kind.ABOUT: _about,
    Kind.RISK_OF: _risk_of,
    Kind.WHO_OF: _who_of,
    Kind.WHEN_OF: _when_of,
    Kind.FILES_OF: _files_of,
    Kind.CODE_OF: _code_of,
    Kind.BACK: _taken_back,
    Kind.MERGERS: lambda known: tell_most_by(known, lambda told: told.merger, "merged"),
    Kind.AUTHORS: lambda known: tell_most_by(known, lambda told: told.author, "wrote"),
    Kind.UNTESTED: tell_untested,
    Kind.BREAKS: _breaks,
    Kind.RISKIEST: _riskiest,
    Kind.FLAGS: tell_flags,
    Kind.PLACE: tell_place,
    Kind.TOPIC: tell_topic,
    Kind.DAY: tell_day,
    Kind.LARGEST: tell_largest,
    Kind.TRIVIAL: tell_trivial,
}
