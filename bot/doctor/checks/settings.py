"""Checks of the settings alone: values, names, and combinations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from bot.domain.operations.finding import Finding
from bot.domain.text.strings import format_count
from bot.settings.digests import SET_REPOSITORY

SETTINGS = "Settings"
_OWN_PREFIX = "PRDIGEST_"
_SHARED_PREFIXES = ("SLACK_", "GITHUB_")
# of the parts after the prefix; no variable that GitHub sets in its own runners comes near
_MIN_SIMILARITY = 0.8
# visible ASCII: no service issues anything else, and HTTP accepts little else
_TOKEN_PATTERN = re.compile(r"[!-~]+")
_TOKEN_OWNERS = {"xoxb-": "the bot's token", "xapp-": "an app-level token", "xoxp-": "a user token"}


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
    model_keys: tuple[str, ...] = ()
    required: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SettingFault:
    """A problem with a variable, worded to stand after its name, and what to do."""

    problem: str
    advice: str


def check_settings(snapshot: SettingsSnapshot) -> Iterator[Finding]:
    """Report the faults of the settings, or that there is none, then notes."""
    faults = find_faults(snapshot)
    if not faults:
        count = format_count(len(snapshot.setting_names & snapshot.variables.keys()), "value")
        yield Finding.build_success(SETTINGS, f"{count} {snapshot.source}")
    for name, fault in faults.items():
        yield Finding.build_failure(SETTINGS, f"{name} {fault.problem}", fault.advice)
    yield from _report_similar_names(snapshot)


def find_faults(snapshot: SettingsSnapshot) -> dict[str, SettingFault]:
    """Return the faults by variable."""
    return dict(
        [
            *_find_unusable_values(snapshot),
            *_find_unknown_names(snapshot),
            *_find_missing_settings(snapshot),
            *_find_wrong_tokens(snapshot),
        ]
    )


def _find_unusable_values(snapshot: SettingsSnapshot) -> Iterator[tuple[str, SettingFault]]:
    """Yield the variables whose value can't be used."""
    for name, reason in snapshot.problems.items():
        advice = (
            f"Set {name} as described in `prdigest env`."
            if name in snapshot.setting_names
            else "Fix the file and run doctor again."
        )
        yield name, SettingFault(f"can't be used: {reason}", advice)


def _find_unknown_names(snapshot: SettingsSnapshot) -> Iterator[tuple[str, SettingFault]]:
    """Yield the names with our prefix that are no settings: all names with it are meant for this bot."""
    for name in sorted(snapshot.variables.keys() - snapshot.setting_names):
        if name.startswith(_OWN_PREFIX):
            closest = _find_closest_name(name, _OWN_PREFIX, snapshot.setting_names, cutoff=0.6)
            advice = (
                f"Write {closest} instead." if closest else "Remove it, or find the right name in `prdigest env`."
            )
            yield name, SettingFault(_describe_unknown_name(closest), advice)


def _report_similar_names(snapshot: SettingsSnapshot) -> Iterator[Finding]:
    """Yield notes about names that other tools use too, if one looks like a setting that is not set."""
    unset = snapshot.setting_names - snapshot.variables.keys()
    for name in sorted(snapshot.variables.keys() - snapshot.setting_names):
        for prefix in filter(name.startswith, (*_SHARED_PREFIXES, *_prefixes(snapshot))):
            meant = _find_closest_name(name, prefix, unset, _MIN_SIMILARITY)
            if meant:
                yield Finding.build_note(SETTINGS, f"{name} {_describe_unknown_name(meant)}")


def _prefixes(snapshot: SettingsSnapshot) -> Iterator[str]:
    """Yield the beginnings of the settings of each provider of models; unknown names with ours are faults."""
    return (name.partition("_")[0] + "_" for name in snapshot.model_keys if not name.startswith(_OWN_PREFIX))


def _describe_unknown_name(meant: str) -> str:
    """Return that a name is no setting, with the setting that was probably meant, if any."""
    return f"is not a setting: did you mean {meant}?" if meant else "is not a setting"


def _find_closest_name(name: str, prefix: str, names: frozenset[str], cutoff: float) -> str:
    """Return the setting with the closest name, empty if none is close. The common prefix does not count."""
    rests = [each.removeprefix(prefix) for each in sorted(names) if each.startswith(prefix)]
    matches = get_close_matches(name.removeprefix(prefix), rests, n=1, cutoff=cutoff)
    return prefix + matches[0] if matches else ""


def _find_missing_settings(snapshot: SettingsSnapshot) -> Iterator[tuple[str, SettingFault]]:
    """Yield the settings that are required and not set."""
    if not snapshot.problems.keys() <= snapshot.setting_names:
        # a file can't be read, so what it sets is unknown
        return
    if "PRDIGEST_REPO" not in snapshot.variables:
        yield "PRDIGEST_REPO", SettingFault("is not set", SET_REPOSITORY)
    if snapshot.variables.keys().isdisjoint({"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}):
        advice = "Set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for requests over HTTP."
        yield "SLACK_APP_TOKEN", SettingFault("is not set, nor is SLACK_SIGNING_SECRET", advice)
    for name, example in snapshot.required.items():
        if name not in snapshot.variables:
            advice = f"Set {name}, such as {example}: PRDIGEST_MODEL_PROVIDER needs it."
            yield name, SettingFault("is not set", advice)


def _find_wrong_tokens(snapshot: SettingsSnapshot) -> Iterator[tuple[str, SettingFault]]:
    """Yield the tokens that can't be right.

    This is seen without a call, so that no secret is sent to the wrong service. No part of a token is shown.
    """
    for name, beginnings in snapshot.tokens.items():
        value = snapshot.variables.get(name, "")
        if value and not _TOKEN_PATTERN.fullmatch(value):
            yield (
                name,
                SettingFault(
                    "contains blanks or letters that no token has", (f"Copy {name} again without blanks.")
                ),
            )
        elif value and beginnings and not value.startswith(beginnings):
            advice = f"Set {name} to the token that begins with {beginnings[0]} instead."
            yield name, SettingFault(f"is {_name_token_owner(value)}", advice)


def _name_token_owner(value: str) -> str:
    """Return whose token a value is, by its prefix."""
    return next(
        (owner for start, owner in _TOKEN_OWNERS.items() if value.startswith(start)), "another kind of secret"
    )
