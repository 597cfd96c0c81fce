"""The intent of a question, as far as rules can tell from its words and the conversation before it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from bot.demo.rules import lexicon
from bot.demo.rules.back_references import (
    find_answer_numbers,
    find_choices,
    find_listed_numbers,
    find_numbers,
    find_spoken_of,
    has_demonstrative,
    may_point,
    resolve_pointer,
)
from bot.demo.rules.days import parse_days
from bot.demo.rules.places import FileGroup, find_file_group
from bot.demo.rules.topics import Topic, extract_topics, extract_words
from bot.demo.rules.unsupported import NO_DIFFS_SENTENCE, find_fallback_refusal, find_refusal, is_code_request

# characters of a question that are read; no question is longer
_MAX_QUESTION_LENGTH = 2_000
# pull requests that one answer can explain
_MAX_PULLS = 6
_WHICH_ONE_SENTENCE = "Which one? Ask by its number, for example “why is #{0} risky?”."
_NO_SUBJECT_SENTENCE = "I don't know what you mean: name a pull request by its number, such as #35617."


class QuestionKind(Enum):
    """Kinds of questions."""

    ABOUT = auto()
    RISK_OF = auto()
    WHO_OF = auto()
    WHEN_OF = auto()
    FILES_OF = auto()
    CODE_OF = auto()
    REVERTS = auto()
    MERGERS = auto()
    AUTHORS = auto()
    UNTESTED = auto()
    LARGEST = auto()
    TRIVIAL = auto()
    BREAKS = auto()
    RISKIEST = auto()
    FLAGS = auto()
    FILE_GROUP = auto()
    TOPIC = auto()
    DAY = auto()
    DECLINED = auto()
    UNRESOLVED = auto()
    UNCLEAR = auto()


_SINGLE_KINDS = (
    QuestionKind.ABOUT,
    QuestionKind.RISK_OF,
    QuestionKind.WHO_OF,
    QuestionKind.WHEN_OF,
    QuestionKind.FILES_OF,
    QuestionKind.CODE_OF,
)
# kinds that say little about the intent
_VAGUE_KINDS = (
    QuestionKind.ABOUT,
    QuestionKind.WHEN_OF,
    QuestionKind.TOPIC,
    QuestionKind.DAY,
    QuestionKind.UNCLEAR,
)
# in this order: "is it safe to upgrade?" asks what breaks, "can I safely ignore some?" what is trivial
_KIND_STEMS = (
    (QuestionKind.REVERTS, lexicon.REVERT),
    (QuestionKind.RISKIEST, lexicon.RISK),
    (QuestionKind.TRIVIAL, lexicon.TRIVIAL),
    (QuestionKind.BREAKS, lexicon.BREAKS),
    (QuestionKind.RISKIEST, lexicon.SAFE),
    (QuestionKind.LARGEST, lexicon.LARGE),
)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question.

    ``numbers`` are pull requests that it is about, or among which it asks; none means all. ``days`` are those that
    it names, in the format of the tools. ``file_group`` are the files that it is about. ``reason`` is why it is
    declined.
    """

    kind: QuestionKind
    numbers: tuple[int, ...] = ()
    topics: tuple[Topic, ...] = ()
    days: str = ""
    today: dt.date | None = None
    file_group: FileGroup | None = None
    reason: str = ""

    @property
    def is_about_single(self) -> bool:
        """Whether it asks something about each of its pull requests."""
        return self.kind in _SINGLE_KINDS


def parse_question(
    questions: Sequence[str], answers: Sequence[str], subject: tuple[int, ...], today: dt.date | None = None
) -> ParsedQuestion:
    """Parse the last of the questions. Questions and answers are oldest first.

    ``subject`` are the pull requests that the thread is about, ``today`` is the reader's date.
    """
    question = questions[-1][:_MAX_QUESTION_LENGTH] if questions else ""
    if reason := find_refusal(question):
        return ParsedQuestion(QuestionKind.DECLINED, reason=reason)
    pointed = resolve_pointer(question, answers, subject) if may_point(question) else ()
    if isinstance(pointed, str):
        return ParsedQuestion(QuestionKind.UNRESOLVED, reason=pointed)
    parsed = _interpret_question(question, questions[:-1], answers, pointed, subject)
    parsed = parsed if pointed else _add_days(parsed, question, today)
    refusal = find_fallback_refusal(question) if parsed.kind in _VAGUE_KINDS else ""
    return ParsedQuestion(QuestionKind.DECLINED, reason=refusal) if refusal else parsed


