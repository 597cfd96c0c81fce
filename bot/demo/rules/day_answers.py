"""Answers about all pull requests of some days: people, size, trivial and untested changes, and an overview."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from bot.demo.rules.answer_facts import AnswerContext
from bot.demo.rules.findings import PullRequestFacts, parse_pull_requests
from bot.demo.rules.tool_choice import TEST_PATHS
from bot.demo.rules.wording import end_sentence, format_numbers, format_size

_MAX_LARGEST, _MAX_AREAS = 3, 5


def render_largest(context: AnswerContext) -> Iterable[str]:
    """Yield the largest pull requests."""
    largest = sorted(context.listed_pull_requests, key=lambda pull: -pull.changed_lines)[:_MAX_LARGEST]
    yield f"**The largest of the {context.total_phrase}**, by changed lines:"
    yield "\n".join(
        f"- #{pull.number} ({format_size(pull)}): {end_sentence(pull.headline or pull.title)}" for pull in largest
    )


def render_trivial(context: AnswerContext) -> Iterable[str]:
    """Yield the pull requests that do not change the product's behaviour."""
    verb = "is" if len(context.listed_pull_requests) == 1 else "are"
    yield (
        f"**{len(context.listed_pull_requests)} of the {context.total_phrase} {verb} trivial**: "
        "they do not change what the product does."
    )
    yield "\n".join(
        f"- #{pull.number} {end_sentence(pull.headline or pull.title)}" for pull in context.listed_pull_requests
    )


def render_untested(context: AnswerContext) -> Iterable[str]:
    """Yield the pull requests that change no test file, and those that do."""
    tests = next(each for each in context.tool_uses if each.arguments.get("paths") == list(TEST_PATHS))
    tested = parse_pull_requests(tests.text)
    tested_numbers = [pull.number for pull in context.listed_pull_requests if pull.number in tested]
    without = [pull for pull in context.listed_pull_requests if pull.number not in tested]
    if not without:
        yield f"Every one of the {context.total_phrase} changes test files: {format_numbers(tested_numbers)}."
        return
    verb = "changes" if len(without) == 1 else "change"
    yield f"**{len(without)} of the {context.total_phrase} {verb} no test file:**"
    yield "\n".join(f"- #{pull.number} {end_sentence(pull.headline)}" for pull in without)
    yield f"Test files are changed by {format_numbers(tested_numbers)}." if tested_numbers else ""


def render_most_active(
    context: AnswerContext, person: Callable[[PullRequestFacts], str], verb: str
) -> Iterable[str]:
    """Yield who did the most, and who comes next. ``person`` returns the person of a pull request."""
    counts = Counter(map(person, context.listed_pull_requests))
    first, *others = [(name, count) for name, count in counts.most_common(4)]
    numbers = format_numbers(pull.number for pull in context.listed_pull_requests if person(pull) == first[0])
    yield f"**{first[0]} {verb} the most:** {first[1]} of the {context.total_phrase} ({numbers})."
    yield "Then come " + ", ".join(f"{name} ({count})" for name, count in others) + "." if others else ""


def render_day(context: AnswerContext) -> Iterable[str]:
    """Yield an overview of the days: numbers by area, risk, and action for users."""
    areas = Counter(pull.area for pull in context.listed_pull_requests).most_common()
    listed = ", ".join(f"{area} ({count})" for area, count in areas[:_MAX_AREAS])
    rest = sum(count for _, count in areas[_MAX_AREAS:])
    yield f"**{context.total_phrase}**, by area: {listed}{f', elsewhere ({rest})' if rest else ''}."
    risky = [pull for pull in context.listed_pull_requests if pull.band in ("high", "highest")]
    yield f"Most likely to cause trouble: {format_numbers(pull.number for pull in risky)}." if risky else ""
    acting = [pull.number for pull in parse_pull_requests(context.record).values() if pull.action]
    yield f"May require changes on your side: {format_numbers(acting)}." if acting else ""
