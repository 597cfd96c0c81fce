"""What a question asks for, as far as rules can tell: by its words, and by what was said before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

# characters of a question that are looked at; what comes after them is no question any more
_LONGEST = 2_000
# as many pull requests can be read at a time; an answer may name all of a day
_MOST_NUMBERS, _MOST_ANSWERED, _MOST_TOPICS = 6, 100, 3
_NUMBER = re.compile(r"(?:#|/pull/|\b)(\d{1,9})\b")
# shorter ones are versions and years
_BARE = re.compile(r"\d{5,9}")
_ADDRESS = re.compile(r"[a-z]{1,9}://\S*", re.I)
_WORD = re.compile(r"[^\W_](?:[\w.+/-]{0,38}[^\W_])?")
_FILLERS = frozenset(
    """
    a about act affect affected affects again all also am an and any anybody anyone anything are around as at be
    because been by can change changed changes changing check code commit commits could day days describe did do
    does doing done each else ever everybody everything everyone explain few find fix fixed fixes for from get
    give got had has have he hello help her here hey hi him his how http https i if in into involve is it its just
    kind know land landed like list look looking made make many may me mean merge merged merges might more most
    much my name need new no not now of on one ones only or other our out over people please pr prs pull pulls
    really relate related request requests say see shall she should show since so some someone something speak
    still such talk tell than thank thanks that the their them then there these they thing things this those
    through to today too top touch touched touches touching under until up us use used uses using very want was
    way we were what when where which while why will with work would yes yesterday yet you your users user callers
    caller clients customers first last others rest second sentence sentences team week word words
    issue issues line lines problem problems total
    """.split()
)
_BACK = ("revert", "undo", "undid", "rollback", "rolled", "taken", "backed")
_RISK = ("risk", "danger", "worr", "scar")
_SAFE = ("safe", "unsafe", "careful", "critical")
_BREAKS = (
    *("break", "broke", "incompat", "deprecat", "remov", "upgrad", "migrat", "action", "adapt"),
    *("caller", "fail", "must"),
)
_WHO = ("who", "author", "wrote", "written")
_WRITES = ("author", "wrote", "written", "contribut", "opened")
_WHERE = ("file", "path", "where", "test", "line")
_LARGE = ("big", "larg", "size", "lines")
_TRIVIAL = ("trivial",)
_NO_TOPICS = (
    *(*_BACK, *_RISK, *_SAFE, *_BREAKS, *_WHO, *_WRITES, *_LARGE, *_TRIVIAL),
    *("overview", "summar", "happen", "untested"),
)
_WITHOUT = frozenset({"no", "not", "without", "lack", "lacks", "missing", "untested", "any"})
_THEM = frozenset({"them", "those", "they"})
_IT = frozenset({"it", "its"})
_SAME = frozenset({"and", "or", "what", "how", "about", "of", "then", "now", "also", "for"})
_OPEN = frozenset(
    {
        *("what", "how", "summary", "overview", "everything", "all", "list", "which", "happened"),
        *("summarise", "summarize"),
    }
)
# what one does to the riskiest ones before the others
_LOOKS = frozenset({"check", "look", "read", "review", "test", "try", "verify", "watch"})
# other names of the same
_ALIKE: dict[str, tuple[str, ...]] = {
    "rocm": ("amd",),
    "amd": ("rocm",),
    "bitsandbytes": ("bnb",),
    "bnb": ("bitsandbytes",),
}


class Kind(Enum):
    """What is wanted."""

    ABOUT = auto()
    RISK_OF = auto()
    WHO_OF = auto()
    FILES_OF = auto()
    BACK = auto()
    MERGERS = auto()
    AUTHORS = auto()
    UNTESTED = auto()
    LARGEST = auto()
    TRIVIAL = auto()
    BREAKS = auto()
    RISKIEST = auto()
    TOPIC = auto()
    DAY = auto()
    UNCLEAR = auto()


_OF_ONES = (Kind.ABOUT, Kind.RISK_OF, Kind.WHO_OF, Kind.FILES_OF)
# in this order: "is it safe to upgrade?" asks what breaks
_OF_MANY = (
    (Kind.RISKIEST, _RISK),
    (Kind.BREAKS, _BREAKS),
    (Kind.RISKIEST, _SAFE),
    (Kind.LARGEST, _LARGE),
    (Kind.TRIVIAL, _TRIVIAL),
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A word of the question as it was typed, and the words by which it is looked for: first its own stem."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. ``numbers`` are pull requests that it is about, or among which it asks; none for all."""

    kind: Kind
    numbers: tuple[int, ...] = ()
    topics: tuple[Topic, ...] = ()

    @property
    def is_of_ones(self) -> bool:
        """Whether it asks for something of each of its pull requests."""
        return self.kind in _OF_ONES


