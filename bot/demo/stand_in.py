"""Stand-in for a model that answers questions: it plays answers that were written for the sample day.

It takes part as a model does: first it calls the bot's tools, then it streams Markdown with quotes, which the bot
checks. If no answer is like the question, a line says so, with three questions that have one.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.features.glossary import simplify_chinese
from bot.features.merges.review import BugReview
from bot.features.merges.summary import Summary
from bot.platform.models import Chat, ChatEvent, TextDelta, TextPart, ToolCall, ToolResult, Turn, TurnEnd
from bot.platform.models.tools import ToolName
from bot.platform.pulls.models import ChangedFile
from bot.platform.store.codecs import VersionedJson
from bot.text import format_count
from impact.contract.models import MergeContract

# --- the sample day

CONTRACTS_FILE = "contracts.json"


class _FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SamplePull(_FrozenModel):
    number: int
    title: str
    author: str
    merged_by: str
    merged_at: datetime
    merge_commit_sha: str
    additions: int
    deletions: int
    files: tuple[ChangedFile, ...]
    summary: Summary
    # without quotes, since the sample has no diffs
    review: BugReview | None = None


class SampleTheme(_FrozenModel):
    title: str
    pull_requests: tuple[int, ...]


class SampleDay(_FrozenModel):
    note: str
    repository: str
    name: str
    date: str
    timezone: str
    overview: str
    themes: tuple[SampleTheme, ...]
    # newest first
    pulls: tuple[SamplePull, ...]


@cache
def load_sample_day() -> SampleDay:
    return SampleDay.model_validate_json(_read_text("day.json"))


@cache
def load_contracts() -> Mapping[int, MergeContract]:
    """Load what each merge of the sample day changes for others, by number."""
    contracts = map(VersionedJson(MergeContract, 1).load, json.loads(_read_text(CONTRACTS_FILE)))
    return {contract.number: contract for contract in contracts}


def _read_text(name: str) -> str:
    return files("bot.demo.sample").joinpath(name).read_text(encoding="utf-8")


# --- the book of answers

# of 1: above it are what means the same, below it what is foreign, as tests/demo/test_likeness.py measures
MIN_LIKENESS = 0.76
_MIN_CHIP_LIKENESS = 0.2
# what a word counts that is in another question for the same answer
_NEAR = 0.85
# "how does it work?" is not "what about it?"
_ASKING, _OTHER_ASKING = frozenset(("how", "who", "when", "where", "why", "warum", "wann")), 0.8
# of the letters in threes: a word with a slip or another ending is the same one
_MIN_SHARED_LETTERS = 0.65
# characters and words: a longer question is like none of ours
_MAX_LENGTH, _MAX_WORDS = 1_000, 60

# what stands for any pull request in a question
ANY_NUMBER = "#n"
# without a sign it has five digits here: years and names of hardware have fewer
_NUMBER = re.compile(r"(?:https?://\S{1,200}/pull/|#)(\d{1,9})\b|\b(\d{5,9})\b", re.A)
# the end of a line in the file that ends no line of the text
_WRAPPED = re.compile(r"(?<!\n)\n(?!\n|- ) *")
_OTHER_DAY = re.compile(r"(?!2026-02-28)\d{4}-\d\d-\d\d", re.A)
_WORD = re.compile(r"#n\b|[㐀-鿿]+|(?:(?![㐀-鿿])\w)+")
_NEGATION = re.compile(
    r"\b(?:not|no|none|nothing|never|without|cannot|nicht|keine?n?|nichts|ohne)\b"
    # "能不能" asks, and denies nothing
    r"|(?<!有)没|(?:^|(?<=(.)))不(?!\1)"
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a question that say what it asks for, and the pull requests that it names."""

    words: frozenset[str]
    numbers: tuple[int, ...] = ()
    is_negated: bool = False

    def point_at(self, number: int, word: str = "") -> Asked:
        """Return the question with a pull request in place of a word, or beside the others."""
        return Asked(self.words - {word} | {ANY_NUMBER}, (number,), self.is_negated)


