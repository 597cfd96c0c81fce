"""Checks of the settings alone: values, names, combinations, and what they turn on."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import urlsplit

from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from bot.mcp import EXTRA_HINT as MCP_HINT
from bot.platform.finding import Finding
from bot.platform.models import ModelProvider
from bot.platform.pulls.paths import PathSettings, list_default_patterns
from bot.platform.tracing import EXTRA_HINT as TRACING_HINT
from bot.settings import DOTENV, SET_REPOSITORY, Settings, UsableSettings, list_tokens
from bot.text import format_count
from impact.repository import Repository
from impact.text.strings import quote_input

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
    if "PRDIGEST_REPO" not in snapshot.variables:
        yield "PRDIGEST_REPO", "is not set", SET_REPOSITORY
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
        own = settings.get_path_classes(repository).custom
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
