"""Takes credentials out of texts: what somebody committed by mistake is not passed on to a model or a channel."""

from __future__ import annotations

import re

REDACTED = "[redacted]"
_MARKS = ("+", "-", " ")
# the published forms of tokens: Slack, GitHub, Anthropic and OpenAI, AWS, Hugging Face, Google, PEM keys
_SECRET = re.compile(
    r"""
    \bx(?:ox[a-z]|app)-[\w-]{10,}
    | \bgh[pousr]_\w{20,} | \bgithub_pat_\w{20,}
    | \bsk-(?:ant-|proj-)?(?=[\w-]{0,60}\d)(?=[\w-]{0,60}[A-Z])[\w-]{20,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bhf_[A-Za-z0-9]{30,}
    | \bAIza[\w-]{35}
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----
      (?:(?s:.{0,10000}?)(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)|[\s\w+/=:,.\\-]{0,10000})
    """,
    re.X,
)


def without_secrets(text: str) -> str:
    """The text with every known form of a credential replaced."""
    return _SECRET.sub(REDACTED, text)


def patch_without_secrets(patch: str) -> str:
    """The same for a diff, which keeps its lines and their marks: places in it are counted by them."""
    return _SECRET.sub(_line_by_line, patch)


def _line_by_line(found: re.Match[str]) -> str:
    others = found[0].split("\n")[1:]
    return "\n".join([REDACTED, *((line[:1] if line[:1] in _MARKS else "") + REDACTED for line in others)])
