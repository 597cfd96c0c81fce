"""Puts an answer together from what the tools said: their counts, numbers, names and sentences, nothing else."""

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

# words of one pull request, where there are several
_MAX_WORDS = 22
_MAX_FILES = 8
_UNCLEAR_SENTENCE = f"I can't tell from this question what to look for: ask, for example, {EXAMPLES}."


def render_answer(asked: ParsedQuestion, record: str, used: Sequence[ToolUse]) -> str:
    """The answer, in Markdown."""
    if asked.reason:
        return (
            asked.reason
            if asked.kind is QuestionKind.UNRESOLVED
            else f"{asked.reason} Ask, for example, {EXAMPLES}."
        )
    known = AnswerContext(asked, record, tuple(used))
    has_results = any(not each.is_error for each in used)
    if known.days_caveat and not has_results:
        return known.days_caveat
    if known.list_texts and not known.listed_pull_requests and asked.kind is not QuestionKind.TRIVIAL:
        return f"There is nothing to tell: of what was asked there are no pull requests ({known.total_phrase})."
    found = _RENDERERS[asked.kind](known) if has_results else ()
    parts = [known.days_caveat, *found, *([] if asked.days else known.failures)]
    return "\n\n".join(filter(None, parts)) or _UNCLEAR_SENTENCE


# single ones


def _render_about(known: AnswerContext) -> Iterable[str]:
    for told in known.pull_requests.values():
        yield f"**#{told.number}: {end_sentence(told.headline or told.title)}**"
        yield format_section(told, "What changed and why", MAX_SECTION_WORDS)
        yield format_section(told, "Technical impact", MAX_SECTION_WORDS)
        yield format_action(told)
        yield f"By {told.author}, merged by {told.merger}: {format_size(told)}, {told.band} risk."


def _render_risk(known: AnswerContext) -> Iterable[str]:
    for told in known.pull_requests.values():
        yield f"**#{told.number} is rated {told.band} risk**: {told.reasons or 'no risk rule matched'}."
        yield format_labelled("What its summary warns of", told.sections.get("Potential risks", ""))
        yield format_action(told) or "Its summary names nothing that you have to do."


def _render_people(known: AnswerContext) -> Iterable[str]:
    for told in known.pull_requests.values():
        merged = f"**{told.merger}** merged it on {format_instant(told.merge_time)}"
        yield f"#{told.number} ({told.title}) is by **{told.author}**; {merged}."


def _render_merge_time(known: AnswerContext) -> Iterable[str]:
    for told in known.pull_requests.values():
        yield f"#{told.number} ({told.title}) was merged on {format_instant(told.merge_time)} by {told.merger}."


def _render_code(known: AnswerContext) -> Iterable[str]:
    yield f"{NO_DIFFS_SENTENCE} GitHub has it: follow the link of the number."
    yield from _render_files(known)


def _render_files(known: AnswerContext) -> Iterable[str]:
    for told in known.pull_requests.values():
        named = ", ".join(f"`{path}`" for path in told.files[:_MAX_FILES])
        more = f" and {len(told.files) - _MAX_FILES} more" if len(told.files) > _MAX_FILES else ""
        yield f"#{told.number} changes {format_size(told)}: {named}{more}."


# what was taken back, and what is risky


def _render_reverts(known: AnswerContext) -> Iterable[str]:
    before, _, _ = known.revert_text.partition("Rated riskiest by rules:")
    said = split_lines(before)[1:]
    lines = [line for line in said if not known.question.numbers or _has_number(line, known.question.numbers)]
    merged = parse_merged_days([known.revert_text])
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
    return any(f"#{number} " in f"{line} " for number in numbers)


def _render_riskiest(known: AnswerContext) -> Iterable[str]:
    numbers = list_riskiest(known.question, known.tool_uses)
    told = [known.pull_requests[number] for number in numbers if number in known.pull_requests]
    if not told:
        yield f"None of the {known.total_phrase} is rated risky."
        return
    yield (
        f"**Most likely to cause trouble: {format_numbers(each.number for each in told)}**, of "
        f"the {known.total_phrase}:"
    )
    yield "\n".join(f"- {_format_rating(each)}" for each in told)


def _format_rating(told: PullRequestFacts) -> str:
    why = f"{told.band.capitalize()} risk: {told.reasons}."
    said = format_section(told, "Potential risks", _MAX_WORDS)
    return f"#{told.number} {end_sentence(told.headline or told.title)} {why} {said}".rstrip()


# what needs action


def _render_breaking(known: AnswerContext) -> Iterable[str]:
    numbers = list_actionable(known.question, known.record, known.tool_uses)
    acting = [
        known.pull_requests[number]
        for number in numbers
        if number in known.pull_requests and known.pull_requests[number].action
    ]
    # a thread about a single one has not read the others: who did not read all can't say how many of all there are
    is_all = all(told.is_complete for told in collect_pull_requests(known.record, known.tool_uses).values())
    among = (
        known.total_phrase if is_all else format_count(len(known.pull_requests), "pull request") + " that I read"
    )
    if not acting:
        yield f"None of the {among} requires changes on your side, as far as the summaries tell."
        return
    yield f"**{len(numbers)} of the {among} may require changes on your side:**"
    yield "\n".join(f"- #{told.number} {end_sentence(told.headline)} **To do:** {told.action}" for told in acting)
    yield from _render_on_topic(known, numbers)


def _render_on_topic(known: AnswerContext, numbers: Sequence[int]) -> Iterable[str]:
    """Which of them are about what was asked, and what is about it without asking anything."""
    found = match_topics(known.question, known.record, known.tool_uses)
    close, topics = () if found.is_weak else found.strong, format_topics(found.matched_topics, "and")
    acting, others = [n for n in close if n in numbers], [n for n in close if n not in numbers]
    yield f"Those that have to do with {topics} come first: {format_numbers(acting)}." if acting else ""
    yield f"Also about {topics}, but requiring nothing: {format_numbers(others)}." if others else ""
    yield from render_unmatched(known, found)


_RENDERERS: Mapping[QuestionKind, Callable[[AnswerContext], Iterable[str]]] = {
    QuestionKind.ABOUT: _render_about,
    QuestionKind.RISK_OF: _render_risk,
    QuestionKind.WHO_OF: _render_people,
    QuestionKind.WHEN_OF: _render_merge_time,
    QuestionKind.FILES_OF: _render_files,
    QuestionKind.CODE_OF: _render_code,
    QuestionKind.REVERTS: _render_reverts,
    QuestionKind.MERGERS: lambda known: render_most_active(known, lambda told: told.merger, "merged"),
    QuestionKind.AUTHORS: lambda known: render_most_active(known, lambda told: told.author, "wrote"),
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
