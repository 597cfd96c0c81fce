"""The order of the checks, what each needs of those before it, and how long each may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from traceback import extract_tb
from zoneinfo import ZoneInfo

from bot.doctor.checks.agents import AgentPlan, check_agents
from bot.doctor.checks.failures import describe_failure
from bot.doctor.checks.github import check_github
from bot.doctor.checks.mirror import MIRROR, check_mirror
from bot.doctor.checks.model import check_models
from bot.doctor.checks.monitoring import MonitoringPlan, check_monitoring
from bot.doctor.checks.paths import PATHS, check_paths
from bot.doctor.checks.processes import check_clock_skew, check_processes
from bot.doctor.checks.runs import check_runs
from bot.doctor.checks.settings import SETTINGS, SettingsSnapshot, check_settings
from bot.doctor.checks.slack import (
    check_app_token,
    check_channels,
    check_owner,
    check_previews,
    check_slack,
)
from bot.doctor.checks.store import STORE, check_store
from bot.domain.errors import PrdigestError
from bot.domain.operations.finding import Finding
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathSettings
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import format_count
from bot.ports import ModelProvider
from bot.ports.probes import AppProbe, GitHubProbe, MirrorProbe, ModelProbe, SlackProbe, StoreRecords
from bot.services.subscriptions.repository import SubscriptionRepository

# seconds without a finding after which a group of checks is abandoned; single calls end before that
GROUP_TIMEOUT = 10.0
_TIMEOUT_ADVICE = "Check that it runs, its address and the network, then run doctor again."
_DEFECT_ADVICE = "Report it to the developers of prdigest: this check has a bug."


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """The configuration to check, without any secret.

    ``models`` and ``channels`` map to the settings that name each of them. ``provider`` is the provider of the
    models, ``store_address`` the place of the store, ``key_prefix`` the prefix of its keys, ``fixed_subscription``
    the one of the settings. ``read_path_settings`` reads the file of the path classes, if there is one.
    ``monitoring`` says where metrics and traces go, and ``agents`` what agents may reach.
    """

    snapshot: SettingsSnapshot
    repositories: tuple[Repository, ...]
    models: Mapping[str, str]
    provider: ModelProvider
    channels: Mapping[str, str]
    store_address: str
    zone: ZoneInfo
    fixed_subscription: Subscription | None = None
    read_path_settings: Callable[[], PathSettings] = PathSettings
    key_prefix: str = ""
    monitoring: MonitoringPlan = field(default_factory=MonitoringPlan)
    agents: AgentPlan = field(default_factory=AgentPlan)


@dataclass(frozen=True, slots=True)
class ServiceProbes:
    """The outside services, each with a function that opens its probe; a text is the reason why there is none."""

    github: Callable[[], GitHubProbe] | str
    model: Callable[[], ModelProbe] | str
    slack: Callable[[], SlackProbe] | str
    app: Callable[[], AppProbe] | str
    store: Callable[[], StoreRecords] | str
    mirror: Callable[[], MirrorProbe] | str


class Doctor:
    """An examination of an installation."""

    def __init__(
        self,
        plan: CheckPlan,
        probes: ServiceProbes,
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
        timeout: float = GROUP_TIMEOUT,
    ) -> None:
        """Take what to check and how. ``timeout`` is in seconds; ``sleep`` takes seconds."""
        self._plan = plan
        self._probes = probes
        self._now = now
        self._sleep = sleep
        self._timeout = timeout
        # results of checks that later ones need
        self._slack: SlackProbe | str = "see Slack above"
        self._records: StoreRecords | str = "see Store above"
        self._clock_skews: dict[str, timedelta | None] = {"Slack": None, "GitHub": None, "the store": None}
        self._subscriptions: Sequence[Subscription] = ()

    def run_checks(self) -> Iterator[Finding]:
        """Run every check in reading order; none waits long for one before it."""
        groups: dict[str, Callable[[], Iterable[Finding]]] = {
            SETTINGS: lambda: check_settings(self._plan.snapshot),
            PATHS: lambda: check_paths(self._plan.read_path_settings, self._plan.repositories),
            "GitHub": self._check_github,
            MIRROR: lambda: check_mirror(self._probes.mirror, self._plan.repositories, self._now),
            self._plan.provider.name: self._check_models,
            STORE: self._check_store,
            "Slack": self._check_slack,
            "Slack app token": lambda: check_app_token(self._probes.app, self._slack),
            "Channels": self._check_channels,
            "Monitoring": lambda: check_monitoring(self._plan.monitoring),
            "Agents": lambda: check_agents(self._plan.agents),
            "Time": lambda: check_clock_skew(self._clock_skews),
            "Processes": lambda: check_processes(self._records, self._now, self._sleep),
            "Runs": self._check_runs,
        }
        for name, group in groups.items():
            # an embedded store has 15 seconds to start
            timeout = self._timeout * (2 if name == STORE else 1)
            yield from map(_redact_finding, _run_with_timeout(name, group, timeout))

    def _check_github(self) -> Iterator[Finding]:
        """Check GitHub and keep its clock skew."""
        self._clock_skews["GitHub"] = yield from check_github(
            self._probes.github, self._plan.repositories, self._now
        )

    def _check_models(self) -> Iterator[Finding]:
        """Check the provider of models."""
        yield from check_models(self._probes.model, self._plan.models, self._plan.provider)

    def _check_slack(self) -> Iterator[Finding]:
        """Check Slack and the owner of the store; keep the probe."""
        self._slack, self._clock_skews["Slack"] = yield from check_slack(self._probes.slack, self._now)
        yield from check_owner(self._slack, self._records, self._plan.key_prefix)
        yield from check_previews(self._slack, self._records)

    def _check_store(self) -> Iterator[Finding]:
        """Check the store; keep its records and subscriptions."""
        result = yield from check_store(self._probes.store, self._plan.store_address, self._now)
        self._records, self._clock_skews["the store"] = result
        if not isinstance(self._records, str):
            self._subscriptions = SubscriptionRepository(
                self._records.subscriptions, self._plan.fixed_subscription
            ).list_all()

    def _check_channels(self) -> Iterator[Finding]:
        """Check the channels; those of the settings are checked even if the subscriptions can't be read."""
        counts = Counter(each.channel for each in self._subscriptions if not each.is_fixed)
        uses = dict(self._plan.channels)
        for channel, count in counts.items():
            uses[channel] = ", ".join(filter(None, [uses.get(channel), format_count(count, "subscription")]))
        yield from check_channels(self._slack, uses)
        if isinstance(self._records, str):
            yield Finding.build_unchecked("Channels of subscriptions", self._records)
        elif not uses:
            yield Finding.build_note(
                "Channels", ("none: PRDIGEST_CHANNEL is not set, and there are no subscriptions")
            )

    def _check_runs(self) -> Iterator[Finding]:
        """Check the last runs."""
        yield from check_runs(self._records, self._subscriptions, self._plan.zone, self._now())


