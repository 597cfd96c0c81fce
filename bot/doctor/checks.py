"""The doctor's checks of the settings, the store and the processes."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from bot.app import App
from bot.dates import parse_exact_span
from bot.errors import PrdigestError, StoreUnavailable
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription
from bot.features.subscriptions.tables import PREVIEW_SWITCHES, RUN_LOG
from bot.jobs.queues import list_lost_jobs
from bot.mcp import EXTRA_HINT as MCP_HINT
from bot.platform.finding import CheckStatus, Finding
from bot.platform.models import ModelProvider
from bot.platform.pulls.paths import PathSettings, list_default_patterns
from bot.platform.slack.app_manifest import PREVIEW_SCOPES
from bot.platform.slack.check import BotAccess
from bot.platform.store.connection import require_durable
from bot.platform.store.due_queue import NextDigest
from bot.platform.store.keys import LAST_TICK, DigestKeyParts, parse_digest_key
from bot.platform.store.server import (
    MEMORY,
    check_memory,
    count_waiting_jobs,
    describe_conflict,
    read_heartbeats,
    read_owner,
    read_status,
    read_version,
    redact_address,
    write_sample,
)
from bot.platform.tracing import EXTRA_HINT as TRACING_HINT
from bot.settings import DOTENV, Settings, UsableSettings, list_tokens
from bot.text import format_count, format_duration
from impact.repository import Repository
from impact.text.strings import quote_input

# --- settings

SETTINGS, PATHS, METRICS, TRACES, AGENTS = "Settings", "Paths", "Metrics", "Traces", "Agents"
_OWN_PREFIX = "PRDIGEST_"
_SHARED_PREFIXES = ("SLACK_", "GITHUB_")
# of the parts after the prefix; no variable that GitHub sets in its own runners comes near
_MIN_SIMILARITY = 0.8
# visible ASCII: no service issues anything else, and HTTP accepts little else
_TOKEN_PATTERN = re.compile(r"[!-~]+")
_TOKEN_OWNERS = {"xoxb-": "the bot's token", "xapp-": "an app-level token", "xoxp-": "a user token"}

# the files that a list of patterns applies to, where that is not all
_PATTERN_SCOPES = {"product": "for files of no other class, ", "critical": "for product code, "}
# a variable, what is wrong with it, worded to stand after its name, and what to do
_Fault = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class SettingsSnapshot:
    """The variables that are set in the environment and ``.env``, without empty ones, and their values.

    ``problems`` says by variable why a value can't be used. ``setting_names`` are the names of all settings,
    ``tokens`` those that hold a token, each with its possible beginnings. ``source`` says where the variables come
    from. ``model_keys`` are the variables with the keys of providers of models. ``required`` are the variables
    that the chosen provider needs, each with an example.
    """

    variables: Mapping[str, str] = field(repr=False)
    problems: Mapping[str, str]
    setting_names: frozenset[str]
    tokens: Mapping[str, tuple[str, ...]]
    source: str
    model_keys: tuple[str, ...]
    required: Mapping[str, str]
    is_exposed: bool = False  # whether others may read the file


def read_snapshot(
    usable: UsableSettings, providers: Sequence[ModelProvider], required: Mapping[str, str]
) -> SettingsSnapshot:
    """Read the variables that are set, as they were written. ``required`` are those that the models need."""
    kind, file = type(usable.settings), Path(DOTENV)
    values = dict(EnvSettingsSource(kind).env_vars)
    if DOTENV not in usable.problems:
        values = {**DotEnvSettingsSource(kind).env_vars, **values}
    origin = f" and {file.resolve()}" if file.exists() else f"; there is no {file} in {file.resolve().parent}"
    return SettingsSnapshot(
        {name.upper(): value for name, value in values.items() if value},
        usable.problems,
        frozenset(name.upper() for name in kind.model_fields),
        list_tokens(kind),
        f"from the environment{origin}",
        tuple(each.key_variable for each in providers if each.key_variable),
        required,
        file.exists() and bool(file.stat().st_mode & stat.S_IROTH),
    )


def check_settings(snapshot: SettingsSnapshot) -> Iterator[Finding]:
    faults = find_faults(snapshot)
    if not faults:
        count = format_count(len(snapshot.setting_names & snapshot.variables.keys()), "value")
        yield Finding.build_success(SETTINGS, f"{count} {snapshot.source}")
    yield from faults.values()
    if not (faults or {"PRDIGEST_REPO", "PRDIGEST_REPOS"} & snapshot.variables.keys()):
        chosen = "chosen in Slack, by the first `/prdigest subscribe owner/name` for a public one"
        yield Finding.build_note("Repository", chosen, "Set PRDIGEST_REPO for a private one.")
    if snapshot.is_exposed:
        problem = f"{DOTENV} holds tokens, and every user of this machine may read it"
        yield Finding.build_note(SETTINGS, problem, f"Run `chmod 600 {DOTENV}` as its owner.")
    # other tools use these names too: one is worth a note if it looks like a setting that is not set
    unset = snapshot.setting_names - snapshot.variables.keys()
    keys = (name for name in snapshot.model_keys if not name.startswith(_OWN_PREFIX))
    prefixes = (*_SHARED_PREFIXES, *(name.partition("_")[0] + "_" for name in keys))
    for name in sorted(snapshot.variables.keys() - snapshot.setting_names):
        for prefix in filter(name.startswith, prefixes):
            if meant := _find_closest_name(name, prefix, unset, _MIN_SIMILARITY):
                yield Finding.build_note(SETTINGS, f"{name} is not a setting: did you mean {meant}?")


def find_faults(snapshot: SettingsSnapshot) -> dict[str, Finding]:
    faults = (*_list_wrong_names(snapshot), *_list_missing_settings(snapshot), *_list_wrong_tokens(snapshot))
    return {name: Finding.build_failure(SETTINGS, f"{name} {problem}", advice) for name, problem, advice in faults}


def _list_wrong_names(snapshot: SettingsSnapshot) -> Iterator[_Fault]:
    """Yield the variables whose value can't be used, and those with our prefix that are no settings."""
    for name, reason in snapshot.problems.items():
        is_setting = name in snapshot.setting_names
        advice = (
            f"Set {name} as described in `prdigest env`." if is_setting else "Fix the file and run doctor again."
        )
        yield name, f"can't be used: {reason}", advice
    for name in sorted(snapshot.variables.keys() - snapshot.setting_names):
        if name.startswith(_OWN_PREFIX):
            if meant := _find_closest_name(name, _OWN_PREFIX, snapshot.setting_names, cutoff=0.6):
                yield name, f"is not a setting: did you mean {meant}?", f"Write {meant} instead."
            else:
                yield name, "is not a setting", "Remove it, or find the right name in `prdigest env`."


