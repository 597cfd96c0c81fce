"""Answers to what people ask: summaries, risk lists and overviews, as messages with their buttons."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.days import LocalDay
from bot.domain.pulls import Repository
from bot.domain.references import Reference
from bot.domain.requests import DigestRequest, RisksRequest, SummaryRequest
from bot.domain.subjects import About
from bot.ports import Post
from bot.render import buttons
from bot.render.catchup import catch_up_post
from bot.render.rich import Element
from bot.render.risks import risks_post
from bot.render.summary import summary_post
from bot.services.catchup import catch_up
from bot.services.daily import DailyDigest
from bot.services.entries import Entries
from bot.services.replies import Answer
from bot.services.risky import RiskLister


class Answers:
    """Makes the answers. ``name_of`` gives what headings call a repository; ``asker`` is a name, or empty."""

    def __init__(
        self,
        entries: Entries,
        risks: RiskLister,
        daily: DailyDigest,
        name_of: Callable[[Repository], str],
        today: Callable[[], LocalDay],
    ) -> None:
        self._entries = entries
        self._risks = risks
        self._daily = daily
        self._name_of = name_of
        self._today = today

    def summary(self, reference: Reference, asker: str) -> Answer:
        """One pull request, merged or open. Raises what :meth:`bot.services.entries.Entries.named` raises."""
        entry = self._entries.named(reference)
        request = str(SummaryRequest((reference,)))
        details = buttons.details(entry.pull)
        share = buttons.share(buttons.SHARE_SUMMARY, request)
        return _answer(asker, summary_post(entry), share, details, About.SUMMARY.of(request))

    def risks(self, request: RisksRequest, asker: str) -> Answer:
        """What was taken back in some days, and what deserves a second look."""
        found = self._risks.build(request, self._name_of(request.repository), self._today())
        taken_back = [pair.pull for pair in found.taken_back]
        menu = buttons.details_of([entry.pull for entry in found.riskiest] + taken_back)
        share = buttons.share(buttons.SHARE_RISKS, str(request))
        return _answer(asker, risks_post(found), share, menu, About.RISKS.of(request))

    def overview(self, request: DigestRequest, asker: str) -> Answer:
        """Several days as one overview."""
        found = catch_up(self._daily.build, request.repository, request.span, self._name_of(request.repository))
        menu = buttons.details_of(entry.pull for entry in found.whole.riskiest)
        share = buttons.share(buttons.SHARE_DIGEST, str(request))
        return _answer(asker, catch_up_post(found), share, menu, About.DIGEST.of(request))


def _answer(asker: str, post: Post, share: Element, details: Element | None, about: str) -> Answer:
    """The same message twice: a thread to ask in is only where everybody sees it, and so is who asked."""
    public = buttons.below(buttons.signed(post, asker), details, buttons.ask())
    return Answer(public, buttons.below(post, details, share), about)
