"""Declaration of a command, from which its queue, its help and its entry in the manifest derive."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot.domain.conversations.commands import CommandRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input
from bot.jobs.command_jobs import CommandJob, CommandPayload, TextParser
from bot.platform.jobs import JobType
from bot.render.conversations.greetings import HelpExample
from handlers.intake import RequestIntake

R = TypeVar("R", bound=CommandRequest)

HELP_WORD = "help"
# "lst" is taken for "list", and no date for a word
_SIMILARITY = 0.7

RequestEnqueuer = Callable[[RequestIntake, SlackRequest, R, Audience], str]
VerbHandler = Callable[[RequestIntake, SlackRequest, str], str]


def _is_never_bare(_: str) -> bool:
    """Return that no text is the command without one of its words."""
    return False


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
    jobs: tuple[CommandJob[Any], ...]
    examples: tuple[HelpExample, ...] = ()
    share_action: str = ""
    needs_text: bool = False
    is_bare_form: Callable[[str], bool] = _is_never_bare
    verbs: Mapping[str, VerbHandler] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()

    def accept_text(
        self, intake: RequestIntake, asker: SlackRequest, text: str, audience: Audience = Audience.CHANNEL
    ) -> str:
        """Enqueue the work that a text asks for, and return the reply to the asker.

        Raises:
            UsageError: the text has a mistake.
            StoreUnavailable: the work was not enqueued.
        """
        verb, *rest = text.split(maxsplit=1) or [""]
        handle_verb = self.verbs.get(verb.lower())
        if handle_verb:
            return handle_verb(intake, asker, "".join(rest))
        try:
            request = self.parse(text, intake.build_parse_context(asker))
        except UsageError as error:
            if meant := self._suggest_word(verb):
                raise UsageError(f"I don't know {quote_input(verb)}. Did you mean {self.name} {meant}?") from error
            raise
        return self.enqueue(intake, asker, request, audience)

    def _suggest_word(self, word: str) -> str:
        """Return the first word of this command that somebody most likely meant; empty if there is none."""
        words = (*self.verbs, *self.keywords, HELP_WORD)
        similar = (
            difflib.get_close_matches(word.lower(), words, 1, _SIMILARITY) if word.lower() not in words else []
        )
        return "".join(similar)

    def share_request(self, intake: RequestIntake, asker: SlackRequest, request: R) -> str:
        """Enqueue a request with an answer for everybody. Raises UsageError or StoreUnavailable."""
        # what a button carries may be of another version, or forged: the limits of what is typed hold for it too
        self.parse(str(request), intake.build_parse_context(asker))
        return self.enqueue(intake, asker, request.require_known(intake.repositories), Audience.SHARED)


def enqueue_request(
    intake: RequestIntake,
    job: JobType[CommandPayload[R]],
    asker: SlackRequest,
    request: R,
    audience: Audience,
) -> None:
    """Enqueue the job for a request. Only the asker sees the answer of a private one.

    Raises StoreUnavailable.
    """
    intake.jobs.send(job, CommandPayload(asker, request, choose_audience(request, audience)))


def make_enqueuer(job: JobType[CommandPayload[R]]) -> RequestEnqueuer[R]:
    """Return the function that enqueues this job for each request, and says nothing at once."""

    def enqueue(intake: RequestIntake, asker: SlackRequest, request: R, audience: Audience) -> str:
        enqueue_request(intake, job, asker, request, audience)
        return ""

    return enqueue


def choose_audience(request: CommandRequest, audience: Audience) -> Audience:
    """Return the audience of the answer: the asker alone for a private request."""
    return Audience.ASKER if request.is_private else audience