def _find_closest_name(name: str, prefix: str, names: frozenset[str], cutoff: float) -> str:
    """Return the setting with the closest name, empty if none is close. The common prefix does not count."""
    rests = [each.removeprefix(prefix) for each in sorted(names) if each.startswith(prefix)]
    matches = get_close_matches(name.removeprefix(prefix), rests, n=1, cutoff=cutoff)
    return prefix + matches[0] if matches else ""


def _list_missing_settings(snapshot: SettingsSnapshot) -> Iterator[_Fault]:
    if not snapshot.problems.keys() <= snapshot.setting_names:
        # a file can't be read, so what it sets is unknown
        return
    if "PRDIGEST_CHANNEL" in snapshot.variables and "PRDIGEST_REPO" not in snapshot.variables:
        yield "PRDIGEST_REPO", "is not set, but PRDIGEST_CHANNEL is", "Set it to your repository, as owner/name."
    if snapshot.variables.keys().isdisjoint({"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}):
        advice = "Set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for requests over HTTP."
        yield "SLACK_APP_TOKEN", "is not set, nor is SLACK_SIGNING_SECRET", advice
    for name, example in snapshot.required.items():
        if name not in snapshot.variables:
            advice = f"Set {name}, such as {example}: PRDIGEST_MODEL_PROVIDER needs it."
            yield name, "is not set", advice


def _list_wrong_tokens(snapshot: SettingsSnapshot) -> Iterator[_Fault]:
    """Yield the tokens that can't be right."""
    # this is seen without a call, so that no secret is sent to the wrong service. No part of a token is shown.
    for name, beginnings in snapshot.tokens.items():
        value = snapshot.variables.get(name, "")
        if value and not _TOKEN_PATTERN.fullmatch(value):
            yield name, "contains blanks or letters that no token has", f"Copy {name} again without blanks."
        elif value and beginnings and not value.startswith(beginnings):
            advice = f"Set {name} to the token that begins with {beginnings[0]} instead."
            owners = (owner for start, owner in _TOKEN_OWNERS.items() if value.startswith(start))
            yield name, f"is {next(owners, 'another kind of secret')}", advice


# --- path classes


def list_default_paths() -> Iterator[Finding]:
    for name, patterns in list_default_patterns().items():
        yield Finding.build_note(f"{PATHS} defaults, {name}", f"{_PATTERN_SCOPES.get(name, '')}{patterns}")


def check_paths(settings: PathSettings, repositories: Sequence[Repository]) -> Iterator[Finding]:
    """Report the patterns of each repository, and tables for no repository: its name may be misspelt."""
    for repository in repositories:
        own = settings.get_path_classes(repository)
        without = f"without the defaults of {', '.join(own.without_defaults)}" if own.without_defaults else ""
        if own.pattern_names:
            patterns = f"own patterns for {', '.join(own.pattern_names)}"
            classes = "; ".join(filter(None, [patterns, without, "the defaults for the rest"]))
        else:
            classes = f"the defaults, {without}" if without else "the defaults"
        yield Finding.build_success(f"{PATHS} {repository}", classes)
    for name in sorted(settings.by_repository.keys() - {str(each).lower() for each in repositories}):
        problem = f"a table in {quote_input(settings.source)}, but not a repository in the settings"
        advice = "Use a name from PRDIGEST_REPO or PRDIGEST_REPOS, or remove the table."
        yield Finding.build_note(f"{PATHS} {name}", problem, advice)


# --- what nothing depends on


def check_monitoring(settings: Settings, *, can_export: bool) -> Iterator[Finding]:
    """Report whether metrics and traces are on. ``can_export``: the packages that send traces are installed."""
    if address := settings.prdigest_metrics_address:
        yield Finding.build_success(METRICS, f"on {address} and the two ports after it, by process")
    else:
        yield Finding.build_note(METRICS, "off: PRDIGEST_METRICS_ADDRESS is not set")
    endpoint = settings.otel_exporter_otlp_endpoint
    if not endpoint:
        yield Finding.build_note(TRACES, "off: OTEL_EXPORTER_OTLP_ENDPOINT is not set")
    elif not can_export:
        problem = "off: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not installed"
        yield Finding.build_failure(TRACES, problem, TRACING_HINT)
    else:
        # without a password or a path
        parts = urlsplit(endpoint)
        yield Finding.build_success(TRACES, f"sent to {parts.scheme}://{parts.netloc.rpartition('@')[2]}")


def check_agents(settings: Settings, *, has_sdk: bool) -> Iterator[Finding]:
    """Report what agents may reach, if a setting is about them. ``has_sdk``: the packages are installed."""
    profiles = ", ".join(sorted(settings.prdigest_mcp_profiles))
    if not settings.prdigest_mcp_token and not profiles:
        return
    if not has_sdk:
        yield Finding.build_failure(AGENTS, "no MCP server: the extra mcp is not installed", MCP_HINT)
        return
    address = settings.prdigest_mcp_address
    where = (
        f"MCP on {address} with the token" if settings.prdigest_mcp_token else "MCP for clients on this machine"
    )
    yield Finding.build_success(AGENTS, f"{where}: {f'profiles {profiles}' if profiles else 'no profiles'}")


# --- the store

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
        owner, workspace = read_owner(app.store, app.keyspace), slack.read_workspace()
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


# --- processes

TIME, CLOCK, WORKER, JOBS = "Time of this machine", "Clock process", "Worker", "Jobs"
SCHEDULE, RUNS = "Schedule", "Runs"
LOST_JOB = "Failed job"
_MAX_SHOWN = 5
_LOST_JOB_ADVICE = (
    "Check why the workers crashed around that time: the job is not run again, and this list drops it after "
    "a week."
)
# Slack refuses requests whose time is more than five minutes off; a minute is more than ordinary drift
_MAX_CLOCK_SKEW = timedelta(seconds=60)
# the clock ticks every minute
_MAX_TICK_AGE = timedelta(minutes=3)
_MANY_JOBS = 1_000
# a worker leaves a heartbeat on each of its queues at least every 1.2 s
_HEARTBEAT_POLLS, _POLL_INTERVAL = 15, 0.1
# twice the time after which people are notified
_OVERDUE_AFTER = timedelta(minutes=30)


def check_clock_skew(ahead: Mapping[str, timedelta | None]) -> Iterator[Finding]:
    """Check how far other clocks are ahead of this machine's; ``ahead`` maps their owners to that time."""
    skews = {owner: skew for owner, skew in ahead.items() if skew is not None}
    if "Slack" in skews:
        # one external clock is enough, and Slack is the service that refuses requests
        skews.pop("GitHub", None)
    if not skews:
        yield Finding.build_unchecked(TIME, "no other clock to compare with")
    for owner, skew in skews.items():
        name = f"{TIME} against {owner}"
        if abs(skew) <= _MAX_CLOCK_SKEW:
            yield Finding.build_success(name, f"{format_duration(abs(skew))} apart")
            continue
        problem = f"{format_duration(abs(skew))} {'behind' if skew > timedelta() else 'ahead'}"
        advice = "Set this machine's clock by NTP: the bot rejects Slack's signatures if it is five minutes off."
        if owner == "the store":
            machines = "this machine and of the store's machine"
            advice = f"Set the clocks of {machines} by NTP: expiry and waiting times depend on both."
        yield Finding.build_failure(name, problem, advice)


def check_processes(app: App, subscriptions: Sequence[Subscription]) -> Iterator[Finding]:
    """Check the clock process by its ticks, the workers by their heartbeats, and the jobs that wait.

    Before the first start nothing is wrong with them, so that this can be checked before it. Nor is there where
    `prdigest digest` alone has run: only subscriptions that people made need a clock.
    """
    now = app.now()
    tick, heartbeats = app.cache.get(LAST_TICK.build_key()), read_heartbeats(app.store, app.keyspace)
    if not (tick or heartbeats or any(not each.is_fixed and not each.is_paused for each in subscriptions)):
        yield from (Finding.build_note(name, "not running (never started)") for name in (CLOCK, WORKER))
        is_alive = False
    else:
        yield _check_clock(tick, now)
        is_alive = _has_new_heartbeat(app, heartbeats)
        if is_alive:
            yield Finding.build_success(WORKER, "running")
        else:
            last = max(heartbeats.values(), default=None)
            seen = f"last seen {format_duration(now - last)} ago" if last else "never started"
            advice = "Start `prdigest worker` or `prdigest run`."
            yield Finding.build_failure(WORKER, f"not running ({seen})", advice)
    yield _check_jobs(count_waiting_jobs(app.store, app.keyspace), is_alive=is_alive)
    lost = list_lost_jobs(app.tables, now)
    for job in lost[:_MAX_SHOWN]:
        # a note, since nothing has to be done
        asker = f", asked by {job.user} in {job.channel or 'App Home'}" if job.user else ""
        problem = f"{job.title}, {job.at:%Y-%m-%d %H:%M} UTC{asker}: it crashed three times"
        yield Finding.build_note(LOST_JOB, problem, _LOST_JOB_ADVICE if job is lost[0] else "")
    if len(lost) > _MAX_SHOWN:
        yield Finding.build_note(LOST_JOB, f"and {len(lost) - _MAX_SHOWN} more")


def _check_clock(stored: str | None, now: datetime) -> Finding:
    """Return the finding about the clock by its last tick; the store may have none, or an unreadable one."""
    advice = "Start `prdigest clock` or `prdigest run`."
    try:
        last_tick = datetime.fromisoformat(stored or "")
    except ValueError:
        return Finding.build_failure(CLOCK, "not running in the last day", advice)
    since = now - last_tick.replace(tzinfo=last_tick.tzinfo or UTC)
    age = f"last ticked {format_duration(since)} ago"
    if since <= _MAX_TICK_AGE:
        return Finding.build_success(CLOCK, age)
    return Finding.build_failure(CLOCK, age, advice)


def _has_new_heartbeat(app: App, before: Mapping[str, datetime]) -> bool:
    """Return whether a worker leaves a heartbeat during this check."""
    # the age of the last heartbeat would not tell: enqueuing a job leaves one too, and machines' clocks differ
    for _ in range(_HEARTBEAT_POLLS):
        app.sleep(_POLL_INTERVAL)
        heartbeats = read_heartbeats(app.store, app.keyspace)
        if any(beat > before.get(name, beat) for name, beat in heartbeats.items()):
            return True
    return False


def _check_jobs(waiting: Mapping[str, int], *, is_alive: bool) -> Finding:
    total = sum(waiting.values())
    if not total:
        return Finding.build_success(JOBS, "none waiting")
    backlog = f"{total:,} waiting ({', '.join(f'{queue} {count:,}' for queue, count in waiting.items() if count)})"
    if not is_alive:
        return Finding.build_failure(JOBS, backlog, "Start `prdigest worker` or `prdigest run` to run them.")
    if total > _MANY_JOBS:
        return Finding.build_failure(JOBS, backlog, "Start more workers, or raise PRDIGEST_WORKER_THREADS.")
    return Finding.build_note(JOBS, backlog)


# --- runs


def check_runs(app: App, subscriptions: Sequence[Subscription]) -> Iterator[Finding]:
    """Check the last runs, the last failure of each subscription, and what is overdue or comes next."""
    zone = app.settings.prdigest_timezone
    runs = app.tables.list_recent(RUN_LOG, RUN_LOG.length)
    if not runs:
        yield Finding.build_note(RUNS, "none yet: no digest was due")
    zones = {
        (each.channel, str(each.repository), each.view.fingerprint): each.timing.zone
        for each in subscriptions
        if not each.is_paused
    }
    seen: set[tuple[str, str, str]] = set()
    for number, run in enumerate(runs):
        digest = parse_digest_key(run.key)
        # of the subscription that it belongs to, if this is the last run of that: only then does a failure count
        own = None
        if digest and (series := (digest.channel, digest.repository, digest.view)) not in seen:
            own = zones.get(series)
            # people may request the days of other zones
            if own and digest.offsets == parse_exact_span(digest.days, own).utc_offsets:
                seen.add(series)
            else:
                own = None
        finding = _check_run(run, digest, zone, own)
        # of older ones, the failures that still count
        if number < _MAX_SHOWN or finding.status is CheckStatus.FAILED:
            yield finding
    yield from _check_schedule(app, subscriptions, zone)


def _check_run(run: Run, digest: DigestKeyParts | None, zone: ZoneInfo, own: ZoneInfo | None) -> Finding:
    """Return the finding about a run; ``own`` is the zone of its subscription if a failure still counts."""
    name = f"Run of {run.at.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    what = f"{digest.repository} of {digest.days} for {digest.channel}" if digest else run.key
    summary = f"{what}: {run.outcome}{', ' if run.detail else ''}{run.detail}"
    if run.outcome in (RunOutcome.POSTED, RunOutcome.MENDED):
        return Finding.build_success(name, summary)
    if run.outcome is not RunOutcome.FAILED or digest is None or own is None:
        return Finding.build_note(name, summary)
    advice = "Fix the problem: the bot tries again every 15 minutes"
    if digest.view or ".." in digest.days:
        return Finding.build_failure(name, summary, f"{advice}.")
    where = f"--repo {digest.repository} --date {digest.days} --timezone {own} --channel {digest.channel}"
    return Finding.build_failure(name, summary, f"{advice}, or at once with `prdigest digest {where}`.")


def _check_schedule(app: App, subscriptions: Sequence[Subscription], zone: ZoneInfo) -> Iterator[Finding]:
    active = {each.id: each for each in subscriptions if not each.is_paused}
    overdue = [
        (active[item.name], due)
        for item, due in app.due_queue.list_due(app.now() - _OVERDUE_AFTER)
        if isinstance(item, NextDigest) and item.name in active
    ]
    for subscription, due in overdue:
        was_due = f"{due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
        problem = f"the digest of {subscription.repository} for {subscription.channel} was due at {was_due}"
        advice = "Check the clock, the worker and the runs above: the bot posts it as soon as it can."
        yield Finding.build_failure(SCHEDULE, problem, advice)
    if overdue:
        return
    if not active:
        nothing = "nothing: PRDIGEST_CHANNEL is not set, and there are no subscriptions"
        yield Finding.build_note(SCHEDULE, nothing)
        return
    planned = [(at, each) for name, each in active.items() if (at := app.due_queue.get_time(NextDigest(name)))]
    if not planned:
        yield Finding.build_note(SCHEDULE, "nothing is planned yet: the clock plans digests when it runs")
        return
    next_due, first = min(planned, key=lambda each: each[0])
    when = f"{next_due.astimezone(zone):%Y-%m-%d %H:%M %Z}"
    paused = len(subscriptions) - len(active)
    count = format_count(len(active), "subscription") + (f" and {paused} paused" if paused else "")
    yield Finding.build_success(SCHEDULE, f"{count}, the next is {first.repository} for {first.channel} at {when}")
