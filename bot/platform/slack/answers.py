from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from bot.platform.commands import CommandRequest
from bot.platform.slack import buttons
from bot.platform.slack.blocks import Element, merge_posts
from bot.platform.slack.buttons import write_request
from bot.platform.slack.messages import Attachment, Post
from bot.platform.store.codecs import RecordCodec

_DIGITS = 16


@dataclass(frozen=True, slots=True)
class RepeatableAnswer:
    """What makes answers the same: the parsed ``request`` and the fingerprint of the ``content``."""

    request: str
    content: str
    button: Element


@dataclass(frozen=True, slots=True)
class Answer:
    """A message as everybody sees it and as the asker alone does; they differ in their buttons.

    ``about`` is the subject of a thread below it (see :mod:`bot.features.questions.rules`).
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
        return cls(post, post, is_private=is_private)

    @classmethod
    def merge(cls, answers: Iterable[Answer], most: int) -> Answer:
        """Return one answer for the asker alone; if it takes more than ``most`` messages, each part is reduced."""
        first, *further = merge_posts([answer.private for answer in answers], most)
        return cls(first, first, is_private=True, further=tuple(further))


@dataclass(frozen=True, slots=True)
class Share:
    """The request that a button repeats for everybody; ``content`` is a fingerprint, else that of the message."""

    action: str
    request: CommandRequest
    content: str = ""


def build_answer(asker: str, post: Post, share: Share, details: Element | None, about: str) -> Answer:
    """Return the message for everybody, which says who asked and has a thread, and the one for the asker alone."""
    public = buttons.add_buttons(buttons.add_asker(post, asker), details, buttons.make_ask_button())
    private = buttons.add_buttons(post, details, buttons.make_share_button(share.action, share.request))
    repeatable = RepeatableAnswer(
        write_request(share.request),
        share.content or compute_content(post),
        buttons.make_repeat_button(share.action, share.request),
    )
    return Answer(public, private, about, repeatable=repeatable)


def compute_content(post: Post) -> str:
    return compute_fingerprint(json.dumps(post.build_payload(), sort_keys=True))


def compute_fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """The record of one part of a request from Slack, with which a later attempt continues. Times are aware.

    ``begun_at``: a message may be posted. ``answered_at``: there is nothing left to do; the answer is posted, or
    its asker was notified that there is none.

    For a question in a thread, ``message`` is the timestamp of the answer that is being written, ``attempts``
    counts the attempts, and ``draft_json`` is the answer of the model. ``refused_at`` is when Slack first
    accepted no answer, ``excused_at`` when the asker was notified of that. Where a service asks for a pause, a
    separate record has the first postponement of the answer and the time for which it was promised. It also has
    ``started_at``, when the asker was notified that the work began. ``file_json`` is the file of the answer, for
    an attempt that finds its message without it.
    """

    begun_at: datetime | None = None
    answered_at: datetime | None = None
    message: str = ""
    attempts: int = 0
    draft_json: str = ""
    refused_at: datetime | None = None
    excused_at: datetime | None = None
    postponed_at: datetime | None = None
    promised_at: datetime | None = None
    started_at: datetime | None = None
    file_json: str = ""


@dataclass(frozen=True, slots=True)
class EarlierAnswer:
    """The record of the last answer to a request in a channel.

    ``message`` is Slack's timestamp of the answer, ``content`` the fingerprint of what it says, and ``posted_at``
    (aware) when it was posted.
    """

    message: str = ""
    content: str = ""
    posted_at: datetime | None = None


ANSWERED_REQUEST = RecordCodec(AnsweredRequest, version=1)
EARLIER_ANSWER_CODEC = RecordCodec(EarlierAnswer, version=1)
