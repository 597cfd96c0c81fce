"""What a question asks for, as far as rules can tell: by its words, and by what was said before it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto

from bot.demo.rules import lexicon
from bot.demo.rules.days import days_in
from bot.demo.rules.declining import NO_DIFFS, doubt_of, refusal_of, wants_code
from bot.demo.rules.earlier import answered_in, chosen_among, listed_in, names_that_one, numbers_in, pointed_at
from bot.demo.rules.places import Place, place_in
from bot.demo.rules.topics import Topic, topics_in, words_in

# characters of a question that are looked at; what comes after them is no question any more
_LONGEST = 2_000
# what one answer can tell more of
_MOST_AT_A_TIME = 6
_ONE_FIRST = "Which one? Ask by its number, for example “why is #{0} risky?”."
_NO_ONE = "I don't know what you mean: name a pull request by its number, such as #35617."


class Kind(Enum):
    """What is wanted."""

    ABOUT = auto()
    RISK_OF = auto()
    WHO_OF = auto()
    WHEN_OF = auto()
    FILES_OF = auto()
    CODE_OF = auto()
    BACK = auto()
    MERGERS = auto()
    AUTHORS = auto()
    UNTESTED = auto()
    LARGEST = auto()
    TRIVIAL = auto()
    BREAKS = auto()
    RISKIEST = auto()
    FLAGS = auto()
    PLACE = auto()
    TOPIC = auto()
    DAY = auto()
    DECLINED = auto()
    LOST = auto()
    UNCLEAR = auto()


_OF_ONES = (Kind.ABOUT, Kind.RISK_OF, Kind.WHO_OF, Kind.WHEN_OF, Kind.FILES_OF, Kind.CODE_OF)
# what says nothing of what is wanted
_ANYTHING = (Kind.ABOUT, Kind.WHEN_OF, Kind.TOPIC, Kind.DAY, Kind.UNCLEAR)
# in this order: "is it safe to upgrade?" asks what breaks, "can I safely ignore some?" what is trivial
_OF_MANY = (
    (Kind.BACK, lexicon.BACK),
    (Kind.RISKIEST, lexicon.RISK),
    (Kind.TRIVIAL, lexicon.TRIVIAL),
    (Kind.BREAKS, lexicon.BREAKS),
    (Kind.RISKIEST, lexicon.SAFE),
    (Kind.LARGEST, lexicon.LARGE),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question.

    ``numbers`` are pull requests that it is about, or among which it asks; none for all. ``days`` are those
    that it names, as tools take them. ``place`` are the files that it is about, ``reason`` is why it is declined.
    """

    kind: Kind
    numbers: tuple[int, ...] = ()
    topics: tuple[Topic, ...] = ()
    days: str = ""
    today: dt.date | None = None
    place: Place | None = None
    reason: str = ""

    @property
    def is_of_ones(self) -> bool:
        """Whether it asks for something of each of its pull requests."""
        return self.kind in _OF_ONES


def asked(
    questions: Sequence[str], answers: Sequence[str], subject: tuple[int, ...], today: dt.date | None = None
) -> Asked:
    """The last of the questions, oldest first, as the answers are.

    ``subject`` are the pull requests that the thread is about, ``today`` is the reader's date.
    """
    question = questions[-1][:_LONGEST] if questions else ""
    if reason := refusal_of(question):
        return Asked(Kind.DECLINED, reason=reason)
    pointed = () if numbers_in(question) else pointed_at(question, answers, subject)
    if isinstance(pointed, str):
        return Asked(Kind.LOST, reason=pointed)
    found = _asked(question, questions[:-1], answers, pointed, subject)
    found = found if pointed else _of_days(found, question, today)
    doubt = doubt_of(question) if found.kind in _ANYTHING else ""
    return Asked(Kind.DECLINED, reason=doubt) if doubt else found


def _asked(
    question: str,
    before: Sequence[str],
    answers: Sequence[str],
    pointed: tuple[int, ...],
    subject: tuple[int, ...],
) -> Asked:
    own, words, topics = numbers_in(question) or pointed, words_in(question), topics_in(question)
    if not own and (again := _again(words, before, answers, subject)):
        return again
    among = () if own else _among(question, words, answers, subject)
    meant = own or among or _meant(question, words, topics, (before, answers, subject))
    if not meant and (place := place_in(question)):
        return Asked(Kind.PLACE, place=place)
    kind = _kind(question, words, topics, are_ones=bool(meant) and not among)
    if kind is Kind.DECLINED:
        return Asked(kind, reason=NO_DIFFS)
    if own and before and lexicon.SAME.issuperset(set(words) - lexicon.POINTERS):
        kind = _kind_before(before, answers, kind)
    return Asked(kind, meant, topics)


def _among(
    question: str, words: tuple[str, ...], answers: Sequence[str], subject: tuple[int, ...]
) -> tuple[int, ...]:
    """The pull requests among which a question asks: "which of them have no tests?"."""
    answer = answers[-1] if answers else ""
    if lexicon.THEM.intersection(words) or (words[:1] == ("and",) and lexicon.WITHOUT.intersection(words)):
        return answered_in(answer) or subject
    return chosen_among(question, answer)