def _run_with_timeout(name: str, group: Callable[[], Iterable[Finding]], timeout: float) -> Iterator[Finding]:
    """Yield the findings of a group as they come, until none comes for ``timeout`` seconds.

    A group runs in a thread of its own, since some waits have no timeout, such as looking up a host name.
    """
    queue: SimpleQueue[Finding | None] = SimpleQueue()

    def run() -> None:
        try:
            for finding in group():
                queue.put(finding)
        except PrdigestError as error:
            queue.put(describe_failure(name, error))
        except Exception as error:
            queue.put(_describe_defect(name, error))
        queue.put(None)

    Thread(target=run, daemon=True, name=f"doctor {name}").start()
    while True:
        try:
            finding = queue.get(timeout=timeout)
        except Empty:
            yield Finding.build_failure(name, f"no answer within {timeout:g} seconds", _TIMEOUT_ADVICE)
            return
        if finding is None:
            return
        yield finding


def _redact_finding(finding: Finding) -> Finding:
    """Return the finding without any secret that was set where a name belongs."""
    name, problem, advice = map(redact_text, (finding.name, finding.result, finding.advice))
    return Finding(name, finding.status, problem, advice)


def _describe_defect(name: str, error: Exception) -> Finding:
    """Return where an error happened, without its text, which may hold a secret."""
    last = extract_tb(error.__traceback__)[-1]
    return Finding.build_failure(
        name, f"not checked: {type(error).__name__} in {last.name}, line {last.lineno}", _DEFECT_ADVICE
    )
