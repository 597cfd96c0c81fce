"""Declaration of a command and of its parts, from which help, hint and the entry in the manifest derive.

A module of this package declares a part of ``/prdigest``, such as its contract, as a :class:`SubCommand`;
nothing else has to name it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from bot.app import App
from bot.errors import UsageError
from bot.features.glossary import explain_term, load_terms
from bot.features.subscriptions.view import read_form_context
from bot.platform.commands import CommandRequest, ParseContext
from bot.platform.jobs import Job
from bot.platform.slack.blocks import UNKNOWN_BUTTON, read_request
from bot.platform.slack.notices import HelpExample
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.keys import build_request_name
from impact.text.strings import quote_input

# --- requests

# Payloads are signed and were validated (:mod:`handlers.payloads`); their texts are not trusted. A request has the
# workspace of its asker only where Slack names theirs: what else a payload names may be that of the installation.

Payload = Mapping[str, Any]


def parse_command(command: Payload) -> SlackRequest:
    """Return the request of a slash command. Its trigger is new each time somebody presses Enter."""
    return SlackRequest(
        key=build_request_name("command", command["trigger_id"]),
        team=_get_text(command, "team_id"),
        enterprise=_get_text(command, "enterprise_id"),
        channel=_get_text(command, "channel_id"),
        user=_get_text(command, "user_id"),
        name=_get_text(command, "user_name"),
        response_url=_get_text(command, "response_url"),
        trigger=_get_text(command, "trigger_id"),
    )


def parse_message(event: Payload) -> SlackRequest:
    """Return the request of a message for the bot. The answer goes into its thread, which it may begin."""
    channel, ts = _get_text(event, "channel"), _get_text(event, "ts")
    own = _get_text(event, "user_team") or _get_text(event, "source_team") or _get_text(event, "team")
    # the same message may arrive as several events
    asker = _parse_event("mention", (channel, ts), event)
    thread = _get_text(event, "thread_ts") or ts
    return replace(asker, team=own, thread=thread, message=ts)


def parse_home_visit(event: Payload) -> SlackRequest:
    parts = _get_text(event, "user"), _get_text(event, "event_ts")
    return replace(_parse_event("home", parts, event), channel="")


def parse_newcomer(event: Payload) -> SlackRequest:
    """Return the request of a user who opens the bot's direct messages. It has the same key each time."""
    return _parse_event("welcome", (_get_text(event, "user"),), event)


def parse_stop(event: Payload) -> SlackRequest:
    """Return the request of a user who presses the button that stops the answers in a thread."""
    parts = _get_text(event, "channel"), _get_text(event, "event_ts")
    return replace(_parse_event("stop", parts, event), thread=_get_text(event, "thread_ts"))


def parse_inviter(event: Payload) -> SlackRequest:
    parts = _get_text(event, "channel"), _get_text(event, "event_ts")
    # the event's own team is that of the bot, who joined
    return replace(_parse_event("invited", parts, event), user=_get_text(event, "inviter"))


def parse_poster(event: Payload) -> SlackRequest:
    """Return the request of a message with links, whose poster asked for nothing."""
    channel, ts = _get_text(event, "channel"), _get_text(event, "message_ts")
    poster = _parse_event("links", (channel, ts), event)
    return replace(poster, thread=_get_text(event, "thread_ts"), message=ts)


def _parse_event(kind: str, parts: tuple[str, ...], event: Payload) -> SlackRequest:
    return SlackRequest(
        key=build_request_name(kind, *parts),
        team="",
        channel=_get_text(event, "channel"),
        user=_get_text(event, "user"),
    )


def parse_action(body: Payload) -> SlackRequest:
    """Return the request of a click or form, answered where the message is, in its thread if any."""
    user, container = body["user"], body.get("container") or {}
    return SlackRequest(
        key=build_request_name("action", body["trigger_id"]),
        team=_get_text(user, "team_id"),
        channel=_get_text(body.get("channel") or {}, "id") or _get_text(container, "channel_id"),
        user=_get_text(user, "id"),
        name=_get_text(user, "username") or _get_text(user, "name"),
        response_url=_get_text(body, "response_url"),
        thread=_get_text(container, "thread_ts"),
        trigger=_get_text(body, "trigger_id"),
        message=_get_text(container, "message_ts"),
    )