@dataclass(frozen=True, slots=True)
class Answer:
    """A written answer and the questions for it, with the fields that ``answers.toml`` explains."""

    asks: Sequence[str]
    text: str
    language: str = "en"
    profile: bool | None = None
    calls: Sequence[Mapping[str, Any]] = ()

    @property
    def is_about_any(self) -> bool:
        return any("#N" in ask for ask in self.asks)


@dataclass(frozen=True, slots=True)
class Match:
    """An answer, its likeness to what is asked, from 0 to 1, and the pull request that is asked about."""

    likeness: float
    answer: Answer
    number: int | None

    def rank(self, language: str) -> tuple[float, bool, bool, bool]:
        """Return what comes first among equals: the same language, such a thread, this very pull request."""
        is_own = self.number is not None and not self.answer.is_about_any
        return round(self.likeness, 3), self.answer.language == language, self.answer.profile is not None, is_own


class AnswerBook:
    def __init__(self) -> None:
        data = tomllib.loads(files("bot.demo.sample").joinpath("answers.toml").read_text(encoding="utf-8"))
        words = data["words"]
        self._known = {key: f"{words[key]['ignored']} {words[key]['weak']}".split() for key in ("en", "de", "zh")}
        self._ignored = {*words["en"]["ignored"].split(), *words["de"]["ignored"].split()}
        self._weak = {word for key in self._known for word in words[key]["weak"].split()}
        # of Chinese, in which no words are apart, they are cut out
        self._cut = re.compile("|".join(sorted(self._known["zh"], key=len, reverse=True)))
        self._alike = {word: line.split()[0] for line in words["alike"] for word in line.split()}
        self._replacements = {word: line.split()[0] for line in words["zh"]["same"] for word in line.split()[1:]}
        self._replaced = re.compile("|".join(self._replacements))
        self._none, self._orders = data["none"], data["orders"]
        self._order = re.compile(self._orders["pattern"], re.I)
        self.bands, self.quotes = data["bands"], data["quotes"]
        self.chips: Mapping[str, list[str]] = {key: none["chips"] for key, none in data["none"].items()}
        self.answers = tuple(
            Answer(**{**each, "text": _WRAPPED.sub(" ", each["text"].strip())}) for each in data["answers"]
        )
        self._settled: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._asks = [tuple(self.read(ask, learn=True) for ask in answer.asks) for answer in self.answers]
        self._near = [frozenset(word for each in asks for word in each.words) for asks in self._asks]
        self._uses = Counter(word for words in self._near for word in words)

    def read(self, question: str, *, learn: bool = False) -> Asked:
        """Read a question: without words that say nothing, and with one for those that mean the same."""
        text = unicodedata.normalize("NFKC", question[:_MAX_LENGTH]).casefold()
        text = self._replaced.sub(lambda match: self._replacements[match[0]], simplify_chinese(text))
        numbers = tuple(int(match[1] or match[2]) for match in _NUMBER.finditer(text))
        text = _OTHER_DAY.sub(" otherday ", _NUMBER.sub(f" {ANY_NUMBER} ", text))
        text = text.replace("how many", "many").replace("you use", "yours")
        text = re.sub(r"'\w*", " ", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("n't", " not"))
        words = [word for word in split_words(self._cut.sub(" ", text)) if word not in self._ignored]
        telling = [word for word in words if word not in self._weak] or words or split_words(text)
        settled = [self._settle(word, learn=learn) for word in telling[:_MAX_WORDS]]
        return Asked(frozenset(settled), numbers, bool(_NEGATION.search(text)))

    def _settle(self, word: str, *, learn: bool) -> str:
        """Return the word for one: that means the same, or is the same but for a slip or its ending."""
        word = self._alike.get(word, word)
        known = self._settled[word[0]]
        if word not in known:
            share, nearest = max(((_share_letters(word, each), each) for each in known), default=(0.0, word))
            word = nearest if share >= _MIN_SHARED_LETTERS else word
        if learn:
            known[word] = None
        return word

    def guess_language(self, question: str) -> str:
        if any(map(_is_chinese, question[:_MAX_LENGTH])):
            return "zh"
        words = set(split_words(question))
        return max(("en", "de"), key=lambda language: len(words.intersection(self._known[language])))

    def find_matches(self, asked: Asked, *, has_profile: bool) -> Iterator[Match]:
        """Yield each answer with the likeness of its most similar question."""
        for answer, asks, near in zip(self.answers, self._asks, self._near, strict=True):
            if answer.profile in (None, has_profile):
                likeness = (self._compare(asked, ask, near) for ask in asks if _names_the_same(ask, asked))
                yield Match(max(likeness, default=0.0), answer, next(iter(asked.numbers), None))

    def _compare(self, asked: Asked, known: Asked, near: frozenset[str]) -> float:
        """Return the harmonic mean of how much of each is in the other. The rarer a word, the more it counts."""
        if asked.is_negated != known.is_negated:
            return 0.0
        there, back = self._cover(asked.words, known.words, near), self._cover(known.words, asked.words)
        likeness = 2 * there * back / (there + back) if there and back else 0.0
        return likeness if asked.words & _ASKING <= known.words else _OTHER_ASKING * likeness

    def _cover(self, words: frozenset[str], others: frozenset[str], near: frozenset[str] = frozenset()) -> float:
        weights = {word: math.log(1 + len(self.answers) / max(self._uses[word], 1)) for word in words}
        shared = (weight * (word in others or _NEAR * (word in near)) for word, weight in weights.items())
        return sum(shared) / sum(weights.values()) if words else 0.0

    def refuse_orders(self, question: str, language: str) -> str:
        """Return what is said to a text that gives orders to whoever answers; empty for any other."""
        text = " ".join(unicodedata.normalize("NFKC", question[:_MAX_LENGTH]).split())
        return self._orders[language] if self._order.search(text) else ""

    def write_refusal(self, language: str, matches: Iterable[Match]) -> str:
        """Return the line that says that there is no answer, with the most similar questions that have one."""
        near = [
            each for each in matches if each.likeness >= _MIN_CHIP_LIKENESS and each.answer.language == language
        ]
        chips = [
            ask.replace("#N", f"#{match.number}")
            for match in sorted(near, key=lambda match: -match.likeness)
            for ask in [each for each in match.answer.asks if match.number or "#N" not in each][:1]
        ]
        chosen = list(dict.fromkeys([*chips, *self.chips[language]]))[:3]
        text: str = self._none[language]["text"]
        return text.format(chips="\n".join(f"- {chip}" for chip in chosen))


