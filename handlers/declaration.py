"""Declaration of a command and of its parts, from which help, hint and the entry in the manifest derive.

A module of this package declares a part of ``/prdigest``, such as its contract, as a :class:`SubCommand`;
nothing else has to name it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot.app import App
from bot.errors import UsageError
from bot.platform.commands import CommandRequest, ParseContext
from bot.platform.jobs import Job
from bot.platform.slack.buttons import read_request
from bot.platform.slack.greetings import HelpExample
from bot.platform.slack.requests import Audience, SlackRequest
from handlers.requests import Payload, read_value
from impact.text.strings import quote_input

R = TypeVar("R", bound=CommandRequest)

HELP_WORD = "help"
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
    """Return what enqueues the job for a request, the long one for many days."""

    def enqueue(app: App, asker: SlackRequest, request: R, audience: Audience) -> None:
        is_long = len(getattr(request, "span", ())) > _MAX_QUICK_DAYS
        chosen = long_job if long_job and is_long else job
        chosen.send_to(app.jobs, asker, request, choose_audience(request, audience))

    return enqueue


@dataclass(frozen=True, slots=True)
class RequestWord(Generic[R]):
    """What the text after a command may ask for, by its first word; the first one of a command needs no word.

    ``parse`` reads the whole text as one of the ``request_types``, ``enqueue`` enqueues the job for that.
    """

    word: str
    request_types: tuple[type[R], ...]
    parse: TextParser[R]
    enqueue: RequestEnqueuer[R]


@dataclass(frozen=True, slots=True)
class Command:
    """A slash command, which people may also write to the bot in a message.

    ``description`` and ``hint`` are shown by Slack while somebody types. ``usage`` is its help, as mrkdwn, and
    ``examples`` are its lines in the help of the bot. ``trigger_words`` begin it in a message; ``is_bare_form``
    tells whether a text without one of them is the command all the same.

    ``requests`` are what it may ask for. ``verbs`` are first words that turn it into something else; they may
    stand alone in a message. ``keywords`` are other words that it takes first. The button with the action
    ``share_action`` repeats the request for everybody.
    """

    name: str
    description: str
    hint: str
    usage: str
    trigger_words: tuple[str, ...]
    requests: tuple[RequestWord[Any], ...]
    examples: tuple[HelpExample, ...] = ()
    share_action: str = ""
    needs_text: bool = False
    is_bare_form: Callable[[str], bool] = lambda text: False
    verbs: Mapping[str, VerbHandler] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()

    def accept_text(self, app: App, asker: SlackRequest, text: str, audience: Audience = Audience.CHANNEL) -> None:
        """Enqueue the work that a text asks for.

        Raises:
            UsageError: the text has a mistake.
            StoreUnavailable: the work was not enqueued.
        """
        verb, *rest = text.split(maxsplit=1) or [""]
        if handle_verb := self.verbs.get(verb.lower()):
            handle_verb(app, asker, "".join(rest))
            return
        own = self._find_request(text)
        try:
            request = own.parse(text, _build_context(app, asker))
        except UsageError as error:
            words = (*self.verbs, *self.keywords, *(each.word for each in self.requests[1:]), HELP_WORD)
            meant = difflib.get_close_matches(verb.lower(), words, 1, _SIMILARITY)
            if meant and verb.lower() not in words:
                raise UsageError(
                    f"I don't know {quote_input(verb)}. Did you mean {self.name} {meant[0]}?"
                ) from error
            raise
        own.enqueue(app, asker, request, audience)

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
        return (*(each.word for each in self.requests), *self.hint_verbs)


Commands = tuple[Command, ...]


def list_examples(commands: Commands) -> tuple[HelpExample, ...]:
    return tuple(example for command in commands for example in command.examples)
