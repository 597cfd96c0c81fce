"""What people read about subscriptions: confirmations, lists, the form, App Home, and incidents."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.operations.bot_health import BotHealth
from bot.domain.operations.incident import Incident, IncidentKind
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import format_count

# one subscription in a line

SUBSCRIBED = "Subscribed: "
NEXT_COMES = "The next digest comes "
COMES_NOW = "The next digest comes in a minute"
NEXT = "next "
YOUR_TIME = " your time"
IN_PLACE = " in "
SENT_TO_YOU = "Sent to you"
TO_YOU_ALONE = " in your direct messages with me"
FROM_SETTINGS = " · set by the bot's admin"
IS_PAUSED = " · paused"


def format_timing(subscription: Subscription, view: str) -> str:
    """Return when it is posted, such as ``, every day at 09:00 (Europe/Berlin), path:…``."""
    timing = subscription.timing
    days = "from Monday to Friday" if timing.weekdays else "every day"
    zone = f"{timing.zone}, as your Slack is set" if subscription.follows else str(timing.zone)
    return f", {days} at {timing.at:%H:%M} ({zone}){f', {view}' if view else ''}"


# what was done; ``how`` is one of these words

UNSUBSCRIBED, PAUSED, RESUMED = "Unsubscribed", "Paused", "Resumed"
HAS_CHANGED, HAS_REMOVED, HAS_PAUSED, HAS_RESUMED = "changed", "removed", "paused", "resumed"
POSTS_STAY = "Posted digests stay."
RESUME_HINT = "/prdigest resume continues it."


def format_subscribed(repository: Repository) -> str:
    """Return that a subscription was made or changed, as the text of a notification."""
    return f"Subscribed to {repository}"


def format_changes(how: str, repositories: Sequence[Repository]) -> str:
    """Return what was done to the digests of some repositories."""
    return f"{how}: {', '.join(map(str, repositories))}"


def format_change(how: str) -> str:
    """Return what was done, between the name of a user and a subscription."""
    return f" {how} the digest of "


def format_change_notification(how: str, repository: Repository) -> str:
    """Return what was done, as the text of a notification."""
    return f"The digest of {repository} was {how}."


# lists

NO_SUBSCRIPTIONS = "There are no subscriptions here: create one with /prdigest subscribe. See /prdigest help."


def format_listing_title(count: int) -> str:
    """Return how many subscriptions a channel has."""
    return f"{format_count(count, 'digest comes', 'digests come')} here"


def format_more_subscriptions(count: int) -> str:
    """Return how many more subscriptions there are."""
    return f"and {count} more: /prdigest list shows a channel's subscriptions"


WHICH_ONE = "Which one?"
LIST_TAKES_NO_WORDS = "The list takes no options: it shows all subscriptions of this channel."

# previews

PREVIEW_STARTED = "Preparing a preview of yesterday's digest…"
PREVIEW_NOTE = "Preview, visible only to you. Nothing was posted."


# refusals

UNKNOWN_VERB = "I don't understand that: see /prdigest help."
IS_GONE = "That subscription no longer exists."
IS_PERSONAL = "That is a personal subscription: only its owner can change it."
IS_FIXED = "That digest comes from the settings of the bot: only the bot's admin can change it."


def format_fixed_already(subscription: Subscription) -> str:
    """Return that a channel gets a digest already, which people can't change in Slack."""
    return (
        f"This channel already gets {subscription.repository}{format_timing(subscription, '')}, "
        "set by the bot's admin: add a filter, or write me for your own."
    )


MEMBERS_ONLY = "Only members of that channel, or the person who subscribed it, can do that: join it first."
# the end of a confirmation
AND_PREVIEWS = ". Links to pull requests get previews there."
JOIN_FIRST = "Only members of that channel can subscribe it: join it first."
MEMBERS_UNKNOWN = "I can't see who is in that channel: invite me with /invite, or ask the bot's admin."
NOT_IN_CHANNEL = "You are not in this channel: use one that you are in."
BOT_NOT_MEMBER = "I'm not in that channel: invite me with /invite, then subscribe again."
CHANNEL_ARCHIVED = "That channel is archived: choose another one."
OTHER_DIRECT_MESSAGES = "You can't subscribe somebody else's direct messages: use me for your own."


def format_too_many(limit: int) -> str:
    """Return that a channel has as many subscriptions as it may."""
    return f"This channel already has {limit} subscriptions: remove one first."


# buttons

NEW_LABEL = "New subscription"
PREVIEW_LABEL = "Preview"
CHANGE_LABEL = "Change"
PAUSE_LABEL = "Pause"
RESUME_LABEL = "Resume"
REMOVE_LABEL = "Unsubscribe"
REMOVE_QUESTION = "Unsubscribe?"
KEEP_LABEL = "Keep it"


def format_removal(name: str) -> str:
    """Return what the removal of a subscription means."""
    return f"{name} will no longer be posted there. {POSTS_STAY}"


# the form

