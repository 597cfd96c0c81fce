"""The order of the checks, what each needs of those before it, and how long each may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from traceback import extract_tb
from zoneinfo import ZoneInfo

from bot.doctor.checks.clock import process_checks, time_checks
from bot.doctor.checks.failures import failure
from bot.doctor.checks.github import github_checks
from bot.doctor.checks.model import model_checks
from bot.doctor.checks.paths import PATHS, path_checks
from bot.doctor.checks.runs import run_checks
from bot.doctor.checks.settings import SETTINGS, Given, settings_checks
from bot.doctor.checks.slack import app_checks, channel_checks, owner_checks, slack_checks
from bot.doctor.checks.store import STORE, store_checks
from bot.domain.errors import PrdigestError
from bot.domain.operations.finding import Finding
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathSettings
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.redaction import without_secrets
from bot.domain.text.strings import plural
from bot.ports import ModelProvider
from bot.ports.probes import AppProbe, GitHubProbe, ModelProbe, Records, SlackProbe
from bot.services.subscriptions.repository import Directory

# seconds without a finding after which a group of checks is abandoned; single calls end before that
PATIENCE = 10.0
_SILENT = "See that it answers, its address and the network, then look again."
_DEFECT = "Tell it to the developers of prdigest: this check has a defect."


@dataclass(frozen=True, slots=True)
class Plan:
    """What is set up, without any secret: ``models`` and ``channels`` map to the settings that name each of them.

    ``provider`` is whose models they are, ``place`` where the store is, ``prefix`` what stands before its keys,
    ``fixed`` the subscription of the settings. ``paths`` reads the file of the path classes, if there is one.
    """

    given: Given
    repositories: tuple[Repository, ...]
    models: Mapping[str, str]
    provider: ModelProvider
    channels: Mapping[str, str]
    place: str
    zone: ZoneInfo
    fixed: Subscription | None = None
    paths: Callable[[], PathSettings] = PathSettings
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Worlds:
    """The outside services, each with a function that opens its probe; a text is the reason why there is none."""

    github: Callable[[], GitHubProbe] | str
    model: Callable[[], ModelProbe] | str
    slack: Callable[[], SlackProbe] | str
    app: Callable[[], AppProbe] | str
    store: Callable[[], Records] | str


class Doctor:
    """An examination of an installation."""

    def __init__(
        self,
        plan: Plan,
        worlds: Worlds,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        patience: float = PATIENCE,
    ) -> None:
        """Take what to check and how. ``patience`` is in seconds, ``sleep`` waits so many."""
        self._plan = plan
        self._worlds = worlds
        self._now = now
        self._sleep = sleep
        self._patience = patience
        # results of checks that later ones need
        self._slack: SlackProbe | str = "see Slack above"
        self._records: Records | str = "see Store above"
        self._ahead: dict[str, timedelta | None] = {"Slack": None, "GitHub": None, "the store": None}
        self._subscriptions: Sequence[Subscription] = ()

    def findings(self) -> Iterator[Finding]:
        """Run every check in reading order; none waits long for one before it."""
        groups: dict[str, Callable[[], Iterable[Finding]]] = {
            SETTINGS: lambda: settings_checks(self._plan.given),
            PATHS: lambda: path_checks(self._plan.paths, self._plan.repositories),
            "GitHub": self._github,
            self._plan.provider.name: self._model,
            STORE: self._store,
            "Slack": self._slack_itself,
            "Slack app token": lambda: app_checks(self._worlds.app, self._slack),
            "Channels": self._channels,
            "Time": lambda: time_checks(self._ahead),
            "Processes": lambda: process_checks(self._records, self._now, self._sleep),
            "Runs": self._runs,
        }
        for name, group in groups.items():
            # an embedded store has 15 seconds to start
            patience = self._patience * (2 if name == STORE else 1)
            yield from map(_harmless, _in_time(name, group, patience))

    def _github(self) -> Iterator[Finding]:
        """Check GitHub and keep its clock skew."""
        self._ahead["GitHub"] = yield from github_checks(self._worlds.github, self._plan.repositories, self._now)

    def _model(self) -> Iterator[Finding]:
        yield from model_checks(self._worlds.model, self._plan.models, self._plan.provider)

    def _slack_itself(self) -> Iterator[Finding]:
        """Check Slack and the owner of the store; keep the probe."""
        self._slack, self._ahead["Slack"] = yield from slack_checks(self._worlds.slack, self._now)
        yield from owner_checks(self._slack, self._records, self._plan.prefix)

    def _store(self) -> Iterator[Finding]:
        """Check the store; keep its records and subscriptions."""
        result = yield from store_checks(self._worlds.store, self._plan.place, self._now)
        self._records, self._ahead["the store"] = result
        if not isinstance(self._records, str):
            self._subscriptions = Directory(self._records.subscriptions, self._plan.fixed).all()

    def _channels(self) -> Iterator[Finding]:
        """Check the channels; those of the settings are checked even if the subscriptions can't be read."""
        counts = Counter(each.channel for each in self._subscriptions if not each.is_fixed)
        uses = dict(self._plan.channels)
        for channel, count in counts.items():
            uses[channel] = ", ".join(filter(None, [uses.get(channel), plural(count, "subscription")]))
        yield from channel_checks(self._slack, uses)
        if isinstance(self._records, str):
            yield Finding.unchecked("Channels of subscriptions", self._records)
        elif not uses:
            yield Finding.note("Channels", "none: PRDIGEST_CHANNEL is not set and nobody has subscribed")

    def _runs(self) -> Iterator[Finding]:
        """Check the last runs."""
        yield from run_checks(self._records, self._subscriptions, self._plan.zone, self._now())


def _in_time(name: str, group: Callable[[], Iterable[Finding]], patience: float) -> Iterator[Finding]:
    """Yield the findings of a group as they come, until none comes for ``patience`` seconds.

    A group runs in a thread of its own, since some waits have no timeout, such as looking up a host name.
    """
    queue: SimpleQueue[Finding | None] = SimpleQueue()

    def run() -> None:
        try:
            for finding in group():
                queue.put(finding)
        except PrdigestError as error:
            queue.put(failure(name, error))
        except Exception as error:
            queue.put(_defect(name, error))
        queue.put(None)

    Thread(target=run, daemon=True, name=f"doctor {name}").start()
    while True:
        try:
            finding = queue.get(timeout=patience)
        except Empty:
            yield Finding.failed(name, f"no answer within {patience:g} seconds", _SILENT)
            return
        if finding is None:
            return
        yield finding


def _harmless(finding: Finding) -> Finding:
    """Return the finding without any secret that was set where a name belongs."""
    name, problem, advice = map(without_secrets, (finding.name, finding.found, finding.advice))
    return Finding(name, finding.status, problem, advice)


def _defect(name: str, error: Exception) -> Finding:
    """Return where an error happened, without its text, which may hold a secret."""
    last = extract_tb(error.__traceback__)[-1]
    return Finding.failed(name, f"not checked: {type(error).__name__} in {last.name}, line {last.lineno}", _DEFECT)
