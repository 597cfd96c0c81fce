"""Answers to requests: summaries, risk lists and overviews, as messages with their buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.domain.conversations.commands import (
    MAX_PULL_REQUESTS,
    DigestRequest,
    RisksRequest,
    ScoreRequest,
    SummaryRequest,
)
from bot.domain.conversations.thread_subject import SubjectKind
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay
from bot.domain.track_record.score import TrackRecordScore
from bot.platform.slack.answers import Answer, Share, build_answer
from bot.render.blocks import buttons
from bot.render.risk.risk_list import render_risk_list
from bot.render.risk.score import render_score
from bot.render.summaries.post import render_summary
from bot.services.risk.risk_lister import RiskLister
from bot.services.summaries.entry_cache import EntryCache


class AnswerBuilder:
    """Builder of answers.

    ``name_of`` returns the name of a repository for headings; ``asker`` is a name, or empty.

    ``score`` compares the lists of some days with what came later.
    """

    def __init__(
        self,
        entry_cache: EntryCache,
        risk_lister: RiskLister,
        name_of: Callable[[Repository], str],
        today: Callable[[], LocalDay],
        score: Callable[[Repository, Span], TrackRecordScore],
    ) -> None:
        self._entry_cache = entry_cache
        self._risk_lister = risk_lister
        self._name_of = name_of
        self._today = today
        self._score = score

    def build_summary(self, reference: Reference, asker: str) -> Answer:
        """Build the answer about one pull request, merged or open. Raises what ``get_entry`` raises."""
        entry = self._entry_cache.get_entry(reference)
        request = SummaryRequest((reference,))
        details = buttons.make_details_button(entry.pull)
        share = Share(buttons.SHARE_SUMMARY, request)
        return build_answer(
            asker,
            render_summary(entry, self._today().zone),
            share,
            details,
            SubjectKind.SUMMARY.format_subject(request),
        )

    def build_risks(self, request: RisksRequest, asker: str) -> Answer:
        """Build the answer with the reverted and the riskiest pull requests of some days."""
        risk_list = self._risk_lister.build_list(request, self._name_of(request.repository), self._today())
        taken_back = [pair.pull for pair in risk_list.taken_back]
        menu = buttons.make_details_menu(
            [entry.pull for entry in (*risk_list.riskiest, *risk_list.below)] + taken_back
        )
        share = Share(buttons.SHARE_RISKS, request)
        return build_answer(
            asker, render_risk_list(risk_list), share, menu, SubjectKind.RISKS.format_subject(request)
        )

    def build_score(self, request: ScoreRequest, asker: str) -> Answer:
        """Build the answer with the quality of the lists of some days. Raises StoreUnavailable."""
        result = self._score(request.repository, request.span)
        hits = [hit.pull for hit in result.hits]
        menu = buttons.make_details_menu(hits)
        share = Share(buttons.SHARE_RISKS, request)
        post = render_score(self._name_of(request.repository), request.span, result)
        return build_answer(asker, post, share, menu, self._choose_subject(request, hits))

    def _choose_subject(self, request: ScoreRequest, hits: Sequence[PullRequest]) -> str:
        """Return the subject of the thread: the listed pull requests, or yesterday's digest if there are none.

        Questions never make the bot read the diffs of months.
        """
        references = tuple(Reference(request.repository, pull.number) for pull in hits[:MAX_PULL_REQUESTS])
        if references:
            return SubjectKind.SUMMARY.format_subject(SummaryRequest(references))
        return SubjectKind.DIGEST.format_subject(
            DigestRequest(request.repository, parse_span("yesterday", self._today(), 1))
        )
