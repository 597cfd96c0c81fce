"""What readers may have to do after a day: which actions concern them, and which come first.

A summary gives an action as one sentence. Its words decide how it is ranked, and the files of its pull request
whether it concerns readers (docs/decisions/0010-what-is-in-the-lead.md).
"""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from bot.features.merges.view import LeadRule
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import PathClass, PathClasses


class ActionRank(IntEnum):
    """What happens to those who do not act, in the order in which actions are shown."""

    REMOVED = 0
    REQUIREMENT = 1
    CHANGED_DEFAULT = 2
    ADVICE = 3
    OPTION = 4

    @property
    def rule(self) -> LeadRule:
        """The rule that admits it to a lead: a must where something stops working otherwise."""
        if self <= ActionRank.REQUIREMENT:
            return LeadRule.MUST_ACT
        return LeadRule.MAY_ACT if self is ActionRank.OPTION else LeadRule.SHOULD_ACT


_CODE = re.compile(r"`[^`]*`")
# what only may be done, or is only announced, breaks nothing today
_HARMLESS = re.compile(
    r"\b(?P<modal>can|may|might|could|will|to) (?:now |also |safely )?"
    r"be (?:removed|dropped|deleted|renamed|replaced)\b"
    r"|\b(?:no (?:action|change)s? (?:is |are )?(?:needed|required|necessary))\b"
    r"|\b(?:not|never|isn't|aren't) (?:been )?(?:removed|renamed|required|needed|mandatory)\b"
    r"|\b(?:no longer|not) (?:requires?|required|needs?|needed|mandatory|have to|has to|must)\b"
    r"|\bno longer (?:prevents?|fails?|crash\w*|breaks?|blocks?)\b"
    r"|\bdefaults? (?:is|are|stays?|remains?) (?:the same|unchanged|as before)\b|\bdefault branch\b"
    # a condition that stands behind an action
    r"|, off by default\b",
    re.I,
)
# what is left at the end says what one may do; a plain request counts as what one should do
_RANKS = {
    ActionRank.REMOVED: r"\b(?:removed|removes|removal|renam\w+|dropped|drops|deleted|deletes|(?:is|are) gone"
    r"|no longer|moved (?:to|from|into)|used to be)\b"
    r"|(?:^|[.;:,] |\b(?:must|should|to) )(?:replace|migrate|point)\b[^.;]{1,120}\b(?:with|by|to|at)\b",
    ActionRank.CHANGED_DEFAULT: r"\b(?:default(?:s|ed)?|deprecated)\b"
    r"|\b(?:is|are) now (?:on|off|enabled|disabled)\b|\bopt(?:s|ed)?[- ](?:in|out)\b"
    r"|\b(?:keep|restore) the (?:old|previous|former)\b"
    r"|\bturn(?:s|ed)? (?:on|off)\b",
    ActionRank.REQUIREMENT: r"\b(?:must|requires?|required|requirement|mandatory|needs?|needed|ha(?:s|ve) to"
    r"|at least|minimum)\b"
    r"|(?:^|[.;:,] |\b(?:should|to) )(?:upgrade|(?:re)?install|rebuild|regenerate)\b",
    ActionRank.OPTION: r"\b(?:may|can|might|could|optional(?:ly)?|if (?:you )?(?:want|wish))\b",
}
_PATTERNS = {rank: re.compile(pattern, re.I) for rank, pattern in _RANKS.items()}
_TEST_CLASSES = {PathClass.TESTS, PathClass.CI}
# follow what they belong to
_PASSIVE_CLASSES = {PathClass.DOCS, PathClass.LOCK, PathClass.GENERATED}
# requirements/test.txt, Dockerfile.ci: built for tests, not for readers
_TEST_NAME = re.compile(r"(?:^|[/._-])(?:tests?|testing|ci|lint)(?=[/._-]|$)", re.I)


# each message of a day ranks the same actions again
@lru_cache(maxsize=1_000)
def rank_action(text: str) -> ActionRank:
    """Return the rank of an action by its words; names in backticks don't count."""
    words = _HARMLESS.sub(lambda match: match["modal"] or " ", _CODE.sub("name", text))
    return next((rank for rank, pattern in _PATTERNS.items() if pattern.search(words)), ActionRank.ADVICE)


def is_for_tests_only(pull: PullRequest, classes: PathClasses) -> bool:
    """Return whether a pull request changes the environment of the tests alone, by its files.

    Documentation, lock files and generated files do not count. Without known files it is False.
    """
    kinds = set()
    for file in pull.files or ():
        kind = classes.classify_path(file.path)
        kinds.add(PathClass.TESTS if kind is PathClass.BUILD and _TEST_NAME.search(file.path) else kind)
    counted = kinds - _PASSIVE_CLASSES
    return bool(counted) and counted <= _TEST_CLASSES


def changes_product(pull: PullRequest, classes: PathClasses) -> bool:
    """Return whether a pull request changes product code; one whose files are unknown may."""
    return pull.files is None or any(classes.classify_path(file.path) is PathClass.PRODUCT for file in pull.files)
