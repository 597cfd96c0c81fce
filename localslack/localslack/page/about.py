"""What the page says of itself: what is shown, what can be tried, and who runs it."""

from __future__ import annotations

from dataclasses import dataclass

_EXAMPLE = "*Hello* from <https://docs.slack.dev/block-kit/|Block Kit>"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to type, and whether it goes into a thread."""

    text: str
    in_thread: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to know, under its heading."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class About:
    """``line`` is the one that is always there; ``facts`` are what it opens.

    ``program`` is what runs the page, as its sentences call it, and ``command`` what was typed to start it.
    ``without_script`` is a sentence for browsers without JavaScript, ``example`` the mrkdwn that the preview
    begins with, and ``icon`` the page's icon as SVG, if it has one of its own.
    """

    title: str
    line: str = "The bot is yours. Slack is a local one: nothing leaves this machine."
    facts: tuple[Fact, ...] = ()
    tries: tuple[Suggestion, ...] = ()
    program: str = "local Slack"
    command: str = "python -m localslack"
    without_script: str = ""
    example: str = _EXAMPLE
    icon: str = ""