FORM_TITLE = "Subscription"
SAVE_LABEL = "Save"
CANCEL_LABEL = "Cancel"
REPOSITORY_LABEL = "Repository"
WHERE_LABEL = "Where"
IN_CHANNEL_LABEL = "In a channel"
TO_ME_LABEL = "To me only"
CHANNEL_LABEL = "Channel"
AT_LABEL = "At"
ZONE_LABEL = "Time zone"
OWN_ZONE_LABEL = "My own time zone, as in Slack"
DAYS_LABEL = "Days"
DAILY_LABEL = "Every day"
WEEKDAYS_LABEL = "Monday to Friday"
SHOW_LABEL = "Show"
SHOW_ALL_LABEL = "Every pull request"
SHOW_SUBSTANTIAL_LABEL = "Substantial ones"
SHOW_RISKY_LABEL = "Risky and reverted ones"
SHOW_TOUCHING_LABEL = "Those that touch the profile"
PROFILE_LABEL = "Profile"
PROFILE_HINT = "The code that each merge is checked against."
NO_PROFILE_LABEL = "None"
PROFILE_MISSING = "Choose a profile, or show more than what touches it."
FILTER_LABEL = "Filter"
FILTER_HINT = "Such as path:vllm/v1 label:rocm not-author:bots. Leave empty to show everything."
FORM_OUTDATED = "This form is outdated: close it and open it again."
FORM_NEEDS_COMMAND = (
    "Slack opens a form only after a command: type /prdigest schedule, or write subscribe at 09:00."
)
FORM_TAKES_NO_WORDS = "Write schedule without options, or with an id from /prdigest list."
CHANNEL_MISSING = "Choose a channel, or send the digest to yourself."


def format_unknown_filter(word: str) -> str:
    """Return that a word is no filter; it is quoted."""
    return f"I don't understand {word}: write path:…, author:…, label:… or not-author:… here."


# App Home

DIGESTS_TITLE = "Recent digests"
NO_DIGESTS = "None yet. The first one comes at the time below."
OPEN_LINK = "Open it"
SUBSCRIPTIONS_TITLE = "Subscriptions"
NONE_YET = "None yet: create one here, or with /prdigest subscribe in one of my channels."
HEALTH_TITLE = "Status"
HOW_TO_ASK = (
    "Write to me under Messages, or reply to one of my messages. I answer questions about the changes, with "
    "links to the code. /prsummary 35617 explains a pull request, /prrisks 7d lists risky changes."
)

# App Home: the health of the bot, a line for each part

CLOCK_OFF = "Schedule: not running, so digests are not posted"
CLOCK_STOPPED = "Schedule: stopped, "
LAST_SEEN = "last seen "
CLOCK_ON = "Schedule: running"
LAST_DIGEST = "Last digest: "
NO_LAST_DIGEST = "none yet"
LAST_FAILURE = "Last failure: "
NO_LAST_FAILURE = "none"
NO_MODEL = "Model: not configured, so digests contain facts only"


def format_incomplete(detail: str) -> str:
    """Return what the last digest lacks."""
    return f", incomplete: {detail}"


def format_failure(*, outcome: str, detail: str) -> str:
    """Return what failed last, after its instant."""
    return f", {outcome}: {detail}"


def format_store_state(health: BotHealth) -> str:
    """Return how much memory the store uses, and whether it is nearly full."""
    return f"Store: {'nearly full, ' if health.is_full else ''}{health.store}"


def format_budget(health: BotHealth) -> str:
    """Return how much of today's budget is spent, and of the month's if it has one, in US dollars."""
    today = f"Model budget today: ${health.cost_today:.2f} of ${health.budget:.2f} used"
    if health.monthly_budget is None:
        return today
    return f"{today}; this month: ${health.cost_of_month:.2f} of ${health.monthly_budget:.2f}"


# incidents

DIRECT_MESSAGE = "a direct message"
FOR = " for "
NEXT_TRY = "Next try "
NO_MORE_TRIES = "I won't try again."

_KIND_WORDS = {
    IncidentKind.MISSING: "is not posted yet",
    IncidentKind.SKIPPED: "will not be posted",
    IncidentKind.INCOMPLETE: "was posted incomplete",
    IncidentKind.LOST: "failed for good",
}


def format_incidents_title(*, digests: int, jobs: int) -> str:
    """Return how many digests and jobs need a look."""
    counts = [format_count(digests, "digest")] * bool(digests) + [format_count(jobs, "job")] * bool(jobs)
    return f"{' and '.join(counts)} {('needs' if digests + jobs == 1 else 'need')} attention"


def format_incident(incident: Incident) -> str:
    """Return what happened to which digest or job, in short."""
    return f"{incident.title}: {_KIND_WORDS[incident.kind]}"


def format_incident_reason(kind: IncidentKind, reason: str) -> str:
    """Return what happened and why, after the title of the digest or job."""
    return f" {_KIND_WORDS[kind]}: {reason}. "


def format_more_incidents(count: int) -> str:
    """Return how many more incidents there are."""
    return f"and {count} more: prdigest doctor lists them"


# incidents: reasons, as clauses, and ends

DEFECT_REASON = "a bug: see the worker's log"
UNFINISHED_REASON = "no worker has finished it: check that one is running, prdigest doctor says more"
AWAY_REASON = "the bot was not running at its time"
PAUSED_BY_BOT = "; I paused it: /prdigest resume continues it"


def format_nothing_merged(digests: int) -> str:
    """Return why a digest without merges is suspicious: so many before it had some."""
    return f"nothing was merged, but each of the last {digests} digests had merges"


def format_posted_late(address: str) -> str:
    """Return that a late digest was posted, with its address."""
    return f"posted after all, {address}"


def format_completed(address: str) -> str:
    """Return that an incomplete digest is complete, with its address."""
    return f"complete now, {address}"


# an instant: Slack shows the parts in braces in the time zone and the language of each reader


def format_slack_date(lead: str, tail: str = "") -> str:
    """Return the format of an instant for Slack; ``lead`` are the words before it, ``tail`` those behind it."""
    return f"{lead}{{date_short_pretty}} at {{time}}{tail}"
