"""A command that the bot does not have, ``/prtoy``: all that one takes, in one file instead of four.

Its ball is also a sub-command of ``/prdigest``, with a verb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from bot.app import App
from bot.domain.conversations.commands import AllowedRepositories, ParseContext
from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.query_options import PRIVATE_WORD, split_words
from bot.jobs.command_jobs import CommandJob, CommandPayload, answer_once
from bot.platform.jobs import JobType
from bot.platform.slack.answers import Answer
from bot.ports import Post
from bot.render.blocks import buttons
from bot.render.conversations.greetings import HelpExample
from bot.render.conversations.notices import render_notice
from handlers.declaration import Command, RequestWord, SubCommand, enqueue_request

SHARE = "share_toy"
USAGE = "Play: `/prtoy ball` rolls a ball, `private` for you alone."


# the request, as in bot/domain


@dataclass(frozen=True, slots=True)
class ToyRequest:
    """A toy of a repository."""

    kind: ClassVar[str] = "toy"
    repository: Repository
    toy: str
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> ToyRequest:
        """Raises UsageError."""
        words = split_words(text)
        named = [word for word in words if word.lower() != PRIVATE_WORD]
        if len(named) != 1:
            raise UsageError("Which toy? Write one word, such as ball.")
        return cls(repositories.default, named[0], is_private=len(named) < len(words))

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository))

    def __str__(self) -> str:
        return self.toy


# the message, as in bot/render


def toy_post(request: ToyRequest, asker: str) -> Post:
    """Return the answer."""
    return render_notice(f"{asker} rolls a {request.toy} of {request.repository}.")


# the answer, as in bot/services


def answer_toy(_: App, request: ToyRequest, asker: SlackRequest) -> Answer:
    """Return the answer with its buttons."""
    post = toy_post(request, asker.user)
    return Answer(post, buttons.add_buttons(post, buttons.make_share_button(SHARE, request)), about="")


# the command, as in handlers/commands


def _parse(text: str, context: ParseContext) -> ToyRequest:
    return ToyRequest.parse(text, context.repositories)


TOY = JobType("toy", CommandPayload[ToyRequest])


def _enqueue(app: App, asker: SlackRequest, request: ToyRequest, audience: Audience) -> str:
    enqueue_request(app, TOY, asker, request, audience)
    return f"Fetching the {request.toy}…"


COMMAND = Command(
    name="/prtoy",
    description="Play with a toy",
    hint="ball | private | help",
    usage=USAGE,
    trigger_words=("toy", "prtoy"),
    request_types=(ToyRequest,),
    parse=_parse,
    enqueue=_enqueue,
    jobs=(CommandJob(TOY, answer_once("toy", answer_toy)),),
    examples=(HelpExample("toy ball", "a ball that rolls", "a ball"),),
    share_action=SHARE,
    needs_text=True,
)


# the sub-command, as in handlers/commands

BALL, KICK = "ball", "kick"


def _kick(app: App, asker: SlackRequest, text: str) -> str:
    _enqueue(app, asker, ToyRequest(app.repositories.default, BALL), Audience.ASKER)
    return f"Kicking it {text}…"


SUB_COMMAND = SubCommand(
    usage="*Play*: `/prdigest ball` rolls a ball, `/prdigest kick` kicks it.",
    examples=(HelpExample("digest ball", "a ball that rolls"),),
    requests=(RequestWord(BALL, (ToyRequest,), _parse, _enqueue, COMMAND.jobs),),
    verbs={KICK: _kick},
    hint_verbs=(KICK,),
)
