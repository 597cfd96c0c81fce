"""What a command is: the one declaration from which its queue, its help and its entry in the manifest derive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bot.domain.conversations.commands import CommandRequest
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.render.conversations.greetings import HelpExample
from bot.services.jobs.command_jobs import CommandJob, TextParser
from bot.services.jobs.declaration import JobType
from bot.services.jobs.payloads import CommandPayload
from handlers.intake import RequestIntake

R = TypeVar("R", bound=CommandRequest)

RequestEnqueuer = Callable[[RequestIntake, SlackRequest, R, Audience], str]
VerbHandler = Callable[[RequestIntake, SlackRequest, str], str]


def _is_never_bare(_: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Command(Generic[R]):
    """A slash command, which people may also write to the bot in a message.

    ``description`` and ``hint`` are what Slack shows of it where somebody types; ``usage`` is its help, as mrkdwn,
    and ``examples`` are its lines in the help of the bot. ``words`` begin it in a message, and ``is_alone`` tells
    whether a text without one of them is the command all the same.

    ``parse`` reads what follows it, as one of the kinds in ``requests``; ``enqueue`` puts the job for that on its
    queue and returns what to tell the asker at once; ``jobs`` are all the kinds of jobs that it may need. Its
    ``verbs`` are first words that make it something else; they may stand alone in a message. The button with the
    action ``share`` asks the same again for everybody.
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

    def accept_text(
        self, intake: RequestIntake, asker: SlackRequest, text: str, audience: Audience = Audience.CHANNEL
    ) -> str:
        """Put what a text asks for on a queue; return what to tell the asker.

        Raises UsageError, StoreUnavailable.
        """
        verb, *rest = text.split(maxsplit=1) or [""]
        accept_verb = self.verbs.get(verb.lower())
        if accept_verb:
            return accept_verb(intake, asker, "".join(rest))
        return self.enqueue(intake, asker, self.parse(text, intake.build_parse_context(asker)), audience)

    def share_request(self, intake: RequestIntake, asker: SlackRequest, request: R) -> str:
        """Put a request on its queue for everybody to see. Raises UsageError, StoreUnavailable."""
        return self.enqueue(intake, asker, request.require_known(intake.repositories), Audience.SHARED)


def enqueue_request(
    intake: RequestIntake,
    job: JobType[CommandPayload[R]],
    asker: SlackRequest,
    request: R,
    audience: Audience,
) -> None:
    """Enqueue the job for a request; only the asker sees the answer if they want it so.

    Raises StoreUnavailable.
    """
    intake.jobs.send(job, CommandPayload(asker, request, choose_audience(request, audience)))


def choose_audience(request: CommandRequest, audience: Audience) -> Audience:
    """Return who is to see the answer."""
    return Audience.ASKER if request.is_private else audience