def parse_single_action(body: Payload) -> SlackRequest:
    """Return the request of a click on a button that works once: each further click has the same key."""
    asker = parse_action(body)
    once = build_request_name("again", asker.channel, asker.message, asker.user)
    return replace(asker, key=once) if asker.message else asker


def parse_message_shortcut(body: Payload) -> SlackRequest:
    """Return the request of a shortcut in the menu of a message. The answer goes into the message's thread."""
    message, ts = body["message"], _get_text(body, "message_ts")
    return replace(parse_action(body), thread=_get_text(message, "thread_ts") or ts, message=ts)


def parse_form(body: Payload) -> SlackRequest:
    """Return the request of a submitted form, with its own key, answered where the form was opened."""
    context = read_form_context(_get_text(body["view"], "private_metadata"))
    return replace(parse_action(body), channel=context.channel, response_url=context.answer)


def parse_action_time(body: Payload) -> datetime:
    """Return when a button was pressed, in UTC. Raises UsageError if Slack does not say."""
    try:
        return datetime.fromtimestamp(float(_get_text(body["actions"][0], "action_ts")), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(UNKNOWN_BUTTON) from error


def read_action(body: Payload) -> str:
    return str(body["actions"][0]["action_id"])


def read_value(body: Payload) -> str:
    action = body["actions"][0]
    return str(action.get("value") or (action.get("selected_option") or {}).get("value") or "")


def read_blocks(body: Payload) -> str:
    """Return the blocks of a button's message as JSON; empty if only its user sees the message."""
    container, message = body.get("container") or {}, body.get("message") or {}
    if container.get("is_ephemeral") or not isinstance(message.get("blocks"), list):
        return ""
    return json.dumps(message["blocks"])


def _get_text(payload: Payload, name: str) -> str:
    return str(payload.get(name) or "")


# --- declaration

R = TypeVar("R", bound=CommandRequest)

HELP_WORD = "help"
_HELP_WORDS = (HELP_WORD, "--help", "-h")
_SIMILARITY = 0.7  # "lst" is taken for "list", and no date for a word
# of more days, both versions of each changed file take minutes
_MAX_QUICK_DAYS = 3

TextParser = Callable[[str, ParseContext], R]
RequestEnqueuer = Callable[[App, SlackRequest, R, Audience], None]
VerbHandler = Callable[[App, SlackRequest, str], None]


def choose_audience(request: CommandRequest, audience: Audience) -> Audience:
    return Audience.ASKER if request.is_private else audience


def make_enqueuer(
    job: Job[[SlackRequest, R, Audience]], long_job: Job[[SlackRequest, R, Audience]] | None = None
) -> RequestEnqueuer[R]:
    def enqueue(app: App, asker: SlackRequest, request: R, audience: Audience) -> None:
        # an error since a commit has no span
        is_long = len(getattr(request, "span", None) or ()) > _MAX_QUICK_DAYS
        chosen = long_job if long_job and is_long else job
        chosen.send_to(app.jobs, asker, request, choose_audience(request, audience))

    return enqueue


@dataclass(frozen=True, slots=True)
class WordHelp:
    """A word after a command, and what the help says of it.

    ``meaning`` says what it answers, as a clause; ``brief`` does so for users who do not know the bot yet.
    ``usage`` and the ``examples`` are what is typed after the command: two, or one of a word that takes nothing.
    ``notes`` are sentences, as mrkdwn.
    """

    meaning: str
    usage: str
    examples: tuple[str, ...]
    notes: str = ""
    brief: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestWord(WordHelp, Generic[R]):
    """What the text after a command may ask for, by its first word; the first one of a command needs no word.

    ``parse`` reads the whole text as one of the ``request_types``, ``enqueue`` enqueues the job for that.
    """

    word: str
    request_types: tuple[type[R], ...]
    parse: TextParser[R]
    enqueue: RequestEnqueuer[R]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb(WordHelp):
    """A first word that turns a command into something else. The help of the command lists the most useful."""

    enqueue: VerbHandler
    is_listed: bool = True


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, which people may also write to the bot in a message.

    ``description`` and ``hint`` are shown by Slack while somebody types. ``trigger_words`` begin it in a message;
    ``is_bare_form`` tells whether a text without one of them is the command all the same.

    ``requests`` are what it may ask for. ``verbs`` are first words that turn it into something else; they may
    stand alone in a message. ``keywords`` are other words that it takes first. The button with the action
    ``share_action`` repeats the request for everybody.
    """

    name: str
    description: str
    hint: str
    trigger_words: tuple[str, ...]
    requests: tuple[RequestWord[Any], ...]
    share_action: str = ""
    needs_text: bool = False
    is_bare_form: Callable[[str], bool] = lambda text: False
    verbs: Mapping[str, Verb] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()

    @property
    def words(self) -> Mapping[str, WordHelp]:
        """What the help says of each word, also of the first request's, which needs none."""
        return {**{each.word: each for each in self.requests}, **self.verbs}

    def accept_text(self, app: App, asker: SlackRequest, text: str, audience: Audience = Audience.CHANNEL) -> None:
        """Enqueue the work that a text asks for.

        Raises UsageError: the text has a mistake; StoreUnavailable: the work was not enqueued.
        """
        first, *rest = text.split(maxsplit=1) or [""]
        word = first.lower()
        own = self._find_request(text)
        try:
            if verb := self.verbs.get(word):
                verb.enqueue(app, asker, "".join(rest))
                return
            request = own.parse(text, _build_context(app, asker))
        except UsageError as error:
            raise self._add_usage(error, word) from error
        own.enqueue(app, asker, request, audience)

    def _add_usage(self, error: UsageError, word: str) -> UsageError:
        """Return the error about a text with the usage of its first word, or with the word that was meant."""
        if word in self.words and word != self.requests[0].word:
            return UsageError(f"{error} Usage: {self.name} {self.words[word].usage}")
        meant = self._find_similar(word, (*self.words, *self.keywords))
        return (
            UsageError(f"I don't know {quote_input(word)}. Did you mean {self.name} {meant}?") if meant else error
        )

    def _find_similar(self, word: str, words: Iterable[str]) -> str:
        """Return the word that a mistyped one is most like; empty if it is one of them, or like none."""
        similar = difflib.get_close_matches(word, known := [*words, HELP_WORD], 1, _SIMILARITY)
        return "".join(similar) if word not in known else ""

    def answer_help(self, text: str, commands: Commands) -> str | None:
        """Return the help that a text asks for, None if it asks for something else. Raises UsageError."""
        if (topic := read_help_topic(text)) is None and (text or not self.needs_text):
            return None
        if answer := find_help((self, *commands), topic or "") or explain_term(topic or ""):
            return answer
        meant = self._find_similar(topic or "", (*self.words, *load_terms()))
        hint = f"Did you mean {self.name} {HELP_WORD} {meant}?" if meant else f"See {self.name} {HELP_WORD}."
        raise UsageError(f"I don't know {quote_input(topic or '')}. {hint}")

    def format_help(self, word: str = "") -> str:
        """Return, as mrkdwn, the help of a word; without one, that of the command with a line for each word."""
        first, *further = self.words
        topic, begun = self.words[word or first], f"{self.name} {word}" if word else self.name
        examples = " or ".join(f"`{self.name} {each}`" for each in topic.examples)
        lines = [f"*{begun}*: {topic.meaning}.", f"Usage: `{self.name} {topic.usage}`", f"For example {examples}."]
        lines += [topic.notes] if topic.notes else []
        if further and not word:
            unlisted = [f"`{each}`" for each, verb in self.verbs.items() if not verb.is_listed]
            listed = [each for each in further if f"`{each}`" not in unlisted]
            lines += [f"\u2022 `{each}` \u2013 {self.words[each].meaning}" for each in listed]
            more = f"More about each: `{self.name} {HELP_WORD} {listed[0]}`."
            lines.append(f"{more} There are also {', '.join(unlisted)}." if unlisted else more)
        return "\n".join(lines)

    def list_examples(self) -> Iterator[HelpExample]:
        """Yield an example of each word that is listed, as people write it to the bot in a message."""
        for word, topic in self.words.items():
            example = topic.examples[0]
            if (verb := self.verbs.get(word)) is None and not self.is_bare_form(example):
                example = f"{self.trigger_words[0]} {example}"
            if verb is None or verb.is_listed:
                yield HelpExample(example, topic.meaning, topic.brief)

    def parse(self, text: str, context: ParseContext) -> Any:
        """Parse the text after the command as one of its requests. Raises UsageError."""
        return self._find_request(text).parse(text, context)

    def _find_request(self, text: str) -> RequestWord[Any]:
        first = "".join(text.lower().split(maxsplit=1)[:1])
        return next((each for each in self.requests[1:] if each.word == first), self.requests[0])

    def share_again(self, app: App, asker: SlackRequest, click: Payload) -> None:
        """Repeat the request of a button for everybody. Raises UsageError or StoreUnavailable."""
        shapes = (shape for each in self.requests for shape in each.request_types)
        request = read_request(read_value(click), shapes)
        if isinstance(request, str):
            self.accept_text(app, asker, request, Audience.SHARED)
            return
        # what a button carries may be of another version, or forged: the limits of what is typed hold for it too
        self.parse(str(request), _build_context(app, asker))
        own = next(each for each in self.requests if isinstance(request, each.request_types))
        own.enqueue(app, asker, request.require_known(app.repositories), Audience.SHARED)


def _build_context(app: App, asker: SlackRequest) -> ParseContext:
    return ParseContext(app.repositories, app.get_today, lambda: app.get_channel_zone(asker.channel))


@dataclass(frozen=True, slots=True)
class SubCommand:
    """A part of ``/prdigest`` with first words of its own.

    ``requests`` are first words that begin another request; each is in the command's hint. ``verbs`` do something
    else, and may stand alone in a message; those that are listed are in the hint. ``place`` orders the parts.
    """

    requests: tuple[RequestWord[Any], ...] = ()
    verbs: Mapping[str, Verb] = field(default_factory=dict)
    place: int = 100

    @property
    def hint_words(self) -> tuple[str, ...]:
        verbs = (word for word, verb in self.verbs.items() if verb.is_listed)
        return (*(each.word for each in self.requests), *verbs)


Commands = tuple[Command, ...]


def list_examples(commands: Commands) -> tuple[HelpExample, ...]:
    return tuple(example for command in commands for example in command.list_examples())


def read_help_topic(text: str) -> str | None:
    """Return what ``help contract`` or ``contract help`` asks about; None for a text that does not ask for help.

    The word comes last after no more than two others, as an error that somebody pastes may end in it.
    """
    words = text.lower().split()
    if words[:1] and words[0] in _HELP_WORDS:
        return " ".join(words[1:])
    return " ".join(words[:-1]) if 1 < len(words) < 4 and words[-1] in _HELP_WORDS else None


def find_help(commands: Commands, topic: str) -> str:
    """Return the help of a command or one of its words; of the first without a topic, empty for none."""
    first, *rest = topic.removeprefix("/").split() or [commands[0].trigger_words[0]]
    named = next((each for each in commands if first in (each.name.removeprefix("/"), *each.trigger_words)), None)
    if named and not rest:
        return named.format_help()
    word = " ".join(rest) if named else topic
    return next((each.format_help(word) for each in ((named,) if named else commands) if word in each.words), "")
