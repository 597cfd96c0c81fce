"""What the form of a subscription carries from the click that opens it to the one that sends it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from bot.ports.versioned_json import VERSION_FIELD, VersionedJson

_VERSION = 2


@dataclass(frozen=True, slots=True)
class FormContext:
    """Where the form was opened, the subscription that it changes, and the ``response_url`` of who opened it.

    ``channel`` is empty in App Home, ``id`` for a new subscription.
    """

    channel: str
    id: str = ""
    answer: str = ""


_CODEC = VersionedJson(FormContext, _VERSION)


def write_form_context(context: FormContext) -> str:
    """Return it as the ``private_metadata`` of a view, of which Slack takes 3,000 characters."""
    return json.dumps(_CODEC.dump(context))


def read_form_context(text: str) -> FormContext:
    """Read it; version 1, of a form that was open when the bot was updated, had the same fields without a version.

    Raises ValueError, TypeError or RecursionError for what is none.
    """
    fields = json.loads(text)
    if not isinstance(fields, dict):
        raise TypeError("what a form carries is an object")
    # fields without a value were null there
    known = {name: value for name, value in fields.items() if value is not None}
    return _CODEC.load({VERSION_FIELD: _VERSION, **known})
