"""The id of the request that a job is for: it travels in the options of the job's message."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from threading import get_ident
from typing import Any

from dramatiq import Broker, Message, MessageProxy
from dramatiq.middleware import Middleware

from bot.jobs.job_runner import read_asker
from bot.platform.correlation import get_request_id, identify_request

log = logging.getLogger(__name__)

# the name of the option in the messages of the queues; it is never changed
REQUEST_OPTION = "request"
# of the random id of a message: as long as a reference
_ID_LENGTH = 6


class JobCorrelation(Middleware):
    """Middleware that gives the work of a job the id of the request that it is for.

    A job without an asker that no other work enqueued, such as a scheduled digest, gets an id of its own.
    """

    def __init__(self) -> None:
        # by thread, not by message: a job that is put back may begin in another thread before it ends in this one
        self._open: dict[int, ExitStack] = {}

    def before_enqueue(self, broker: Broker, message: Message[Any], delay: int | None) -> None:
        """Note the id, unless the job has one: a job that is put back keeps its own."""
        if REQUEST_OPTION in message.options:
            return
        message.options[REQUEST_OPTION] = get_request_id() or name_request(message)
        with identify_request(name_request(message)):
            log.info("job %s goes to its queue", message.actor_name)

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """Give the id to what this thread does from now on."""
        with ExitStack() as context:
            context.enter_context(identify_request(name_request(message)))
            self._open[get_ident()] = context.pop_all()

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Take the id away."""
        self._open.pop(get_ident(), ExitStack()).close()

    def after_skip_message(self, broker: Broker, message: MessageProxy) -> None:
        """Take the id away from a job that another middleware skips."""
        self._open.pop(get_ident(), ExitStack()).close()


def name_request(message: Message[Any] | MessageProxy) -> str:
    """Return the id of the request that a message is for, made from its asker or itself if it names none."""
    named = message.options.get(REQUEST_OPTION)
    if isinstance(named, str) and named:
        return named
    asker = read_asker(message.args)
    return asker.reference if asker else str(message.message_id)[:_ID_LENGTH]
