"""Answers about words, files and flags: which pull requests have them, and what a match is worth."""

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
# nobody shall take the lack of a word for the lack of what it means
_WORDS_ONLY_SENTENCE = "Rules look for words alone: another word may find it."
_FLAG_PATTERN = r"(?<![\w/-])(?:-[a-z]/)?--[a-z][a-z0-9-]+[a-z0-9]\b"
_REPOSITORY_PATTERN = re.compile(r"^[\w.-]+/([\w.-]+), \S+ \(", re.M)
# of all pull requests: what more of them have says nothing
_COMMON_SHARE = 0.6
# parts that say what a change does; the others may name what it has nothing to do with
_CHANGE_SECTIONS = ("What changed and why", "Technical impact", "Action")


def render_topic(known: AnswerContext) -> Iterable[str]:
    """Those that have the words of the question, and where; or that the words say too little."""
    found = match_topics(known.question, known.record, known.tool_uses)
    shown = [known.pull_requests[number] for number in found.best if number in known.pull_requests]
    if found.is_weak:
        yield from _render_weak_match(known, found)
        return
    if not shown:
        yield _render_no_match(known, found)
        return
    if len(found.best) > max(_MAX_ITEMS, _COMMON_SHARE * len(known.listed_pull_requests)):
        yield (
            f"{format_topics(found.matched_topics, 'and')} is in {len(found.best)} of the "
            f"{known.total_phrase}: ask for another word."
        )
        return
    match = "matches" if len(found.best) == 1 else "match"
    yield (
        f"**{len(found.best)} of the {known.total_phrase} {match} {format_topics(found.matched_topics, 'and')}:**"
    )
    yield "\n".join(
        f"- {_format_item(told, found.matched_topics, is_short=len(shown) > _FEW_ITEMS)}" for told in shown
    )
    unread = [number for number in found.best if number not in known.pull_requests]
    yield f"And {format_numbers(unread)}." if unread else ""
    filed = found.by_path if found.strong else ()
    paths = "the path of a file" if len(filed) == 1 else "the paths of files"
    yield f"Only in {paths}: {format_numbers(filed)}." if filed else ""
    yield f"Only mentioned in the summary: {format_numbers(found.mentioning)}." if found.mentioning else ""
    yield f"Only in the name of the area: {format_numbers(found.in_area)}." if found.in_area else ""
    yield from render_unmatched(known, found)


def render_unmatched(known: AnswerContext, found: TopicMatches) -> Iterator[str]:
    """The words that nothing has."""
    if found.unmatched_topics:
        are = "is" if len(found.unmatched_topics) == 1 else "are"
        yield (
            f"{format_topics(found.unmatched_topics, 'and')} {are} in no title, summary or path "
            f"of the {known.total_phrase}."
        )


def _render_weak_match(known: AnswerContext, found: TopicMatches) -> Iterator[str]:
    """Several words that only stand apart say nothing of what they mean together."""
    topics = [topic for topic in known.question.topics if topic not in found.unmatched_topics]
    yield f"None of the {known.total_phrase} matches {format_topics(known.question.topics, 'and')} together."
    yield from render_unmatched(known, found)
    example = topics[0].name
    yield (
        f"{_WORDS_ONLY_SENTENCE} To see what names one of the words, ask for it alone: “which "
        f"of these touch {example}?”."
    )


def _render_no_match(known: AnswerContext, found: TopicMatches) -> str:
    lead = f"{format_topics(known.question.topics, 'or')} is in no"
    if found.mentioning or found.in_area:
        said = f"only mentioned in the summary of {format_numbers(found.mentioning)}" if found.mentioning else ""
        area = f"in the name of the area of {format_numbers(found.in_area)}" if found.in_area else ""
        places = ", and ".join(filter(None, (said, area)))
        return f"{lead} title or headline of the {known.total_phrase}; it is {places}."
    return (
        f"{lead} title, summary or path of the {known.total_phrase}. {_WORDS_ONLY_SENTENCE} "
        f"Ask, for example, {EXAMPLES}."
    )


