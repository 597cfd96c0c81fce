"""An answer to a request, and the way that it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from bot.domain.conversations.slack_request import Audience, SlackRequest
from bot.ports import Attachment, Post
from bot.render.blocks.merged_posts import merge_posts
from bot.services.slack.answers.earlier_answer import RepeatableAnswer

PUBLIC_AUDIENCES = (Audience.CHANNEL, Audience.SHARED)


@dataclass(frozen=True, slots=True)
class Answer:
    """A message as everybody sees it and as the asker alone does; they differ in their buttons.

    ``about`` is the subject of a thread below it (see :mod:`bot.domain.conversations.thread_subject`).
    ``is_private``: only the asker may read it, also where it was meant for others. ``repeatable`` says which later
    answers are the same; None if there are none. ``attachment`` is a file for the thread of the message.
    ``further`` are messages that follow the private one.
    """

    public: Post
    private: Post
    about: str = ""
    is_private: bool = False
    repeatable: RepeatableAnswer | None = None
    attachment: Attachment | None = None
    further: tuple[Post, ...] = ()

    @classmethod
    def for_asker(cls, post: Post, *, is_private: bool = False) -> Answer:
        """Return an answer with the same buttons for everybody and for the asker."""
        return cls(post, post, is_private=is_private)

    @classmethod
    def merge(cls, answers: Iterable[Answer], most: int) -> Answer:
        """Return one answer for the asker alone; if it takes more than ``most`` messages, each part is reduced."""
        first, *further = merge_posts([answer.private for answer in answers], most)
        return cls(first, first, is_private=True, further=tuple(further))

    def attach_file(self, file: Attachment) -> Answer:
        """Return the answer with a file."""
        return replace(self, attachment=file)


@dataclass(frozen=True, slots=True)
class AnswerRoute:
    """The way of an answer: a message, in a ``thread`` if there is one, or a notice that only the asker sees."""

    is_posted: bool
    thread: str = ""


def choose_route(slack_request: SlackRequest, audience: Audience, answer: Answer) -> AnswerRoute:
    """Return the way of an answer that makes sure it is seen.

    In direct messages, an answer for the asker alone is an ordinary message: nobody else is there, and Slack does
    not show ephemeral messages in a thread without replies. The same holds for what everybody in a thread may
    read.
    """
    if audience in PUBLIC_AUDIENCES and not answer.is_private:
        return AnswerRoute(is_posted=True, thread=slack_request.thread)
    is_written = bool(slack_request.message) and not slack_request.response_url
    is_open = audience is Audience.HERE and not answer.is_private
    if is_written and (slack_request.is_direct or (is_open and slack_request.existing_thread)):
        return AnswerRoute(is_posted=True, thread=slack_request.existing_thread)
    return AnswerRoute(is_posted=False)


def list_threads(slack_request: SlackRequest) -> tuple[str, ...]:
    """Return the threads in which an earlier attempt may have posted; in direct messages also the top level."""
    return tuple(
        dict.fromkeys(
            (slack_request.thread, slack_request.existing_thread)
            if slack_request.is_direct
            else (slack_request.thread,)
        )
    )
