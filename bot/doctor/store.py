"""Checks of the store: that it answers, accepts writes and keeps them, and whose it is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from datetime import timedelta

from bot.app import App
from bot.errors import PrdigestError, StoreUnavailable
from bot.features.subscriptions.tables import PREVIEW_SWITCHES
from bot.platform.finding import Finding
from bot.platform.slack.app_manifest import PREVIEW_SCOPES
from bot.platform.slack.check import BotAccess
from bot.platform.store.connection import require_durable
from bot.platform.store.server import (
    MEMORY,
    WorkspaceOwner,
    check_memory,
    describe_conflict,
    read_status,
    read_version,
    redact_address,
    write_sample,
)
from bot.text import format_count

STORE = "Store"
POLICY, PERSISTENCE, WRITES, SCHEMA = "Store policy", "Store persistence", "Store writes", "Store schema"
OWNER, PREVIEWS = "Store owner", "Link previews"


def check_store(app: App) -> Generator[Finding, None, tuple[str, timedelta | None]]:
    """Check the store. Return why it can't be read, empty if it can, and how far its clock is ahead of ours."""
    no_store = f"see {STORE} above"
    try:
        client = app.inspect_store()
        server = read_status(client)
    except PrdigestError as error:
        yield Finding.build_error(STORE, error)
        details = (POLICY, MEMORY, PERSISTENCE, WRITES, SCHEMA)
        yield from (Finding.build_unchecked(name, no_store) for name in details)
        return no_store, None
    ahead = server.time - app.now()
    url, prefix = app.settings.redis_url, app.settings.prdigest_store_prefix
    place = redact_address(url) if url else f"the embedded store in {app.settings.prdigest_state_dir}"
    keys = f" (keys with the prefix {prefix})" if prefix else ""
    yield Finding.build_success(STORE, f"{place}{keys} answers")
    durable = f"{server.policy}: permanent data is safe"
    yield _try_action(POLICY, lambda: require_durable(client), durable)
    yield check_memory(server)
    if server.persistence is None:
        yield Finding.build_note(PERSISTENCE, "not checked: the server does not say")
    elif server.persistence:
        yield Finding.build_success(PERSISTENCE, server.persistence)
    else:
        problem = "none: a restart of the server loses subscriptions and the record of posts"
        yield Finding.build_note(PERSISTENCE, problem, "Set appendonly to yes on the server.")
    yield _try_action(WRITES, lambda: write_sample(client, app.keyspace), "accepted")
    try:
        version = read_version(client, app.keyspace)
    except StoreUnavailable as error:
        yield Finding.build_failure(SCHEMA, "refused", str(error))
        return f"see {SCHEMA} above", ahead
    shown = "none yet, the store is new" if version is None else f"version {version}"
    yield Finding.build_success(SCHEMA, shown)
    return "", ahead


def _try_action(name: str, act: Callable[[], None], result: str) -> Finding:
    try:
        act()
    except StoreUnavailable as error:
        return Finding.build_failure(name, "refused", str(error))
    return Finding.build_success(name, result)


def check_owner(app: App, slack: BotAccess) -> Finding:
    """Check that the store belongs to this workspace: the bot refuses to start with the store of another one."""
    try:
        owner, workspace = WorkspaceOwner(app.store, app.keyspace).read_workspace(), slack.read_workspace()
    except PrdigestError as error:
        return Finding.build_error(OWNER, error)
    if owner is None:
        return Finding.build_success(OWNER, f"none yet, {workspace} when the bot starts")
    if owner == workspace:
        return Finding.build_success(OWNER, f"{workspace}, the workspace of the token")
    conflict = describe_conflict(owner, workspace, app.settings.prdigest_store_prefix)
    return Finding.build_failure(OWNER, "another workspace", conflict)


def check_previews(app: App, slack: BotAccess) -> Iterator[Finding]:
    """Check that the app has the scopes for previews of links, if they are on anywhere."""
    try:
        switches = app.tables.list_fields(PREVIEW_SWITCHES)
    except PrdigestError as error:
        yield Finding.build_error(PREVIEWS, error)
        return
    missing = slack.find_missing_scopes(PREVIEW_SCOPES)
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
