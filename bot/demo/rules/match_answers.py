"""Answers about words, files and flags: which pull requests match, and how well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from bot.demo.rules.answer_facts import AnswerContext
from bot.demo.rules.findings import PullRequestFacts
from bot.demo.rules.lexicon import spell_synonym
from bot.demo.rules.tool_choice import TopicMatches, collect_pull_requests, list_file_matches, match_topics
from bot.demo.rules.topics import Topic
from bot.demo.rules.wording import (
    EXAMPLES,
    MAX_SECTION_WORDS,
    end_sentence,
    format_action,
    format_numbers,
    format_section,
    join_words,
)

_FEW_ITEMS, _MAX_ITEMS = 3, 8
# a missing word must not be mistaken for a missing topic
_WORDS_ONLY_SENTENCE = "Rules search for words only: another word may find it."
_FLAG_PATTERN = r"(?<![\w/-])(?:-[a-z]/)?--[a-z][a-z0-9-]+[a-z0-9]\b"
_REPOSITORY_PATTERN = re.compile(r"^[\w.-]+/([\w.-]+), \S+ \(", re.M)
# share of all pull requests; a word that more of them have says nothing
_COMMON_SHARE = 0.6
# sections about the change itself; the others may name unrelated things
_CHANGE_SECTIONS = ("What changed and why", "Technical impact", "Action")


def render_topic(context: AnswerContext) -> Iterable[str]:
    """Yield the pull requests with the words of the question, and where those are.

    If the words say too little, yield that instead.
    """
    matches = match_topics(context.question, context.record, context.tool_uses)
    shown = [context.pull_requests[number] for number in matches.best if number in context.pull_requests]
    if matches.is_weak:
        yield from _render_weak_match(context, matches)
        return
    if not shown:
        yield _render_no_match(context, matches)
        return
    if len(matches.best) > max(_MAX_ITEMS, _COMMON_SHARE * len(context.listed_pull_requests)):
        yield (
            f"{format_topics(matches.matched_topics, 'and')} is in {len(matches.best)} of the "
            f"{context.total_phrase}: ask for another word."
        )
        return
    verb = "matches" if len(matches.best) == 1 else "match"
    topics = format_topics(matches.matched_topics, "and")
    yield f"**{len(matches.best)} of the {context.total_phrase} {verb} {topics}:**"
    yield "\n".join(
        f"- {_format_item(pull, matches.matched_topics, is_short=len(shown) > _FEW_ITEMS)}" for pull in shown
    )
    unread = [number for number in matches.best if number not in context.pull_requests]
    yield f"And {format_numbers(unread)}." if unread else ""
    filed = matches.by_path if matches.strong else ()
    paths = "the path of a file" if len(filed) == 1 else "the paths of files"
    yield f"Only in {paths}: {format_numbers(filed)}." if filed else ""
    yield f"Only mentioned in the summary: {format_numbers(matches.mentioning)}." if matches.mentioning else ""
    yield f"Only in the name of the area: {format_numbers(matches.in_area)}." if matches.in_area else ""
    yield from render_unmatched(context, matches)


def render_unmatched(context: AnswerContext, matches: TopicMatches) -> Iterator[str]:
    """Yield the words that match nothing."""
    if matches.unmatched_topics:
        are = "is" if len(matches.unmatched_topics) == 1 else "are"
        yield (
            f"{format_topics(matches.unmatched_topics, 'and')} {are} in no title, summary or path "
            f"of the {context.total_phrase}."
        )


def _render_weak_match(context: AnswerContext, matches: TopicMatches) -> Iterator[str]:
    """Yield that several words occur only apart, which says nothing about them together."""
    topics = [topic for topic in context.question.topics if topic not in matches.unmatched_topics]
    yield f"None of the {context.total_phrase} matches {format_topics(context.question.topics, 'and')} together."
    yield from render_unmatched(context, matches)
    example = topics[0].name
    yield (
        f"{_WORDS_ONLY_SENTENCE} To see what names one of the words, ask for it alone: “which "
        f"of these touch {example}?”."
    )


def _render_no_match(context: AnswerContext, matches: TopicMatches) -> str:
    """Return that no title or headline has the words, and where else they are."""
    lead = f"{format_topics(context.question.topics, 'or')} is in no"
    if matches.mentioning or matches.in_area:
        mention = (
            f"only mentioned in the summary of {format_numbers(matches.mentioning)}" if matches.mentioning else ""
        )
        area = f"in the name of the area of {format_numbers(matches.in_area)}" if matches.in_area else ""
        places = ", and ".join(filter(None, (mention, area)))
        return f"{lead} title or headline of the {context.total_phrase}; it is {places}."
    return (
        f"{lead} title, summary or path of the {context.total_phrase}. {_WORDS_ONLY_SENTENCE} "
        f"Ask, for example, {EXAMPLES}."
    )


def format_topics(topics: Iterable[Topic], link: str) -> str:
    """Format topics as they were typed, with their synonyms."""
    names = [[topic.name, *map(spell_synonym, topic.words[1:])] for topic in topics]
    return join_words([" or ".join(f"“{name}”" for name in each) for each in names], link)


def _format_item(pull: PullRequestFacts, topics: Sequence[Topic], *, is_short: bool) -> str:
    """Format a pull request of a list."""
    words = [word.casefold() for topic in topics for word in topic.words]
    is_clear = pull.headline and any(word in pull.headline.casefold() for word in words)
    lead = pull.headline if is_clear else f"{pull.title}: {pull.headline}".removesuffix(": ")
    details = (
        "" if is_short else f"{format_section(pull, 'What changed and why', MAX_SECTION_WORDS)} By {pull.author}."
    )
    return " ".join(
        part for part in (f"#{pull.number} {end_sentence(lead)}", details, format_action(pull)) if part
    )


def render_file_group(context: AnswerContext) -> Iterable[str]:
    """Yield the pull requests that change files of a group, and which files."""
    group, numbers = context.question.file_group, list_file_matches(context.tool_uses)
    if group is None:
        return
    if not numbers:
        yield f"None of the {context.total_phrase} changes {group.none_phrase}."
        return
    verb = "changes" if len(numbers) == 1 else "change"
    yield f"**{len(numbers)} of the {context.total_phrase} {verb} {group.some_phrase}:**"
    pulls = collect_pull_requests(context.record, context.tool_uses)
    yield "\n".join(
        f"- #{n} ({_format_paths(group.select_files(pulls[n].files))}): {end_sentence(pulls[n].headline)}"
        for n in numbers
    )


def _format_paths(paths: Sequence[str]) -> str:
    """Format paths, shortened to three."""
    shown = ", ".join(f"`{path}`" for path in paths[:_FEW_ITEMS])
    return f"{shown} and {len(paths) - _FEW_ITEMS} more" if len(paths) > _FEW_ITEMS else shown


def render_flags(context: AnswerContext) -> Iterable[str]:
    """Yield the pull requests whose summaries name flags or environment variables.

    Rules can't tell which of those are new.
    """
    pulls, flags = collect_pull_requests(context.record, context.tool_uses), _compile_flag_pattern(context)
    selected = [
        each for each in pulls.values() if not context.question.numbers or each.number in context.question.numbers
    ]
    changing = {each.number: names for each in selected if (names := _find_flags(_get_change_text(each), flags))}
    passing = [each.number for each in selected if each.number not in changing and flags.search(each.text)]
    lead = "Rules can't tell a new flag or environment variable from an old one."
    if not changing:
        yield f"{lead} The summaries of the {context.total_phrase} say of none that it was changed."
    else:
        among = f"of the {context.total_phrase}" if len(selected) > 1 else "pull request"
        yield f"{lead} **{len(changing)} {among} {'names' if len(changing) == 1 else 'name'} some:**"
        first = sorted(changing, key=lambda number: not flags.search(pulls[number].action))
        lines = (
            f"- #{n} ({', '.join(changing[n])}): {end_sentence(pulls[n].headline)} {format_action(pulls[n])}"
            for n in first
        )
        yield "\n".join(line.rstrip() for line in lines)

    yield f"Only named in passing: {format_numbers(passing)}." if passing else ""
    unread = [each.number for each in selected if not each.is_complete]
    yield f"Not read for this: {len(unread)} of them." if unread else ""


def _get_change_text(pull: PullRequestFacts) -> str:
    """Return the text about the change itself."""
    return "\n".join([pull.title, pull.headline, *(pull.sections.get(name, "") for name in _CHANGE_SECTIONS)])


def _compile_flag_pattern(context: AnswerContext) -> re.Pattern[str]:
    """Compile a pattern for flags and for environment variables that begin with the name of the repository."""
    names = {match[1].upper() for text in context.list_texts if (match := _REPOSITORY_PATTERN.search(text))}
    variables = [rf"\b{re.escape(re.sub(r'[.-]', '_', name))}_[A-Z0-9_]+\b" for name in sorted(names)]
    return re.compile("|".join([_FLAG_PATTERN, *variables]))


def _find_flags(text: str, flags: re.Pattern[str]) -> list[str]:
    """Return the flags of a text, each once, as code, without those that are there with their short form."""
    names = list(dict.fromkeys(flags.findall(text)))
    return [f"`{flag}`" for flag in names if not any(other.endswith(f"/{flag}") for other in names)][:_MAX_ITEMS]
