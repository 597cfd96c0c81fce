"""Which tools a question needs: one round to find what it is about, one to read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.demo.rules.asked import Asked, Kind
from bot.demo.rules.findings import Told, hits_in, told_in
from bot.demo.rules.topics import Topic, stem_of

Call = tuple[str, Mapping[str, Any]]

LIST, SEARCH, PULL, BACK = "list_pull_requests", "search", "pull_request", "taken_back"
TESTS = ("tests/", "test_*.py", "*_test.py")
_MOST_PULLS = 6
# with the list and a search for each topic that is as many tools as may be used at a time
_MOST_BY_FILES = 2
# what a title or headline says weighs more than the name of a file, and that more than what is said in passing
_NAMED, _FILED, _SAID = 3.0, 2.0, 1.0
# of the best: what reaches less is about something else
_CLOSE_ENOUGH = 0.45
_FIRST: Mapping[Kind, Sequence[Call]] = {
    Kind.BACK: [(BACK, {})],
    Kind.RISKIEST: [(BACK, {}), (LIST, {})],
    Kind.UNTESTED: [(LIST, {}), (LIST, {"paths": list(TESTS)})],
    Kind.MERGERS: [(LIST, {})],
    Kind.AUTHORS: [(LIST, {})],
    Kind.DAY: [(LIST, {})],
    Kind.LARGEST: [(LIST, {})],
    Kind.TRIVIAL: [(LIST, {"types": ["TRIVIAL"]})],
    Kind.FLAGS: [(LIST, {})],
}


@dataclass(frozen=True, slots=True)
class Used:
    """A tool that was used, and what it said."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool


def first_calls(asked: Asked) -> Sequence[Call]:
    """What to ask the tools first."""
    if asked.is_of_ones:
        return _pulls(asked.numbers)
    if not asked.days:
        return _first(asked)
    return [(name, {**arguments, "days": asked.days}) for name, arguments in _first(asked)]


def _first(asked: Asked) -> Sequence[Call]:
    if asked.kind in (Kind.BREAKS, Kind.TOPIC):
        searches = [_search(topic) for topic in asked.topics]
        return [(LIST, {}), *searches, *(_by_files(topic) for topic in asked.topics[:_MOST_BY_FILES])]
    if asked.place:
        return [(LIST, {}), (LIST, {"paths": list(asked.place.paths)})]
    return _FIRST.get(asked.kind, ())


def calls_after(asked: Asked, record: str, used: Sequence[Used]) -> Sequence[Call]:
    """What to read of what was found."""
    match asked.kind:
        case Kind.TOPIC:
            return _pulls(found_on(asked, record, used).best)
        case Kind.BREAKS:
            found = found_on(asked, record, used)
            return _pulls([*demanding(asked, record, used), *found.named, *found.filed, *found.in_area])
        case Kind.RISKIEST:
            return _pulls(riskiest(asked, used)[:3])
        case Kind.FLAGS:
            return _pulls(asked.numbers)
        case Kind.PLACE:
            return _pulls(placed(used))
    return ()


def placed(used: Sequence[Used]) -> tuple[int, ...]:
    """Those that change a file of the place that is asked about."""
    return tuple(number for each in used if each.arguments.get("paths") for number in told_in(each.text))


def _search(topic: Topic) -> Call:
    return SEARCH, {"any_of": list(topic.words), "where": "text"}


def _by_files(topic: Topic) -> Call:
    return LIST, {"paths": [word if "/" in word else f"*{word}*" for word in topic.words]}


def _pulls(numbers: Iterable[int]) -> list[Call]:
    return [(PULL, {"number": number}) for number in list(dict.fromkeys(numbers))[:_MOST_PULLS]]


@dataclass(frozen=True, slots=True)
class Found:
    """Pull requests that name the topics, best first; that have them in the names of files; that mention them.

    ``topics`` are those that the first of these have, ``unmatched`` those that none has. ``in_area`` are others
    whose area has a topic in its name. It ``is_weak`` where several words are only found apart from each other.
    """

    named: tuple[int, ...] = ()
    filed: tuple[int, ...] = ()
    said: tuple[int, ...] = ()
    topics: tuple[Topic, ...] = ()
    unmatched: tuple[Topic, ...] = ()
    in_area: tuple[int, ...] = ()
    is_weak: bool = False

    @property
    def best(self) -> tuple[int, ...]:
        """Those that are about the topics: a file tells where nothing else does."""
        return () if self.is_weak else self.named or self.filed


