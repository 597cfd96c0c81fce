"""The scopes that the bot requests in ``manifest.json``."""

from __future__ import annotations

# each scope with what does not work without it
SCOPES = {
    "app_mentions:read": "mentions are not heard",
    "channels:history": "replies in public channels are not heard, and a digest that broke off is not found again",
    "channels:read": "nobody can subscribe a public channel",
    "chat:write": "nothing is posted",
    "commands": "there are no slash commands",
    "files:write": "reports are not attached",
    "groups:history": "replies in private channels are not heard, and a digest that broke off is not found again",
    "groups:read": "nobody can subscribe a private channel",
    "im:history": "direct messages are not heard",
    "im:read": "nobody can subscribe in direct messages",
    "im:write": "nobody gets a digest or a notice in direct messages",
    "mpim:history": "group direct messages are not heard",
    "mpim:read": "nobody can subscribe in group direct messages",
    "users:read": "the time zones of people are not known",
}