def _interpret_question(
    question: str,
    before: Sequence[str],
    answers: Sequence[str],
    pointed: tuple[int, ...],
    subject: tuple[int, ...],
) -> ParsedQuestion:
    """Parse a question without its days."""
    named, words, topics = pointed or find_numbers(question), extract_words(question), extract_topics(question)
    if not named and (follow_up := _parse_follow_up(words, before, answers, subject)):
        return follow_up
    among = () if named else _find_candidates(question, words, answers, subject)
    numbers = named or among or _resolve_subject(question, words, topics, (before, answers, subject))
    if len(numbers) > 1 and not (named or among or subject):
        return ParsedQuestion(QuestionKind.UNRESOLVED, reason=_WHICH_ONE_SENTENCE.format(numbers[0]))
    if not numbers and (group := find_file_group(question)):
        return ParsedQuestion(QuestionKind.FILE_GROUP, file_group=group)
    kind = _classify_question(question, words, topics, are_ones=bool(numbers) and not among)
    if kind is QuestionKind.DECLINED:
        return ParsedQuestion(kind, reason=NO_DIFFS_SENTENCE)
    if named and before and lexicon.REPEAT_WORDS.issuperset(set(words) - lexicon.POINTERS):
        kind = _get_previous_kind(before, answers, kind)
    return ParsedQuestion(kind, numbers, topics)


