"""Answers to what people ask: summaries, risk lists and overviews, as messages with their buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.domain.conversations.commands import MOST_PULLS, DigestRequest, RisksRequest, ScoreRequest, SummaryRequest
from bot.domain.conversations.thread_subject import About
from bot.domain.digest.multi_day import CatchUp
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.pull_requests.reference import Reference
from bot.domain.subscriptions.models import Edition
from bot.domain.time.date_range import Span, span_of
from bot.domain.time.day import LocalDay
from bot.domain.track_record.score import Score
from bot.ports import Post
from bot.render.blocks import buttons
from bot.render.blocks.rich_text import Element
from bot.render.digest.multi_day import catch_up_post
from bot.render.risk.risk_list import risks_post
from bot.render.risk.score import score_post
from bot.render.summaries.post import summary_post
from bot.services.risk.risk_lister import RiskLister
from bot.services.slack.replies import Answer
from bot.services.summaries.entry_cache import Entries


class Answers:
    """Makes the answers. ``name_of`` gives what headings call a repository; ``asker`` is a name, or empty.

    ``days_of`` builds the digests of an edition, ``score`` holds those of some days against what came later.
    """

    def __init__(
        self,
        entries: Entries,
        risks: RiskLister,
        days_of: Callable[[Edition], CatchUp],
        name_of: Callable[[Repository], str],
        today: Callable[[], LocalDay],
        score: Callable[[Repository, Span], Score],
    ) -> None:
        self._entries = entries
        self._risks = risks
        self._days_of = days_of
        self._name_of = name_of
        self._today = today
        self._score = score

    def summary(self, reference: Reference, asker: str) -> Answer:
        """One pull request, merged or open. Raises what ``Entries.named`` raises."""
        entry = self._entries.named(reference)
        request = SummaryRequest((reference,))
        details = buttons.details(entry.pull)
        share = buttons.share(buttons.SHARE_SUMMARY, request)
        return _answer(asker, summary_post(entry), share, details, About.SUMMARY.of(request))

    def risks(self, request: RisksRequest, asker: str) -> Answer:
        """What was taken back in some days, and what deserves a second look."""
        found = self._risks.build(request, self._name_of(request.repository), self._today())
        taken_back = [pair.pull for pair in found.taken_back]
        menu = buttons.details_of([entry.pull for entry in (*found.riskiest, *found.below)] + taken_back)
        share = buttons.share(buttons.SHARE_RISKS, request)
        return _answer(asker, risks_post(found), share, menu, About.RISKS.of(request))

    def score(self, request: ScoreRequest, asker: str) -> Answer:
        """How good the lists of some days were. Raises StoreUnavailable."""
        found = self._score(request.repository, request.span)
        hits = [hit.pull for hit in found.hits]
        menu = buttons.details_of(hits)
        share = buttons.share(buttons.SHARE_RISKS, request)
        post = score_post(self._name_of(request.repository), request.span, found)
        return _answer(asker, post, share, menu, self._about_hits(request, hits))

    def _about_hits(self, request: ScoreRequest, hits: Sequence[PullRequest]) -> str:
        """A thread is about what was named; nobody reads the diffs of months for a question."""
        named = tuple(Reference(request.repository, pull.number) for pull in hits[:MOST_PULLS])
        if named:
            return About.SUMMARY.of(SummaryRequest(named))
        return About.DIGEST.of(DigestRequest(request.repository, span_of("yesterday", self._today(), 1)))

    def overview(self, request: DigestRequest, asker: str, channel: str) -> Answer:
        """Several days as one overview, for the readers of a channel."""
        found = self._days_of(Edition(channel, request.repository, request.span))
        menu = buttons.details_of(entry.pull for entry in found.whole.riskiest)
        share = buttons.share(buttons.SHARE_DIGEST, request)
        return _answer(asker, catch_up_post(found), share, menu, About.DIGEST.of(request))


def _answer(asker: str, post: Post, share: Element, details: Element | None, about: str) -> Answer:
    """The same message twice: a thread to ask in is only where everybody sees it, and so is who asked."""
    public = buttons.below(buttons.signed(post, asker), details, buttons.ask())
    return Answer(public, buttons.below(post, details, share), about)
