"""Choice of the tools for a question: one round to find its pull requests, one to read them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.demo.rules.findings import PullRequestFacts, parse_hits, parse_pull_requests
from bot.demo.rules.question_intent import ParsedQuestion, QuestionKind
from bot.demo.rules.topics import Topic, get_stem
from bot.domain.conversations.tool_names import ToolName

ToolQuery = tuple[str, Mapping[str, Any]]

LIST_TOOL, SEARCH_TOOL, PULL_REQUEST_TOOL, REVERTS_TOOL = (
    ToolName.LIST_PULL_REQUESTS,
    ToolName.SEARCH,
    ToolName.PULL_REQUEST,
    ToolName.TAKEN_BACK,
)
TEST_PATHS = ("tests/", "test_*.py", "*_test.py")
_MAX_PULLS = 6
# with the list and a search for each topic, these are as many calls as are allowed in a round
_MAX_FILE_SEARCHES = 2
# a title or headline weighs more than the name of a file, and that more than a mention
_HEADLINE_WEIGHT, _FILE_WEIGHT, _MENTION_WEIGHT = 3.0, 2.0, 1.0
# relative to the best score; a pull request with less is about something else
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
    """A call of a tool with its result."""

    name: str
    arguments: Mapping[str, Any]
    text: str
    is_error: bool


def plan_first_calls(question: ParsedQuestion) -> Sequence[ToolQuery]:
    """Return the calls of the first round."""
    if question.is_about_single:
        return _build_pull_queries(question.numbers)
    if not question.days:
        return _plan_by_kind(question)
    return [(name, {**arguments, "days": question.days}) for name, arguments in _plan_by_kind(question)]


def _plan_by_kind(question: ParsedQuestion) -> Sequence[ToolQuery]:
    """Return the first calls for a kind of question, without days."""
    if question.kind in (QuestionKind.BREAKS, QuestionKind.TOPIC):
        searches = [_build_search(topic) for topic in question.topics]
        return [
            (LIST_TOOL, {}),
            *searches,
            *(_build_file_search(topic) for topic in question.topics[:_MAX_FILE_SEARCHES]),
        ]
    if question.file_group:
        return [(LIST_TOOL, {}), (LIST_TOOL, {"paths": list(question.file_group.paths)})]
    return _FIRST_QUERIES.get(question.kind, ())


def plan_next_calls(question: ParsedQuestion, record: str, tool_uses: Sequence[ToolUse]) -> Sequence[ToolQuery]:
    """Return the calls of the second round, which read pull requests."""
    match question.kind:
        case QuestionKind.TOPIC:
            return _build_pull_queries(match_topics(question, record, tool_uses).best)
        case QuestionKind.BREAKS:
            matches = match_topics(question, record, tool_uses)
            return _build_pull_queries(
                [
                    *list_actionable(question, record, tool_uses),
                    *matches.strong,
                    *matches.by_path,
                    *matches.in_area,
                ]
            )
        case QuestionKind.RISKIEST:
            return _build_pull_queries(list_riskiest(question, tool_uses)[:3])
        case QuestionKind.FLAGS:
            return _build_pull_queries(question.numbers)
        case QuestionKind.FILE_GROUP:
            return _build_pull_queries(list_file_matches(tool_uses))
    return ()


def list_file_matches(tool_uses: Sequence[ToolUse]) -> tuple[int, ...]:
    """Return the pull requests that change a file of the group in question."""
    return tuple(
        number for each in tool_uses if each.arguments.get("paths") for number in parse_pull_requests(each.text)
    )


def _build_search(topic: Topic) -> ToolQuery:
    """Return the search for a topic in texts."""
    return SEARCH_TOOL, {"any_of": list(topic.words), "where": "text"}


def _build_file_search(topic: Topic) -> ToolQuery:
    """Return the search for a topic in paths."""
    return LIST_TOOL, {"paths": [word if "/" in word else f"*{word}*" for word in topic.words]}


def _build_pull_queries(numbers: Iterable[int]) -> list[ToolQuery]:
    """Return the calls that read pull requests, at most six."""
    return [(PULL_REQUEST_TOOL, {"number": number}) for number in list(dict.fromkeys(numbers))[:_MAX_PULLS]]


@dataclass(frozen=True, slots=True)
class TopicMatches:
    """Pull requests that match topics, best first: by name (``strong``), by path, and by a mention.

    ``matched_topics`` are those of the best matches, ``unmatched_topics`` those without any. ``in_area`` are
    further pull requests whose area has a topic in its name. It ``is_weak`` if several words occur only apart from
    each other.
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
        """The pull requests about the topics. Paths count if nothing else matches."""
        return () if self.is_weak else self.strong or self.by_path


def match_topics(question: ParsedQuestion, record: str, tool_uses: Sequence[ToolUse]) -> TopicMatches:
    """Match pull requests with the topics by the results of searches.

    A rare word weighs more than a common one.
    """
    pulls = collect_pull_requests(record, tool_uses)
    weights = [_weigh_topic(topic, pulls, tool_uses) for topic in question.topics]
    points = {number: sum(each.get(number, 0.0) / len(each) for each in weights if each) for number in pulls}
    least = _MIN_RELATIVE_SCORE * max(points.values(), default=0.0)
    ranked = [number for number in sorted(pulls, key=lambda number: -points[number]) if points[number]]
    ranked = [number for number in ranked if not question.numbers or number in question.numbers]
    close = [number for number in ranked if points[number] >= least or all(number in each for each in weights)]
    matches = _group_matches(question.topics, weights, ranked, close)
    unmatched = tuple(topic for topic, each in zip(question.topics, weights, strict=True) if not each)
    asked_about = [number for number in pulls if not question.numbers or number in question.numbers]
    in_area = (
        number for number in asked_about if any(_is_in_area(pulls[number], topic) for topic in question.topics)
    )
    beside = tuple(
        number for number in in_area if number not in (*matches.best, *matches.by_path, *matches.mentioning)
    )
    return replace(matches, unmatched_topics=unmatched, in_area=beside, is_weak=_is_weak(question.topics, weights))


