"""The only escaping: text from outside in the places where Slack reads markup.

Slack takes ``<!channel>``, ``<@U…>`` and ``<address|label>`` for live wherever text is mrkdwn. Titles, names and
model text therefore go into ``rich_text`` and ``plain_text``, which are literal (see
:mod:`bot.render.blocks.rich_text`); what must be mrkdwn, the ``text`` of a message, passes through here.
"""

from __future__ import annotations

import re

from bot.domain.text.redaction import without_secrets
from bot.domain.text.strings import one_line

# the words that ping a whole channel; a zero-width joiner after the sign makes them plain words
_BROADCAST = re.compile(r"@(?=(?:channel|here|everyone|group)\b)", re.I)
_ADDRESS = re.compile(r"(?<=[A-Za-z])://")
_WWW = re.compile(r"www(?=\.)", re.I)
_JOINER = "\u200d"


def escape(text: str) -> str:
    """The text on one line, with nothing in it that could ping, link or close what it stands in; no secret."""
    plain = without_secrets(one_line(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = _WWW.sub(rf"\g<0>{_JOINER}", plain)
    return _ADDRESS.sub(f":{_JOINER}//", _BROADCAST.sub(f"@{_JOINER}", plain))