def asked(questions: Sequence[str], last_answer: str, subject: tuple[int, ...]) -> Asked:
    """The last of the questions, oldest first; ``subject`` are the pull requests that the thread is about."""
    question = questions[-1][:_LONGEST] if questions else ""
    own, words, topics = numbers_in(question), _words(question), _topics(question)
    meant = own or _meant(words, topics, (questions[:-1], last_answer, subject))
    kind = _kind(words, meant, topics)
    if own and _SAME.issuperset(words) and len(questions) > 1:
        kind = _kind_before(questions[:-1], kind)
    return Asked(kind, meant, topics)


def _kind_before(questions: Sequence[str], usual: Kind) -> Kind:
    """What was asked of other pull requests before: "and #7?" asks the same of this one."""
    before = asked(questions, "", (1,))
    return before.kind if before.is_of_ones else usual


def numbers_in(text: str, most: int = _MOST_NUMBERS) -> tuple[int, ...]:
    """The numbers of pull requests that a text names, each once."""
    named = (found for found in _NUMBER.finditer(text) if found[0][0] in "#/" or _BARE.fullmatch(found[1]))
    return tuple(dict.fromkeys(int(found[1]) for found in named))[:most]


def _meant(
    words: tuple[str, ...], topics: tuple[Topic, ...], before: tuple[Sequence[str], str, tuple[int, ...]]
) -> tuple[int, ...]:
    """What "them" and "it" are, where the question names no number."""
    questions, answer, subject = before
    if _THEM.intersection(words) or (words[:1] == ("and",) and _WITHOUT.intersection(words)):
        return numbers_in(answer, _MOST_ANSWERED) or subject
    if _IT.intersection(words) and not _is_named_before(words, topics):
        return subject or numbers_in("".join(questions[-1:])) or numbers_in(answer)[:1]
    is_wider = "most" in words or any(not topic.words[0].startswith(_WHERE) for topic in topics)
    return () if is_wider else subject


def _is_named_before(words: tuple[str, ...], topics: tuple[Topic, ...]) -> bool:
    """Whether "it" is what the question itself has named: "did LoRA change, and is it risky?"."""
    said = words[: min(words.index(word) for word in _IT if word in words)]
    return any(topic.name.casefold() in said for topic in topics)


def _words(question: str) -> tuple[str, ...]:
    return tuple(found.casefold() for found in _WORD.findall(question) if not found.isdecimal())


def _has(words: Iterable[str], stems: tuple[str, ...]) -> bool:
    return any(word.startswith(stems) for word in words)


def _kind(words: tuple[str, ...], numbers: tuple[int, ...], topics: tuple[Topic, ...]) -> Kind:
    if _has(words, _BACK):
        return Kind.BACK
    if _THEM.isdisjoint(words) and numbers:
        return _kind_of_ones(words)
    if _has(words, ("test", "untested")) and _WITHOUT.intersection(words):
        return Kind.UNTESTED
    if _has(words, _WHO) and (not topics or "most" in words):
        return Kind.AUTHORS if _has(words, _WRITES) else Kind.MERGERS
    return _kind_of_many(words, topics)


def _kind_of_ones(words: tuple[str, ...]) -> Kind:
    if _has(words, (*_RISK, *_SAFE, *_BREAKS)) or words == ("why",):
        return Kind.RISK_OF
    if _has(words, _WHO):
        return Kind.WHO_OF
    return Kind.FILES_OF if _has(words, (*_WHERE, *_LARGE)) else Kind.ABOUT


def _kind_of_many(words: tuple[str, ...], topics: tuple[Topic, ...]) -> Kind:
    for kind, stems in _OF_MANY:
        if _has(words, stems):
            return kind
    if "first" in words and _LOOKS.intersection(words):
        return Kind.RISKIEST
    if topics:
        return Kind.TOPIC
    return Kind.DAY if _OPEN.intersection(words) else Kind.UNCLEAR


def _topics(question: str) -> tuple[Topic, ...]:
    """Its own words, the most telling first: names are written with capitals or digits inside."""
    typed = [found for found in _WORD.findall(_ADDRESS.sub(" ", question)) if _tells(found)]
    ordered = sorted(typed, key=lambda word: (not _is_name(word), -len(word)))
    named = {_stem(word): word for word in reversed(ordered)}
    stems = list(dict.fromkeys(map(_stem, ordered)))[:_MOST_TOPICS]
    return tuple(Topic(named[stem], (stem, *_ALIKE.get(stem, ()))) for stem in stems)


def _tells(word: str) -> bool:
    small = word.casefold()
    return len(word) > 1 and small not in _FILLERS and not small.startswith(_NO_TOPICS) and not small.isdecimal()


def _is_name(word: str) -> bool:
    return any(char.isupper() or char.isdecimal() or char in "_./" for char in word[1:])


def _stem(word: str) -> str:
    """In small letters and without the s of many; a path as it is."""
    small = word.casefold()
    if "/" in word:
        return word
    return small[:-1] if len(small) > 4 and small.endswith("s") and not small.endswith("ss") else small