def format_topics(topics: Iterable[Topic], link: str) -> str:
    """As they were typed, with the other names by which they were looked for."""
    names = [[topic.name, *map(spell_synonym, topic.words[1:])] for topic in topics]
    return join_words([" or ".join(f"“{name}”" for name in each) for each in names], link)


def _format_item(told: PullRequestFacts, topics: Sequence[Topic], *, is_short: bool) -> str:
    words = [word.casefold() for topic in topics for word in topic.words]
    is_clear = told.headline and any(word in told.headline.casefold() for word in words)
    lead = told.headline if is_clear else f"{told.title}: {told.headline}".removesuffix(": ")
    said = (
        "" if is_short else f"{format_section(told, 'What changed and why', MAX_SECTION_WORDS)} By {told.author}."
    )
    return " ".join(part for part in (f"#{told.number} {end_sentence(lead)}", said, format_action(told)) if part)


def render_file_group(known: AnswerContext) -> Iterable[str]:
    """Those that change some files, and which of them."""
    place, numbers = known.question.file_group, list_file_matches(known.tool_uses)
    if place is None:
        return
    if not numbers:
        yield f"None of the {known.total_phrase} changes {place.none_phrase}."
        return
    verb = "changes" if len(numbers) == 1 else "change"
    yield f"**{len(numbers)} of the {known.total_phrase} {verb} {place.some_phrase}:**"
    told = collect_pull_requests(known.record, known.tool_uses)
    yield "\n".join(
        f"- #{n} ({_format_paths(place.select_files(told[n].files))}): {end_sentence(told[n].headline)}"
        for n in numbers
    )


def _format_paths(paths: Sequence[str]) -> str:
    shown = ", ".join(f"`{path}`" for path in paths[:_FEW_ITEMS])
    return f"{shown} and {len(paths) - _FEW_ITEMS} more" if len(paths) > _FEW_ITEMS else shown


def render_flags(known: AnswerContext) -> Iterable[str]:
    """Those whose summaries name flags or environment variables; which of them are new, no rule can tell."""
    told, flags = collect_pull_requests(known.record, known.tool_uses), _compile_flag_pattern(known)
    wanted = [
        each for each in told.values() if not known.question.numbers or each.number in known.question.numbers
    ]
    own = {each.number: names for each in wanted if (names := _find_flags(_get_change_text(each), flags))}
    passing = [each.number for each in wanted if each.number not in own and flags.search(each.text)]
    lead = "Rules can't tell a new flag or environment variable from an old one."
    if not own:
        yield f"{lead} The summaries of the {known.total_phrase} say of none that it was changed."
    else:
        among = f"of the {known.total_phrase}" if len(wanted) > 1 else "pull request"
        yield f"{lead} **{len(own)} {among} {'names' if len(own) == 1 else 'name'} some:**"
        first = sorted(own, key=lambda number: not flags.search(told[number].action))
        yield "\n".join(
            f"- #{n} ({', '.join(own[n])}): {end_sentence(told[n].headline)} {format_action(told[n])}".rstrip()
            for n in first
        )
    yield f"Only named in passing: {format_numbers(passing)}." if passing else ""
    unread = [each.number for each in wanted if not each.is_complete]
    yield f"Not read for this: {len(unread)} of them." if unread else ""


def _get_change_text(told: PullRequestFacts) -> str:
    return "\n".join([told.title, told.headline, *(told.sections.get(name, "") for name in _CHANGE_SECTIONS)])


def _compile_flag_pattern(known: AnswerContext) -> re.Pattern[str]:
    """Flags, and environment variables that begin with the name of the repository, as they do by custom."""
    names = {found[1].upper() for text in known.list_texts if (found := _REPOSITORY_PATTERN.search(text))}
    variables = [rf"\b{re.escape(re.sub(r'[.-]', '_', name))}_[A-Z0-9_]+\b" for name in sorted(names)]
    return re.compile("|".join([_FLAG_PATTERN, *variables]))


def _find_flags(text: str, flags: re.Pattern[str]) -> list[str]:
    """Each once, as code, less those that are there with their short form."""
    found = list(dict.fromkeys(flags.findall(text)))
    return [f"`{flag}`" for flag in found if not any(other.endswith(f"/{flag}") for other in found)][:_MAX_ITEMS]
