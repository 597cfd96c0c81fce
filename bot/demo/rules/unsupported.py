"""Questions that rules can't answer, recognised by their words, with the sentence that says so."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.domain.risk.assessment import BASE_RATE, RiskBand

_LANGUAGES = (
    "german|deutsch|french|français|spanish|español|italian|portuguese|dutch|russian|polish|turkish|chinese|mandarin"
    "|japanese|korean|hindi|arabic|swedish|danish|norwegian|finnish|czech|hebrew|ukrainian"
)
_ACTION_VERBS = (
    "merge|revert|roll back|close|deploy|create|file|send|ping|email|remind|notify|assign|approve|block|rerun|fix"
)
# a question that asks among pull requests, or about one of them
_NO_CHOICE = r"(?!.*(?:\d{4}|\b(?:these|them|it|any|some|one)\b))"
NO_DIFFS_SENTENCE = "There are no diffs in the sample, so rules can't show code."


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A sentence, and the patterns of the questions that it refuses."""

    sentence: str
    patterns: tuple[str, ...]

    def is_match(self, text: str) -> bool:
        """Return whether a pattern is in the text."""
        return any(re.search(pattern, text) for pattern in self.patterns)


# for these, the rest of the question does not matter
_GENERAL_REFUSALS = (
    _Refusal(
        "Rules can't translate: they use the sample's English sentences.",
        (
            rf"\b(?:in|into|to|auf|en) (?:{_LANGUAGES})\b",
            rf"\b(?:{_LANGUAGES}) (?:please|bitte|summary|translation|version)\b",
            r"\btranslat",
        ),
    ),
    _Refusal(
        "Rules can't reword what the sample says.",
        (
            r"\beli5\b|\brephrase\b|\blike i'?m (?:five|5)\b",
            r"\b(?:simple|simpler|layman'?s?|other) (?:words|terms)\b",
        ),
    ),
    _Refusal(
        "Reviews and comments are not in the sample.",
        (r"\b(?:reviewed|reviewers?|approv\w+|comment(?:s|ed)?|discuss\w*)\b",),
    ),
    _Refusal(
        "The sample holds merged pull requests only.",
        (
            r"\b(?:still|currently) open\b|\bopen (?:prs?|pull requests?|issues?)\b",
            r"\b(?:prs?|pull requests?) (?:is|are) open\b|\bunmerged\b|\bpending\b|\bbacklog\b",
        ),
    ),
    _Refusal(
        "Results of tests are not in the sample.",
        (
            r"\b(?:ci|build|tests?|pipelines?) (?:is |are |still )?(?:pass|green|red\b|fail|flaky)",
            r"\bdid (?:ci|the build|(?:the )?tests?) pass",
        ),
    ),
    _Refusal(
        "I only answer questions here: I can't do that.",
        (rf"^(?:please |(?:can|could|will|would) you )*(?:{_ACTION_VERBS}) (?!.*\bwhat\b)",),
    ),
    _Refusal(
        "Rules have no opinion: they only repeat the sample.",
        (
            r"\b(?:do|would) you (?:think|recommend|suggest|prefer|like)\b",
            r"\byour (?:opinion|favou?rite|advice)\b",
            rf"^(?:can|could|should|may) (?:we|i) (?:skip|wait|hold|roll ?back|downgrade)\b{_NO_CHOICE}",
        ),
    ),
    _Refusal(
        "Rules rate the risk of each pull request by its title, its paths and the history of its files. "
        f"Of changes rated highest, about {RiskBand.HIGHEST.repaired}% needed a fix within two weeks; "
        f"of all changes, {BASE_RATE}%.",
        (
            r"\b(?:bands?|risks?|history)\b.{0,60}\bmeans?\b|\bwhat (?:is|are) (?:a |the )?(?:risk )?bands?\b",
            r"\bhow (?:is|are|do|does)\b.{0,60}\brisks?\b.{0,60}\b(?:rate|compute|calculate|measure|score)d?\b",
        ),
    ),
    _Refusal(
        (
            "I answer questions about the sample with rules, without a model: about words, paths, people, "
            "risk and action."
        ),
        (
            r"\b(?:who|what|how) are you\b|\bwhat can you\b|\bwhat (?:questions )?can i ask\b|^\W*help\b",
            r"\bare you (?:an? |the )?\w+|\bhow do(?:es)? (?:this|you|it) work\b",
        ),
    ),
)
# for these, only if the rest of the question says nothing
_FALLBACK_REFUSALS = (
    _Refusal(
        "Releases and plans are not in the sample: it holds what was merged on one day.",
        (
            r"\breleases?\b|\breleased\b|\bchangelog\b|\broadmap\b|\bplanned\b|\bupcoming\b",
            r"\b(?:which|what|next) versions?\b|\bbackport|\bcherry.?pick",
        ),
    ),
    _Refusal(
        "Issues are not in the sample.",
        (r"\b(?:which|what|linked|closes?|closed|github|resolves?) issues?\b",),
    ),
)
_CODE_PATTERN = r"\b(?:diffs?|patch(?:es)?|snippets?)\b|\bshow\b.*\bcode\b|\bcode of\b|\bsource code\b"


def find_refusal(question: str) -> str:
    """Return why rules can't answer a question, whatever else it asks; empty if they may."""
    return _find_first(question, _GENERAL_REFUSALS)


def find_fallback_refusal(question: str) -> str:
    """Return why rules can't answer a question that gives them no other clue; empty if they may."""
    return _find_first(question, _FALLBACK_REFUSALS)


def is_code_request(question: str) -> bool:
    """Return whether a question asks for a diff."""
    return bool(re.search(_CODE_PATTERN, _normalize_text(question)))


def _find_first(question: str, refusals: tuple[_Refusal, ...]) -> str:
    """Return the sentence of the first refusal that matches, empty if none does."""
    text = _normalize_text(question)
    return next((refusal.sentence for refusal in refusals if refusal.is_match(text)), "")


def _normalize_text(question: str) -> str:
    """Return the text in lower case with single blanks and straight apostrophes."""
    return " ".join(question.casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
