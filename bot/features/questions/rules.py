"""What people write in threads, what is remembered of it, and what a search for its words finds."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from bot.dates import LocalDay, Span, TodayProvider, parse_span
from bot.errors import UsageError
from bot.features.merges.requests import DigestRequest, RisksRequest, SubjectKind, SummaryRequest
from bot.features.merges.summary import Evidence, Quote, is_evidence, locate_quotes
from bot.features.merges.view import Entry
from bot.platform.commands import AllowedRepositories
from bot.platform.pulls.diff import find_quote
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.sources import Remark
from bot.platform.slack.requests import MENTION, SlackRequest
from bot.platform.source.excerpts import SourceExcerpt
from bot.redaction import redact_text
from bot.text import parse_digits
from impact.repository import Repository
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, truncate_text

_GROUP_MENTION = re.compile(r"<!(?:subteam\^[A-Z0-9]+|here|channel|everyone)(?:\|[^<>]*)?>")
_EMOJI = re.compile(r":[\w+'-]+:(?::skin-tone-\d:)?|[\d#*]\ufe0f?\u20e3|\u2139|[:;=]-?[DPdp)(]|<3")
_THANKS = r"(?:thank(?:s| you)?(?: (?:so|very) much| a (?:lot|bunch)| again)?|many thanks|thx|ty|cheers"
_ACKNOWLEDGEMENT = (
    rf"{_THANKS}|danke|merci|gracias"
    r"|ok(?:ay)?|k|great|nice|cool|perfect|awesome|excellent|amazing|wow|super|good (?:bot|job|catch|to know)"
    r"|got it|makes sense|noted|understood|will do|on it|done|lgtm|\+1|same|agreed?|yes|yep|yeah|no|nope|sure"
    r"|lol|(?:ha){2,9}|hm+|interesting|i see|helpful|very helpful|that helps)"
)
# "thanks, all" is an acknowledgement, "no, all" is not
_THANKS_TO_GROUP = (
    rf"{_THANKS}|good (?:bot|job|catch)|great|nice|cool)[ ,;]+"
    r"(?:prdigest|bot|all|everyone|team|man|folks|guys)"
)
_ACKNOWLEDGEMENTS = re.compile(
    rf"(?:{_THANKS_TO_GROUP}|{_ACKNOWLEDGEMENT})(?:[ ,;]+(?:{_THANKS_TO_GROUP}|{_ACKNOWLEDGEMENT}))*", re.I
)
_SENTENCE_BREAK = re.compile(r"[.!\n…()]+|[^\w\s'+,;]{1,4}")
_MAX_REMARK_LENGTH = 80
# characters of a thread's memory: some twenty questions with their answers
MAX_MEMORY_LENGTH = 40_000
_TRIMMED_MEMORY_LENGTH = 25_000
_MAX_OLD_QUESTION_LENGTH, _MAX_OLD_ANSWER_LENGTH = 300, 500

MAX_RESULTS = 8  # of a search
_WORD = re.compile(r"[\w][\w./-]{2,}")
_NUMBER = re.compile(r"#(\d{1,9})\b|\b(\d{2,9})\b")
_COMMON_WORDS = frozenset(
    """
    about after again all also and any are been before being between both but can change changed changes changing
    could day days did does doing done each else ever every few for fork from get gets give got had has have how
    into its just know like list made make makes many may merge merged merges might more most much must need new
    not now off only other our out over pull request requests pr prs said same say see she should show since some
    such tell than that the their them then there these they this those through today touch touched touches
    touching under until use used uses using very want was way were what when where which while who whose why will
    with would yes yesterday yet you your
    """.split()
)
# a title says more than a path, a path more than a description or a diff
_TITLE_WEIGHT, _PLACE_WEIGHT, _TEXT_WEIGHT = 5, 3, 1


class AnswerEnd(Enum):
    COMPLETE = "complete"
    TRUNCATED = "truncated"  # at the model's limit of tokens
    TOO_LONG = "too long"  # the model had finished, but its text does not fit into a message
    LATE = "late"
    STOPPED = "stopped"  # by the asker
    BROKEN = "broken"  # the model failed


def is_remark(text: str) -> bool:
    """Return whether a reply needs no answer: thanks, an acknowledgement, emoji alone, or nothing at all."""
    words = html.unescape(_EMOJI.sub(" ", html.unescape(MENTION.sub(" ", text))))
    if any(sign in words for sign in "?？؟"):  # noqa: RUF001 (also as it is typed in Chinese and Arabic)
        return False
    if not any(unicodedata.category(char)[0] in "LN" for char in words):
        return True
    parts = (part.strip(" -~,;") for part in _SENTENCE_BREAK.split(words))
    return len(words) <= _MAX_REMARK_LENGTH and all(_ACKNOWLEDGEMENTS.fullmatch(part) for part in parts if part)


def is_for_others(text: str, bot: str) -> bool:
    """Return whether a reply is for colleagues: it begins with a mention, and does not mention the bot."""
    first_mention = MENTION.match(text.lstrip()) or _GROUP_MENTION.match(text.lstrip())
    return bool(first_mention) and bot not in [match["user"] for match in MENTION.finditer(text)]


@dataclass(frozen=True, slots=True)
class RememberedMessage:
    by: Literal["person", "bot"]
    text: str
    is_short: bool = False

    def shorten(self) -> RememberedMessage:
        limit = _MAX_OLD_QUESTION_LENGTH if self.by == "person" else _MAX_OLD_ANSWER_LENGTH
        if len(self.text) <= limit:
            return self
        return RememberedMessage(self.by, truncate_text(collapse_lines(self.text), limit), is_short=True)


@dataclass(frozen=True, slots=True)
class Question:
    """A question in a thread. ``ts`` is Slack's timestamp, by which questions are ordered."""

    visit: SlackRequest
    text: str
    ts: str


