"""What a question points back to: "the second one", "it" and "them" in what was answered before."""

from __future__ import annotations

import re
from collections.abc import Sequence

# as many pull requests can be read at a time; an answer may name all of a day
_MAX_NUMBERS, _MAX_ANSWER_NUMBERS = 6, 100
_NUMBER_PATTERN = re.compile(r"(?:#|/pull/|\b)(\d{1,9})\b")
# shorter ones are versions and years
_BARE_NUMBER = re.compile(r"\d{5,9}")
_LIST_ITEM = re.compile(r"^[-*] #(\d{1,9})\b", re.M)
_ORDINALS = {
    word: place
    for place, words in {
        **dict(enumerate(("first 1st former", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th"))),
        6: "seventh",
        7: "eighth",
        8: "ninth",
        9: "tenth",
        -1: "last final latter",
    }.items()
    for word in words.split()
}
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5}
_ORDINAL_PATTERN = rf"(?P<place>{'|'.join(_ORDINALS)})"
_ITEM_NOUN = r"(?:one|pr|pull request|change|item|entry|bullet)\b|of (?:them|these|those)\b"
_ORDINAL_ITEM = re.compile(rf"\b{_ORDINAL_PATTERN} (?:{_ITEM_NOUN})")
# "the first thing to check" and "the last week" are none of a list
_LONE_ORDINAL = re.compile(
    rf"\bthe {_ORDINAL_PATTERN}(?=\W*$|\W*[,;:?!.]| (?:is|was|does|did|and|or|risky|safe)\b)"
)
_SEVERAL_ITEMS = re.compile(
    rf"\b(?P<end>first|last) (?P<count>{'|'.join(_COUNTS)}|(?a:[2-9]))\b(?! (?:days|weeks|months))"
)
_DEMONSTRATIVE = re.compile(r"\b(?:this|that) (?:one|pr|change|pull request|fix|commit)\b")
_WHICH_ONE = re.compile(r"\bwhich ones?\b")
_NO_LIST_SENTENCE = "I don't know which list you mean: name a pull request by its number, such as #35617."


def find_numbers(text: str, most: int = _MAX_NUMBERS) -> tuple[int, ...]:
    """The numbers of pull requests that a text names, each once."""
    named = (
        found
        for found in _NUMBER_PATTERN.finditer(text)
        if found[0][0] in "#/" or _BARE_NUMBER.fullmatch(found[1])
    )
    return tuple(dict.fromkeys(int(found[1]) for found in named))[:most]


def find_answer_numbers(answer: str) -> tuple[int, ...]:
    """All pull requests that an answer names."""
    return find_numbers(answer, _MAX_ANSWER_NUMBERS)


def find_listed_numbers(answer: str) -> tuple[int, ...]:
    """The pull requests of an answer's list, or all that it names where it has none."""
    return tuple(dict.fromkeys(int(number) for number in _LIST_ITEM.findall(answer))) or find_answer_numbers(
        answer
    )


def resolve_pointer(question: str, answers: Sequence[str], subject: tuple[int, ...]) -> tuple[int, ...] | str:
    """What a place in a list means, such as "the last one"; none where the question names no place.

    Where the list has no such place, what to say of it.

    The list is the last one of several: "and the second one?" is asked after an answer about the first.
    """
    text = " ".join(question.casefold().split())
    lists = [listed for answer in reversed(answers) if (listed := find_listed_numbers(answer))] + [subject] * bool(
        subject
    )
    several = next((listed for listed in lists if len(listed) > 1), lists[0] if lists else ())
    if found := _SEVERAL_ITEMS.search(text):
        count = _COUNTS.get(found["count"]) or int(found["count"])
        return _require_choice(several, several[:count] if found["end"] == "first" else several[-count:])
    if re.search(r"\bboth\b", text):
        return _require_choice(several, several[:2] if len(several) == 2 else ())
    if found := _ORDINAL_ITEM.search(text) or _LONE_ORDINAL.search(text):
        place = _ORDINALS[found["place"]]
        return _require_choice(several, several[place:][:1] if place < len(several) else ())
    return ()


def _require_choice(several: tuple[int, ...], chosen: tuple[int, ...]) -> tuple[int, ...] | str:
    if not several:
        return _NO_LIST_SENTENCE
    if not chosen:
        named = ", ".join(f"#{number}" for number in several[:_MAX_NUMBERS])
        more = ", …" if len(several) > _MAX_NUMBERS else ""
        return f"The last list has {len(several)}: {named}{more}. Name one by its number."
    return chosen


def find_choices(question: str, answer: str) -> tuple[int, ...]:
    """The list that "which one?" chooses from: the last answer's, if it has one."""
    listed = _LIST_ITEM.findall(answer) if _WHICH_ONE.search(question.casefold()) else []
    return tuple(dict.fromkeys(map(int, listed))) if len(listed) > 1 else ()


def has_demonstrative(question: str) -> bool:
    """Whether it speaks of "this one" or "that change"."""
    return bool(_DEMONSTRATIVE.search(" ".join(question.casefold().split())))
