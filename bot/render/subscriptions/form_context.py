"""The context of the form of a subscription, from the click that opens it to the one that sends it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from bot.ports.codecs.versioned_json import VersionedJson


@dataclass(frozen=True, slots=True)
class FormContext:
    """The channel in which the form was opened, the subscription that it changes, and where to answer.

    ``channel`` is empty in App Home, ``id`` for a new subscription. ``answer`` is the ``response_url`` of the user
    who opened it.
    """

    channel: str
    id: str = ""
    answer: str = ""


_CODEC = VersionedJson(FormContext, 2)


def write_form_context(context: FormContext) -> str:
    """Return the context as the ``private_metadata`` of a view, for which Slack accepts 3,000 characters."""
    return json.dumps(_CODEC.dump(context))


def read_form_context(text: str) -> FormContext:
    """Return the context that a form carries. Raises ValueError or RecursionError if the text is none."""
    return _CODEC.load(json.loads(text))
