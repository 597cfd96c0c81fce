"""What lies outside besides Slack and the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from bot.domain.operations.rate_allowance import Allowance
from bot.ports.github import PullRequests
from bot.ports.llm import ChatModel, Model


class Outside(Protocol):
    """Where pull requests and prose come from. Whoever asks for none of them needs none of their settings.

    ``pulls``, ``model`` and ``chat`` raise NotSetUp where a setting is missing or wrong.
    """

    @property
    def pulls(self) -> PullRequests:
        """Pull requests."""

    @property
    def model(self) -> Model | None:
        """What writes summaries and overviews; None where nothing does."""

    @property
    def chat(self) -> ChatModel | None:
        """What answers questions; None where nothing does."""

    @property
    def has_model(self) -> bool:
        """Whether there is a model to write and to answer; known without opening a way to it."""

    @property
    def stands_in(self) -> str:
        """Who writes in place of a model, as a sentence for readers; empty where a model does, or nobody.

        Who writes so has read the changes before: no quote of a diff has to bear out what is said of them.
        """

    def allowances(self) -> Iterable[Allowance]:
        """What the source of pull requests still grants; nothing where it has no limits or does not tell."""

    def prepare(self) -> None:
        """Open now what would else be opened by the first one who asks, and take its time."""

    def close(self) -> None:
        """Let go of all of it. What was never used is closed without a word."""
