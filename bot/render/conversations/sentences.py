"""What people read in conversations: notices, greetings and help."""

from __future__ import annotations

import math
from datetime import datetime

from bot.domain.text.strings import format_count

# errors

BUSY = "I can't accept requests right now: try again in a minute."
GAVE_UP = "I tried several times without success: ask again in a few minutes."
SET_ASIDE = (
    "That request crashed three times, so I stopped trying: ask for something smaller, or send the code to "
    "the bot's admin."
)
DEFECT = "Something went wrong on my side: try again, or send the code to the bot's admin if it keeps failing."
NOT_SET_UP = "I'm not set up for that: send the code to the bot's admin."
GITHUB_DENIES = "GitHub does not let me read that: ask the bot's admin to check the GitHub token."
GITHUB_SILENT = "GitHub is not responding: try again in a few minutes."
SLACK_DENIES = "Slack does not let me do that: ask the bot's admin to check my permissions."
SLACK_SILENT = "Slack is not responding: try again in a few minutes."


def format_slack_pause(seconds: float) -> str:
    """Return that Slack asked for a pause."""
    return f"Slack limits my rate: try again in {format_count(math.ceil(seconds / 60), 'minute')}."


# refusals

OTHER_WORKSPACE = "I only answer people of my own workspace: ask the bot's admin to allow yours."
OTHER_CHANNEL = "I don't answer in this channel: use another one, or ask the bot's admin."
NOT_ALLOWED = "I'm not allowed to answer you: ask the bot's admin."
TOO_FAST = "Too many requests: wait a minute, then ask again."
NOT_A_MEMBER = "I'm not in this channel: invite me with /invite, then share again."


# notices

STILL_WORKING = "I'm still working on it. I'll tell you when it's done, or if it fails."
NOT_POSTED_YET = (
    "Slack does not accept my answer right now. I'll keep trying for some minutes; ask again if it doesn't appear."
)
ASK_HINT = (
    "Reply in this message's thread, in your own words: which of these touch ROCm? does #35617 change a "
    "default? I answer there, with links to the code. You don't need to mention me."
)
OPEN_THREAD = "Open the message"

# notices with an instant or a link at their end or in their middle

BUDGET_SPENT = "You have used up your budget for today. New summaries contain facts only "
UNTIL = "until "

DIGEST_EXISTS = "That digest is already here: "
OPEN_LINK = "open it"
ANSWERED_ALREADY = "This channel got the same answer within the last hour: "

GOING_ON = "I'll continue "
ANSWER_THEN = " and answer then."


def format_service_pause(service: str) -> str:
    """Return that a service asked for a pause; the instant of the next call follows."""
    return f"{service} limits my rate. "


def format_next_call(then: datetime) -> str:
    """Return when an answer goes on, where no reader's time zone can be shown; ``then`` is in UTC."""
    return f"{GOING_ON}at {then:%H:%M} UTC{ANSWER_THEN}"


# greetings and help

HELLO = "Hello, I'm prdigest. "
THANKS = "Thanks for inviting me. "
INTRODUCTION = "I read the pull requests merged into "
TRY_ONE = "Try one of these:"
ASK_ANYTHING = "Ask me anything about the pull requests of "
WHAT_I_UNDERSTAND = "What I understand:"

QUESTION_MEANING = "a question, in your own words"
GREETING_QUESTION = "what changed in the scheduler this week?"
HELP_QUESTION = "which of these touch ROCm?"
QUIET_MEANING = "in a thread: I answer only when you mention me, until you write wake"

# around the word to type, which stands as code
PRIVATE_BEFORE, PRIVATE_AFTER = "Add ", " to keep an answer to yourself. "
HELP_BEFORE, HELP_AFTER = ". For all commands: ", "."
MENTION_HINT = "In a channel, mention me first: "


def format_mention(command: str) -> str:
    """Return what to type in a channel."""
    return f"@prdigest {command}"


def format_still_working(done: int, total: int) -> str:
    """Return that the work goes on, and how many merges of all are read; ``total`` is 0 if nobody knows."""
    return (
        f"{STILL_WORKING} So far I've read {done:,} of {format_count(total, 'merge')}." if total else STILL_WORKING
    )


def format_file_note(title: str) -> str:
    """Return that the file of an answer is in its thread."""
    return f"In the thread, as a file: {title}"


def format_missing_file(title: str) -> str:
    """Return how to get the file of an answer that only the asker sees."""
    return (
        f"{title}: Slack shows no file to one person alone. Share this answer in a channel that I am in, or ask "
        "in a direct message to me."
    )


def format_refused_file(title: str) -> str:
    """Return that Slack refused the file of an answer."""
    return f"{title}: Slack refuses this file. Someone who runs this bot can give it the scope files:write."
