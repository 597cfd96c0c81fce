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

BUSY = "I can't take this down right now: try again in a minute."
GAVE_UP = "I tried that several times and gave up: ask again in a few minutes."
SET_ASIDE = (
    "I broke down three times while I worked on that, so I have set it aside: ask for something smaller, or give"
    " the reference to whoever runs me."
)
DEFECT = "Something went wrong on my side: try again, and if it stays so, give the reference to whoever runs me."
NOT_SET_UP = "I am not set up for that: give the reference to whoever runs me."
GITHUB_DENIES = "GitHub does not let me read that: ask whoever runs me to look at the token."
GITHUB_SILENT = "GitHub does not answer me right now: try again in a few minutes."
SLACK_DENIES = "Slack does not let me do that: ask whoever runs me to look at my permissions."
SLACK_SILENT = "Slack does not answer me right now: try again in a few minutes."


def format_slack_pause(seconds: float) -> str:
    """Return that Slack asked for a pause."""
    return f"Slack asks me to wait: try again in {format_count(math.ceil(seconds / 60), 'minute')}."


# refusals

OTHER_WORKSPACE = "I answer people of my own workspace only: ask whoever runs me to allow yours."
OTHER_CHANNEL = "I don't answer in this channel: ask in one of mine, or ask whoever runs me."
NOT_ALLOWED = "I may not answer you here: ask whoever runs me to allow it."
TOO_FAST = "That was a lot in a minute: give me a moment, then ask again."
NOT_A_MEMBER = "I am not a member of this channel: invite me with /invite, then share again."


def format_long_question(limit: int) -> str:
    """Return that a question is too long; ``limit`` is in characters."""
    return f"That is too long for a question: use up to {limit:,} characters."


# notices

STILL_WORKING = "I am still at it; I say so when it is done, or what went wrong."
NOT_POSTED_YET = (
    "Slack does not take my answer right now. I go on trying for some minutes: ask again if it does not come."
)
ASK_HINT = (
    "Reply to this message in its thread, in your own words: which of these touch ROCm? does #35617 change a "
    "default? what must we do in our fork? I answer there, with links to the lines. No need to write my name."
)
MUTED = (
    "I am quiet in this thread now. Mention me and I answer that one message; mention me with the word wake and I "
    "answer every reply again."
)
UNMUTED = "I answer every reply in this thread again; mention me with the word quiet to silence me."
NEVER_MUTED_HERE = "Here we are alone, so I always answer: no need to silence or wake me."

# notices with an instant or a link at their end or in their middle

BUDGET_SPENT = "You have used up your budget for today: what nobody has asked for before comes as facts alone "
UNTIL = "until "

DIGEST_EXISTS = "That digest is already here: "
OPEN_LINK = "open it"

GOING_ON = "I go on "
ANSWER_THEN = " and answer then."


def format_service_pause(service: str) -> str:
    """Return that a service asked for a pause; the instant of the next call follows."""
    return f"{service} asks me to wait. "


def format_next_call(then: datetime) -> str:
    """Return when an answer goes on, where no reader's time zone can be shown; ``then`` is in UTC."""
    return f"{GOING_ON}at {then:%H:%M} UTC{ANSWER_THEN}"


# the status line while tools run for the model; Slack writes the name of the bot before it

SEARCHING_TEXT = "is searching the descriptions…"
SEARCHING_DIFFS = "is searching the diffs…"
LOOKING_FOR_REVERTS = "is looking for reverts…"
READING_FILES = "is reading the files…"
READING_DISCUSSIONS = "is reading the discussion…"
GOING_THROUGH_LIST = "is going through the pull requests…"


def format_diff_reading(count: int) -> str:
    """Return that so many diffs are read."""
    return f"is reading {format_count(count, 'diff')}…"


# below an answer, and in it

_REMARK_PLACES = {
    RemarkKind.COMMENT: "comment",
    RemarkKind.RESOLVED: "thread",
    RemarkKind.OPEN: "thread",
}

MODEL_NOTE = "Written by a model: links to lines were checked against the code, the rest may be wrong."
UNPROVEN = "No line proves what it says of code."
GOOD_ANSWER_LABEL = "Good answer"
BAD_ANSWER_LABEL = "Bad answer"

_ENDS = {
    AnswerEnd.COMPLETE: "",
    AnswerEnd.TRUNCATED: "The model's answer was cut at its length limit: ask for a part of it.",
    AnswerEnd.TOO_LONG: "The answer was longer than a message may be: ask for a part of it.",
    AnswerEnd.LATE: "I stopped at four minutes; this is what I have.",
    AnswerEnd.STOPPED: "Stopped, as you asked.",
}


def format_answer_end(end: AnswerEnd, failure: str = "") -> str:
    """Return why an answer ends where it does, as a sentence; empty if the model had finished.

    ``failure`` is a clause on what broke, if something did.
    """
    if end is AnswerEnd.BROKEN:
        return f"The model stopped in the middle ({failure}): this is what I have."
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
    return f"Read: {sources}."


def format_not_seen(gaps: str) -> str:
    """Return what was not read for an answer."""
    return f"Not seen: {gaps}."


def format_failed_quotes(count: int) -> str:
    """Return how many quotes of an answer are not in the code that was read."""
    return f"{format_count(count, 'quote was', 'quotes were')} not in the code and not linked."


# a plain search instead of an answer

WITHOUT_MODEL = "**Without the model.** "


def format_search_miss(title: str) -> str:
    """Return that a search found nothing; ``title`` names the days."""
    return f"A plain search found none of your words in the pull requests of {title}."


def format_search_hits(title: str) -> str:
    """Return the sentence before the results of a search; ``title`` names the days."""
    return f"A plain search for your words in the pull requests of {title}:"


# greetings and help

HELLO = "Hello, I am prdigest. "
THANKS = "Thanks for inviting me. "
INTRODUCTION = "I read the pull requests merged into "
TRY_ONE = "Try one of these:"
ASK_ANYTHING = "Ask me anything about the pull requests of "
WHAT_I_UNDERSTAND = "What I understand:"

QUESTION_MEANING = "a question, in your own words"
GREETING_QUESTION = "what changed in the scheduler this week?"
HELP_QUESTION = "which of these touch ROCm?"
QUIET_MEANING = "in a thread: I answer there only when you mention me, until you write wake"

# around the word to type, which stands as code
PRIVATE_BEFORE, PRIVATE_AFTER = "Add ", " to keep an answer to yourself. "
HELP_BEFORE, HELP_AFTER = ". All that I do: ", "."
MENTION_HINT = "In a channel, begin with my name: "


def format_mention(command: str) -> str:
    """Return what to type in a channel."""
    return f"@prdigest {command}"
