"""Answers to commands: one pull request, or the riskiest of a day, as messages for the one who asked."""

from __future__ import annotations

from bot.domain.days import LocalDay
from bot.domain.pulls import Repository
from bot.domain.references import Reference
from bot.ports import Post, PullRequests
from bot.render.lead import risks
from bot.render.summary import summary_post
from bot.services.daily import DailyDigest


class CommandAnswers:
    """Makes the answers that slash commands ask for."""

    def __init__(self, pulls: PullRequests, daily: DailyDigest) -> None:
        self._pulls = pulls
        self._daily = daily

    def summary(self, reference: Reference) -> Post:
        """One pull request, merged or not. Raises what :class:`bot.ports.PullRequests` raises."""
        pull = self._pulls.pull(reference.repository, reference.number)
        return summary_post(self._daily.entry(pull))

    def risks(self, repository: Repository, day: LocalDay, name: str) -> Post:
        """What was taken back on a day, and what deserves a second look."""
        return risks(self._daily.build(repository, day, name))
