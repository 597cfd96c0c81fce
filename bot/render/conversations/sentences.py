"""Sentences of notices, greetings and help that several places show."""

from __future__ import annotations

BUSY = "I can't accept requests right now: try again in a minute."
GAVE_UP = "I tried several times without success: ask again in a few minutes."
SET_ASIDE = (
    "That request crashed three times, so I stopped trying: ask for something smaller, or send the code to "
    "the bot's admin."
)
TOO_FAST = "Too many requests: wait a minute, then ask again."
STILL_WORKING = "I'm still working on it. I'll tell you when it's done, or if it fails."
NOT_POSTED_YET = (
    "Slack does not accept my answer right now. I'll keep trying for some minutes; ask again if it doesn't appear."
)
ASK_HINT = (
    "Reply in this message's thread, in your own words: which of these touch ROCm? does #35617 change a "
    "default? I answer there, with links to the code. You don't need to mention me."
)
# what the greeting and the help suggest to ask
GREETING_QUESTION = "what changed in the scheduler this week?"
HELP_QUESTION = "which of these touch ROCm?"
