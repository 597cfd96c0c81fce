"""References to pull requests and commits in texts, and the statements that contain them.

Every part of a pattern has a limited length or begins where the preceding part cannot continue, so that no text
makes a search slow.
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
_LIST_SEPARATOR = re.compile(
    r"""
    (?: ,?\s\(?(?:and|plus|as\ well\ as)\s | \s?[,&+]\s?(?:and\s|&\s)? | \ | (?P<line>,?\n{1,2}-\ ) )
    (?: (?:also|the|PRs?|pull\ requests?|commits?|changes?\ (?:in|of|from)|-)\s )*
    """,
    re.I | re.X,
)
_NOTE = re.compile(r"""\s?(?:\([^()\n]{0,200}\)|"[^"\n]{0,200}"|\u201c[^\u201c\u201d\n]{0,200}\u201d)""")
# "Reverts #5, #6 needs a closer look": #6 is the subject of a new clause
_NEW_CLAUSE = re.compile(
    r"\s(?:is|was|are|were|has|had|needs?|will|would|can|could|should|may|might|does|did|do|broke|breaks|fix\w*|"
    r"stays?|remains?|contains?|changes|changed|adds|added|introduced)\b",
    re.I,
)
_CONDITION = re.compile(r",?\s(?:if|in case|should|unless|once)\b", re.I)
_PARTIAL = re.compile(r"\s?\(?\b(?:partial(?:ly)?|partly|in part)\b", re.I)

_ADVERBS = (
    r"(?:(?P<part>(?:partial(?:ly)?|partly|mostly)\s)|(?:also|simply|just|now|only|fully|completely|cleanly|manually|"
    r"temporarily|effectively|essentially|basically|merely|therefore|please|clean|full|complete|manual|straight|quick|"
    r"emergency|an?|the)\s){0,3}"
)
# "this revert of #5 was wrong" is about another pull request
_SUBJECT = r"this(?!\s\w+\s(?:of|was|is|has)\b)(?:\s(?:PR|pull\srequest|change|commit|patch|diff|CL|one|MR))?"
# the beginning of a statement: of a line, a list item or a sentence; or "this PR …" anywhere
_STATEMENT_BEGINNING = (
    r"(?:(?:^(?:-\s)?(?:\#{1,6}\s)?|(?<=[.!?;]\s))"
    r"(?:(?:summary|purpose|description|motivation|what|why|changes?|context|tl;?dr|note)\s?:\s)?"
    r"(?:(?:so|thus|therefore|hence|let'?s|for\snow),?\s)?"
    rf"(?:(?:{_SUBJECT}|it|we|I|I['\u2019]m|I\sam|we['\u2019]re|we\sare)\s)?"
    rf"|\b{_SUBJECT}\s)(?:is\s)?{_ADVERBS}"
)

# words that name no specific part: "the changes of pull request", "commits"
_WHOLE_WORDS = frozenset(
    """a an of the this that these those all both entire whole full fully complete completely entirely following
    previous recent latest original merged merge pull request requests pr prs mr commit commits change changes
    changeset changesets patch patches work everything which was were been made introduced done added landed in
    from by also my our bad broken faulty""".split()
)
_COMMIT_WORDS = frozenset("commit commits changeset changesets sha".split())
_CHANGE_NOUNS = frozenset("change changes commit commits changeset patch patches work everything".split())
_TEMPORARY = re.compile(
    r"\btemporar(?:y|ily)\b|\btemp\b|\bwork-?arounds?\b|\bstop-?gap\b|\binterim\b|\bshort-term\b|\bplanned\b", re.I
)
_UNRELATED = re.compile(
    r"""
    \b(?:is|are|not|no|never|without|because|since|as|for|see|until|till|if|when|while|whereas|but|despite|via|using|like
    |issues?|bug|fixes|fixed|clos(?:e|es|ing)|resolv\w*|refs?|relate[sd]?|due|after|address\w*|follow(?:s|-?up)
    |instead|discuss\w*|report\w*|suggest\w*|propos\w*|request(?:ed|s\b)|mention\w*|test\ plan)\b
    | [,(]\ ?part\ of | \bby\ @
    """,
    re.I | re.X,
)
_SENTENCE_END = re.compile(r"[.!?;][\s)]|[\"\u201c\u201d]|\n\n|\n- ")
_EARLIER_VALUE = re.compile(
    r"(?<!\bchange )(?<!\bchanges )(?<!\bprior )(?<!\bswitch )(?<!\bmove )(?<!\bbump )(?<!\bupdate )"
    r"(?<!\bupdates )(?<!\bupgrade )(?<!\bmigration )(?<!\baddition )(?<!\badditions )\bto\b",
    re.I,
)
_EARLIER_STATE = re.compile(r"\b(?:before|prior to)(?: the)?(?: PR| pull request)?\s*$", re.I)
_REPLACED_STATE = re.compile(r"\b(?:over|instead of|rather than)\b[^,]{1,60}\b(?:from|of|in|by)\s*$", re.I)
_LINKING_WORD = re.compile(
    r"\b(?:of|in|from|by|with)\s*+(?:the\s)?(?:PR|pull request|commit|changes?)?s?\s*$", re.I
)
_CHANGE_NOUN_AT_END = re.compile(r"\b(?:changes?|commits?|parts?)\s*$", re.I)
_PART_WORD = re.compile(
    r"\b(?:parts?|partial(?:ly)?|partly|some|pieces?|portions?|half|bits?|most|only|aspects?)\b", re.I
)
_MAX_DISTANCE, _MAX_REFERENCE_LENGTH = 160, 300
_MAX_STATEMENTS = 200


