"""Escaping of external text where Slack reads markup.

Slack interprets ``<!channel>``, ``<@U…>`` and ``<address|label>`` wherever text is mrkdwn. Titles, names and model
text are therefore written as ``rich_text`` and ``plain_text``, which are literal (see
:mod:`bot.render.blocks.rich_text`); only what must be mrkdwn, the ``text`` of a message, is escaped here.
"""

from __future__ import annotations

import re

from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines

# the words that ping a whole channel; a zero-width joiner after the sign makes them plain words
_BROADCAST = re.compile(r"@(?=(?:channel|here|everyone|group)\b)", re.I)
_ADDRESS = re.compile(r"(?<=[A-Za-z])://")
_WWW = re.compile(r"www(?=\.)", re.I)
_JOINER = "\u200d"


def escape_mrkdwn(text: str) -> str:
    """Escape a text on one line, so that nothing in it can ping, link or end what it stands in; remove secrets."""
    plain = redact_text(collapse_lines(text)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = _WWW.sub(rf"\g<0>{_JOINER}", plain)
    return _ADDRESS.sub(f":{_JOINER}//", _BROADCAST.sub(f"@{_JOINER}", plain))
