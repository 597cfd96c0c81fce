"""What became of merges: which were reverted or repaired, by which, and after what time.

A repair says that it fixes what another broke, such as "fixes a regression from #N".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import islice
from typing import Generic, TypeVar

from impact.errors import attempt
from impact.history.mentions import Mention, find_references
from impact.history.merges import WrittenMerge
from impact.history.reverts import M, RevertIndex, list_reverted_numbers, select_standing
from impact.text.description import extract_prose

M_co = TypeVar("M_co", bound=WrittenMerge, covariant=True)


class OutcomeKind(StrEnum):
    REVERTED = "reverted"
    PARTLY = "reverted in part"
    REPAIRED = "repaired"


# without slots: Python 3.11 can't call MergeOutcome[PullRequest](…) of a frozen class that has them
@dataclass(frozen=True)
class MergeOutcome(Generic[M_co]):
    pull: M_co
    by: M_co
    kind: OutcomeKind = OutcomeKind.REVERTED
    stands: bool = True

    @property
    def lifetime(self) -> timedelta:
        return self.by.merge_time - self.pull.merge_time

    @property
    def pair_key(self) -> str:
        return f"{self.pull.number}-{self.by.number}"

    @property
    def state_key(self) -> str:
        return f"{self.pair_key}{'' if self.stands else '-'}"


def find_outcomes(index: RevertIndex[M]) -> tuple[MergeOutcome[M], ...]:
    """Return all outcomes among the merges of an index: reverts, also those that do not stand, then repairs.

    Both pull requests of a pair are in the index. A pair with a reverted pull request is no repair.
    """
    by_number, reverts = index.by_number, index.reverts
    held = frozenset(select_standing(reverts, by_number.values()))
    gone = list_reverted_numbers(held)
    kinds = (OutcomeKind.REVERTED, OutcomeKind.PARTLY)
    reverted = (
        MergeOutcome(by_number[each.number], by_number[each.by], kinds[each.is_partial], stands=each in held)
        for each in reverts
    )
    repaired = (
        MergeOutcome(by_number[repair.number], by_number[repair.by], OutcomeKind.REPAIRED)
        for repair in find_repairs(index)
        if gone.isdisjoint((repair.number, repair.by))
    )
    return (*reverted, *repaired)


# --- repairs

_REPAIR_WORD = re.compile(
    r"\b(?:fix(?:es|ed|ing|up)?|hot-?fix|bug-?fix(?:es)?|repair\w*|regress\w*|restor\w*|unbreak\w*)\b", re.I
)
# titles with these words repair no defect
_TRIVIAL_WORD = re.compile(r"\b(?:typos?|nits?|spell\w*|lint\w*|pre-?commit|mypy|comments?|links?)\b", re.I)
# a text with more references is a list of changes
_MAX_REFERENCES = 200
# characters before and after a number that are searched
_CHARACTERS_BEFORE, _CHARACTERS_AFTER = 120, 80
_LINKING_WORD = (
    r"\b(?:by|from|in|since|after|of|with|when|due\s+to|because\s+of|thanks\s+to)\s+(?:the\s+)?[(\[]?\Z"
)
# "fixed in", "reported in", "skipped in", "as in" refer to an earlier state or to a discussion
_UNRELATED = (
    r"\n\s*\n|\b(?:not|fix|solv|report|describ|discuss|skip|disabl|mention|track|comment|review|suggest|propos|request"
    r"|address|handl|found|seen|observ|notic|similar|same|like|as\s(?:in|of)\b|see\b|per\b|port|cherry|follow(?:s|ed|ing)\b)"
)
# words of blame; "fixes #N" names an issue and blames nobody
_BLAME = re.compile(
    rf"""
    \b(?:regress(?:ions?|ed)|broken|breakages?|broke|breaks|bugs?|introduced|caused?|fail(?:ures?|ing|s|ed)?|issues?
    |problems?|incompatib(?:le|ilit(?:y|ies))|mistakes?|mistakenly|oversights?|overlooked|forgotten|missed
    |fall-?out|left-?overs?|accident(?:al|ally)|inadvertently|unintentionally|wrongly|erroneously|culprit|offending)\b
    (?:(?!{_UNRELATED})[\w\s,:'\u2019_/-]){{0,60}}?{_LINKING_WORD}
    """,
    re.I | re.X,
)
# these words alone say that the pull request repairs a defect of the number, or name it as the cause
_FOLLOW_UP = re.compile(
    r"""
    \b(?:(?:follow-?\s?up|forward|post-merge|hot|bug)[\s-]?fix(?:es|up)?(?:\s(?:for|to|of|on|from))?
    |fix(?:ing)?\s(?:fall-?out|forward)(?:\s(?:of|from|for))?
    |(?:in)?compatibilit(?:y|ies)(?:\sissues?)?\sbetween|(?:conflict|clash)(?:s|es)?\s(?:between|with)
    |(?:culprit|offending|guilty)(?:\s(?:PR|commit|change|pull\srequest))?(?:\s?:|\sis|\swas)?
    |bisect(?:s|ed)?\s(?:it\s|this\s)?(?:down\s)?to|bisect\spoints\s(?:at|to))\s[(\[]?\Z
    """,
    re.I | re.X,
)
# the origin of a defect, in a title of a repair
_DEFECT_ORIGIN = re.compile(
    rf"\A(?:(?!{_UNRELATED}).|\bfix(?:es|ed|ing|up)?\b)*(?:{_LINKING_WORD}|\bfix(?:es)?\sfor\s\Z)", re.I | re.S
)
_NEGATION = re.compile(
    r"(?:\bnot|n['\u2019]t|\bno|\bnever|\bnor|\bneither|\bwithout|\bunrelated\sto)\s+(?:[\w-]+\s+){0,2}\Z", re.I
)
_CONDITION = re.compile(r"\b(?:if|whether|unless|before|until)\s+(?:the\s+)?\Z", re.I)
_CAUSED_DEFECT = re.compile(
    r"""
    [)\]]?,?\s(?:(?:also|has|have|had|which|that|probably|seems\sto\shave|silently)\s){0,2}
    (?:(?:broke|broken|breaks|regressed|regresses|caused|causes)\b(?!\sby)
    |introduc(?:ed|es)\s(?:an?|the|this|some)\s(?:[\w-]+\s){0,3}
        (?:bug|regression|issue|error|breakage|crash|problem|failure|leak|deadlock|race)\b
    |(?:accidentally|inadvertently|mistakenly|unintentionally|wrongly|incorrectly|erroneously)\s\w)
    """,
    re.I | re.X,
)
_AND = re.compile(r"[)\]]?(?:,?\s(?:and|&)\s|,\s|/)(?:the\s)?[(\[]?\Z", re.I)
_NEW_CLAUSE = re.compile(r"\s(?:is|was|are|were|has|had|needs?|will|would|fix\w*|adds?|added|does|did)\b", re.I)


@dataclass(frozen=True, slots=True)
class Repair:
    """A pair of pull requests: ``by`` repairs a defect that ``number`` caused."""

    number: int
    by: int


def find_repairs(index: RevertIndex[M]) -> tuple[Repair, ...]:
    """Find the repairs of earlier merges in the index, no reverts, in linear time but for a sort."""
    causes = ((by, attempt(f"#{by}", _find_causes, pull, index) or ()) for by, pull in index.by_number.items())
    return tuple(Repair(number, by) for by, numbers in causes for number in sorted(numbers))


def _find_causes(pull: M, index: RevertIndex[M]) -> set[int]:
    blamed = set(_find_blamed(pull))
    causes = {cause.number for mention in blamed if (cause := index.find_mentioned(mention, pull))}
    return causes - {revert.number for revert in index.list_reverts_by(pull.number)}


def _find_blamed(pull: WrittenMerge) -> Iterator[Mention]:
    if not _REPAIR_WORD.search(pull.title) or _TRIVIAL_WORD.search(pull.title):
        return
    yield from _find_blamed_in_text(pull.title, is_title=True)
    # the first line of a message is the title
    for text in (pull.body, pull.commit_message.partition("\n")[2]):
        if "#" in text or "/pull/" in text or "PR" in text:
            yield from _find_blamed_in_text(extract_prose(text))


def _find_blamed_in_text(text: str, *, is_title: bool = False) -> Iterator[Mention]:
    blamed_until = -1
    for start, end, mention in islice(find_references(text), _MAX_REFERENCES):
        is_next = blamed_until >= 0 and _AND.match(text, blamed_until, start)
        goes_on = is_next and _NEW_CLAUSE.match(text, end)
        if (is_next and not goes_on) or _is_blamed(text, start, end, is_title=is_title):
            blamed_until = end
            yield mention


def _is_blamed(text: str, start: int, end: int, *, is_title: bool) -> bool:
    before = text[max(0, start - _CHARACTERS_BEFORE) : start]
    if _CAUSED_DEFECT.match(text[end : end + _CHARACTERS_AFTER]):
        return not _CONDITION.search(before)
    signs = (_BLAME.search(before), _FOLLOW_UP.search(before))
    if any(sign and not _NEGATION.search(before[: sign.start()]) for sign in signs):
        return True
    return is_title and not any(signs) and bool(_DEFECT_ORIGIN.search(before))
