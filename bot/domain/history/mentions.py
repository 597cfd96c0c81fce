"""How people name other pull requests and commits: the references, and the statements they stand in.

Every part of a pattern is bounded or begins where the one before can't go on, so that no text makes a search slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice

_REFERENCE = re.compile(
    r"""
    (?<![\w/.])(?P<web>https?://[\w.-]{1,100}(?::\d{1,5})?)/(?P<site>[\w.-]{1,100}/[\w.-]{1,100})/
        (?:pull/(?P<page>\d{1,9})|commit/(?P<object>[0-9a-f]{7,40}))(?!\w)
    | (?<![\w/.@\#-])(?P<place>[\w.-]{1,100}/[\w.-]{1,100})?
        (?:\#(?P<number>\d{1,9})|(?<=\w)@(?P<at>[0-9a-f]{7,40}))(?!\w)
    | \b(?:PRs?|pull\ requests?)[\ -]?\#?(?P<named>\d{1,9})(?!\w)
    | (?<![\w/.@\#-])(?P<sha>[0-9a-f]{7,40})(?!\w)
    """,
    re.I | re.X,
)
_LETTER_AND_DIGIT = re.compile(r"(?=\d*[a-f])[a-f]*\d", re.I)
# "#5, #6 and #7", "#5 #6", "commits a, b", and lines of a list
_MORE = re.compile(
    r"""
    (?: ,?\s\(?(?:and|plus|as\ well\ as)\s | \s?[,&+]\s?(?:and\s|&\s)? | \ | (?P<line>,?\n{1,2}-\ ) )
    (?: (?:also|the|PRs?|pull\ requests?|commits?|changes?\ (?:in|of|from)|-)\s )*
    """,
    re.I | re.X,
)
_NOTE = re.compile(r"""\s?(?:\([^()\n]{0,200}\)|"[^"\n]{0,200}"|\u201c[^\u201c\u201d\n]{0,200}\u201d)""")
# "Reverts #5, #6 needs a closer look": what follows has #6 for its subject
_GOES_ON = re.compile(
    r"\s(?:is|was|are|were|has|had|needs?|will|would|can|could|should|may|might|does|did|do|broke|breaks|fix\w*|"
    r"stays?|remains?|contains?|changes|changed|adds|added|introduced)\b",
    re.I,
)
_CONDITION = re.compile(r",?\s(?:if|in case|should|unless|once)\b", re.I)
_IN_PART = re.compile(r"\s?\(?\b(?:partial(?:ly)?|partly|in part)\b", re.I)

_ADVERBS = (
    r"(?:(?P<part>(?:partial(?:ly)?|partly|mostly)\s)|(?:also|simply|just|now|only|fully|completely|cleanly|manually|"
    r"temporarily|effectively|essentially|basically|merely|therefore|please|clean|full|complete|manual|straight|quick|"
    r"emergency|an?|the)\s){0,3}"
)
# "this revert of #5 was wrong" speaks of another
_SUBJECT = r"this(?!\s\w+\s(?:of|was|is|has)\b)(?:\s(?:PR|pull\srequest|change|commit|patch|diff|CL|one|MR))?"
# where a statement begins: a line, a point of a list, a sentence; or "this PR …" anywhere
_BEGIN = (
    r"(?:(?:^(?:-\s)?(?:\#{1,6}\s)?|(?<=[.!?;]\s))"
    r"(?:(?:summary|purpose|description|motivation|what|why|changes?|context|tl;?dr|note)\s?:\s)?"
    r"(?:(?:so|thus|therefore|hence|let'?s|for\snow),?\s)?"
    rf"(?:(?:{_SUBJECT}|it|we|I|I['\u2019]m|I\sam|we['\u2019]re|we\sare)\s)?"
    rf"|\b{_SUBJECT}\s)(?:is\s)?{_ADVERBS}"
)

# words that say nothing of which part: "the changes of pull request", "commits"
_WHOLE = frozenset(
    """a an of the this that these those all both entire whole full fully complete completely entirely following
    previous recent latest original merged merge pull request requests pr prs mr commit commits change changes
    changeset changesets patch patches work everything which was were been made introduced done added landed in
    from by also my our bad broken faulty""".split()
)
_NOUNS = frozenset("change changes commit commits changeset patch patches work everything".split())
_PLANNED = re.compile(
    r"\btemporar(?:y|ily)\b|\btemp\b|\bwork-?arounds?\b|\bstop-?gap\b|\binterim\b|\bshort-term\b|\bplanned\b", re.I
)
_SOMETHING_ELSE = re.compile(
    r"""
    \b(?:is|are|not|no|never|without|because|since|as|for|see|until|till|if|when|while|whereas|but|despite|via|using|like
    |issues?|bug|fixes|fixed|clos(?:e|es|ing)|resolv\w*|refs?|relate[sd]?|due|after|address\w*|follow(?:s|-?up)
    |instead|discuss\w*|report\w*|suggest\w*|propos\w*|request(?:ed|s\b)|mention\w*|test\ plan)\b
    | [,(]\ ?part\ of | \bby\ @
    """,
    re.I | re.X,
)
_SENTENCE_ENDS = re.compile(r"[.!?;][\s)]|[\"\u201c\u201d]|\n\n|\n- ")
_GOES_BACK = re.compile(
    r"(?<!\bchange )(?<!\bchanges )(?<!\bprior )(?<!\bswitch )(?<!\bmove )(?<!\bbump )(?<!\bupdate )"
    r"(?<!\bupdates )(?<!\bupgrade )(?<!\bmigration )(?<!\baddition )(?<!\badditions )\bto\b",
    re.I,
)
_WHAT_WAS_BEFORE = re.compile(r"\b(?:before|prior to)(?: the)?(?: PR| pull request)?\s*$", re.I)
_OVER_WHAT_CAME = re.compile(r"\b(?:over|instead of|rather than)\b[^,]{1,60}\b(?:from|of|in|by)\s*$", re.I)
_LINKED = re.compile(r"\b(?:of|in|from|by|with)\s*(?:the\s)?(?:PR|pull request|commit|changes?)?s?\s*$", re.I)
_NAMES_A_CHANGE = re.compile(r"\b(?:changes?|commits?|parts?)\s*$", re.I)
_A_PART = re.compile(
    r"\b(?:parts?|partial(?:ly)?|partly|some|pieces?|portions?|half|bits?|most|only|aspects?)\b", re.I
)
_LONGEST, _LONGEST_REFERENCE = 160, 300
_MOST_STATEMENTS = 200


class Extent(Enum):
    """How much of what is named is taken back; PLANNED is the end of something temporary."""

    WHOLE = "whole"
    PART = "part"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Mention:
    """A pull request by its ``number`` or, where that is 0, a commit by the beginning of its hash.

    ``repository`` is empty where none was written, and so is ``web``, where the pages are of an address.
    """

    number: int
    commit: str = ""
    repository: str = ""
    web: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a verb is said of, and to what extent."""

    mentions: tuple[Mention, ...]
    extent: Extent


def verb(words: str) -> re.Pattern[str]:
    """A pattern for :func:`statements` with a verb (a pattern without groups) where a statement begins."""
    return re.compile(rf"{_BEGIN}(?P<verb>{words})\b", re.I | re.M)


def statements(text: str, pattern: re.Pattern[str]) -> Iterator[Statement]:
    """What a verb is said of in :func:`bot.domain.text.description.prose`, where it stands at most 200 times."""
    for found in islice(pattern.finditer(text), _MOST_STATEMENTS):
        if stated := statement(text, found.end(), is_part=bool(found["part"])):
            yield stated


def statement(text: str, start: int, *, is_part: bool = False, is_title: bool = False) -> Statement | None:
    """What the verb that ends at ``start`` is said of; None where it names nothing."""
    # no reference that begins soon enough reaches farther
    for found in _REFERENCE.finditer(text, start, start + _LONGEST + _LONGEST_REFERENCE):
        between = text[start : found.start()]
        if len(between) > _LONGEST:
            break
        if found["sha"] and not _is_commit(between, found["sha"]):
            continue
        extent = _extent(between, is_title=is_title)
        return _listed(text, found, between, _in_part(extent) if is_part else extent) if extent else None
    return None


def references(text: str) -> Iterator[tuple[int, int, Mention]]:
    """The pull requests that a text names, with where they begin and end in it."""
    for found in _REFERENCE.finditer(text):
        mention = _mention(found)
        if mention.number:
            yield found.start(), found.end(), mention


def _listed(text: str, first: re.Match[str], between: str, extent: Extent) -> Statement | None:
    mentions, end = [_mention(first)], first.end()
    is_list, of_commits = "\n- " in between, bool(mentions[0].commit)
    while more := _another(text, end, is_list=is_list, of_commits=of_commits):
        if _GOES_ON.match(text, more.end()):
            break
        mentions.append(_mention(more))
        end = more.end()
    if _CONDITION.match(text, end):
        return None
    return Statement(tuple(mentions), _in_part(extent) if _IN_PART.match(text, end) else extent)


def _another(text: str, end: int, *, is_list: bool, of_commits: bool) -> re.Match[str] | None:
    note = _NOTE.match(text, end)
    after = _MORE.match(text, note.end() if note else end)
    if not after or (after["line"] and not is_list):
        return None
    found = _REFERENCE.match(text, after.end())
    return found if found and (not found["sha"] or of_commits or _LETTER_AND_DIGIT.match(found["sha"])) else None


def _mention(found: re.Match[str]) -> Mention:
    number = found["page"] or found["number"] or found["named"] or "0"
    commit = found["object"] or found["at"] or found["sha"] or ""
    return Mention(int(number), commit.lower(), found["site"] or found["place"] or "", found["web"] or "")


def _is_commit(between: str, sha: str) -> bool:
    """Whether it is said to be one, or stands alone and can't be a number or a word."""
    words = between.casefold().strip(" \n:-").split()
    if words and words[-1] in ("commit", "commits", "changeset", "changesets", "sha"):
        return True
    return not set(words) - _WHOLE and bool(_LETTER_AND_DIGIT.match(sha))


def _in_part(extent: Extent) -> Extent:
    return Extent.PART if extent is Extent.WHOLE else extent


def _extent(between: str, *, is_title: bool) -> Extent | None:
    words = [word for raw in between.casefold().split() if (word := raw.strip(":()[],-\u2013\u2014_'\u2019"))]
    if not set(words) - _WHOLE:
        is_linked = not words or words[-1] not in ("in", "by", "from") or bool(_NOUNS & set(words))
        return Extent.WHOLE if is_linked else None
    if _SENTENCE_ENDS.search(between):
        return None
    if _PLANNED.search(between):
        return Extent.PLANNED
    if _GOES_BACK.search(between) or _WHAT_WAS_BEFORE.search(between):
        undoes = _WHAT_WAS_BEFORE.search(between) or _OVER_WHAT_CAME.search(between)
        return Extent.PART if undoes else None
    return None if _SOMETHING_ELSE.search(between) else _described(between, is_title=is_title)


def _described(between: str, *, is_title: bool) -> Extent | None:
    """The extent where words describe what is taken back: "the X of #5", "the scheduler change (#5)"."""
    if _A_PART.search(between) or _LINKED.search(between) or _NAMES_A_CHANGE.search(between):
        return Extent.PART
    # in a description, "Revert the scheduler change (#9)" is a line of release notes
    return Extent.WHOLE if is_title else None
