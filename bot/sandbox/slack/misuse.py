"""What no person can do in Slack's client, and what Slack does not understand of an app's answers."""

from __future__ import annotations


class Misuse(Exception):
    """Something that can't be done here, in one sentence."""


def need(condition: object, sentence: str) -> None:
    """Raise Misuse with the sentence where the condition does not hold."""
    if not condition:
        raise Misuse(sentence)
