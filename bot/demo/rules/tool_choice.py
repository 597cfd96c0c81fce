"""Which tools a question needs: one round to find what it is about, one to read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.demo.rules.findings import PullRequestFacts, parse_hits, parse_pull_requests
from bot.demo.rules.question_intent import ParsedQuestion, QuestionKind
from bot.demo.rules.topics import Topic, get_stem

ToolQuery = tuple[str, Mapping[str, Any]]

LIST_TOOL, SEARCH_TOOL, PULL_REQUEST_TOOL, REVERTS_TOOL = (
    "list_pull_requests",
    "search",
    "pull_request",
    "taken_back",
)
TEST_PATHS = ("tests/", "test_*.py", "*_test.py")
_MAX_PULLS = 6
# with the list and a search for each topic that is as many tools as may be used at a time
_MAX_FILE_SEARCHES = 2
# what a title or headline says weighs more than the name of a file, and that more than what is said in passing
_HEADLINE_WEIGHT, _FILE_WEIGHT, _MENTION_WEIGHT = 3.0, 2.0, 1.0
# of the best: what reaches less is about something else
_MIN_RELATIVE_SCORE = 0.45
_FIRST_QUERIES: Mapping[QuestionKind, Sequence[ToolQuery]] = {
    QuestionKind.REVERTS: [(REVERTS_TOOL, {})],
    QuestionKind.RISKIEST: [(REVERTS_TOOL, {}), (LIST_TOOL, {})],
    QuestionKind.UNTESTED: [(LIST_TOOL, {}), (LIST_TOOL, {"paths": list(TEST_PATHS)})],
    QuestionKind.MERGERS: [(LIST_TOOL, {})],
    QuestionKind.AUTHORS: [(LIST_TOOL, {})],
    QuestionKind.DAY: [(LIST_TOOL, {})],
    QuestionKind.LARGEST: [(LIST_TOOL, {})],
    QuestionKind.TRIVIAL: [(LIST_TOOL, {"types": ["TRIVIAL"]})],
    QuestionKind.FLAGS: [(LIST_TOOL, {})],
}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that was used, and what it said."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool


def plan_first_calls(asked: ParsedQuestion) -> Sequence[ToolQuery]:
    """What to ask the tools first."""
    if asked.is_about_single:
        return _build_pull_queries(asked.numbers)
    if not asked.days:
        return _plan_by_kind(asked)
    return [(name, {**arguments, "days": asked.days}) for name, arguments in _plan_by_kind(asked)]


def _plan_by_kind(asked: ParsedQuestion) -> Sequence[ToolQuery]:
    if asked.kind in (QuestionKind.BREAKS, QuestionKind.TOPIC):
        searches = [_build_search(topic) for topic in asked.topics]
        return [
            (LIST_TOOL, {}),
            *searches,
            *(_build_file_search(topic) for topic in asked.topics[:_MAX_FILE_SEARCHES]),
        ]
    if asked.file_group:
        return [(LIST_TOOL, {}), (LIST_TOOL, {"paths": list(asked.file_group.paths)})]
    return _FIRST_QUERIES.get(asked.kind, ())


def plan_next_calls(asked: ParsedQuestion, record: str, used: Sequence[ToolUse]) -> Sequence[ToolQuery]:
    """What to read of what was found."""
    match asked.kind:
        case QuestionKind.TOPIC:
            return _build_pull_queries(match_topics(asked, record, used).best)
        case QuestionKind.BREAKS:
            found = match_topics(asked, record, used)
            return _build_pull_queries(
                [*list_actionable(asked, record, used), *found.strong, *found.by_path, *found.in_area]
            )
        case QuestionKind.RISKIEST:
            return _build_pull_queries(list_riskiest(asked, used)[:3])
        case QuestionKind.FLAGS:
            return _build_pull_queries(asked.numbers)
        case QuestionKind.FILE_GROUP:
            return _build_pull_queries(list_file_matches(used))
    return ()


def list_file_matches(used: Sequence[ToolUse]) -> tuple[int, ...]:
    """Those that change a file of the place that is asked about."""
    return tuple(
        number for each in used if each.arguments.get("paths") for number in parse_pull_requests(each.text)
    )


def _build_search(topic: Topic) -> ToolQuery:
    return SEARCH_TOOL, {"any_of": list(topic.words), "where": "text"}


def _build_file_search(topic: Topic) -> ToolQuery:
    return LIST_TOOL, {"paths": [word if "/" in word else f"*{word}*" for word in topic.words]}


def _build_pull_queries(numbers: Iterable[int]) -> list[ToolQuery]:
    return [(PULL_REQUEST_TOOL, {"number": number}) for number in list(dict.fromkeys(numbers))[:_MAX_PULLS]]


@dataclass(frozen=True, slots=True)
class TopicMatches:
    """Pull requests that name the topics, best first; that have them in the names of files; that mention them.

    ``topics`` are those that the first of these have, ``unmatched`` those that none has. ``in_area`` are others
    whose area has a topic in its name. It ``is_weak`` where several words are only found apart from each other.
    """

    strong: tuple[int, ...] = ()
    by_path: tuple[int, ...] = ()
    mentioning: tuple[int, ...] = ()
    matched_topics: tuple[Topic, ...] = ()
    unmatched_topics: tuple[Topic, ...] = ()
    in_area: tuple[int, ...] = ()
    is_weak: bool = False

    @property
    def best(self) -> tuple[int, ...]:
        """Those that are about the topics: a file tells where nothing else does."""
        return () if self.is_weak else self.strong or self.by_path


def match_topics(asked: ParsedQuestion, record: str, used: Sequence[ToolUse]) -> TopicMatches:
    """What the searches found of the topics: a word that few pull requests have says more than one of many."""
    known = collect_pull_requests(record, used)
    weights = [_weigh_topic(topic, known, used) for topic in asked.topics]
    points = {number: sum(each.get(number, 0.0) / len(each) for each in weights if each) for number in known}
    least = _MIN_RELATIVE_SCORE * max(points.values(), default=0.0)
    ranked = [number for number in sorted(known, key=lambda number: -points[number]) if points[number]]
    ranked = [number for number in ranked if not asked.numbers or number in asked.numbers]
    close = [number for number in ranked if points[number] >= least or all(number in each for each in weights)]
    found = _group_matches(asked.topics, weights, ranked, close)
    unmatched = tuple(topic for topic, each in zip(asked.topics, weights, strict=True) if not each)
    in_area = (number for number, told in known.items() if any(_is_in_area(told, topic) for topic in asked.topics))
    beside = tuple(number for number in in_area if number not in (*found.best, *found.by_path, *found.mentioning))
    return replace(found, unmatched_topics=unmatched, in_area=beside, is_weak=_is_weak(asked.topics, weights))


def _is_weak(topics: Sequence[Topic], weights: Sequence[Mapping[int, float]]) -> bool:
    """Whether no pull request has all of several topics, or one that is a name where it says what it is about."""
    if len(topics) < 2 or set.intersection(*(set(each) for each in weights)):
        return False
    names = (each for topic, each in zip(topics, weights, strict=True) if topic.is_name)
    return any(weights) and not any(weight == _HEADLINE_WEIGHT for each in names for weight in each.values())


def _group_matches(
    topics: Sequence[Topic], weights: Sequence[Mapping[int, float]], ranked: Sequence[int], close: Sequence[int]
) -> TopicMatches:
    # what has one word of several, and only in passing, is about something else
    passing = close if len(topics) > 1 else ranked
    top = {number: max(each.get(number, 0.0) for each in weights) for number in ranked}
    named = tuple(number for number in close if top[number] == _HEADLINE_WEIGHT)
    filed = tuple(number for number in passing if top[number] == _FILE_WEIGHT)
    said = tuple(number for number in passing if top[number] == _MENTION_WEIGHT)
    best = named or filed or said
    of_best = (topic for topic, each in zip(topics, weights, strict=True) if not each.keys().isdisjoint(best))
    return TopicMatches(named, filed, said, tuple(of_best))


def collect_pull_requests(record: str, used: Sequence[ToolUse]) -> dict[int, PullRequestFacts]:
    """All that was told of pull requests, the longest of each."""
    lists = [each.text for each in used if each.name == LIST_TOOL and not each.is_error]
    pulls = [each.text for each in used if each.name == PULL_REQUEST_TOOL and not each.is_error]
    found: dict[int, PullRequestFacts] = {}
    for text in (*lists, record, *pulls):
        found |= {
            number: told
            for number, told in parse_pull_requests(text).items()
            if told.is_complete or number not in found
        }
    return found


def _weigh_topic(
    topic: Topic, known: Mapping[int, PullRequestFacts], used: Sequence[ToolUse]
) -> Mapping[int, float]:
    """How much each pull request has of a topic."""
    weights = {number: _HEADLINE_WEIGHT for number, told in known.items() if _has_exact_name(told, topic)}
    for each in used:
        if _is_same_call(each, _build_search(topic)):
            for hit in parse_hits(each.text):
                weights[hit.number] = max(
                    weights.get(hit.number, 0.0), _HEADLINE_WEIGHT if hit.is_strong else _MENTION_WEIGHT
                )
        if _is_same_call(each, _build_file_search(topic)):
            weights |= {
                number: max(weights.get(number, 0.0), _FILE_WEIGHT) for number in parse_pull_requests(each.text)
            }
    return {number: weight for number, weight in weights.items() if _has_topic_word(known.get(number), topic)}


def _is_same_call(used: ToolUse, call: ToolQuery) -> bool:
    """Whether it is that use of a tool, of whatever days."""
    return (used.name, {name: value for name, value in used.arguments.items() if name != "days"}) == call


def _has_exact_name(told: PullRequestFacts, topic: Topic) -> bool:
    """Whether it is in the area of that name, or of a person of that name."""
    own = {told.area.casefold(), told.author.casefold(), told.merger.casefold()}
    return not own.isdisjoint(topic.words)


def _is_in_area(told: PullRequestFacts, topic: Topic) -> bool:
    """Whether its area has the topic in its name: it may hold other things too."""
    return any(get_stem(word) == topic.words[0] for word in told.area.split())


def _has_topic_word(told: PullRequestFacts | None, topic: Topic) -> bool:
    """Whether it has a word as a word: a search for "api" finds "rapid" too."""
    if told is None or not told.is_complete:
        return True
    text = told.text.casefold()
    return any(re.search(rf"(?<![^\W_]){re.escape(word.casefold())}", text) for word in topic.words)


def list_actionable(asked: ParsedQuestion, record: str, used: Sequence[ToolUse]) -> tuple[int, ...]:
    """The pull requests whose users have to act, those about the topics first."""
    close = match_topics(asked, record, used).strong
    acting = [number for number, told in collect_pull_requests(record, used).items() if told.action]
    ordered = sorted(acting, key=lambda number: close.index(number) if number in close else len(close))
    return tuple(number for number in ordered if not asked.numbers or number in asked.numbers)


def list_riskiest(asked: ParsedQuestion, used: Sequence[ToolUse]) -> tuple[int, ...]:
    """What the rules rate highest, in their order."""
    text = next((each.text for each in used if each.name == REVERTS_TOOL), "")
    _, _, rated = text.partition("Rated riskiest by rules:\n")
    numbers = (int(found) for found in re.findall(r"^#(\d{1,9}) ", rated, re.M))
    return tuple(number for number in numbers if not asked.numbers or number in asked.numbers)
