"""The end of workflow steps, over Slack's Web API."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from slack_sdk import WebClient

from bot.adapters.slack.errors import translate_slack_errors
from bot.domain.errors import SlackCallRefused

log = logging.getLogger(__name__)


class SlackStepReporter:
    """``StepReporter`` over the Web API. ``open_client`` returns a client with a token."""

    def __init__(self, open_client: Callable[[str], WebClient]) -> None:
        self._open_client = open_client

    def complete(self, execution: str, token: str, outputs: Mapping[str, str]) -> None:
        """Tell that a step is done."""
        with _accept_refusals(execution):
            self._open_client(token).functions_completeSuccess(
                function_execution_id=execution, outputs=dict(outputs)
            )

    def fail(self, execution: str, token: str, reason: str) -> None:
        """Tell that a step has failed."""
        with _accept_refusals(execution):
            self._open_client(token).functions_completeError(function_execution_id=execution, error=reason)


@contextmanager
def _accept_refusals(execution: str) -> Iterator[None]:
    """Log a refusal: the step has ended, or its token has expired, and no other call would change that."""
    try:
        with translate_slack_errors(token="a workflow token"):  # noqa: S106 (what it is)
            yield
    except SlackCallRefused as error:
        log.warning("the end of step %s is not accepted: %s", execution, error)
