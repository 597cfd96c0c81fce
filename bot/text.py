from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta


def format_count(count: int, singular: str, many: str = "") -> str:
    """Format a number with its noun: ``1 file``, ``2 files``, ``1,234 files``."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def format_duration(time: timedelta) -> str:
    """Format a duration for people: ``40 s``, ``5 min``, ``3 h``, ``2 days``."""
    seconds = max(0, round(time.total_seconds()))
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_MARKS = re.compile(r"[^\w#]+")
_MARKS_OF_WORDS = "`'\".,;:()"
# words of a condition that tell nothing of it
_LINKING_WORDS = frozenset("a an and at behind by for if in is of on only or set the to when where with".split())
# fewer words in a row may stand in another text by chance
_MIN_COMMON_WORDS = 4


def truncate_words(text: str, limit: int) -> str:
    """Truncate the text to ``limit`` words, at least one, with an ellipsis; words are what blanks separate."""
    words = text.split()
    return text if len(words) <= limit else " ".join(words[: max(1, limit)]).rstrip(",;:") + "…"


def select_sentences(text: str, is_kept: Callable[[str], bool]) -> str:
    """Return the sentences of a text that are kept. One that ends with an ellipsis was cut before: it never is."""
    return " ".join(each for each in _SENTENCE_END.split(text) if is_kept(each) and not each.endswith("…"))


def keep_sentences(text: str, limit: int) -> str:
    """Return the first sentences of at most ``limit`` words together, each whole; empty if the first is longer.

    A sentence that ends with an ellipsis was cut before.
    """
    kept, count = list[str](), 0
    for sentence in _SENTENCE_END.split(text):
        count += len(sentence.split())
        if count > limit or sentence.endswith("…"):
            break
        kept.append(sentence)
    return " ".join(kept)


def normalize_sentence(text: str) -> str:
    """Return the words of a text alone, in lower case, so that two texts of the same words are equal."""
    return " ".join(_MARKS.sub(" ", text.casefold()).split())


def add_condition(claim: str, condition: str) -> str:
    """Return a claim with the condition under which it holds, unless it has the words of that already.

    A claim that was cut, or of several sentences, has it in front.
    """
    condition = condition.strip().rstrip(" .;,")
    present, words = (
        {word.strip(_MARKS_OF_WORDS) for word in text.casefold().split()} for text in (claim, condition)
    )
    if not claim or words - _LINKING_WORDS <= present:
        return claim
    if claim.endswith("…") or _SENTENCE_END.search(claim):
        return f"{condition[0].upper()}{condition[1:]}: {claim}"
    first, *rest = condition.split(" ", 1)
    if first.casefold() in _LINKING_WORDS or first == "Not":
        condition = " ".join([first.casefold(), *rest])
    bare = claim.rstrip(".")
    # a condition that was cut keeps its ellipsis, by which its claim has no place in a lead
    end = "" if condition.endswith("…") else claim[len(bare) :]
    return f"{bare}, {condition}{end}"


@dataclass(frozen=True, slots=True)
class SentenceIndex:
    sentences: frozenset[str]
    words: str

    @classmethod
    def build(cls, text: str) -> SentenceIndex:
        return cls(
            frozenset(map(normalize_sentence, _SENTENCE_END.split(text))) - {""}, f" {normalize_sentence(text)} "
        )

    def has_words(self, words: str) -> bool:
        """Return whether the text has a normalized sentence: as one of its sentences, or as words in a row."""
        if words in self.sentences:
            return True
        return len(words.split()) >= _MIN_COMMON_WORDS and f" {words} " in self.words


EMPTY_INDEX = SentenceIndex(frozenset(), "")


# not after the name of another repository, as in "pytorch/pytorch#1"
NUMBER_PATTERN = r"(?<![\w/.-])#(?P<number>\d+)\b"

_MAX_DIGITS = 9
_ANY_NUMBER = NUMBER_PATTERN.replace("?P<number>", "")
_SEPARATOR = r"(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+)"
# a bracket includes the blanks before it; a match begins only at the first of them, which keeps the search linear
_NUMBER_LIST = re.compile(
    rf"(?P<open>(?<!\s)\s*\((?:PRs?|pull requests?)?\s*)?"
    rf"(?P<list>{_ANY_NUMBER}(?:{_SEPARATOR}{_ANY_NUMBER})*)(?P<close>\s*\))?",
    re.I,
)


def remove_unknown_numbers(text: str, numbers: frozenset[int]) -> str:
    """Remove each ``#N`` that is not in ``numbers``, and each list or pair of brackets that becomes empty."""
    kept = _NUMBER_LIST.sub(lambda match: _keep_known_numbers(match, numbers), text)
    if kept == text:
        return text
    return re.sub(r" +([,.;)])", r"\1", re.sub(r" {2,}", " ", kept)).strip()


def parse_digits(digits: str) -> int:
    """Parse a number; return 0, which no pull request has, if it has too many digits."""
    return int(digits) if len(digits) <= _MAX_DIGITS else 0


def _keep_known_numbers(match: re.Match[str], numbers: frozenset[int]) -> str:
    written = re.findall(r"#(\d+)", match["list"])
    kept = [number for number in written if parse_digits(number) in numbers]
    if len(kept) == len(written):
        return match[0]
    opened, closed = match["open"] or "", match["close"] or ""
    if opened and closed and not kept:
        return ""
    return opened + ", ".join(f"#{number}" for number in kept) + closed