def _find_candidates(
    question: str, words: tuple[str, ...], answers: Sequence[str], subject: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the pull requests among which a question asks, such as "which of them have no tests?"."""
    answer = answers[-1] if answers else ""
    if lexicon.PLURAL_PRONOUNS.intersection(words) or (
        words[:1] == ("and",) and lexicon.WITHOUT.intersection(words)
    ):
        return find_answer_numbers(answer) or subject
    return find_choices(question, answer)


def _parse_follow_up(
    words: tuple[str, ...], before: Sequence[str], answers: Sequence[str], subject: tuple[int, ...]
) -> ParsedQuestion | None:
    """Parse "why?" and "tell me more", which are about the last answer only; None for another question."""
    is_why = set(words) <= {"why", "but", "so", "and", "really"} and "why" in words
    if not is_why and not ("more" in words and lexicon.MORE_WORDS.issuperset(words)):
        return None
    last = find_listed_numbers(answers[-1]) if answers else ()
    was_risky = bool(before) and parse_question(before, answers[:-1], subject).kind in (
        QuestionKind.RISKIEST,
        QuestionKind.RISK_OF,
    )
    numbers = last or subject
    if not numbers:
        return ParsedQuestion(QuestionKind.UNRESOLVED, reason=_NO_SUBJECT_SENTENCE)
    if len(numbers) > 1 and not (is_why and was_risky and len(numbers) <= _MAX_PULLS):
        return ParsedQuestion(QuestionKind.UNRESOLVED, reason=_WHICH_ONE_SENTENCE.format(numbers[0]))
    return ParsedQuestion(QuestionKind.RISK_OF if is_why else QuestionKind.ABOUT, numbers)


def _add_days(parsed: ParsedQuestion, question: str, today: dt.date | None) -> ParsedQuestion:
    """Return the question with the days that it names. A question about single pull requests has none."""
    if (
        today is None
        or parsed.reason
        or not _may_name_days(parsed, question)
        or not (days := parse_days(question, today))
    ):
        return replace(parsed, today=today)
    kind = QuestionKind.DAY if parsed.kind in (QuestionKind.UNCLEAR, QuestionKind.ABOUT) else parsed.kind
    return replace(parsed, kind=kind, numbers=(), days=days, today=today)


def _may_name_days(parsed: ParsedQuestion, question: str) -> bool:
    """Return whether days in the question select pull requests."""
    if find_numbers(question):
        return False
    # a question that names nothing else is about the subject of the thread
    speaks_of_one = bool(lexicon.SINGULAR_PRONOUNS.intersection(extract_words(question))) or has_demonstrative(
        question
    )
    return not parsed.is_about_single or (parsed.kind is QuestionKind.ABOUT and not speaks_of_one)


def _get_previous_kind(questions: Sequence[str], answers: Sequence[str], usual: QuestionKind) -> QuestionKind:
    """Return the kind of the previous question: "and #7?" asks the same about another pull request."""
    before = parse_question(questions, answers, (1,))
    if before.kind is QuestionKind.RISKIEST:
        return QuestionKind.RISK_OF
    return before.kind if before.is_about_single else usual


def _resolve_subject(
    question: str,
    words: tuple[str, ...],
    topics: tuple[Topic, ...],
    before: tuple[Sequence[str], Sequence[str], tuple[int, ...]],
) -> tuple[int, ...]:
    """Return what "it" refers to, or the subject of the thread, if the question names no number."""
    questions, answers, subject = before
    answer = answers[-1] if answers else ""
    says_it = bool(lexicon.SINGULAR_PRONOUNS.intersection(words)) and not (
        _is_named_before(words, topics) or lexicon.IT_IS_PATTERN.search(question.casefold())
    )
    if says_it or has_demonstrative(question):
        return subject or find_numbers("".join(questions[-1:])) or find_spoken_of(answer)
    others = (topic for topic in topics if topic.name.casefold() not in lexicon.FLAG_WORDS)
    is_wider = "most" in words or any(not topic.words[0].startswith(lexicon.WHERE) for topic in others)
    return () if is_wider else subject


def _is_named_before(words: tuple[str, ...], topics: tuple[Topic, ...]) -> bool:
    """Return whether "it" refers to a word of the question itself, as in "did LoRA change, and is it risky?"."""
    earlier_words = words[: min(words.index(word) for word in lexicon.SINGULAR_PRONOUNS if word in words)]
    return any(topic.name.casefold() in earlier_words for topic in topics)


def _has_stem(words: Iterable[str], stems: tuple[str, ...]) -> bool:
    """Return whether a word begins with one of the stems."""
    return any(word.startswith(stems) for word in words)


def _classify_question(
    question: str, words: tuple[str, ...], topics: tuple[Topic, ...], *, are_ones: bool
) -> QuestionKind:
    """Return the kind of a question.

    ``are_ones`` means that it is about single pull requests, and does not choose among several.
    """
    text = " ".join(question.casefold().split())
    if lexicon.FLAG_PATTERN.search(text) and all(topic.name.casefold() in lexicon.FLAG_WORDS for topic in topics):
        return QuestionKind.FLAGS
    if are_ones:
        return _classify_single(question, words)
    if is_code_request(question):
        return QuestionKind.DECLINED
    if _has_stem(words, lexicon.WHO) and not _has_stem(words, lexicon.REVERT) and (not topics or "most" in words):
        return QuestionKind.AUTHORS if _has_stem(words, lexicon.WRITES) else QuestionKind.MERGERS
    return _classify_many(text, words, topics)


def _classify_single(question: str, words: tuple[str, ...]) -> QuestionKind:
    """Return the kind of a question about single pull requests."""
    if _has_stem(words, lexicon.REVERT):
        return QuestionKind.REVERTS
    if is_code_request(question):
        return QuestionKind.CODE_OF
    if lexicon.WHEN_PATTERN.search(question.casefold()):
        return QuestionKind.WHEN_OF
    risk_stems = (*lexicon.RISK, *lexicon.SAFE, *lexicon.BREAKS, *lexicon.TRIVIAL)
    is_why = "why" in words and lexicon.WHY_WORDS.union(lexicon.POINTERS).issuperset(words)
    if _has_stem(words, risk_stems) or is_why or lexicon.DUTY_PATTERN.search(question.casefold()):
        return QuestionKind.RISK_OF
    if _has_stem(words, lexicon.WHO):
        return QuestionKind.WHO_OF
    return QuestionKind.FILES_OF if _has_stem(words, (*lexicon.WHERE, *lexicon.LARGE)) else QuestionKind.ABOUT


def _classify_many(text: str, words: tuple[str, ...], topics: tuple[Topic, ...]) -> QuestionKind:
    """Return the kind of a question about many pull requests."""
    if _has_stem(words, ("test", "untested")) and (lexicon.WITHOUT | lexicon.WITH).intersection(words):
        return QuestionKind.UNTESTED
    for kind, stems in _KIND_STEMS:
        if _has_stem(words, stems):
            return kind
    if lexicon.DUTY_PATTERN.search(text):
        return QuestionKind.BREAKS
    if "first" in words and lexicon.REVIEW_VERBS.intersection(words):
        return QuestionKind.RISKIEST
    if topics:
        return QuestionKind.TOPIC
    return (
        QuestionKind.DAY
        if _has_stem(words, lexicon.OVERVIEW) or lexicon.GENERAL_WORDS.intersection(words)
        else QuestionKind.UNCLEAR
    )
