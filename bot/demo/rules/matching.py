"""Answers about words, files and flags: which pull requests have them, and what a match is worth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.demo.rules.findings import Told
from bot.demo.rules.known import Known
from bot.demo.rules.lexicon import write_alike
from bot.demo.rules.looking import Found, found_on, known_in, placed
from bot.demo.rules.topics import Topic
from bot.demo.rules.wording import EXAMPLES, MUCH, ended, joined, listed, part_of, to_do

_FEW, _MOST = 3, 8
# nobody shall take the lack of a word for the lack of what it means
_BY_WORDS = "Rules look for words alone: another word may find it."
_FLAG = r"(?<![\w/-])(?:-[a-z]/)?--[a-z][a-z0-9-]+[a-z0-9]\b"
_REPOSITORY = re.compile(r"^[\w.-]+/([\w.-]+), \S+ \(", re.M)
# of all pull requests: what more of them have says nothing
_COMMON = 0.6
# parts that say what a change does; the others may name what it has nothing to do with
_OWN_PARTS = ("What changed and why", "Technical impact", "Action")


def tell_topic(known: Known) -> Iterable[str]:
    """Those that have the words of the question, and where; or that the words say too little."""
    found = found_on(known.asked, known.record, known.used)
    shown = [known.pulls[number] for number in found.best if number in known.pulls]
    if found.is_weak:
        yield from _weak(known, found)
        return
    if not shown:
        yield _nothing(known, found)
        return
    if len(found.best) > max(_MOST, _COMMON * len(known.all)):
        yield f"{named(found.topics, 'and')} is in {len(found.best)} of the {known.total}: ask for another word."
        return
    match = "matches" if len(found.best) == 1 else "match"
    yield f"**{len(found.best)} of the {known.total} {match} {named(found.topics, 'and')}:**"
    yield "\n".join(f"- {_item(told, found.topics, is_short=len(shown) > _FEW)}" for told in shown)
    unread = [number for number in found.best if number not in known.pulls]
    yield f"And {listed(unread)}." if unread else ""
    filed = found.filed if found.named else ()
    paths = "the path of a file" if len(filed) == 1 else "the paths of files"
    yield f"Only in {paths}: {listed(filed)}." if filed else ""
    yield f"Only mentioned in the summary: {listed(found.said)}." if found.said else ""
    yield f"Only in the name of the area: {listed(found.in_area)}." if found.in_area else ""
    yield from tell_unmatched(known, found)


def tell_unmatched(known: Known, found: Found) -> Iterator[str]:
    """The words that nothing has."""
    if found.unmatched:
        are = "is" if len(found.unmatched) == 1 else "are"
        yield f"{named(found.unmatched, 'and')} {are} in no title, summary or path of the {known.total}."


def _weak(known: Known, found: Found) -> Iterator[str]:
    """Several words that only stand apart say nothing of what they mean together."""
    topics = [topic for topic in known.asked.topics if topic not in found.unmatched]
    yield f"None of the {known.total} matches {named(known.asked.topics, 'and')} together."
    yield from tell_unmatched(known, found)
    example = topics[0].name
    yield f"{_BY_WORDS} To see what names one of the words, ask for it alone: “which of these touch {example}?”."


def _nothing(known: Known, found: Found) -> str:
    lead = f"{named(known.asked.topics, 'or')} is in no"
    if found.said or found.in_area:
        said = f"only mentioned in the summary of {listed(found.said)}" if found.said else ""
        area = f"in the name of the area of {listed(found.in_area)}" if found.in_area else ""
        places = ", and ".join(filter(None, (said, area)))
        return f"{lead} title or headline of the {known.total}; it is {places}."
    return f"{lead} title, summary or path of the {known.total}. {_BY_WORDS} Ask, for example, {EXAMPLES}."


def named(topics: Iterable[Topic], link: str) -> str:
    """As they were typed, with the other names by which they were looked for."""
    names = [[topic.name, *map(write_alike, topic.words[1:])] for topic in topics]
    return joined([" or ".join(f"“{name}”" for name in each) for each in names], link)


def _item(told: Told, topics: Sequence[Topic], *, is_short: bool) -> str:
    words = [word.casefold() for topic in topics for word in topic.words]
    is_clear = told.headline and any(word in told.headline.casefold() for word in words)
    lead = told.headline if is_clear else f"{told.title}: {told.headline}".removesuffix(": ")
    said = "" if is_short else f"{part_of(told, 'What changed and why', MUCH)} By {told.author}."
    return " ".join(part for part in (f"#{told.number} {ended(lead)}", said, to_do(told)) if part)


def tell_place(known: Known) -> Iterable[str]:
    """Those that change some files, and which of them."""
    place, numbers = known.asked.place, placed(known.used)
    if place is None:
        return
    if not numbers:
        yield f"None of the {known.total} changes {place.none}."
        return
    verb = "changes" if len(numbers) == 1 else "change"
    yield f"**{len(numbers)} of the {known.total} {verb} {place.some}:**"
    told = known_in(known.record, known.used)
    yield "\n".join(f"- #{n} ({_paths(place.of(told[n].files))}): {ended(told[n].headline)}" for n in numbers)


def _paths(paths: Sequence[str]) -> str:
    shown = ", ".join(f"`{path}`" for path in paths[:_FEW])
    return f"{shown} and {len(paths) - _FEW} more" if len(paths) > _FEW else shown


def tell_flags(known: Known) -> Iterable[str]:
    """Those whose summaries name flags or environment variables; which of them are new, no rule can tell."""
    told, flags = known_in(known.record, known.used), _flags_of(known)
    wanted = [each for each in told.values() if not known.asked.numbers or each.number in known.asked.numbers]
    own = {each.number: names for each in wanted if (names := _named_in(_own_text(each), flags))}
    passing = [each.number for each in wanted if each.number not in own and flags.search(each.text)]
    lead = "Rules can't tell a new flag or environment variable from an old one."
    if not own:
        yield f"{lead} The summaries of the {known.total} say of none that it was changed."
    else:
        among = f"of the {known.total}" if len(wanted) > 1 else "pull request"
        yield f"{lead} **{len(own)} {among} {'names' if len(own) == 1 else 'name'} some:**"
        first = sorted(own, key=lambda number: not flags.search(told[number].action))
        yield "\n".join(
            f"- #{n} ({', '.join(own[n])}): {ended(told[n].headline)} {to_do(told[n])}".rstrip() for n in first
        )
    yield f"Only named in passing: {listed(passing)}." if passing else ""
    unread = [each.number for each in wanted if not each.is_whole]
    yield f"Not read for this: {len(unread)} of them." if unread else ""


def _own_text(told: Told) -> str:
    return "\n".join([told.title, told.headline, *(told.sections.get(name, "") for name in _OWN_PARTS)])


def _flags_of(known: Known) -> re.Pattern[str]:
    """Flags, and environment variables that begin with the name of the repository, as they do by custom."""
    names = {found[1].upper() for text in known.lists if (found := _REPOSITORY.search(text))}
    variables = [rf"\b{re.escape(re.sub(r'[.-]', '_', name))}_[A-Z0-9_]+\b" for name in sorted(names)]
    return re.compile("|".join([_FLAG, *variables]))


def _named_in(text: str, flags: re.Pattern[str]) -> list[str]:
    """Each once, as code, less those that are there with their short form."""
    found = list(dict.fromkeys(flags.findall(text)))
    return [f"`{flag}`" for flag in found if not any(other.endswith(f"/{flag}") for other in found)][:_MOST]
