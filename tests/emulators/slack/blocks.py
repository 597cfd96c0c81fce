"""Builders of the few blocks of Slack's that tests of the bot make by themselves."""

from typing import Any

Json = dict[str, Any]


def button(**more: Any) -> Json:
    """A button; ``more`` is what it has besides its text."""
    return {"type": "button", "text": {"type": "plain_text", "text": "x"}, **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def markdown(text: str = "x") -> Json:
    """A block of Markdown."""
    return {"type": "markdown", "text": text}