def _is_weak(topics: Sequence[Topic], weights: Sequence[Mapping[int, float]]) -> bool:
    """Return whether no pull request has all of several topics, or a name among them in its title or headline."""
    if len(topics) < 2 or set.intersection(*(set(each) for each in weights)):
        return False
    names = (each for topic, each in zip(topics, weights, strict=True) if topic.is_name)
    return any(weights) and not any(weight == _HEADLINE_WEIGHT for each in names for weight in each.values())


def _group_matches(
    topics: Sequence[Topic], weights: Sequence[Mapping[int, float]], ranked: Sequence[int], close: Sequence[int]
) -> TopicMatches:
    """Group the ranked pull requests by their best match."""
    # a pull request that only mentions one word of several is about something else
    passing = close if len(topics) > 1 else ranked
    top = {number: max(each.get(number, 0.0) for each in weights) for number in ranked}
    strong = tuple(number for number in close if top[number] == _HEADLINE_WEIGHT)
    by_path = tuple(number for number in passing if top[number] == _FILE_WEIGHT)
    mentioned = tuple(number for number in passing if top[number] == _MENTION_WEIGHT)
    best = strong or by_path or mentioned
    of_best = (topic for topic, each in zip(topics, weights, strict=True) if not each.keys().isdisjoint(best))
    return TopicMatches(strong, by_path, mentioned, tuple(of_best))


def collect_pull_requests(record: str, tool_uses: Sequence[ToolUse]) -> dict[int, PullRequestFacts]:
    """Return all pull requests in the results, each in its most complete form."""
    list_texts = [each.text for each in tool_uses if each.name == LIST_TOOL and not each.is_error]
    pull_texts = [each.text for each in tool_uses if each.name == PULL_REQUEST_TOOL and not each.is_error]
    pulls: dict[int, PullRequestFacts] = {}
    for text in (*list_texts, record, *pull_texts):
        pulls |= {
            number: pull
            for number, pull in parse_pull_requests(text).items()
            if pull.is_complete or number not in pulls
        }
    return pulls


def _weigh_topic(
    topic: Topic, pulls: Mapping[int, PullRequestFacts], tool_uses: Sequence[ToolUse]
) -> Mapping[int, float]:
    """Return the weight of a topic by pull request."""
    weights = {number: _HEADLINE_WEIGHT for number, pull in pulls.items() if _has_exact_name(pull, topic)}
    for each in tool_uses:
        if _is_same_call(each, _build_search(topic)):
            for hit in parse_hits(each.text):
                weights[hit.number] = max(
                    weights.get(hit.number, 0.0), _HEADLINE_WEIGHT if hit.is_strong else _MENTION_WEIGHT
                )
        if _is_same_call(each, _build_file_search(topic)):
            weights |= {
                number: max(weights.get(number, 0.0), _FILE_WEIGHT) for number in parse_pull_requests(each.text)
            }
    return {number: weight for number, weight in weights.items() if _has_topic_word(pulls.get(number), topic)}


def _is_same_call(tool_use: ToolUse, call: ToolQuery) -> bool:
    """Return whether a tool use is that call, for any days."""
    return (tool_use.name, {name: value for name, value in tool_use.arguments.items() if name != "days"}) == call


def _has_exact_name(pull: PullRequestFacts, topic: Topic) -> bool:
    """Return whether the area, the author or the merger has exactly that name."""
    own = {pull.area.casefold(), pull.author.casefold(), pull.merger.casefold()}
    return not own.isdisjoint(topic.words)


def _is_in_area(pull: PullRequestFacts, topic: Topic) -> bool:
    """Return whether the name of the area has the topic in it. The area may hold other things too."""
    return any(get_stem(word) == topic.words[0] for word in pull.area.split())


def _has_topic_word(pull: PullRequestFacts | None, topic: Topic) -> bool:
    """Return whether the text has the topic as a word: a search for "api" finds "rapid" too."""
    if pull is None or not pull.is_complete:
        return True
    text = pull.text.casefold()
    return any(re.search(rf"(?<![^\W_]){re.escape(word.casefold())}", text) for word in topic.words)


def list_actionable(question: ParsedQuestion, record: str, tool_uses: Sequence[ToolUse]) -> tuple[int, ...]:
    """Return the pull requests whose users have to act, those about the topics first."""
    close = match_topics(question, record, tool_uses).strong
    acting = [number for number, pull in collect_pull_requests(record, tool_uses).items() if pull.action]
    ordered = sorted(acting, key=lambda number: close.index(number) if number in close else len(close))
    return tuple(number for number in ordered if not question.numbers or number in question.numbers)


def list_riskiest(question: ParsedQuestion, tool_uses: Sequence[ToolUse]) -> tuple[int, ...]:
    """Return the pull requests with the highest ratings, in their order."""
    text = next((each.text for each in tool_uses if each.name == REVERTS_TOOL), "")
    _, _, rated = text.partition("Rated riskiest by rules:\n")
    numbers = (int(digits) for digits in re.findall(r"^#(\d{1,9}) ", rated, re.M))
    return tuple(number for number in numbers if not question.numbers or number in question.numbers)
