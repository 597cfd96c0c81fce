"""Puts an answer together from what the tools said: their counts, numbers, names and sentences, nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from bot.domain.texts import plural
from bot.sandbox.rules.asked import Asked, Kind, Topic
from bot.sandbox.rules.findings import Told, lines_of, merged_in, told_in
from bot.sandbox.rules.known import Known
from bot.sandbox.rules.looking import TESTS, Found, Used, demanding, found_on, known_in, riskiest
from bot.sandbox.rules.wording import MUCH, dated, ended, labelled, listed, part_of, sentences, sized, to_do

# words of one pull request, where there are several
_LITTLE = 22
_FEW = 3
_MOST, _MOST_AREAS = 8, 5
_EXAMPLES = "“which of these touch ROCm?” or “what may break our callers?”"
# nobody shall take the lack of a word for the lack of what it means
_BY_WORDS = "Rules look for words alone: another word may find it."
_UNCLEAR = f"I can't tell from this question what to look for: ask, for example, {_EXAMPLES}."


def answer_to(asked: Asked, record: str, used: Sequence[Used]) -> str:
    """The answer, in Markdown."""
    known = Known(asked, record, tuple(used))
    if known.lists and not known.all and asked.kind is not Kind.TRIVIAL:
        return f"There is nothing to tell: of what was asked there are no pull requests ({known.total})."
    has_results = any(not each.is_error for each in used)
    found = _TELLERS[asked.kind](known) if has_results else ()
    return "\n\n".join(part for part in (*found, *known.refusals) if part) or _UNCLEAR


# single ones


def _about(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        yield f"**#{told.number}: {ended(told.headline or told.title)}**"
        yield part_of(told, "What changed and why", MUCH)
        yield part_of(told, "Technical impact", MUCH)
        yield to_do(told)
        yield f"By {told.author}, merged by {told.merger}: {sized(told)}, {told.band} risk by the rules."


def _risk_of(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        reasons = f": {told.reasons}" if told.reasons else "; they name no reason to look twice"
        yield f"**By the rules #{told.number} is of {told.band} risk**{reasons}."
        yield labelled("What its summary warns of", told.sections.get("Potential risks", ""))
        yield to_do(told)


def _who_of(known: Known) -> Iterable[str]:
    for told in known.pulls.values():
        yield f"#{told.number} ({told.title}) is by **{told.author}**; **{told.merger}** merged it ({told.when})."


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
        yield f"Nothing that was merged on {dated(merged.days)} was taken back, as far as the tools can see."


def _names(line: str, numbers: Iterable[int]) -> bool:
    return any(f"#{number} " in f"{line} " for number in numbers)


def _riskiest(known: Known) -> Iterable[str]:
    numbers = riskiest(known.asked, known.used)
    told = [known.pulls[number] for number in numbers if number in known.pulls]
    if not told:
        yield f"The rules rate none of the {known.total} as risky."
        return
    yield f"**The rules would look twice at {listed(each.number for each in told)}**, of the {known.total}:"
    yield "\n".join(f"- {_rated(each)}" for each in told)


def _rated(told: Told) -> str:
    why = f"{told.band.capitalize()} risk by the rules: {told.reasons}."
    said = part_of(told, "Potential risks", _LITTLE)
    return f"#{told.number} {ended(told.headline or told.title)} {why} {said}".rstrip()


# many


def _topic(known: Known) -> Iterable[str]:
    found = found_on(known.asked, known.record, known.used)
    shown = [known.pulls[number] for number in found.best if number in known.pulls]
    if not shown:
        yield _nothing(known, found)
        return
    has = "has" if len(found.best) == 1 else "have"
    yield f"**{len(found.best)} of the {known.total} {has} to do with {_named(found.topics, 'and')}:**"
    yield "\n".join(f"- {_item(told, found.topics, is_short=len(shown) > _FEW)}" for told in shown)
    unread = [number for number in found.best if number not in known.pulls]
    yield f"And {listed(unread)}." if unread else ""
    filed = found.filed if found.named else ()
    paths = "the path of a file" if len(filed) == 1 else "the paths of files"
    yield f"Only in {paths}: {listed(filed)}." if filed else ""
    yield f"Only mentioned in the summary: {listed(found.said)}." if found.said else ""


def _nothing(known: Known, found: Found) -> str:
    lead = f"{_named(known.asked.topics, 'or')} is in no"
    if found.said:
        said = f"{_named(found.topics, 'or')} is only mentioned in the summary of {listed(found.said)}"
        return f"{lead} title or headline of the {known.total}; {said}."
    return f"{lead} title, summary or path of the {known.total}. {_BY_WORDS} Ask, for example, {_EXAMPLES}."


def _named(topics: Iterable[Topic], link: str) -> str:
    """As they were typed, with the other names by which they were looked for."""
    names = [[topic.name, *(word.upper() for word in topic.words[1:])] for topic in topics]
    return f" {link} ".join(" or ".join(f"“{name}”" for name in each) for each in names)


def _item(told: Told, topics: Sequence[Topic], *, is_short: bool) -> str:
    words = [word.casefold() for topic in topics for word in topic.words]
    is_clear = told.headline and any(word in told.headline.casefold() for word in words)
    lead = told.headline if is_clear else f"{told.title}: {told.headline}".removesuffix(": ")
    said = "" if is_short else f"{part_of(told, 'What changed and why', MUCH)} By {told.author}."
    return " ".join(part for part in (f"#{told.number} {ended(lead)}", said, to_do(told)) if part)


def _largest(known: Known) -> Iterable[str]:
    largest = sorted(known.all, key=lambda told: -told.changed_lines)[:_FEW]
    yield f"**The largest of the {known.total}**, by changed lines:"
    yield "\n".join(f"- #{told.number} ({sized(told)}): {ended(told.headline or told.title)}" for told in largest)


def _trivial(known: Known) -> Iterable[str]:
    verb = "is" if len(known.all) == 1 else "are"
    yield f"**{len(known.all)} of the {known.total} {verb} trivial**: what the product does stays the same."
    yield "\n".join(f"- #{told.number} {ended(told.headline or told.title)}" for told in known.all)


def _breaks(known: Known) -> Iterable[str]:
    numbers = demanding(known.asked, known.record, known.used)
    acting = [known.pulls[number] for number in numbers if number in known.pulls and known.pulls[number].action]
    # a thread about a single one has not read the others: who did not read all can't say how many of all there are
    is_all = all(told.is_whole for told in known_in(known.record, known.used).values())
    among = known.total if is_all else plural(len(known.pulls), "pull request") + " that I read"
    if not acting:
        yield f"None of the {among} asks something of those who build on it."
        return
    verb = "asks" if len(numbers) == 1 else "ask"
    yield f"**{len(numbers)} of the {among} {verb} something of those who build on it:**"
    yield "\n".join(f"- #{told.number} {ended(told.headline)} **To do:** {told.action}" for told in acting)
    yield from _on_topic(known, numbers)


def _on_topic(known: Known, numbers: Sequence[int]) -> Iterable[str]:
    """Which of them are about what was asked, and what is about it without asking anything."""
    close, topics = found_on(known.asked, known.record, known.used).named, _named(known.asked.topics, "and")
    acting, others = [n for n in close if n in numbers], [n for n in close if n not in numbers]
    yield f"Those that have to do with {topics} come first: {listed(acting)}." if acting else ""
    yield f"Also about {topics}, but asking for nothing: {listed(others)}." if others else ""


def _untested(known: Known) -> Iterable[str]:
    tests = next(each for each in known.used if each.arguments.get("paths") == list(TESTS))
    tested = told_in(tests.text)
    having = [told.number for told in known.all if told.number in tested]
    without = [told for told in known.all if told.number not in tested]
    if not without:
        yield f"Every one of the {known.total} changes test files: {listed(having)}."
        return
    verb = "changes" if len(without) == 1 else "change"
    yield f"**{len(without)} of the {known.total} {verb} no test file:**"
    yield "\n".join(f"- #{told.number} {ended(told.headline)}" for told in without)
    yield f"Test files are changed by {listed(having)}." if having else ""


def _by_person(known: Known, person: Callable[[Told], str], did: str) -> Iterable[str]:
    counts = Counter(map(person, known.all))
    first, *others = [(name, count) for name, count in counts.most_common(4)]
    mine = listed(told.number for told in known.all if person(told) == first[0])
    yield f"**{first[0]} {did} the most:** {first[1]} of the {known.total} ({mine})."
    yield "Then come " + ", ".join(f"{name} ({count})" for name, count in others) + "." if others else ""


def _day(known: Known) -> Iterable[str]:
    areas = Counter(told.area for told in known.all).most_common()
    named = ", ".join(f"{area} ({count})" for area, count in areas[:_MOST_AREAS])
    rest = sum(count for _, count in areas[_MOST_AREAS:])
    yield f"**{known.total}**, by area: {named}{f', elsewhere ({rest})' if rest else ''}."
    risky = [told for told in known.all if told.band in ("high", "highest")]
    yield f"The rules would look twice at {listed(told.number for told in risky)}." if risky else ""
    acting = [told.number for told in told_in(known.record).values() if told.action]
    yield f"Those who build on it have to act on {listed(acting)}." if acting else ""


_TELLERS: Mapping[Kind, Callable[[Known], Iterable[str]]] = {
    Kind.ABOUT: _about,
    Kind.RISK_OF: _risk_of,
    Kind.WHO_OF: _who_of,
    Kind.FILES_OF: _files_of,
    Kind.BACK: _taken_back,
    Kind.MERGERS: lambda known: _by_person(known, lambda told: told.merger, "merged"),
    Kind.AUTHORS: lambda known: _by_person(known, lambda told: told.author, "wrote"),
    Kind.UNTESTED: _untested,
    Kind.BREAKS: _breaks,
    Kind.RISKIEST: _riskiest,
    Kind.TOPIC: _topic,
    Kind.DAY: _day,
    Kind.LARGEST: _largest,
    Kind.TRIVIAL: _trivial,
}
