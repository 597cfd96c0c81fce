"""Checks of Slack: the tokens, the scopes, the channels for digests and notices."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from datetime import datetime, timedelta

from bot.doctor.checks.failures import describe_failure
from bot.domain.errors import PrdigestError, SlackCallRefused, SlackUnavailable
from bot.domain.operations.finding import Finding
from bot.domain.text.strings import format_count
from bot.features.previews.service import SWITCHES
from bot.ports.probes import AppProbe, Installation, SlackProbe, StoreRecords
from bot.services.operations.ownership import describe_conflict

TOKEN, SCOPES, APP, OWNER = "Slack token", "Slack scopes", "Slack app token", "Store owner"
PREVIEWS = "Link previews"
NO_ANSWER = "Slack does not answer"
_CHANNEL_PROBLEMS = {
    "not_in_channel": "the bot is not in it",
    "channel_not_found": "not found",
    "is_archived": "archived",
}


def check_slack(
    open_probe: Callable[[], SlackProbe] | str, now: Callable[[], datetime]
) -> Generator[Finding, None, tuple[SlackProbe | str, timedelta | None]]:
    """Check the bot's token and its scopes.

    Return the probe, or the reason why Slack can't be called, and how far its clock is ahead of ours.
    ``open_probe`` returns the probe, or is the reason why there is none.
    """
    if isinstance(open_probe, str):
        yield Finding.build_note("Slack", open_probe)
        return "see Slack above", None
    try:
        probe = open_probe()
        installed = probe.fetch_installation()
        ahead = installed.time - now() if installed.time else None
    except PrdigestError as error:
        yield describe_failure(TOKEN, error)
        cause = NO_ANSWER if isinstance(error, SlackUnavailable) else f"see {TOKEN} above"
        yield Finding.build_unchecked(SCOPES, cause)
        return cause, None
    yield Finding.build_success(TOKEN, f"accepted, the workspace is {installed.workspace}")
    yield from _check_scopes(installed)
    return probe, ahead


def check_owner(slack: SlackProbe | str, records: StoreRecords | str, prefix: str) -> Iterator[Finding]:
    """Check that the store belongs to this workspace: the bot refuses to start with the store of another one."""
    if isinstance(slack, str):
        yield Finding.build_unchecked(OWNER, slack)
        return
    if isinstance(records, str):
        yield Finding.build_unchecked(OWNER, records)
        return
    try:
        owner, workspace = records.probe.read_owner(), slack.fetch_team()
    except PrdigestError as error:
        yield describe_failure(OWNER, error)
        return
    if owner is None:
        yield Finding.build_success(OWNER, f"none yet, {workspace} when the bot starts")
    elif owner == workspace:
        yield Finding.build_success(OWNER, f"{workspace}, the workspace of the token")
    else:
        yield Finding.build_failure(OWNER, "another workspace", describe_conflict(owner, workspace, prefix))


def check_previews(slack: SlackProbe | str, records: StoreRecords | str) -> Iterator[Finding]:
    """Check that the app has the scopes for previews of links, if they are on anywhere."""
    if isinstance(records, str) or isinstance(slack, str):
        return
    try:
        switches, missing = records.tables.list_fields(SWITCHES), slack.fetch_installation().missing_preview_scopes
    except PrdigestError as error:
        yield describe_failure(PREVIEWS, error)
        return
    channels = [channel for channel, switch in switches.items() if switch.is_on]
    where = format_count(len(channels), "conversation")
    if channels and missing:
        advice = (
            f"Update the app's manifest from `prdigest manifest --previews`, which adds {' and '.join(missing)}, "
            "then install the app again."
        )
        problem = f"on in {where}, but not possible: {'; '.join(missing.values())}"
        yield Finding.build_failure(PREVIEWS, problem, advice)
    elif channels:
        yield Finding.build_success(PREVIEWS, f"on in {where}")


def _check_scopes(installed: Installation) -> Iterator[Finding]:
    """Yield a finding for each scope that is missing, or one that none is."""
    if installed.missing_scopes is None:
        yield Finding.build_note(SCOPES, "not checked: Slack does not send them")
    elif not installed.missing_scopes:
        yield Finding.build_success(SCOPES, "complete")
    else:
        for scope, loss in installed.missing_scopes.items():
            advice = (
                f"Add {scope} to the app, or update its manifest from `prdigest manifest`, then install the "
                "app again."
            )
            yield Finding.build_failure(f"Slack scope {scope}", f"missing: {loss}", advice)


def check_app_token(open_probe: Callable[[], AppProbe] | str, slack: SlackProbe | str) -> Iterator[Finding]:
    """Check the app's own token, for Socket Mode. ``slack`` is the result of the check of the bot's token."""
    if isinstance(open_probe, str):
        yield Finding.build_note(APP, open_probe)
        return
    if slack == NO_ANSWER:
        yield Finding.build_unchecked(APP, NO_ANSWER)
        return
    try:
        open_probe().connect()
    except PrdigestError as error:
        yield describe_failure(APP, error)
    else:
        yield Finding.build_success(APP, "accepted, for Socket Mode")


def check_channels(slack: SlackProbe | str, channels: Mapping[str, str]) -> Iterator[Finding]:
    """Check whether the bot can post in each channel; ``channels`` maps their ids to their uses."""
    for channel, use in channels.items():
        name = f"Channel {channel} ({use})"
        if isinstance(slack, str):
            yield Finding.build_unchecked(name, slack)
            continue
        finding, slack = _check_channel(name, channel, slack)
        yield finding


def _check_channel(name: str, channel: str, slack: SlackProbe) -> tuple[Finding, SlackProbe | str]:
    """Return the finding about a channel and the probe for the next one, or the reason not to call Slack again."""
    try:
        return Finding.build_success(name, f"{slack.check_channel(channel)}, the bot can post there"), slack
    except SlackCallRefused as error:
        if error.code == "missing_scope":
            return Finding.build_unchecked(name, "the bot lacks a scope (see above)"), slack
        return Finding.build_failure(name, _CHANNEL_PROBLEMS.get(error.code, "refused"), str(error)), slack
    except SlackUnavailable as error:
        if error.retry_after is not None:
            return Finding.build_unchecked(name, "Slack limits the rate"), "Slack limits the rate"
        return describe_failure(name, error), NO_ANSWER
