"""The page's texts about itself: what it shows, what to try, and which program serves it."""

from __future__ import annotations

from dataclasses import dataclass

_EXAMPLE = "*Hello* from <https://docs.slack.dev/block-kit/|Block Kit>"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A message or command to try, and whether it belongs in a thread."""

    text: str
    in_thread: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact for the person, under its heading."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class About:
    """The page's texts about itself. ``line`` is always visible; it opens the ``facts``.

    ``workspace`` is the name above the channels, ``program`` the name of the program that serves the page, and
    ``command`` the command that started it. ``without_script`` is a sentence for browsers without JavaScript,
    ``example`` the mrkdwn with which the preview begins, and ``icon`` the page's icon as SVG, if it has its own.
    """

    title: str
    line: str = "The bot is yours. Slack is a local one: nothing leaves this machine."
    facts: tuple[Fact, ...] = ()
    tries: tuple[Suggestion, ...] = ()
    workspace: str = "Local workspace"
    program: str = "local Slack"
    command: str = "python -m localslack"
    without_script: str = ""
    example: str = _EXAMPLE
    icon: str = ""
