"""References of a question to earlier answers: "the second one", "it" and "them"."""

from __future__ import annotations

import re
from collections.abc import Sequence

# six pull requests can be read at a time; an answer may name all of a day
_MAX_NUMBERS, _MAX_ANSWER_NUMBERS = 6, 100
_NUMBER_PATTERN = re.compile(r"(?:#|/pull/|\b)(\d{1,9})\b")
# shorter numbers are versions and years
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
_ANY_ORDINAL = "|".join(_ORDINALS)
_ORDINAL_PATTERN = rf"(?P<place>{_ANY_ORDINAL})"
_ITEM_NOUN = r"(?:one|pr|pull request|change|item|entry|bullet)\b|of (?:them|these|those)\b"
_ORDINAL_ITEM = re.compile(rf"\b{_ORDINAL_PATTERN} (?:{_ITEM_NOUN})")
# "the first thing to check" and "the last week" do not refer to a list
_LONE_ORDINAL = re.compile(
    rf"\bthe {_ORDINAL_PATTERN}(?=\W*$|\W*[,;:?!.]"
    r"| (?:is|was|do|does|did|has|and|or|risky|safe|merged|landed|in|again|please)\b)"
)
_SEVERAL_ITEMS = re.compile(
    rf"\b(?P<end>first|last) (?P<count>{'|'.join(_COUNTS)}|(?a:[2-9]))\b(?! (?:days|weeks|months))"
)
_TWO_ORDINALS = re.compile(
    rf"\bthe ({_ANY_ORDINAL}) (?:one )?(?:and|or|with|to|than|against|vs\.?) (?:the )?({_ANY_ORDINAL})\b"
)
_ONLY_ORDINAL = re.compile(rf"\W*(?:and |so |ok )?(?:the )?{_ORDINAL_PATTERN}(?: please)?\W*")
# the numbers of a list's items are shorter than those of pull requests
_PLACE_PATTERN = re.compile(r"(?:#|\b(?:number|no\.?|item) ?)((?a:\d{1,2}))\b(?!\.\d)")
_ONLY_PLACE = re.compile(r"\W*((?a:\d{1,2}))\W*")
_MAX_PLACE = 99
_NEIGHBOUR = re.compile(
    r"\b(?:(?P<next>next|one after)|(?P<previous>previous|one before))"
    r"(?: (?:one|pr|pull request|change|item|that|it|this))?\W*$"
)
# the words that begin a paragraph about one pull request
_SUBJECT_PATTERN = re.compile(r"^(?:\*\*)?#(\d{1,9})\b", re.M)
_DEMONSTRATIVE = re.compile(r"\b(?:this|that) (?:one|pr|change|pull request|fix|commit)\b")
_WHICH_ONE = re.compile(r"\bwhich ones?\b")
_NO_LIST_SENTENCE = "I don't know which list you mean: name a pull request by its number, such as #35617."


def find_numbers(text: str, most: int = _MAX_NUMBERS) -> tuple[int, ...]:
    """Return the numbers of pull requests that a text names, each once."""
    matches = (
        match
        for match in _NUMBER_PATTERN.finditer(text)
        if match[0][0] in "#/" or _BARE_NUMBER.fullmatch(match[1])
    )
    return tuple(dict.fromkeys(int(match[1]) for match in matches))[:most]


def find_answer_numbers(answer: str) -> tuple[int, ...]:
    """Return all pull requests that an answer names."""
    return find_numbers(answer, _MAX_ANSWER_NUMBERS)


def find_listed_numbers(answer: str) -> tuple[int, ...]:
    """Return the pull requests of an answer's list, or all that it names if it has no list."""
    return tuple(dict.fromkeys(int(number) for number in _LIST_ITEM.findall(answer))) or find_answer_numbers(
        answer
    )


def find_spoken_of(answer: str) -> tuple[int, ...]:
    """Return the pull requests that an answer is about: those its paragraphs begin with, else its list."""
    subjects = dict.fromkeys(int(number) for number in _SUBJECT_PATTERN.findall(answer))
    return tuple(subjects) or find_listed_numbers(answer)


def may_point(question: str) -> bool:
    """Return whether a question may refer to positions: no number in it is long enough for a pull request."""
    return all(number <= _MAX_PLACE for number in find_numbers(question))


def resolve_pointer(question: str, answers: Sequence[str], subject: tuple[int, ...]) -> tuple[int, ...] | str:
    """Resolve a position in a list, such as "the last one"; return nothing if the question names none.

    If the list has no such position, return a sentence that says so.

    The list is the last one with several items: "and the second one?" is asked after an answer about the first.
    """
    text = " ".join(question.casefold().split())
    lists = [listed for answer in reversed(answers) if (listed := find_listed_numbers(answer))] + [subject] * bool(
        subject
    )
    several = next((listed for listed in lists if len(listed) > 1), lists[0] if lists else ())
    if match := _SEVERAL_ITEMS.search(text):
        count = _COUNTS.get(match["count"]) or int(match["count"])
        return _require_choice(several, several[:count] if match["end"] == "first" else several[-count:])
    if re.search(r"\bboth\b", text):
        return _require_choice(several, several[:2] if len(several) == 2 else ())
    if places := _find_places(text, several):
        is_there = all(place < len(several) for place in places)
        return _require_choice(several, tuple(several[place] for place in places) if several and is_there else ())
    if match := _NEIGHBOUR.search(text):
        return _require_choice(several, _find_neighbour(several, answers, 1 if match["next"] else -1))
    return ()


def _find_places(text: str, several: tuple[int, ...]) -> tuple[int, ...]:
    """Return the places in a list that a text names, from 0; -1 is the last."""
    if match := _TWO_ORDINALS.search(text):
        return _ORDINALS[match[1]], _ORDINALS[match[2]]
    if match := _ORDINAL_ITEM.search(text) or _LONE_ORDINAL.search(text) or _ONLY_ORDINAL.fullmatch(text):
        return (_ORDINALS[match["place"]],)
    match = _PLACE_PATTERN.search(text) or _ONLY_PLACE.fullmatch(text)
    number = int(match[1]) if match else 0
    return (number - 1,) if number and len(several) > 1 and number not in several else ()


def _find_neighbour(several: tuple[int, ...], answers: Sequence[str], step: int) -> tuple[int, ...]:
    """Return the item beside the one that the last answer is about; nothing if there is none."""
    current = find_spoken_of(answers[-1]) if answers else ()
    if len(current) != 1 or current[0] not in several:
        return ()
    place = several.index(current[0]) + step
    return (several[place],) if 0 <= place < len(several) else ()


def _require_choice(several: tuple[int, ...], chosen: tuple[int, ...]) -> tuple[int, ...] | str:
    """Return the chosen items, or a sentence if there are none."""
    if not several:
        return _NO_LIST_SENTENCE
    if not chosen:
        named = ", ".join(f"#{number}" for number in several[:_MAX_NUMBERS])
        more = ", …" if len(several) > _MAX_NUMBERS else ""
        return f"The last list has {len(several)}: {named}{more}. Name one by its number."
    return chosen


def find_choices(question: str, answer: str) -> tuple[int, ...]:
    """Return the list that "which one?" chooses from: that of the last answer, if it has one."""
    listed = _LIST_ITEM.findall(answer) if _WHICH_ONE.search(question.casefold()) else []
    return tuple(dict.fromkeys(map(int, listed))) if len(listed) > 1 else ()


def has_demonstrative(question: str) -> bool:
    """Return whether the question has words such as "this one" or "that change"."""
    return bool(_DEMONSTRATIVE.search(" ".join(question.casefold().split())))