class Extent(Enum):
    """How much of a change is reverted. PLANNED is the end of a temporary change."""

    WHOLE = "whole"
    PART = "part"
    PLANNED = "planned"


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference to a pull request by ``number`` or, if that is 0, to a commit by the beginning of its hash.

    ``repository`` and ``web``, the address of the GitHub pages, are empty if the text does not contain them.
    """

    number: int
    commit: str = ""
    repository: str = ""
    web: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    mentions: tuple[Mention, ...]
    extent: Extent


def compile_verb(words: str) -> re.Pattern[str]:
    """Compile ``words``, a pattern without groups, as a verb that begins a statement."""
    return re.compile(rf"{_STATEMENT_BEGINNING}(?P<verb>{words})\b", re.I | re.M)


def find_statements(text: str, pattern: re.Pattern[str]) -> Iterator[Statement]:
    """Yield at most 200 statements with a verb, in the result of :func:`extract_prose`."""
    for match in islice(pattern.finditer(text), _MAX_STATEMENTS):
        if parsed := parse_statement(text, match.end(), is_part=bool(match["part"])):
            yield parsed


def parse_statement(text: str, start: int, *, is_part: bool = False, is_title: bool = False) -> Statement | None:
    """Parse the object of the verb that ends at ``start``; None if it names no pull request or commit."""
    # a reference that begins within the maximum distance ends before this limit
    for match in _REFERENCE.finditer(text, start, start + _MAX_DISTANCE + _MAX_REFERENCE_LENGTH):
        between = text[start : match.start()]
        if len(between) > _MAX_DISTANCE:
            break
        words = between.casefold().strip(" \n:-").split()
        # the text calls it a commit, or it stands alone and can't be a number or a word
        is_called = not _COMMIT_WORDS.isdisjoint(words[-1:])
        is_alone = not set(words) - _WHOLE_WORDS and match["sha"] and _LETTER_AND_DIGIT.match(match["sha"])
        if match["sha"] and not is_called and not is_alone:
            continue
        extent = _classify_extent(between, is_title=is_title)
        return _parse_list(text, match, between, _limit_to_part(extent) if is_part else extent) if extent else None
    return None


def find_references(text: str) -> Iterator[tuple[int, int, Mention]]:
    for match in _REFERENCE.finditer(text):
        mention = _build_mention(match)
        if mention.number:
            yield match.start(), match.end(), mention


def _parse_list(text: str, first: re.Match[str], between: str, extent: Extent) -> Statement | None:
    mentions, end = [_build_mention(first)], first.end()
    is_list, of_commits = "\n- " in between, bool(mentions[0].commit)
    while more := _match_next_reference(text, end, is_list=is_list, of_commits=of_commits):
        if _NEW_CLAUSE.match(text, more.end()):
            break
        mentions.append(_build_mention(more))
        end = more.end()
    if _CONDITION.match(text, end):
        return None
    return Statement(tuple(mentions), _limit_to_part(extent) if _PARTIAL.match(text, end) else extent)


def _match_next_reference(text: str, end: int, *, is_list: bool, of_commits: bool) -> re.Match[str] | None:
    note = _NOTE.match(text, end)
    after = _LIST_SEPARATOR.match(text, note.end() if note else end)
    if not after or (after["line"] and not is_list):
        return None
    other = _REFERENCE.match(text, after.end())
    return other if other and (not other["sha"] or of_commits or _LETTER_AND_DIGIT.match(other["sha"])) else None


def _build_mention(match: re.Match[str]) -> Mention:
    number = match["page"] or match["number"] or match["named"] or "0"
    commit = match["object"] or match["at"] or match["sha"] or ""
    return Mention(int(number), commit.lower(), match["site"] or match["place"] or "", match["web"] or "")


def _limit_to_part(extent: Extent) -> Extent:
    return Extent.PART if extent is Extent.WHOLE else extent


def _classify_extent(between: str, *, is_title: bool) -> Extent | None:
    words = [word for raw in between.casefold().split() if (word := raw.strip(":()[],-\u2013\u2014_'\u2019"))]
    if not set(words) - _WHOLE_WORDS:
        is_linked = not words or words[-1] not in ("in", "by", "from") or bool(_CHANGE_NOUNS & set(words))
        return Extent.WHOLE if is_linked else None
    if _SENTENCE_END.search(between):
        return None
    if _TEMPORARY.search(between):
        return Extent.PLANNED
    if _EARLIER_VALUE.search(between) or _EARLIER_STATE.search(between):
        undoes = _EARLIER_STATE.search(between) or _REPLACED_STATE.search(between)
        return Extent.PART if undoes else None
    if _UNRELATED.search(between):
        return None
    # the reverted part is described: "the X of #5", "the scheduler change (#5)"
    if _PART_WORD.search(between) or _LINKING_WORD.search(between) or _CHANGE_NOUN_AT_END.search(between):
        return Extent.PART
    # in a description, "Revert the scheduler change (#9)" is a line of release notes
    return Extent.WHOLE if is_title else None
