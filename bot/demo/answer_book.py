"""The answers that were written for the sample day (``sample/answers.toml``), found by likeness to a question."""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from bot.features.glossary import simplify_chinese

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
