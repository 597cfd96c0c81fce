"""Declaration of a sub-command, such as ``/prdigest contract``, from which all that its command needs derives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot.domain.conversations.commands import CommandRequest, ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.jobs.command_jobs import CommandJob, TextParser
from bot.render.conversations.greetings import HelpExample
from handlers.commands.declaration import RequestEnqueuer, VerbHandler
from handlers.intake import RequestIntake

R = TypeVar("R", bound=CommandRequest)


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
    jobs: tuple[CommandJob[Any], ...]


@dataclass(frozen=True, slots=True)
class SubCommand:
    """A part of a slash command with first words of its own.

    ``usage`` is its part of the command's help, as mrkdwn, and ``examples`` are its lines in the help of the bot.
    ``requests`` are first words that begin another request; each is in the command's hint. ``verbs`` do something
    else, and may stand alone in a message; of them, ``hint_verbs`` are in the hint.
    """

    usage: str
    examples: tuple[HelpExample, ...]
    requests: tuple[RequestWord[Any], ...] = ()
    verbs: Mapping[str, VerbHandler] = field(default_factory=dict)
    hint_verbs: tuple[str, ...] = ()

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
        """The words of the others."""
        return tuple(each.word for each in self.others)

    @property
    def request_types(self) -> tuple[type[Any], ...]:
        """The types of all requests."""
        return tuple(kind for each in self._list_all() for kind in each.request_types)

    @property
    def jobs(self) -> tuple[CommandJob[Any], ...]:
        """The jobs of all requests."""
        return tuple(job for each in self._list_all() for job in each.jobs)

    def parse_text(self, text: str, context: ParseContext) -> CommandRequest:
        """Parse the text as one of the requests, by its first word. Raises UsageError."""
        first = "".join(text.lower().split(maxsplit=1)[:1])
        meant = next((each for each in self.others if each.word == first), self.default)
        request: CommandRequest = meant.parse(text, context)
        return request

    def enqueue_request(
        self, intake: RequestIntake, asker: SlackRequest, request: CommandRequest, audience: Audience
    ) -> str:
        """Enqueue one of the requests, and return the reply to send at once. Raises StoreUnavailable."""
        own = next(each for each in self._list_all() if isinstance(request, each.request_types))
        return own.enqueue(intake, asker, request, audience)

    def _list_all(self) -> tuple[RequestWord[Any], ...]:
        """List the requests, the default one first."""
        return (self.default, *self.others)
