"""Builds an answer from the results of the tools alone: their counts, numbers, names and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bot.demo.rules.answer_facts import AnswerContext
from bot.demo.rules.day_answers import (
    render_day,
    render_largest,
    render_most_active,
    render_trivial,
    render_untested,
)
from bot.demo.rules.findings import PullRequestFacts, parse_merged_days, split_lines
from bot.demo.rules.match_answers import (
    format_topics,
    render_file_group,
    render_flags,
    render_topic,
    render_unmatched,
)
from bot.demo.rules.question_intent import ParsedQuestion, QuestionKind
from bot.demo.rules.tool_choice import ToolUse, collect_pull_requests, list_actionable, list_riskiest, match_topics
from bot.demo.rules.unsupported import NO_DIFFS_SENTENCE
from bot.demo.rules.wording import (
    EXAMPLES,
    MAX_SECTION_WORDS,
    end_sentence,
    format_action,
    format_days,
    format_instant,
    format_labelled,
    format_numbers,
    format_section,
    format_size,
    truncate_sentences,
)
from bot.domain.text.strings import format_count

# words about one pull request of several
_MAX_WORDS = 22
_MAX_FILES = 8
_UNCLEAR_SENTENCE = f"I don't understand what to look for. Try, for example, {EXAMPLES}."


def render_answer(question: ParsedQuestion, record: str, tool_uses: Sequence[ToolUse]) -> str:
    """Render the answer in Markdown."""
    if question.reason:
        return (
            question.reason
            if question.kind is QuestionKind.UNRESOLVED
            else f"{question.reason} Ask, for example, {EXAMPLES}."
        )
    context = AnswerContext(question, record, tuple(tool_uses))
    has_results = any(not each.is_error for each in tool_uses)
    if context.days_caveat and not has_results:
        return context.days_caveat
    if context.list_texts and not context.listed_pull_requests and question.kind is not QuestionKind.TRIVIAL:
        return f"There are no pull requests to answer this from ({context.total_phrase})."
    paragraphs = _RENDERERS[question.kind](context) if has_results else ()
    parts = [context.days_caveat, *paragraphs, *([] if question.days else context.failures)]
    return "\n\n".join(filter(None, parts)) or _UNCLEAR_SENTENCE


# single pull requests


def _render_about(context: AnswerContext) -> Iterable[str]:
    """Yield what changed in each pull request, and why."""
    for pull in context.pull_requests.values():
        yield f"**#{pull.number}: {end_sentence(pull.headline or pull.title)}**"
        yield format_section(pull, "What changed and why", MAX_SECTION_WORDS)
        yield format_section(pull, "Technical impact", MAX_SECTION_WORDS)
        yield format_action(pull)
        yield f"By {pull.author}, merged by {pull.merger}: {format_size(pull)}, {pull.band} risk."


def _render_risk(context: AnswerContext) -> Iterable[str]:
    """Yield the rating of each pull request with its reasons."""
    for pull in context.pull_requests.values():
        yield f"**#{pull.number} is rated {pull.band} risk**: {pull.reasons or 'no risk rule matched'}."
        yield format_labelled("What its summary warns of", pull.sections.get("Potential risks", ""))
        yield format_action(pull) or "Its summary names nothing that you have to do."


def _render_people(context: AnswerContext) -> Iterable[str]:
    """Yield the author and the merger of each pull request."""
    for pull in context.pull_requests.values():
        merged = f"**{pull.merger}** merged it on {format_instant(pull.merge_time)}"
        yield f"#{pull.number} ({pull.title}) is by **{pull.author}**; {merged}."


def _render_merge_time(context: AnswerContext) -> Iterable[str]:
    """Yield when each pull request was merged."""
    for pull in context.pull_requests.values():
        yield f"#{pull.number} ({pull.title}) was merged on {format_instant(pull.merge_time)} by {pull.merger}."


def _render_code(context: AnswerContext) -> Iterable[str]:
    """Yield the files, after the notice that there are no diffs."""
    yield f"{NO_DIFFS_SENTENCE} Follow the link of the number to see it on GitHub."
    yield from _render_files(context)


def _render_files(context: AnswerContext) -> Iterable[str]:
    """Yield the files of each pull request."""
    for pull in context.pull_requests.values():
        paths = ", ".join(f"`{path}`" for path in pull.files[:_MAX_FILES])
        more = f" and {len(pull.files) - _MAX_FILES} more" if len(pull.files) > _MAX_FILES else ""
        yield f"#{pull.number} changes {format_size(pull)}: {paths}{more}."


# reverts and risk


def _render_reverts(context: AnswerContext) -> Iterable[str]:
    """Yield the reverts that the tool found, or that there are none."""
    before, _, _ = context.revert_text.partition("Rated riskiest by rules:")
    all_lines = split_lines(before)[1:]
    lines = [
        line for line in all_lines if not context.question.numbers or _has_number(line, context.question.numbers)
    ]
    merged = parse_merged_days([context.revert_text])
    if lines and any(line.startswith("#") for line in lines):
        yield "\n".join(
            f"- {truncate_sentences(line, MAX_SECTION_WORDS)}" for line in lines if line.startswith("#")
        )
    elif merged.days:
        yield (
            f"Nothing that was merged on {format_days(merged.days)} has been reverted, as far "
            "as the tools can see."
        )


def _has_number(line: str, numbers: Iterable[int]) -> bool:
    """Return whether a line names one of the pull requests."""
    return any(f"#{number} " in f"{line} " for number in numbers)


def _render_riskiest(context: AnswerContext) -> Iterable[str]:
    """Yield the pull requests with the highest ratings."""
    numbers = list_riskiest(context.question, context.tool_uses)
    pulls = [context.pull_requests[number] for number in numbers if number in context.pull_requests]
    if not pulls:
        yield f"None of the {context.total_phrase} is rated risky."
        return
    yield (
        f"**Most likely to cause trouble: {format_numbers(pull.number for pull in pulls)}**, of "
        f"the {context.total_phrase}:"
    )
    yield "\n".join(f"- {_format_rating(pull)}" for pull in pulls)


def _format_rating(pull: PullRequestFacts) -> str:
    """Format a pull request with its rating and the risks in its summary."""
    rating = f"{pull.band.capitalize()} risk: {pull.reasons}."
    risks = format_section(pull, "Potential risks", _MAX_WORDS)
    return f"#{pull.number} {end_sentence(pull.headline or pull.title)} {rating} {risks}".rstrip()


# action for users


def _render_breaking(context: AnswerContext) -> Iterable[str]:
    """Yield the pull requests whose users have to act."""
    numbers = list_actionable(context.question, context.record, context.tool_uses)
    acting = [
        context.pull_requests[number]
        for number in numbers
        if number in context.pull_requests and context.pull_requests[number].action
    ]
    # a thread about a single pull request has not read the others, so the number among all is unknown
    is_all = all(pull.is_complete for pull in collect_pull_requests(context.record, context.tool_uses).values())
    among = (
        context.total_phrase
        if is_all
        else format_count(len(context.pull_requests), "pull request") + " that I read"
    )
    if not acting:
        yield f"None of the {among} requires changes on your side, as far as the summaries tell."
        return
    yield f"**{len(numbers)} of the {among} may require changes on your side:**"
    yield "\n".join(f"- #{pull.number} {end_sentence(pull.headline)} **To do:** {pull.action}" for pull in acting)
    yield from _render_on_topic(context, numbers)


def _render_on_topic(context: AnswerContext, numbers: Sequence[int]) -> Iterable[str]:
    """Yield which of these pull requests match the topics, and which others do."""
    matches = match_topics(context.question, context.record, context.tool_uses)
    close, topics = () if matches.is_weak else matches.strong, format_topics(matches.matched_topics, "and")
    acting, others = [n for n in close if n in numbers], [n for n in close if n not in numbers]
    yield f"Those about {topics} come first: {format_numbers(acting)}." if acting else ""
    yield f"Also about {topics}, but requiring nothing: {format_numbers(others)}." if others else ""
    yield from render_unmatched(context, matches)


_RENDERERS: Mapping[QuestionKind, Callable[[AnswerContext], Iterable[str]]] = {
    QuestionKind.ABOUT: _render_about,
    QuestionKind.RISK_OF: _render_risk,
    QuestionKind.WHO_OF: _render_people,
    QuestionKind.WHEN_OF: _render_merge_time,
    QuestionKind.FILES_OF: _render_files,
    QuestionKind.CODE_OF: _render_code,
    QuestionKind.REVERTS: _render_reverts,
    QuestionKind.MERGERS: lambda context: render_most_active(context, lambda pull: pull.merger, "merged"),
    QuestionKind.AUTHORS: lambda context: render_most_active(context, lambda pull: pull.author, "wrote"),
    QuestionKind.UNTESTED: render_untested,
    QuestionKind.BREAKS: _render_breaking,
    QuestionKind.RISKIEST: _render_riskiest,
    QuestionKind.FLAGS: render_flags,
    QuestionKind.FILE_GROUP: render_file_group,
    QuestionKind.TOPIC: render_topic,
    QuestionKind.DAY: render_day,
    QuestionKind.LARGEST: render_largest,
    QuestionKind.TRIVIAL: render_trivial,
}
