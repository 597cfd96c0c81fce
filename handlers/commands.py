"""What the slash commands share: where they put work, whom they may speak of, and how they refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from slack_bolt import Ack

from bot.domain.days import LocalDay, date_of, yesterday
from bot.domain.errors import PrdigestError, UsageError
from bot.domain.references import Reference, parse_reference
from bot.ports import Queue
from bot.services.schedule import Schedule


@dataclass(frozen=True)
class Commands:
    """What listeners need: the queues, the repository the bot speaks of, and the time."""

    summary: Queue
    risks: Queue
    digest: Queue
    schedule: Schedule
    now: Callable[[], datetime]

    def reference(self, text: str) -> Reference:
        """The pull request that someone named, if it is of the bot's repository.

        The bot's token may read more than the people in this workspace; it speaks of one repository only.
        """
        found = parse_reference(text, self.schedule.repository)
        if found.repository != self.schedule.repository:
            raise UsageError(f"I only speak of {self.schedule.repository} here.")
        return found

    def day(self, text: str) -> LocalDay:
        """The day that someone named: a date, ``today``, or yesterday for nothing."""
        zone = self.schedule.zone
        if text in ("", "yesterday"):
            return yesterday(self.now(), zone)
        if text == "today":
            return LocalDay(self.now().astimezone(zone).date(), zone)
        return LocalDay(date_of(text), zone)


def answered(ack: Ack, command: Mapping[str, Any], usage: str, accept: Callable[[str], str]) -> None:
    """Acknowledge with what ``accept`` says of the text, having put the work on the queue; or with why it did not.

    ``help`` is answered with the usage.
    """
    text = str(command.get("text", "")).strip()
    try:
        said = usage if text == "help" else accept(text)
    except UsageError as error:
        said = str(error)
    except PrdigestError:
        said = "I can't take this down right now: try again in a minute."
    ack(said)
