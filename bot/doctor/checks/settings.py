"""Checks the settings by themselves: values, names, and what goes together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from bot.domain.operations.finding import Finding
from bot.domain.text.strings import plural

SETTINGS = "Settings"
_OURS = "PRDIGEST_"
_SHARED = ("SLACK_", "GITHUB_")
# of the parts after the prefix; no variable that GitHub sets in its own runners comes near
_CLOSE = 0.8
# visible ASCII: no service gives out anything else, and HTTP takes little else
_TOKEN = re.compile(r"[!-~]+")
_OWNERS = {"xoxb-": "the bot's token", "xapp-": "the app's token", "xoxp-": "a person's token"}


@dataclass(frozen=True, slots=True)
class Given:
    """What was set: every variable of the environment and ``.env`` that is not empty, with its value.

    ``problems`` says by variable why a value can't be used, ``known`` are the names of all settings, ``tokens``
    those that hold a token, each with what that may begin with. ``source`` says where the variables come from.
    ``model_keys`` are the variables with the keys of providers of models.
    """

    variables: Mapping[str, str] = field(repr=False)
    problems: Mapping[str, str]
    known: frozenset[str]
    tokens: Mapping[str, tuple[str, ...]]
    source: str
    model_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a variable, to stand after its name, and what to do."""

    found: str
    advice: str


def settings_checks(given: Given) -> Iterator[Finding]:
    """The faults of the settings, or that there is none; then what is worth knowing."""
    faults = faults_of(given)
    if not faults:
        count = plural(len(given.known & given.variables.keys()), "value")
        yield Finding.ok(SETTINGS, f"{count} {given.source}")
    for name, fault in faults.items():
        yield Finding.failed(SETTINGS, f"{name} {fault.found}", fault.advice)
    yield from _strangers(given)


def faults_of(given: Given) -> dict[str, Fault]:
    """What is wrong, by the variable that is wrong."""
    return dict([*_unusable(given), *_unknown(given), *_missing(given), *_wrong_tokens(given)])


def _unusable(given: Given) -> Iterator[tuple[str, Fault]]:
    for name, reason in given.problems.items():
        mend = (
            f"Set {name} as `prdigest env` explains." if name in given.known else "Mend the file and look again."
        )
        yield name, Fault(f"can't be used: {reason}", mend)


def _unknown(given: Given) -> Iterator[tuple[str, Fault]]:
    """All names that begin like ours are meant for us."""
    for name in sorted(given.variables.keys() - given.known):
        if name.startswith(_OURS):
            meant = _closest(name, _OURS, given.known, cutoff=0.6)
            mend = f"Write {meant} instead." if meant else "Remove it, or find the right name in `prdigest env`."
            yield name, Fault(_stranger(meant), mend)


def _strangers(given: Given) -> Iterator[Finding]:
    """Names that other tools use too are worth a word where they look like a setting that is not set."""
    unset = given.known - given.variables.keys()
    for name in sorted(given.variables.keys() - given.known):
        for prefix in filter(name.startswith, (*_SHARED, *_prefixes(given))):
            meant = _closest(name, prefix, unset, _CLOSE)
            if meant:
                yield Finding.note(SETTINGS, f"{name} {_stranger(meant)}")


def _prefixes(given: Given) -> Iterator[str]:
    """What the settings of each provider of models begin with."""
    return (name.partition("_")[0] + "_" for name in given.model_keys)


def _stranger(meant: str) -> str:
    return f"is no setting: did you mean {meant}?" if meant else "is no setting"


def _closest(name: str, prefix: str, known: frozenset[str], cutoff: float) -> str:
    """The setting whose name is closest, empty if none is close. Prefixes are left out, as all share them."""
    rests = [each.removeprefix(prefix) for each in sorted(known) if each.startswith(prefix)]
    found = get_close_matches(name.removeprefix(prefix), rests, n=1, cutoff=cutoff)
    return prefix + found[0] if found else ""


def _missing(given: Given) -> Iterator[tuple[str, Fault]]:
    if not given.problems.keys() <= given.known:
        # a file can't be read: nobody knows what it sets
        return
    if "PRDIGEST_REPO" not in given.variables:
        mend = "Set PRDIGEST_REPO to the repository that the bot speaks of, as owner/name."
        yield "PRDIGEST_REPO", Fault("is not set", mend)
    if given.variables.keys().isdisjoint({"SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"}):
        mend = "Set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET for requests over HTTP."
        yield "SLACK_APP_TOKEN", Fault("is not set, nor is SLACK_SIGNING_SECRET", mend)


def _wrong_tokens(given: Given) -> Iterator[tuple[str, Fault]]:
    """Seen without asking anybody, so that no secret goes where it does not belong. No part of one is told."""
    for name, beginnings in given.tokens.items():
        value = given.variables.get(name, "")
        if value and not _TOKEN.fullmatch(value):
            yield (
                name,
                Fault("has blanks or letters in it that no token has", f"Copy {name} anew without blanks."),
            )
        elif value and beginnings and not value.startswith(beginnings):
            mend = f"Set {name} to the one that begins with {beginnings[0]} instead."
            yield name, Fault(f"is {_owner(value)}", mend)


def _owner(value: str) -> str:
    return next((owner for start, owner in _OWNERS.items() if value.startswith(start)), "another kind of secret")
