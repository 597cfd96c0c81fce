"""Answers about all of some days: who, how large, which are trivial or have no tests, and the day as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from bot.demo.rules.answer_facts import AnswerContext
from bot.demo.rules.findings import PullRequestFacts, parse_pull_requests
from bot.demo.rules.tool_choice import TEST_PATHS
from bot.demo.rules.wording import end_sentence, format_numbers, format_size

_MAX_LARGEST, _MAX_AREAS = 3, 5


def render_largest(known: AnswerContext) -> Iterable[str]:
    """The largest pull requests."""
    largest = sorted(known.listed_pull_requests, key=lambda told: -told.changed_lines)[:_MAX_LARGEST]
    yield f"**The largest of the {known.total_phrase}**, by changed lines:"
    yield "\n".join(
        f"- #{told.number} ({format_size(told)}): {end_sentence(told.headline or told.title)}" for told in largest
    )


def render_trivial(known: AnswerContext) -> Iterable[str]:
    """Those after which the product does the same as before."""
    verb = "is" if len(known.listed_pull_requests) == 1 else "are"
    yield (
        f"**{len(known.listed_pull_requests)} of the {known.total_phrase} {verb} trivial**: "
        "they do not change what the product does."
    )
    yield "\n".join(
        f"- #{told.number} {end_sentence(told.headline or told.title)}" for told in known.listed_pull_requests
    )


def render_untested(known: AnswerContext) -> Iterable[str]:
    """Those that change no test file, and those that do."""
    tests = next(each for each in known.tool_uses if each.arguments.get("paths") == list(TEST_PATHS))
    tested = parse_pull_requests(tests.text)
    having = [told.number for told in known.listed_pull_requests if told.number in tested]
    without = [told for told in known.listed_pull_requests if told.number not in tested]
    if not without:
        yield f"Every one of the {known.total_phrase} changes test files: {format_numbers(having)}."
        return
    verb = "changes" if len(without) == 1 else "change"
    yield f"**{len(without)} of the {known.total_phrase} {verb} no test file:**"
    yield "\n".join(f"- #{told.number} {end_sentence(told.headline)}" for told in without)
    yield f"Test files are changed by {format_numbers(having)}." if having else ""


def render_most_active(known: AnswerContext, person: Callable[[PullRequestFacts], str], did: str) -> Iterable[str]:
    """Who did the most, and who comes next."""
    counts = Counter(map(person, known.listed_pull_requests))
    first, *others = [(name, count) for name, count in counts.most_common(4)]
    mine = format_numbers(told.number for told in known.listed_pull_requests if person(told) == first[0])
    yield f"**{first[0]} {did} the most:** {first[1]} of the {known.total_phrase} ({mine})."
    yield "Then come " + ", ".join(f"{name} ({count})" for name, count in others) + "." if others else ""


def render_day(known: AnswerContext) -> Iterable[str]:
    """All of the days: how many by area, what is risky and what needs action."""
    areas = Counter(told.area for told in known.listed_pull_requests).most_common()
    named = ", ".join(f"{area} ({count})" for area, count in areas[:_MAX_AREAS])
    rest = sum(count for _, count in areas[_MAX_AREAS:])
    yield f"**{known.total_phrase}**, by area: {named}{f', elsewhere ({rest})' if rest else ''}."
    risky = [told for told in known.listed_pull_requests if told.band in ("high", "highest")]
    yield f"Most likely to cause trouble: {format_numbers(told.number for told in risky)}." if risky else ""
    acting = [told.number for told in parse_pull_requests(known.record).values() if told.action]
    yield f"May require changes on your side: {format_numbers(acting)}." if acting else ""