def _again(
    words: tuple[str, ...], before: Sequence[str], answers: Sequence[str], subject: tuple[int, ...]
) -> Asked | None:
    """What "why?" and "tell me more" ask of the last answer, and of nothing else."""
    is_why = set(words) <= {"why", "but", "so", "and", "really"} and "why" in words
    if not is_why and not ("more" in words and lexicon.MORE.issuperset(words)):
        return None
    last = listed_in(answers[-1]) if answers else ()
    was_risky = bool(before) and asked(before, answers[:-1], subject).kind in (Kind.RISKIEST, Kind.RISK_OF)
    numbers = last or subject
    if not numbers:
        return Asked(Kind.LOST, reason=_NO_ONE)
    if len(numbers) > 1 and not (is_why and was_risky and len(numbers) <= _MOST_AT_A_TIME):
        return Asked(Kind.LOST, reason=_ONE_FIRST.format(numbers[0]))
    return Asked(Kind.RISK_OF if is_why else Kind.ABOUT, numbers)


def _of_days(found: Asked, question: str, today: dt.date | None) -> Asked:
    """With the days that it names; of single pull requests that it speaks of it asks for no days."""
    if (
        today is None
        or found.reason
        or not _may_name_days(found, question)
        or not (days := days_in(question, today))
    ):
        return replace(found, today=today)
    kind = Kind.DAY if found.kind in (Kind.UNCLEAR, Kind.ABOUT) else found.kind
    return replace(found, kind=kind, numbers=(), days=days, today=today)


def _may_name_days(found: Asked, question: str) -> bool:
    if numbers_in(question):
        return False
    # what a thread is about is meant where nothing else is named
    speaks_of_one = bool(lexicon.IT.intersection(words_in(question))) or names_that_one(question)
    return not found.is_of_ones or (found.kind is Kind.ABOUT and not speaks_of_one)


def _kind_before(questions: Sequence[str], answers: Sequence[str], usual: Kind) -> Kind:
    """What was asked of other pull requests before: "and #7?" asks the same of this one."""
    before = asked(questions, answers, (1,))
    if before.kind is Kind.RISKIEST:
        return Kind.RISK_OF
    return before.kind if before.is_of_ones else usual


def _meant(
    question: str,
    words: tuple[str, ...],
    topics: tuple[Topic, ...],
    before: tuple[Sequence[str], Sequence[str], tuple[int, ...]],
) -> tuple[int, ...]:
    """What "it" is, or what the thread is about, where the question names no number."""
    questions, answers, subject = before
    answer = answers[-1] if answers else ""
    says_it = bool(lexicon.IT.intersection(words)) and not _is_named_before(words, topics)
    if says_it or names_that_one(question):
        return subject or numbers_in("".join(questions[-1:])) or listed_in(answer)[:1]
    others = (topic for topic in topics if topic.name.casefold() not in lexicon.FLAG_WORDS)
    is_wider = "most" in words or any(not topic.words[0].startswith(lexicon.WHERE) for topic in others)
    return () if is_wider else subject


def _is_named_before(words: tuple[str, ...], topics: tuple[Topic, ...]) -> bool:
    """Whether "it" is what the question itself has named: "did LoRA change, and is it risky?"."""
    said = words[: min(words.index(word) for word in lexicon.IT if word in words)]
    return any(topic.name.casefold() in said for topic in topics)


def _has(words: Iterable[str], stems: tuple[str, ...]) -> bool:
    return any(word.startswith(stems) for word in words)


def _kind(question: str, words: tuple[str, ...], topics: tuple[Topic, ...], *, are_ones: bool) -> Kind:
    """``are_ones``: whether it is about single ones, and does not choose among several."""
    text = " ".join(question.casefold().split())
    if lexicon.FLAGS.search(text) and all(topic.name.casefold() in lexicon.FLAG_WORDS for topic in topics):
        return Kind.FLAGS
    if are_ones:
        return _kind_of_ones(question, words)
    if wants_code(question):
        return Kind.DECLINED
    if _has(words, lexicon.WHO) and not _has(words, lexicon.BACK) and (not topics or "most" in words):
        return Kind.AUTHORS if _has(words, lexicon.WRITES) else Kind.MERGERS
    return _kind_of_many(text, words, topics)


def _kind_of_ones(question: str, words: tuple[str, ...]) -> Kind:
    if _has(words, lexicon.BACK):
        return Kind.BACK
    if wants_code(question):
        return Kind.CODE_OF
    if lexicon.WHEN.search(question.casefold()):
        return Kind.WHEN_OF
    doubts = (*lexicon.RISK, *lexicon.SAFE, *lexicon.BREAKS, *lexicon.TRIVIAL)
    if _has(words, doubts) or words == ("why",) or lexicon.DUTIES.search(question.casefold()):
        return Kind.RISK_OF
    if _has(words, lexicon.WHO):
        return Kind.WHO_OF
    return Kind.FILES_OF if _has(words, (*lexicon.WHERE, *lexicon.LARGE)) else Kind.ABOUT


def _kind_of_many(text: str, words: tuple[str, ...], topics: tuple[Topic, ...]) -> Kind:
    if _has(words, ("test", "untested")) and (lexicon.WITHOUT | lexicon.WITH).intersection(words):
        return Kind.UNTESTED
    for kind, stems in _OF_MANY:
        if _has(words, stems):
            return kind
    if lexicon.DUTIES.search(text):
        return Kind.BREAKS
    if "first" in words and lexicon.LOOKS.intersection(words):
        return Kind.RISKIEST
    if topics:
        return Kind.TOPIC
    return Kind.DAY if _has(words, lexicon.GIST) or lexicon.OPEN.intersection(words) else Kind.UNCLEAR
