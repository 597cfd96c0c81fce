"""What people read in conversations: notices, the small print under answers, greetings and help."""

from __future__ import annotations

import math
from datetime import datetime

from bot.domain.conversations.answer_end import AnswerEnd
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.discussion import Remark, RemarkKind
from bot.domain.summaries.models import Evidence
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


def format_long_question(limit: int) -> str:
    """Return that a question is too long; ``limit`` is in characters."""
    return f"That question is too long: use up to {limit:,} characters."


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
MUTED = (
    "I'm quiet in this thread now. Mention me, and I answer that one message. Mention me with the word wake, "
    "and I answer every reply again."
)
UNMUTED = "I answer every reply in this thread again. To silence me, mention me with the word quiet."
NEVER_MUTED_HERE = "In direct messages I always answer, so quiet and wake have no effect here."

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


# votes on an answer

GOOD_VOTE_RECORDED = "Thanks, saved for the people who run this bot."
BAD_VOTE_RECORDED = f"{GOOD_VOTE_RECORDED} What was wrong? Reply here, and I answer again."
ANSWER_TOO_OLD = "That answer is too old to rate: ask again, then vote."

# the status line while tools run for the model; Slack writes the name of the bot before it

SEARCHING_TEXT = "is searching descriptions…"
SEARCHING_DIFFS = "is searching diffs…"
LOOKING_FOR_REVERTS = "is looking for reverts…"
READING_FILES = "is reading files…"
READING_DISCUSSIONS = "is reading discussions…"
GOING_THROUGH_LIST = "is reading the list of pull requests…"


def format_diff_reading(count: int) -> str:
    """Return that so many diffs are read."""
    return f"is reading {format_count(count, 'diff')}…"


# below an answer, and in it

_REMARK_PLACES = {
    RemarkKind.COMMENT: "comment",
    RemarkKind.RESOLVED: "thread",
    RemarkKind.OPEN: "thread",
}

MODEL_NOTE = "Written by a model. Linked lines are checked against the code; the rest may be wrong."
UNPROVEN = "Not verified against the code."
GOOD_ANSWER_LABEL = "Good answer"
BAD_ANSWER_LABEL = "Bad answer"

_ENDS = {
    AnswerEnd.COMPLETE: "",
    AnswerEnd.TRUNCATED: "The answer was truncated at the model's length limit: ask for a part of it.",
    AnswerEnd.TOO_LONG: "The answer was too long for a message: ask for a part of it.",
    AnswerEnd.LATE: "I stopped after four minutes. This is what I have so far.",
    AnswerEnd.STOPPED: "Stopped, as you asked.",
}


def format_answer_end(end: AnswerEnd, failure: str = "") -> str:
    """Return why an answer ends where it does, as a sentence; empty if the model had finished.

    ``failure`` is a clause on what broke, if something did.
    """
    if end is AnswerEnd.BROKEN:
        return f"The answer is incomplete ({failure}). This is what I have so far."
    return _ENDS[end]


def format_line_kind(evidence: Evidence) -> str:
    """Return whether a cited line is unchanged or removed, in parentheses; empty for an added one."""
    if not evidence.is_change:
        return " (unchanged)"
    return " (removed)" if evidence.side is DiffSide.OLD else ""


def format_remark(remark: Remark) -> str:
    """Return who wrote a quoted text, and where."""
    if remark.kind is RemarkKind.ISSUE:
        return f"{remark.author.login} in issue {remark.anchor.removeprefix('issue-')}"
    return f"{remark.author.login} in a {_REMARK_PLACES.get(remark.kind, 'review')}"


def format_read(sources: str) -> str:
    """Return what an answer is based on."""
    return f"Sources: {sources}."


def format_not_seen(gaps: str) -> str:
    """Return what was not read for an answer."""
    return f"Not read: {gaps}."


def format_failed_quotes(count: int) -> str:
    """Return how many quotes of an answer are not in the code that was read."""
    return f"{format_count(count, 'quote was', 'quotes were')} not found in the code and not linked."


# a plain search instead of an answer

WITHOUT_MODEL = "**Without the model.** "


def format_search_miss(title: str) -> str:
    """Return that a search found nothing; ``title`` names the days."""
    return f"A text search found none of your words in the pull requests of {title}."


def format_search_hits(title: str) -> str:
    """Return the sentence before the results of a search; ``title`` names the days."""
    return f"Text search for your words in the pull requests of {title}:"


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
