"""Errors: Slack's refusals to an app, and actions that are impossible in Slack's client."""

from __future__ import annotations


class SlackError(Exception):
    """A response with ``ok`` false: Slack's error ``code``, and in ``more`` the fields beside it."""

    def __init__(self, code: str, **more: str) -> None:
        super().__init__(code)
        self.code = code
        self.more = more


class InvalidAction(Exception):
    """An action that a person can't do, or an app's answer that Slack does not understand, as one sentence."""


def raise_error(code: str | None) -> None:
    """Raise SlackError with the code, if there is one."""
    if code:
        raise SlackError(code)


def require(condition: object, sentence: str) -> None:
    """Raise InvalidAction with the sentence where the condition does not hold."""
    if not condition:
        raise InvalidAction(sentence)
