"""Checks of Slack: the tokens, the scopes, the channels for digests and notices."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from datetime import datetime, timedelta

from bot.doctor.checks.failures import failure
from bot.domain.errors import PrdigestError, SlackRefused, SlackUnavailable
from bot.domain.operations.finding import Finding
from bot.ports.probes import AppProbe, Installed, Records, SlackProbe
from bot.services.operations.ownership import refusal

TOKEN, SCOPES, APP, OWNER = "Slack token", "Slack scopes", "Slack app token", "Store owner"
SILENT = "Slack does not answer"
_CLOSED = {
    "not_in_channel": "the bot is not in it",
    "channel_not_found": "not found",
    "is_archived": "archived",
}


def slack_checks(
    opened: Callable[[], SlackProbe] | str, now: Callable[[], datetime]
) -> Generator[Finding, None, tuple[SlackProbe | str, timedelta | None]]:
    """Check the bot's token and its scopes.

    Return the probe, or the reason why Slack can't be called, and how far its clock is ahead of ours. ``opened``
    returns the probe, or is the reason why there is none.
    """
    if isinstance(opened, str):
        yield Finding.note("Slack", opened)
        return "see Slack above", None
    try:
        probe = opened()
        installed = probe.installed()
        ahead = installed.time - now() if installed.time else None
    except PrdigestError as error:
        yield failure(TOKEN, error)
        cause = SILENT if isinstance(error, SlackUnavailable) else f"see {TOKEN} above"
        yield Finding.unchecked(SCOPES, cause)
        return cause, None
    yield Finding.ok(TOKEN, f"accepted, the workspace is {installed.workspace}")
    yield from _scopes(installed)
    return probe, ahead


def owner_checks(slack: SlackProbe | str, records: Records | str, prefix: str) -> Iterator[Finding]:
    """Check that the store belongs to this workspace: the bot refuses to start with the store of another one."""
    if isinstance(slack, str):
        yield Finding.unchecked(OWNER, slack)
        return
    if isinstance(records, str):
        yield Finding.unchecked(OWNER, records)
        return
    try:
        owner, workspace = records.probe.owner(), slack.team()
    except PrdigestError as error:
        yield failure(OWNER, error)
        return
    if owner is None:
        yield Finding.ok(OWNER, f"nobody yet, {workspace} when the bot starts")
    elif owner == workspace:
        yield Finding.ok(OWNER, f"{workspace}, the workspace of the token")
    else:
        yield Finding.failed(OWNER, "another workspace", refusal(owner, workspace, prefix))


def _scopes(installed: Installed) -> Iterator[Finding]:
    """Yield a finding for each scope that is missing, or one that none is."""
    if installed.missing is None:
        yield Finding.note(SCOPES, "not checked: Slack does not tell them")
    elif not installed.missing:
        yield Finding.ok(SCOPES, "all there")
    else:
        for scope, loss in installed.missing.items():
            advice = f"Add {scope} to the app, or give it what `prdigest manifest` prints, and install it again."
            yield Finding.failed(f"Slack scope {scope}", f"missing: {loss}", advice)


def app_checks(opened: Callable[[], AppProbe] | str, slack: SlackProbe | str) -> Iterator[Finding]:
    """Check the app's own token, for Socket Mode. ``slack`` is the result of the check of the bot's token."""
    if isinstance(opened, str):
        yield Finding.note(APP, opened)
        return
    if slack == SILENT:
        yield Finding.unchecked(APP, SILENT)
        return
    try:
        opened().connect()
    except PrdigestError as error:
        yield failure(APP, error)
    else:
        yield Finding.ok(APP, "accepted, for Socket Mode")


def channel_checks(slack: SlackProbe | str, channels: Mapping[str, str]) -> Iterator[Finding]:
    """Check whether the bot can post in each channel; ``channels`` maps their ids to their uses."""
    for channel, use in channels.items():
        name = f"Channel {channel} ({use})"
        if isinstance(slack, str):
            yield Finding.unchecked(name, slack)
            continue
        finding, slack = _channel(name, channel, slack)
        yield finding


def _channel(name: str, channel: str, slack: SlackProbe) -> tuple[Finding, SlackProbe | str]:
    """Return the finding about a channel and the probe for the next one, or the reason not to call Slack again."""
    try:
        return Finding.ok(name, f"{slack.channel(channel)}, open to the bot"), slack
    except SlackRefused as error:
        if error.code == "missing_scope":
            return Finding.unchecked(name, "the bot lacks a scope, see above"), slack
        return Finding.failed(name, _CLOSED.get(error.code, "refused"), str(error)), slack
    except SlackUnavailable as error:
        if error.retry_after is not None:
            return Finding.unchecked(name, "Slack asks for a pause"), "Slack asks for a pause"
        return failure(name, error), SILENT