load_answers = cache(AnswerBook)


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case; of Chinese, in which none are apart, the pairs of signs."""
    words: list[str] = []
    for word in _WORD.findall(text[:_MAX_LENGTH].casefold()):
        words += map("".join, pairwise(word)) if _is_chinese(word) and len(word) > 1 else [word]
    return words


def _names_the_same(known: Asked, asked: Asked) -> bool:
    if known.numbers:
        return set(known.numbers) == set(asked.numbers)
    return len(asked.numbers) == (ANY_NUMBER in known.words)


def _is_chinese(text: str) -> bool:
    return "㐀" <= text[0] <= "鿿"


def _share_letters(one: str, other: str) -> float:
    """Return how many of their letters in threes two words share, from 0 to 1."""
    # digits tell names apart
    if min(len(one), len(other)) < 4 or any(map(str.isdecimal, one + other)):
        return 0.0
    parts, others = ({f" {word} "[at : at + 3] for at in range(len(word))} for word in (one, other))
    return 2 * len(parts & others) / (len(parts) + len(others))


# --- the stand-in

# seconds: a reader should see that something is looked up, and that the text grows
_THINKING_SECONDS, _MAX_SPEAKING_SECONDS, _MAX_PAUSE = 0.5, 2.0, 0.12
_PIECE = re.compile(r"(?:\s*\S+){1,3}\s*")
# as many as one turn may have
_MAX_CALLS = 6
_MAX_DIFFS = 3
_MAX_FILES = 8

_POINTING = frozenset("it its this that one es das dessen seine 它".split())
_PLACES = {
    word: place
    for place, words in (
        (0, "first 1st erste ersten 第一"),
        (1, "second 2nd zweite zweiten 第二"),
        (2, "third 3rd dritte dritten 第三"),
        (3, "fourth 4th vierte vierten 第四"),
        (4, "fifth 5th fünfte fünften 第五"),
        (-1, "last letzte letzten 最后"),
    )
    for word in words.split()
}
_QUESTION_START = '<question id="'
_QUOTED_NUMBER = re.compile(r'<cite pr="(\d+)"')
_NAMED_NUMBER = re.compile(r"(?<![\w/])#(\d{5,9})\b", re.A)
_ITEM_NUMBER = re.compile(r"^- (?:\*\*.{1,40}\*\*: )?#(\d{1,9})\b", re.M | re.A)
_HEAD_NUMBER = re.compile(r"\W*#(\d{1,9})\b", re.A)
_RECORD_NUMBER = re.compile(r"^#(\d{1,9}) ", re.M | re.A)
# of a line about a pull request (bot/features/questions/texts.py)
_RATING = re.compile(r"\| risk (?P<band>[a-z]+)[^(|\n]*(?:\((?P<reasons>[^|\n]*)\))?")


class PreparedChatModel:
    """``ChatModel`` that plays written answers. ``sleep`` takes seconds. May be shared by threads."""

    def __init__(self, day: SampleDay, sleep: Callable[[float], None]) -> None:
        self._pulls = {pull.number: pull for pull in day.pulls}
        self._sleep = sleep

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Call tools first, then give the answer. See :class:`bot.platform.models.ChatModel`."""
        talk = _Talk.from_turns(chat.turns)
        has_profile = any(tool["name"] == ToolName.FIND_PROFILE_USES for tool in chat.tools)
        text, queries = self._write_answer(talk, has_profile=has_profile)
        self._sleep(_THINKING_SECONDS)
        if queries and chat.may_use_tools and not talk.results:
            calls = [ToolCall(f"call_{place}", *query) for place, query in enumerate(queries[:_MAX_CALLS])]
            yield from calls
            blocks = (
                {"type": "tool_use", "id": each.id, "name": each.name, "input": each.arguments} for each in calls
            )
            yield TurnEnd(Turn("model", model_blocks=tuple(blocks)))
            return
        pieces = _PIECE.findall(f"<answer>{text}</answer>")
        for piece in pieces:
            yield TextDelta(piece)
            self._sleep(min(_MAX_PAUSE, _MAX_SPEAKING_SECONDS / len(pieces)))
        yield TurnEnd(Turn("model", (TextPart("".join(pieces)),)))

    def _write_answer(self, talk: _Talk, *, has_profile: bool) -> tuple[str, list[tuple[str, Mapping[str, Any]]]]:
        # read at the first question: a start should not wait for it
        book = load_answers()
        language, asked = book.guess_language(talk.question), book.read(talk.question)
        if refusal := book.refuse_orders(talk.question, language):
            return refusal, []
        matches = {
            reading: list(book.find_matches(reading, has_profile=has_profile))
            for reading in talk.list_readings(asked)
        }
        best = max((match for each in matches.values() for match in each), key=lambda match: match.rank(language))
        if best.likeness < MIN_LIKENESS:
            return book.write_refusal(language, matches[asked]), []
        pull = self._pulls.get(best.number or 0)
        if best.number and not pull:
            problem = next((result.text for result in talk.results if result.is_error), "")
            return problem.partition("\n")[0], [(ToolName.PULL_REQUEST, {"number": best.number})]
        facts = self._collect_facts(pull, best.answer.language, talk.results) if pull else {}
        text = best.answer.text.format_map({**book.quotes, **facts})
        quoted = list(dict.fromkeys(map(int, _QUOTED_NUMBER.findall(text))))
        named = dict.fromkeys(map(int, _NAMED_NUMBER.findall(text)))
        told = [number for number in named if number not in quoted or number == best.number]
        return text, [
            *((call["name"], call.get("arguments", {})) for call in best.answer.calls),
            *((ToolName.READ_DIFF, {"number": number}) for number in quoted[:_MAX_DIFFS]),
            *((ToolName.PULL_REQUEST, {"number": number}) for number in told),
        ]

    def _collect_facts(self, pull: SamplePull, language: str, results: Sequence[ToolResult]) -> Mapping[str, Any]:
        """Return what a text about any pull request may name. Its rating is that of the tool, by its history."""
        summary, paths = pull.summary, [file.path for file in pull.files]
        rating = next((match for result in results if (match := _RATING.search(result.text))), None)
        tests = [f"`{path}`" for path in paths if path.startswith("tests/")]
        more = [f"… (+{len(paths) - _MAX_FILES})"] if len(paths) > _MAX_FILES else []
        return {
            "number": pull.number,
            "headline": summary.headline.rstrip("."),
            "changes": summary.what_changed_and_why,
            "impact": summary.technical_impact,
            "risks": summary.potential_risks,
            "action": f"**May need action:** {summary.action}" if summary.action else "It asks for no action.",
            "band": load_answers().bands[language][rating["band"] if rating else "unknown"],
            "reasons": (rating and rating["reasons"]) or "no risk rule matched",
            "author": pull.author,
            "merger": pull.merged_by,
            "merged": f"{pull.merged_at:%Y-%m-%d, %H:%M} UTC",
            "size": format_count(len(paths), "file"),
            "count": len(paths),
            "lines": f"+{pull.additions} \N{MINUS SIGN}{pull.deletions}",
            "files": ", ".join([*(f"`{path}`" for path in paths[:_MAX_FILES]), *more]),
            "tests": f"changes tests: {', '.join(tests)}" if tests else "changes no test",
            "proof": "".join(quote for quote in load_answers().quotes.values() if f'pr="{pull.number}"' in quote),
        }


