"""What Slack refuses an app, and what nobody can do in Slack's client."""

from __future__ import annotations


class SlackError(Exception):
    """An answer with ``ok`` false: Slack's error ``code``, and in ``more`` the fields that come with it."""

    def __init__(self, code: str, **more: str) -> None:
        super().__init__(code)
        self.code = code
        self.more = more


class InvalidAction(Exception):
    """Something that a person can't do, or that Slack does not understand of an app's answer, in one sentence."""


def raise_error(code: str | None) -> None:
    """Raise SlackError with the code, if there is one."""
    if code:
        raise SlackError(code)


def require(condition: object, sentence: str) -> None:
    """Raise InvalidAction with the sentence where the condition does not hold."""
    if not condition:
        raise InvalidAction(sentence)