@dataclass(frozen=True, slots=True)
class ThreadMemory:
    """The memory of a thread, oldest first. ``answered`` is the key of the last question, which is added once."""

    about: str
    messages: tuple[RememberedMessage, ...] = ()
    answered: str = ""

    def add_answer(self, question: Question, answer: str) -> ThreadMemory:
        if question.visit.key == self.answered:
            return self
        memory = self.add_messages(RememberedMessage("person", question.text), RememberedMessage("bot", answer))
        return replace(memory, answered=question.visit.key)

    def add_messages(self, *new_messages: RememberedMessage) -> ThreadMemory:
        """Return the memory with more messages; one that is too long is shortened, by a lot at once.

        An unchanged beginning is what the model's prompt cache can use. Text that looks like a credential is
        redacted.
        """
        messages = (*self.messages, *(replace(each, text=redact_text(each.text)) for each in new_messages))
        if _count_characters(messages) > MAX_MEMORY_LENGTH:
            half = len(messages) // 2
            messages = (*(each.shorten() for each in messages[:half]), *messages[half:])
        if _count_characters(messages) > MAX_MEMORY_LENGTH:
            while len(messages) > 2 and _count_characters(messages) > _TRIMMED_MEMORY_LENGTH:
                messages = messages[2:]
        return replace(self, messages=messages)


def _count_characters(messages: Iterable[RememberedMessage]) -> int:
    return sum(len(each.text) for each in messages)


