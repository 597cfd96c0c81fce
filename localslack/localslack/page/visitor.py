"""What the person before the page does: they type, press, fill in, and read what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from localslack.errors import InvalidAction
from localslack.manifest import SlashCommand
from localslack.server.local_slack import LocalSlack
from localslack.state.channel import get_direct_id
from localslack.state.element_values import Key
from localslack.state.identity import BOT_USER
from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.sender import Delivery

_OK = 200
# Slack cuts longer ones
_MAX_TEXT = 4_000
_NOT_TAKEN = "The bot did not take it ({}): look at the terminal where the {} runs."


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What the person reads at once: a sentence, the errors of a form by block, or the options of a menu.

    ``thread`` is the message below which the bot will answer, where that is not open yet.
    """

    notice: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[Json] = ()
    thread: str = ""


class Visitor:
    """Everything that one person can do on the page. Raises InvalidAction where Slack's client would not let them.

    ``terminal`` is what runs in the terminal where the bot says what went wrong.
    """

    def __init__(
        self, slack: LocalSlack, person: Person, commands: Sequence[SlashCommand], terminal: str = "bot"
    ) -> None:
        self._slack = slack
        self._person = person
        self._terminal = terminal
        self._commands = {command.name: command for command in commands}
        self._mention = re.compile(rf"(?<![\w@])@{re.escape(slack.bot_name)}\b", re.IGNORECASE)

    @property
    def user(self) -> str:
        """The id of the person."""
        return self._person.user

    @property
    def direct(self) -> str:
        """The conversation of the person with the bot alone."""
        return get_direct_id(self.user)

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The slash commands there are."""
        return tuple(self._commands.values())

    def send_text(self, place: str, text: str, thread: str = "") -> ActionResult:
        """Send what was typed: a slash command, or a message that may name the bot."""
        # half a character, as scripts can send it, is none: nobody could write it down
        text = text.encode(errors="replace").decode().strip()
        if not text:
            raise InvalidAction("Type a message first.")
        if len(text) > _MAX_TEXT:
            raise InvalidAction(
                f"A message has at most {_MAX_TEXT:,} characters here; this one has {len(text):,}."
            )
        if text.startswith("/"):
            return self._send_command(place, text, thread)
        said = self._mention.sub(f"<@{BOT_USER}>", escape(text, quote=False))
        where: dict[str, Any] = {"channel": place, "thread_ts": thread or None}
        is_named = f"<@{BOT_USER}>" in said and place != self.direct
        if not is_named:
            return self._report_delivery(self._person.send_message(said, **where))
        done = self._person.mention(said, twin=True, **where)
        return replace(self._report_delivery(done), thread="" if thread else done.payload["event"]["ts"])

    def _send_command(self, place: str, text: str, thread: str) -> ActionResult:
        name, _, rest = text.partition(" ")
        if thread:
            raise InvalidAction(
                f"{name} does not work in threads, as in Slack: mention the bot, or type it in the channel."
            )
        if name not in self._commands:
            there = ", ".join(self._commands)
            raise InvalidAction(
                f"{name} is no command here. There are: {there}." if there else f"{name} is no command here."
            )
        done = self._person.send_command(name, rest.strip(), place)
        if done.ack.status != _OK:
            return self._report_delivery(done)
        body = done.ack.body if isinstance(done.ack.body, dict) else {"text": done.ack.body}
        if body.get("response_type") == "in_channel":
            self._slack.answer_command(place, self.user, body)
        elif body.get("text") or body.get("blocks"):
            self._slack.show_ephemeral(place, self.user, str(body.get("text") or ""), blocks=body.get("blocks"))
        return ActionResult()

    def press(self, place: str, ts: str, action: str, block: str, value: str | None) -> ActionResult:
        """Use a button or a menu of a message, or of what only this person sees."""
        return self._report_delivery(
            self._person.press(self.find_shown(place, ts), action, value=value, channel=place, block_id=block)
        )

    def find_shown(self, place: str, ts: str) -> Json:
        """Return a message, or what only this person sees. Raises SlackError, KeyError where it is not there."""
        whispered = (shown for shown in self._slack.ephemerals if (shown["ts"], shown["user"]) == (ts, self.user))
        return next(whispered, None) or self._slack.get_message(place, ts)

    def dismiss(self, ts: str) -> ActionResult:
        """Put away what only this person sees."""
        self._slack.dismiss_ephemeral(self.user, ts)
        return ActionResult()

    def stop_answer(self, place: str, ts: str) -> ActionResult:
        """Stop an answer that is being written."""
        self._slack.stop_stream(place, ts)
        return ActionResult()

    def go_home(self) -> ActionResult:
        """Open the bot's Home tab."""
        return self._report_delivery(self._person.open_home())

    def go_direct(self) -> ActionResult:
        """Open the direct messages with the bot."""
        return self._report_delivery(self._person.open_home("messages"))

    def press_in(self, view: str, action: str, block: str, value: str | None) -> ActionResult:
        """Use something in a window or in Home."""
        return self._report_delivery(self._person.press_in(view, action, value=value, block_id=block))

    def submit(self, view: str, values: Mapping[Key, Any]) -> ActionResult:
        """Send a form."""
        done = self._person.submit(view, dict(values))
        if done.ack.status != _OK:
            return self._report_delivery(done)
        return ActionResult(errors=done.errors)

    def close(self, view: str) -> ActionResult:
        """Close a window without sending it."""
        done = self._person.close(view)
        return self._report_delivery(done) if done else ActionResult()

    def suggest(self, view: str, action: str, typed: str) -> ActionResult:
        """Ask the bot what there is to choose from."""
        return ActionResult(options=self._person.suggest(view, action, typed))

    def _report_delivery(self, done: Delivery) -> ActionResult:
        """Return whether the bot has taken it, as Slack says so: within three seconds and with a 200."""
        if done.ack.status == _OK:
            return ActionResult()
        cause = f"HTTP {done.ack.status}" if done.ack.status else "no answer within three seconds"
        return ActionResult(_NOT_TAKEN.format(cause, self._terminal))
