"""Answers for those who come back or move on: one page, deprecations, and the way to a later commit."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.requests.plan_requests import DeprecationsRequest, SinceRequest, UpgradeRequest
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.features.digest.stories import SincePage, render_since
from bot.render.blocks import buttons
from bot.render.contract.deprecations import render_deprecations
from bot.render.touches.upgrade_post import render_upgrade_file, render_upgrade_post
from bot.services.contract.deprecations import DeprecationLedgers
from bot.services.digest.since import SincePageBuilder
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answer_builder import Share, build_answer
from bot.services.touches.upgrade import UpgradePlanner
from impact.profile.models import Profile


class PlanAnswerBuilder:
    """Builder of answers; ``asker`` is a name, or empty. ``name_of`` names a repository for headings."""

    def __init__(
        self,
        planner: UpgradePlanner,
        pages: SincePageBuilder,
        ledgers: DeprecationLedgers,
        name_of: Callable[[Repository], str],
    ) -> None:
        self._planner = planner
        self._pages = pages
        self._ledgers = ledgers
        self._name_of = name_of

    def build_since(self, request: SinceRequest, asker: str, repositories: AllowedRepositories) -> Answer:
        """Build the page since a day. Raises PrdigestError."""
        page = self.build_page(request, repositories)
        menu = buttons.make_details_menu(entry.pull for entry in page.riskiest)
        return build_answer(asker, render_since(page), Share(buttons.SHARE_DIGEST, request), menu, "")

    def build_page(self, request: SinceRequest, repositories: AllowedRepositories) -> SincePage:
        """Build the page itself. Raises PrdigestError."""
        profile = self._find_profile(request.profile, request.repository, repositories)
        return self._pages.build_page(request.repository, request.span, profile)

    def build_deprecations(
        self, request: DeprecationsRequest, asker: str, repositories: AllowedRepositories
    ) -> Answer:
        """Build the list of what a repository will remove. Raises PrdigestError."""
        profile = self._find_profile(request.profile, request.repository, repositories)
        entries = self._ledgers.list_entries(request.repository, profile)
        post = render_deprecations(
            self._name_of(request.repository), entries, f"{repositories.web}/{request.repository}"
        )
        return build_answer(asker, post, Share(buttons.SHARE_DIGEST, request), None, "")

    def build_upgrade(self, request: UpgradeRequest, asker: str, repositories: AllowedRepositories) -> Answer:
        """Build the way from a pin to now. Raises PrdigestError."""
        entry = self._planner.find_entry(request.profile, repositories)
        pin = self._planner.find_pin(request, entry)
        plan, url = self._planner.build_plan(pin.merge, entry), f"{repositories.web}/{entry.upstream}"
        post = render_upgrade_post(plan, url, pin.name)
        answer = build_answer(asker, post, Share(buttons.SHARE_DIGEST, request), None, "")
        return answer.attach_file(render_upgrade_file(plan, url, pin.name)) if plan.files else answer

    def _find_profile(
        self, name: str, repository: Repository, repositories: AllowedRepositories
    ) -> Profile | None:
        """Return a profile by its name, None without one. Raises UsageError for one of another repository."""
        if not name:
            return None
        entry = self._planner.find_entry(name, repositories)
        if str(entry.upstream).casefold() != str(repository).casefold():
            raise UsageError(f"The profile {entry.name} builds on {entry.upstream}: add repo:{entry.upstream}.")
        return self._planner.require_scanned(entry)