@dataclass(frozen=True, slots=True)
class _Talk:
    """A conversation: its question, the answers before, the pull requests of its thread, and the results since."""

    question: str
    answers: tuple[str, ...]
    subject: tuple[int, ...]
    results: tuple[ToolResult, ...]

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> _Talk:
        start = max(place for place, turn in enumerate(turns) if turn.by == "person" and not _list_results(turn))
        texts = [
            (turn.by, part) for turn in turns[: start + 1] for part in turn.parts if isinstance(part, TextPart)
        ]
        # the marks around a question carry a digest of it, so it can't imitate them
        asked = [part.text for by, part in texts if by == "person" and part.text.startswith(_QUESTION_START)]
        record = "".join(part.text for _, part in texts if part.stable).partition("\n")[2]
        return cls(
            asked[-1].partition("\n")[2].rpartition("\n")[0],
            tuple(part.text for by, part in texts if by == "model"),
            # the record of a thread about single ones begins with them, not with the days
            tuple(map(int, _RECORD_NUMBER.findall(record))) if record.startswith("#") else (),
            tuple(result for turn in turns[start + 1 :] for result in _list_results(turn)),
        )

    def list_readings(self, asked: Asked) -> Iterator[Asked]:
        """Yield the ways to read the question: as it is, and with what its words may point back to."""
        words = () if asked.numbers else split_words(self.question)
        focus = self._find_focus()
        # of the last list, or those of the thread
        lists = (tuple(map(int, _ITEM_NUMBER.findall(text))) for text in reversed(self.answers))
        items = next((listed for listed in lists if len(listed) > 1), self.subject)
        for word in words:
            if word in _PLACES and items and _PLACES[word] < len(items):
                yield asked.point_at(items[_PLACES[word]], word)
        if focus and _POINTING.intersection(words):
            yield asked.point_at(focus)
        yield asked
        if focus and words:
            yield asked.point_at(focus)

    def _find_focus(self) -> int | None:
        """Return the pull request that the last answer is about, or the only one of the thread."""
        last = self.answers[-1] if self.answers else ""
        head, named = _HEAD_NUMBER.match(last), set(_NAMED_NUMBER.findall(last))
        only = self.subject[0] if len(self.subject) == 1 else None
        return int(head[1]) if head else int(named.pop()) if len(named) == 1 else only


def _list_results(turn: Turn) -> tuple[ToolResult, ...]:
    return tuple(part for part in turn.parts if isinstance(part, ToolResult))
