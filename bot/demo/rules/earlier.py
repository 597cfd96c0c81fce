"""What a question points back to: "the second one", "it" and "them" in what was answered before."""

from __future__ import annotations

import re
from collections.abc import Sequence

# as many pull requests can be read at a time; an answer may name all of a day
_MOST_NUMBERS, _MOST_ANSWERED = 6, 100
_NUMBER = re.compile(r"(?:#|/pull/|\b)(\d{1,9})\b")
# shorter ones are versions and years
_BARE = re.compile(r"\d{5,9}")
_ITEM = re.compile(r"^[-*] #(\d{1,9})\b", re.M)
_PLACES = {
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
_PLACE = rf"(?P<place>{'|'.join(_PLACES)})"
_NOUN = r"(?:one|pr|pull request|change|item|entry|bullet)\b|of (?:them|these|those)\b"
_ONE = re.compile(rf"\b{_PLACE} (?:{_NOUN})")
# "the first thing to check" and "the last week" are none of a list
_ALONE = re.compile(rf"\bthe {_PLACE}(?=\W*$|\W*[,;:?!.]| (?:is|was|does|did|and|or|risky|safe)\b)")
_SOME = re.compile(rf"\b(?P<end>first|last) (?P<count>{'|'.join(_COUNTS)}|(?a:[2-9]))\b(?! (?:days|weeks|months))")
_THAT = re.compile(r"\b(?:this|that) (?:one|pr|change|pull request|fix|commit)\b")
_WHICH = re.compile(r"\bwhich ones?\b")
_NO_LIST = "I don't know which list you mean: name a pull request by its number, such as #35617."


def numbers_in(text: str, most: int = _MOST_NUMBERS) -> tuple[int, ...]:
    """The numbers of pull requests that a text names, each once."""
    named = (found for found in _NUMBER.finditer(text) if found[0][0] in "#/" or _BARE.fullmatch(found[1]))
    return tuple(dict.fromkeys(int(found[1]) for found in named))[:most]


def answered_in(answer: str) -> tuple[int, ...]:
    """All pull requests that an answer names."""
    return numbers_in(answer, _MOST_ANSWERED)


def listed_in(answer: str) -> tuple[int, ...]:
    """The pull requests of an answer's list, or all that it names where it has none."""
    return tuple(dict.fromkeys(int(number) for number in _ITEM.findall(answer))) or answered_in(answer)


def pointed_at(question: str, answers: Sequence[str], subject: tuple[int, ...]) -> tuple[int, ...] | str:
    """What a place in a list means, such as "the last one"; none where the question names no place.

    Where the list has no such place, what to say of it.

    The list is the last one of several: "and the second one?" is asked after an answer about the first.
    """
    text = " ".join(question.casefold().split())
    lists = [listed for answer in reversed(answers) if (listed := listed_in(answer))] + [subject] * bool(subject)
    several = next((listed for listed in lists if len(listed) > 1), lists[0] if lists else ())
    if found := _SOME.search(text):
        count = _COUNTS.get(found["count"]) or int(found["count"])
        return _chosen(several, several[:count] if found["end"] == "first" else several[-count:])
    if re.search(r"\bboth\b", text):
        return _chosen(several, several[:2] if len(several) == 2 else ())
    if found := _ONE.search(text) or _ALONE.search(text):
        place = _PLACES[found["place"]]
        return _chosen(several, several[place:][:1] if place < len(several) else ())
    return ()


def _chosen(several: tuple[int, ...], chosen: tuple[int, ...]) -> tuple[int, ...] | str:
    if not several:
        return _NO_LIST
    if not chosen:
        named = ", ".join(f"#{number}" for number in several[:_MOST_NUMBERS])
        more = ", …" if len(several) > _MOST_NUMBERS else ""
        return f"The last list has {len(several)}: {named}{more}. Name one by its number."
    return chosen


def chosen_among(question: str, answer: str) -> tuple[int, ...]:
    """The list that "which one?" chooses from: the last answer's, if it has one."""
    listed = _ITEM.findall(answer) if _WHICH.search(question.casefold()) else []
    return tuple(dict.fromkeys(map(int, listed))) if len(listed) > 1 else ()


def names_that_one(question: str) -> bool:
    """Whether it speaks of "this one" or "that change"."""
    return bool(_THAT.search(" ".join(question.casefold().split())))