def search_by_words(question: str, entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the pull requests with the question's words, best first, after those that it names by number."""
    words = {word.casefold().strip("./-") for word in _WORD.findall(question)}
    words = {word for word in words - _COMMON_WORDS if word and not word.isdecimal()}
    numbers = {parse_digits(match[1] or match[2]) for match in _NUMBER.finditer(question)}
    # a pull request named by its number is meant, whatever else matches
    scored = [((entry.number in numbers, _score_entry(entry, words)), entry) for entry in entries]
    matching = sorted((each for each in scored if any(each[0])), key=lambda each: each[0], reverse=True)
    return tuple(entry for _, entry in matching)[:MAX_RESULTS]


def _score_entry(entry: Entry, words: set[str]) -> int:
    pull, summary = entry.pull, entry.summary
    title = f"{pull.title} {summary.headline}".casefold()
    places = " ".join([entry.area, pull.author.login, *(file.path for file in pull.files or ())]).casefold()
    patches = (file.patch or "" for file in pull.files or ())
    text = " ".join([pull.body, *(text for _, text in summary.sections), *patches]).casefold()
    return sum(
        _TITLE_WEIGHT * (word in title) + _PLACE_WEIGHT * (word in places) + _TEXT_WEIGHT * (word in text)
        for word in words
    )


# --- quotes of an answer: found in what the model has read, or dropped


@dataclass(frozen=True, slots=True)
class Citation:
    """A quoted line, not verified. ``line`` (0: any) and ``is_removed`` say which one is meant of several."""

    pull: str
    path: str
    quote: str
    line: int = 0
    is_removed: bool = False


def verify_citation(
    citation: Citation, pull: PullRequest, excerpts: Iterable[SourceExcerpt] = ()
) -> Evidence | None:
    """Return the quote with its position in the file that the citation names, or None if it proves nothing.

    Unlike in summaries, the quote may be of unchanged lines; the evidence says so. ``excerpts`` are the lines that
    were read of files at the pull request's commit.
    """
    side = DiffSide.OLD if citation.is_removed else DiffSide.NEW
    quote = Quote(citation.path.strip(), citation.quote, citation.line, side)
    in_diff = next(locate_quotes([quote], pull), None)
    if in_diff and in_diff.is_change and citation.line in (0, in_diff.line):
        return in_diff
    # the numbers of a diff are those of the pull request's own branch: the file at the commit has the right ones
    read = list(_locate_in_excerpts(quote, excerpts))
    return min(read, key=lambda evidence: evidence.line != citation.line, default=in_diff)


def _locate_in_excerpts(quote: Quote, excerpts: Iterable[SourceExcerpt]) -> Iterator[Evidence]:
    if not is_evidence(quote.quote):
        return
    for excerpt in excerpts:
        place = find_quote(excerpt.patch, quote.quote, quote.line) if excerpt.path == quote.path else None
        if place and place.side is DiffSide.NEW:
            evidence = Evidence(quote.path, quote.quote.strip(), place.side, place.line, place.is_change)
            yield evidence if excerpt.has_marks else replace(evidence, is_change=True)


_MIN_QUOTE_LENGTH = 8
_INSIDE_WORD = re.compile(r"\w\w")


def has_quote(remark: Remark, quote: str) -> bool:
    """Return whether somebody wrote a quote: whole words of one line that does not quote somebody else."""
    needle = " ".join(quote.split())
    if len(needle) < _MIN_QUOTE_LENGTH or not is_evidence(needle):
        return False
    own = (line for line in (remark.title, *remark.text.split("\n")) if not line.lstrip().startswith(">"))
    return any(_has_words(" ".join(line.split()), needle) for line in own)


def _has_words(line: str, needle: str) -> bool:
    start = line.find(needle)
    while start >= 0:
        end = start + len(needle)
        before, after = line[start - 1 : start + 1], line[end - 1 : end + 1]
        if not (start and _INSIDE_WORD.fullmatch(before)) and not _INSIDE_WORD.fullmatch(after):
            return True
        start = line.find(needle, start + 1)
    return False


# --- the subject of a thread: days of a repository, or a few of its pull requests


@dataclass(frozen=True, slots=True)
class ThreadSubject:
    """The days of a repository, or ``numbers`` of them, checked against the ``profile`` of a name, if any."""

    repository: Repository
    span: Span
    numbers: tuple[int, ...] = ()
    profile: str = ""


def get_default_subject(repositories: AllowedRepositories, today: LocalDay) -> ThreadSubject:
    """Return the subject of a question without one: yesterday, in the first repository."""
    return ThreadSubject(repositories.default, parse_span("yesterday", today, 1))


def parse_subject(
    about: str, repositories: AllowedRepositories, today: LocalDay, today_in: TodayProvider | None = None
) -> ThreadSubject:
    """Parse the subject stored with a thread. One that is unreadable or not allowed becomes the default."""
    kind, _, request = about.partition(" ")
    default = get_default_subject(repositories, today)
    try:
        match kind:
            case SubjectKind.SUMMARY:
                references = SummaryRequest.parse(request, repositories).references
                repository = references[0].repository
                numbers = tuple(each.number for each in references if each.repository == repository)
                return ThreadSubject(repository, default.span, numbers)
            case SubjectKind.RISKS:
                risks = RisksRequest.parse(request, repositories, today)
                return ThreadSubject(risks.repository, risks.span, profile=risks.profile)
            case SubjectKind.DIGEST:
                digest = DigestRequest.parse(request, repositories, today, today_in)
                return ThreadSubject(digest.repository, digest.span, profile=digest.view.profile)
    except UsageError:
        pass
    return default