def found_on(asked: Asked, record: str, used: Sequence[Used]) -> Found:
    """What the searches found of the topics: a word that few pull requests have says more than one of many."""
    known = known_in(record, used)
    weights = [_weighed(topic, known, used) for topic in asked.topics]
    points = {number: sum(each.get(number, 0.0) / len(each) for each in weights if each) for number in known}
    least = _CLOSE_ENOUGH * max(points.values(), default=0.0)
    ranked = [number for number in sorted(known, key=lambda number: -points[number]) if points[number]]
    ranked = [number for number in ranked if not asked.numbers or number in asked.numbers]
    close = [number for number in ranked if points[number] >= least or all(number in each for each in weights)]
    found = _sorted(asked.topics, weights, ranked, close)
    unmatched = tuple(topic for topic, each in zip(asked.topics, weights, strict=True) if not each)
    in_area = (number for number, told in known.items() if any(_is_in_area(told, topic) for topic in asked.topics))
    beside = tuple(number for number in in_area if number not in (*found.best, *found.filed, *found.said))
    return replace(found, unmatched=unmatched, in_area=beside, is_weak=_is_weak(asked.topics, weights))


def _is_weak(topics: Sequence[Topic], weights: Sequence[Mapping[int, float]]) -> bool:
    """Whether no pull request has all of several topics, or one that is a name where it says what it is about."""
    if len(topics) < 2 or set.intersection(*(set(each) for each in weights)):
        return False
    names = (each for topic, each in zip(topics, weights, strict=True) if topic.is_name)
    return any(weights) and not any(weight == _NAMED for each in names for weight in each.values())


def _sorted(
    topics: Sequence[Topic], weights: Sequence[Mapping[int, float]], ranked: Sequence[int], close: Sequence[int]
) -> Found:
    # what has one word of several, and only in passing, is about something else
    passing = close if len(topics) > 1 else ranked
    top = {number: max(each.get(number, 0.0) for each in weights) for number in ranked}
    named = tuple(number for number in close if top[number] == _NAMED)
    filed = tuple(number for number in passing if top[number] == _FILED)
    said = tuple(number for number in passing if top[number] == _SAID)
    best = named or filed or said
    of_best = (topic for topic, each in zip(topics, weights, strict=True) if not each.keys().isdisjoint(best))
    return Found(named, filed, said, tuple(of_best))


def known_in(record: str, used: Sequence[Used]) -> dict[int, Told]:
    """All that was told of pull requests, the longest of each."""
    lists = [each.text for each in used if each.name == LIST and not each.is_error]
    pulls = [each.text for each in used if each.name == PULL and not each.is_error]
    found: dict[int, Told] = {}
    for text in (*lists, record, *pulls):
        found |= {number: told for number, told in told_in(text).items() if told.is_whole or number not in found}
    return found


def _weighed(topic: Topic, known: Mapping[int, Told], used: Sequence[Used]) -> Mapping[int, float]:
    """How much each pull request has of a topic."""
    weights = {number: _NAMED for number, told in known.items() if _is_of(told, topic)}
    for each in used:
        if _is_call(each, _search(topic)):
            for hit in hits_in(each.text):
                weights[hit.number] = max(weights.get(hit.number, 0.0), _NAMED if hit.is_strong else _SAID)
        if _is_call(each, _by_files(topic)):
            weights |= {number: max(weights.get(number, 0.0), _FILED) for number in told_in(each.text)}
    return {number: weight for number, weight in weights.items() if _holds(known.get(number), topic)}


def _is_call(used: Used, call: Call) -> bool:
    """Whether it is that use of a tool, of whatever days."""
    return (used.name, {name: value for name, value in used.arguments.items() if name != "days"}) == call


def _is_of(told: Told, topic: Topic) -> bool:
    """Whether it is in the area of that name, or of a person of that name."""
    own = {told.area.casefold(), told.author.casefold(), told.merger.casefold()}
    return not own.isdisjoint(topic.words)


def _is_in_area(told: Told, topic: Topic) -> bool:
    """Whether its area has the topic in its name: it may hold other things too."""
    return any(stem_of(word) == topic.words[0] for word in told.area.split())


def _holds(told: Told | None, topic: Topic) -> bool:
    """Whether it has a word as a word: a search for "api" finds "rapid" too."""
    if told is None or not told.is_whole:
        return True
    text = told.text.casefold()
    return any(re.search(rf"(?<![^\W_]){re.escape(word.casefold())}", text) for word in topic.words)


def demanding(asked: Asked, record: str, used: Sequence[Used]) -> tuple[int, ...]:
    """The pull requests whose users have to act, those about the topics first."""
    close = found_on(asked, record, used).named
    acting = [number for number, told in known_in(record, used).items() if told.action]
    ordered = sorted(acting, key=lambda number: close.index(number) if number in close else len(close))
    return tuple(number for number in ordered if not asked.numbers or number in asked.numbers)


def riskiest(asked: Asked, used: Sequence[Used]) -> tuple[int, ...]:
    """What the rules rate highest, in their order."""
    text = next((each.text for each in used if each.name == BACK), "")
    _, _, rated = text.partition("Rated riskiest by rules:\n")
    numbers = (int(found) for found in re.findall(r"^#(\d{1,9}) ", rated, re.M))
    return tuple(number for number in numbers if not asked.numbers or number in asked.numbers)
