"""The scopes that the bot requests in ``manifest.json``."""

from __future__ import annotations

# each scope with what does not work without it
SCOPES = {
    "app_mentions:read": "the bot receives no mentions",
    "channels:history": "the bot receives no replies in public channels, and can't continue an interrupted digest",
    "channels:read": "nobody can subscribe public channels",
    "chat:write": "nothing is posted",
    "commands": "there are no slash commands",
    "files:write": "reports are not attached",
    "groups:history": "the bot receives no replies in private channels, and can't continue an interrupted digest",
    "groups:read": "nobody can subscribe private channels",
    "im:history": "the bot receives no direct messages",
    "im:read": "nobody can subscribe in direct messages",
    "im:write": "the bot can't send digests and notices as direct messages",
    "mpim:history": "the bot receives no group direct messages",
    "mpim:read": "nobody can subscribe in group direct messages",
    "users:read": "people's time zones and roles are unknown",
}
