"""Declaration of a command and of its parts, from which queues, help and the entry in the manifest derive.

A module of this package declares a part of ``/prdigest``, such as its contract, as a :class:`SubCommand`;
nothing else has to name it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot.app import App
from bot.domain.conversations.commands import CommandRequest, ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input
from bot.jobs.command_jobs import CommandJob, CommandPayload, TextParser
from bot.platform.jobs import JobType
from bot.render.conversations.greetings import HelpExample
from handlers.intake import build_parse_context

R = TypeVar("R", bound=CommandRequest)

HELP_WORD = "help"
_SIMILARITY = 0.7  # "lst" is taken for "list", and no date for a word

RequestEnqueuer = Callable[[App, SlackRequest, R, Audience], str]
VerbHandler = Callable[[App, SlackRequest, str], str]


@dataclass(frozen=True, slots=True)
class Command(Generic[R]):
    """A slash command, which people may also write to the bot in a message.

    ``description`` and ``hint`` are shown by Slack while somebody types. ``usage`` is its help, as mrkdwn, and
    ``examples`` are its lines in the help of the bot. ``trigger_words`` begin it in a message; ``is_bare_form``
    tells whether a text without one of them is the command all the same.

    ``parse`` reads the text after it as one of the ``request_types``. ``enqueue`` enqueues the job for that and
    returns the reply to send at once. ``jobs`` are all kinds of jobs that it may need. ``verbs`` are first words
    that turn it into something else; they may stand alone in a message. ``keywords`` are other words that it takes
    first. The button with the action ``share_action`` repeats the request for everybody.
    """

    name: str
    description: str
    hint: str
    usage: str
    trigger_words: tuple[str, ...]
    request_types: tuple[type[R], ...]
    parse: TextParser[R]
    enqueue: RequestEnqueuer[R]
    jobs: tuple[CommandJob[Any], ...] = ()
    examples: tuple[HelpExample, ...] = ()
    share_action: str = ""
    needs_text: bool = False
    is_bare_form: Callable[[str], bool] = lambda text: False
    verbs: Mapping[str, VerbHandler] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()

    def accept_text(self, app: App, asker: SlackRequest, text: str, audience: Audience = Audience.CHANNEL) -> str:
        """Enqueue the work that a text asks for, and return the reply to the asker.

        Raises:
            UsageError: the text has a mistake.
            StoreUnavailable: the work was not enqueued.
        """
        verb, *rest = text.split(maxsplit=1) or [""]
        if handle_verb := self.verbs.get(verb.lower()):
            return handle_verb(app, asker, "".join(rest))
        try:
            request = self.parse(text, build_parse_context(app, asker))
        except UsageError as error:
            if meant := self._suggest_word(verb.lower()):
                raise UsageError(f"I don't know {quote_input(verb)}. Did you mean {self.name} {meant}?") from error
            raise
        return self.enqueue(app, asker, request, audience)

    def _suggest_word(self, word: str) -> str:
        """Return the first word of this command that somebody most likely meant; empty if there is none."""
        words = (*self.verbs, *self.keywords, HELP_WORD)
        return "" if word in words else "".join(difflib.get_close_matches(word, words, 1, _SIMILARITY))

    def share_request(self, app: App, asker: SlackRequest, request: R) -> str:
        """Enqueue a request with an answer for everybody. Raises UsageError or StoreUnavailable."""
        # what a button carries may be of another version, or forged: the limits of what is typed hold for it too
        self.parse(str(request), build_parse_context(app, asker))
        return self.enqueue(app, asker, request.require_known(app.repositories), Audience.SHARED)


@dataclass(frozen=True, slots=True)
class RequestWord(Generic[R]):
    """A first word that turns a command into another request.

    ``parse`` reads the text after the command, which begins with the word, as one of the ``request_types``.
    ``enqueue`` enqueues the job for that and returns the reply to send at once; ``jobs`` are all that it may need.
    """

    word: str
    request_types: tuple[type[R], ...]
    parse: TextParser[R]
    enqueue: RequestEnqueuer[R]
    jobs: tuple[CommandJob[Any], ...] = ()


@dataclass(frozen=True, slots=True)
class SubCommand:
    """A part of ``/prdigest`` with first words of its own.

    ``usage`` is its part of the command's help, as mrkdwn, and ``examples`` are its lines in the help of the bot.
    ``requests`` are first words that begin another request; each is in the command's hint. ``verbs`` do something
    else, and may stand alone in a message; of them, ``hint_verbs`` are in the hint. ``place`` orders the parts.
    """

    usage: str
    examples: tuple[HelpExample, ...]
    requests: tuple[RequestWord[Any], ...] = ()
    verbs: Mapping[str, VerbHandler] = field(default_factory=dict)
    hint_verbs: tuple[str, ...] = ()
    place: int = 100

    @property
    def hint_words(self) -> tuple[str, ...]:
        """The words that Slack shows while somebody types the command."""
        return (*(each.word for each in self.requests), *self.hint_verbs)


@dataclass(frozen=True, slots=True)
class RequestChoice:
    """The requests of a command: the ``default`` one, and those that begin with a word of their own."""

    default: RequestWord[Any]
    others: tuple[RequestWord[Any], ...]

    @property
    def keywords(self) -> tuple[str, ...]:
        return tuple(each.word for each in self.others)

    @property
    def request_types(self) -> tuple[type[Any], ...]:
        return tuple(kind for each in (self.default, *self.others) for kind in each.request_types)

    @property
    def jobs(self) -> tuple[CommandJob[Any], ...]:
        return tuple(job for each in (self.default, *self.others) for job in each.jobs)

    def parse_text(self, text: str, context: ParseContext) -> CommandRequest:
        """Parse the text as one of the requests, by its first word. Raises UsageError."""
        first = "".join(text.lower().split(maxsplit=1)[:1])
        meant = next((each for each in self.others if each.word == first), self.default)
        request: CommandRequest = meant.parse(text, context)
        return request

    def enqueue_request(self, app: App, asker: SlackRequest, request: CommandRequest, audience: Audience) -> str:
        """Enqueue one of the requests, and return the reply to send at once. Raises StoreUnavailable."""
        own = next(each for each in (self.default, *self.others) if isinstance(request, each.request_types))
        return own.enqueue(app, asker, request, audience)


@dataclass(frozen=True, slots=True)
class CommandRegistry:
    """The commands, in the order of the help and the manifest."""

    commands: tuple[Command[Any], ...]

    @property
    def jobs(self) -> tuple[CommandJob[Any], ...]:
        """The jobs of all commands, for workers."""
        return tuple(job for command in self.commands for job in command.jobs)

    @property
    def examples(self) -> tuple[HelpExample, ...]:
        """The lines of all commands in the help of the bot."""
        return tuple(example for command in self.commands for example in command.examples)

    @property
    def verbs(self) -> Mapping[str, VerbHandler]:
        """The handlers of all verbs, by word in lower case."""
        return {verb: handle for command in self.commands for verb, handle in command.verbs.items()}

    def find_by_word(self, word: str) -> Command[Any] | None:
        """Return the command that a word in lower case begins, None if there is none."""
        return next((command for command in self.commands if word in command.trigger_words), None)

    def find_by_text(self, text: str) -> Command[Any] | None:
        """Return the command that a text is without any of its words, None if there is none."""
        return next((command for command in self.commands if command.is_bare_form(text)), None)


def enqueue_request(
    app: App, job: JobType[CommandPayload[R]], asker: SlackRequest, request: R, audience: Audience
) -> None:
    """Enqueue the job for a request. Only the asker sees the answer of a private one.

    Raises StoreUnavailable.
    """
    app.jobs.send(job, CommandPayload(asker, request, choose_audience(request, audience)))


def choose_audience(request: CommandRequest, audience: Audience) -> Audience:
    """Return the audience of the answer: the asker alone for a private request."""
    return Audience.ASKER if request.is_private else audience
