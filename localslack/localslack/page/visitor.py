"""The actions of the person at the page: they type, press buttons, fill in forms and read the results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from localslack.errors import InvalidAction
from localslack.manifest import Shortcut, ShortcutKind, SlashCommand
from localslack.server.local_slack import LocalSlack
from localslack.state.channel import get_direct_id
from localslack.state.element_values import Key
from localslack.state.identity import BOT_USER
from localslack.state.workspace import Json
from localslack.users.person import Person
from localslack.users.sender import Delivery

_OK = 200
# Slack truncates longer messages
_MAX_TEXT = 4_000
_NOT_TAKEN = "The bot did not take it ({}): look at the terminal where the {} runs."


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The immediate result of an action: a sentence, the errors of a form by block, or a menu's options.

    ``thread`` is the message under which the bot will answer, if that thread is not open yet.
    """

    notice: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[Json] = ()
    thread: str = ""


class Visitor:
    """All actions of one person on the page. Raises InvalidAction where Slack's client would not allow one.

    ``terminal`` names the program in the terminal that shows the bot's errors.
    """

    def __init__(
        self,
        slack: LocalSlack,
        person: Person,
        commands: Sequence[SlashCommand],
        terminal: str = "bot",
        shortcuts: Sequence[Shortcut] = (),
    ) -> None:
        self._slack = slack
        self._person = person
        self._terminal = terminal
        self._commands = {command.name: command for command in commands}
        self._shortcuts = tuple(shortcuts)
        self._mention = re.compile(rf"(?<![\w@])@{re.escape(slack.bot_name)}\b", re.IGNORECASE)

    @property
    def user(self) -> str:
        """The id of the person."""
        return self._person.user

    @property
    def direct(self) -> str:
        """The id of the person's direct messages with the bot."""
        return get_direct_id(self.user)

    @property
    def commands(self) -> Sequence[SlashCommand]:
        """The slash commands of the app."""
        return tuple(self._commands.values())

    def list_shortcuts(self, kind: ShortcutKind) -> Sequence[Shortcut]:
        """List the app's shortcuts of a kind, in the order of the manifest."""
        return [each for each in self._shortcuts if each.kind is kind]

    def send_text(self, place: str, text: str, thread: str = "") -> ActionResult:
        """Send the typed text: a slash command, or a message that may mention the bot."""
        # scripts can send half of a surrogate pair, which has no encoding
        text = text.encode(errors="replace").decode().strip()
        if not text:
            raise InvalidAction("Type a message first.")
        if len(text) > _MAX_TEXT:
            raise InvalidAction(
                f"A message has at most {_MAX_TEXT:,} characters here; this one has {len(text):,}."
            )
        if text.startswith("/"):
            return self._send_command(place, text, thread)
        markup = self._mention.sub(f"<@{BOT_USER}>", escape(text, quote=False))
        where: dict[str, Any] = {"channel": place, "thread_ts": thread or None}
        is_named = f"<@{BOT_USER}>" in markup and place != self.direct
        if not is_named:
            return self._report_delivery(self._person.send_message(markup, **where))
        delivery = self._person.mention(markup, twin=True, **where)
        return replace(self._report_delivery(delivery), thread="" if thread else delivery.payload["event"]["ts"])

    def _send_command(self, place: str, text: str, thread: str) -> ActionResult:
        name, _, rest = text.partition(" ")
        if thread:
            raise InvalidAction(
                f"{name} does not work in threads, as in Slack: mention the bot, or type it in the channel."
            )
        if name not in self._commands:
            names = ", ".join(self._commands)
            raise InvalidAction(
                f"{name} is no command here. There are: {names}." if names else f"{name} is no command here."
            )
        delivery = self._person.send_command(name, rest.strip(), place)
        if delivery.ack.status != _OK:
            return self._report_delivery(delivery)
        body = delivery.ack.body if isinstance(delivery.ack.body, dict) else {"text": delivery.ack.body}
        if body.get("response_type") == "in_channel":
            self._slack.answer_command(place, self.user, body)
        elif body.get("text") or body.get("blocks"):
            self._slack.show_ephemeral(place, self.user, str(body.get("text") or ""), blocks=body.get("blocks"))
        return ActionResult()

    def press(self, place: str, ts: str, action: str, block: str, value: str | None) -> ActionResult:
        """Use a button or a menu of a message, ephemeral ones included."""
        return self._report_delivery(
            self._person.press(self.find_shown(place, ts), action, value=value, channel=place, block_id=block)
        )

    def use_shortcut(self, callback_id: str) -> ActionResult:
        """Use a global shortcut."""
        self._require_shortcut(callback_id, ShortcutKind.GLOBAL)
        return self._report_delivery(self._person.use_shortcut(callback_id))

    def use_message_shortcut(self, place: str, ts: str, callback_id: str) -> ActionResult:
        """Use a shortcut in the menu of a message."""
        self._require_shortcut(callback_id, ShortcutKind.MESSAGE)
        return self._report_delivery(self._person.use_message_shortcut(callback_id, ts, place))

    def _require_shortcut(self, callback_id: str, kind: ShortcutKind) -> None:
        if not any(callback_id == each.callback_id for each in self.list_shortcuts(kind)):
            raise InvalidAction(f"{callback_id} is no {kind} shortcut here.")

    def find_shown(self, place: str, ts: str) -> Json:
        """Return a message or an ephemeral one of this person. Raises SlackError, KeyError if there is none."""
        own = (shown for shown in self._slack.ephemerals if (shown["ts"], shown["user"]) == (ts, self.user))
        return next(own, None) or self._slack.get_message(place, ts)

    def dismiss(self, ts: str) -> ActionResult:
        """Dismiss an ephemeral message of this person."""
        self._slack.dismiss_ephemeral(self.user, ts)
        return ActionResult()

    def stop_answer(self, place: str, ts: str) -> ActionResult:
        """Stop an answer that is still being written. An app that is an agent is told."""
        thread = str(self._slack.get_message(place, ts).get("thread_ts") or ts)
        if self._slack.can_stop_session(place, thread):
            return self._report_delivery(self._person.stop_session(place, thread))
        self._slack.stop_stream(place, ts)
        return ActionResult()

    def go_home(self) -> ActionResult:
        """Open the bot's Home tab."""
        return self._report_delivery(self._person.open_home())

    def go_direct(self) -> ActionResult:
        """Open the direct messages with the bot."""
        return self._report_delivery(self._person.open_home("messages"))

    def press_in(self, view: str, action: str, block: str, value: str | None) -> ActionResult:
        """Use an element of a modal or of App Home."""
        return self._report_delivery(self._person.press_in(view, action, value=value, block_id=block))

    def submit(self, view: str, values: Mapping[Key, Any]) -> ActionResult:
        """Submit a form."""
        delivery = self._person.submit(view, dict(values))
        if delivery.ack.status != _OK:
            return self._report_delivery(delivery)
        return ActionResult(errors=delivery.errors)

    def close(self, view: str) -> ActionResult:
        """Close a modal without submitting it."""
        delivery = self._person.close(view)
        return self._report_delivery(delivery) if delivery else ActionResult()

    def suggest(self, view: str, action: str, typed: str) -> ActionResult:
        """Return the options that the bot offers for the typed text."""
        return ActionResult(options=self._person.suggest(view, action, typed))

    def _report_delivery(self, delivery: Delivery) -> ActionResult:
        """Return the result of a delivery, which succeeds with a 200 within three seconds."""
        if delivery.ack.status == _OK:
            return ActionResult()
        cause = f"HTTP {delivery.ack.status}" if delivery.ack.status else "no answer within three seconds"
        return ActionResult(_NOT_TAKEN.format(cause, self._terminal))
