"""A command that the bot does not have, ``/prtoy``: all that one takes, in one file instead of four.

Its ball is also a sub-command of ``/prdigest``, with a verb.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from bot.app import App
from bot.errors import UsageError
from bot.platform.commands import PRIVATE_WORD, AllowedRepositories, ParseContext, split_words
from bot.platform.jobs import Job
from bot.platform.slack import blocks
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import Post
from bot.platform.slack.notices import render_notice
from bot.platform.slack.requests import Audience, SlackRequest
from handlers.declaration import Command, RequestEnqueuer, RequestWord, SubCommand, Verb, make_enqueuer
from impact.repository import Repository

SHARE = "share_toy"


# the request, as in rules of bot/features


@dataclass(frozen=True, slots=True)
class ToyRequest:
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


# the message, as in a view of bot/features


def toy_post(request: ToyRequest, asker: str) -> Post:
    return render_notice(f"{asker} rolls a {request.toy} of {request.repository}.")


# the answer, as in a service of bot/features


def give_toy(app: App, asker: SlackRequest, request: ToyRequest, audience: Audience) -> None:
    def make() -> Answer:
        known = request.require_known(app.repositories)
        post = toy_post(known, asker.user)
        return Answer(post, blocks.add_buttons(post, blocks.make_share_button(SHARE, known)), about="")

    app.replies.give_answer(asker, "toy", audience, make)


# not by the decorator, since other tests have all jobs of the bot alone
ANSWER_TOY = Job("toy", give_toy)


# the command, as in handlers


def _parse(text: str, context: ParseContext) -> ToyRequest:
    return ToyRequest.parse(text, context.repositories)


_ENQUEUE: RequestEnqueuer[ToyRequest] = make_enqueuer(ANSWER_TOY)
TOY = RequestWord(
    "a ball that rolls",
    "TOY [private]",
    ("ball", "doll private"),
    "`private` is for you alone.",
    brief="a ball",
    word="toy",
    request_types=(ToyRequest,),
    parse=_parse,
    enqueue=_ENQUEUE,
)
COMMAND = Command(
    name="/prtoy",
    description="Play with a toy",
    hint="ball | private | help",
    trigger_words=("toy", "prtoy"),
    requests=(TOY,),
    share_action=SHARE,
    needs_text=True,
)


# the sub-command, as in handlers

BALL, KICK = "ball", "kick"


def _kick(app: App, asker: SlackRequest, _: str) -> None:
    _ENQUEUE(app, asker, ToyRequest(app.repositories.default, BALL), Audience.ASKER)


SUB_COMMAND = SubCommand(
    requests=(replace(TOY, word=BALL, usage="ball [private]"),),
    verbs={KICK: Verb("kicks it", "kick [far]", ("kick", "kick far"), enqueue=_kick)},
)
