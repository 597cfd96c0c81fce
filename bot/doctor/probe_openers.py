"""The doctor, built from the settings that can be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from pydantic import SecretStr
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

from bot.adapters.git import GitMirrorProbe
from bot.adapters.github.probe import PyGithubProbe
from bot.adapters.redis import (
    Keyspace,
    RedisCache,
    RedisDueQueue,
    RedisLostJobStore,
    RedisProbe,
    RedisRunLog,
    RedisSubscriptionStore,
    RedisTimeouts,
    redact_address,
)
from bot.adapters.slack.probe import SlackBotProbe, SocketModeProbe
from bot.adapters.tracing import EXTRA_HINT, has_exporter
from bot.connections.credentials import create_github_auth, require_secret
from bot.connections.from_settings import (
    build_fixed_subscription,
    connect_store,
    list_repositories,
    load_path_settings,
)
from bot.doctor.checks.agents import AgentPlan
from bot.doctor.checks.monitoring import MonitoringPlan
from bot.doctor.checks.settings import SettingsSnapshot, find_faults
from bot.doctor.checkup import CheckPlan, Doctor, ServiceProbes
from bot.mcp.extra import EXTRA_HINT as MCP_HINT
from bot.mcp.extra import has_sdk
from bot.platform.models.registry import (
    PROVIDERS,
    choose_provider,
    get_model_access,
    report_unknown_name,
)
from bot.platform.store.tables import Store
from bot.ports import ModelProvider
from bot.ports.probes import AppProbe, GitHubProbe, MirrorProbe, ModelProbe, SlackProbe, StoreRecords
from bot.settings import DOTENV, Settings, UsableSettings, list_tokens

# seconds for one call, also on a busy machine; a service that takes longer fails its users too
_TIMEOUT = 8
_STORE_TIMEOUTS = RedisTimeouts(connect=_TIMEOUT, answer=_TIMEOUT, retries=0)


@contextmanager
def open_doctor(
    usable: UsableSettings,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
    providers: Sequence[ModelProvider] = PROVIDERS,
) -> Iterator[Doctor]:
    """Yield a doctor for the settings of this process; close the store at the end."""
    usable = report_unknown_name(usable, providers)
    provider = choose_provider(usable.settings, providers)
    snapshot = read_snapshot(usable, providers, provider.required_variables)
    with ExitStack() as closing:
        probes = _ProbeOpener(usable.settings, snapshot, provider, closing).build_probes()
        yield Doctor(build_plan(usable.settings, snapshot, provider), probes, now, sleep)


def read_snapshot(
    usable: UsableSettings,
    providers: Sequence[ModelProvider] = PROVIDERS,
    required: Mapping[str, str] = MappingProxyType({}),
) -> SettingsSnapshot:
    """Read the variables that are set, as they were written. ``required`` are those that the models need."""
    kind = type(usable.settings)
    names = frozenset(name.upper() for name in kind.model_fields)
    values = dict(EnvSettingsSource(kind).env_vars)
    file = Path(DOTENV)
    if DOTENV not in usable.problems:
        values = {**DotEnvSettingsSource(kind).env_vars, **values}
    source = f"from the environment and {file.resolve()}" if file.exists() else _describe_missing_file(file)
    variables = {name.upper(): value for name, value in values.items() if value}
    keys = tuple(each.key_variable for each in providers if each.key_variable)
    return SettingsSnapshot(variables, usable.problems, names, list_tokens(kind), source, keys, required)


def _describe_missing_file(file: Path) -> str:
    """Return where the variables come from if there is no file."""
    return f"from the environment; there is no {file} in {file.resolve().parent}"


def build_plan(settings: Settings, snapshot: SettingsSnapshot, provider: ModelProvider) -> CheckPlan:
    """Build the plan of what is checked."""
    return CheckPlan(
        snapshot=snapshot,
        repositories=list_repositories(settings),
        models=_group_by_value(
            PRDIGEST_SUMMARY_MODEL=settings.prdigest_summary_model,
            PRDIGEST_ANSWER_MODEL=settings.prdigest_answer_model,
        ),
        provider=provider,
        channels=_group_by_value(
            PRDIGEST_CHANNEL=settings.prdigest_channel, PRDIGEST_ADMIN_CHANNEL=settings.prdigest_admin_channel
        ),
        store_address=_describe_store_address(settings),
        zone=settings.prdigest_timezone,
        fixed_subscription=build_fixed_subscription(settings),
        read_path_settings=lambda: load_path_settings(settings),
        key_prefix=settings.prdigest_store_prefix,
        monitoring=MonitoringPlan(
            str(settings.prdigest_metrics_address or ""),
            _describe_host(settings.otel_exporter_otlp_endpoint),
            "" if has_exporter() else EXTRA_HINT,
        ),
        agents=AgentPlan(
            str(settings.prdigest_mcp_address) if settings.prdigest_mcp_token else "",
            tuple(sorted(settings.prdigest_mcp_profiles)),
            "" if has_sdk() else MCP_HINT,
        ),
    )


def _describe_host(address: str | None) -> str:
    """Return the host and port of an address, without a password or a path; empty without an address."""
    if not address:
        return ""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _describe_store_address(settings: Settings) -> str:
    """Return the address of the store without its password, with the prefix of its keys."""
    url, prefix = settings.redis_url, settings.prdigest_store_prefix
    place = redact_address(url) if url else f"the embedded store in {settings.prdigest_state_dir}"
    return f"{place} (keys with the prefix {prefix})" if prefix else place


def _group_by_value(**values: str | None) -> dict[str, str]:
    """Return each value with the names of the settings that have it."""
    settings: dict[str, str] = {}
    for setting, value in values.items():
        if value:
            settings[value] = f"{settings[value]} and {setting}" if value in settings else setting
    return settings


class _ProbeOpener:
    """The functions that open probes.

    A service whose settings have a fault is not called, so that no token leaks.
    """

    def __init__(
        self, settings: Settings, snapshot: SettingsSnapshot, provider: ModelProvider, closing: ExitStack
    ) -> None:
        self._settings = settings
        self._provider = provider
        self._faulty = find_faults(snapshot).keys()
        self._closing = closing

    def build_probes(self) -> ServiceProbes:
        """Build what opens each probe, or the reason why it is not opened."""
        settings, provider = self._settings, self._provider
        no_app = "" if settings.slack_app_token else "not used: requests come over HTTP"
        return ServiceProbes(
            github=self._describe_fault("GITHUB_API_URL", "GITHUB_TOKEN") or self._open_github,
            model=self._describe_fault(
                provider.address_variable, provider.key_variable, *provider.required_variables
            )
            or self._choose_model_opener(),
            slack=self._describe_fault("SLACK_API_URL", "SLACK_BOT_TOKEN") or self._open_slack,
            app=self._describe_fault("SLACK_API_URL", "SLACK_APP_TOKEN") or no_app or self._open_app,
            store=self._describe_fault("REDIS_URL") or self._open_store,
            mirror=self._choose_mirror_opener(),
        )

    def _describe_fault(self, *names: str) -> str:
        """Return a reference to the fault of one of these settings, empty if they have none."""
        faulty = next((name for name in (DOTENV, *names) if name in self._faulty), None)
        return f"not checked: see {faulty} above" if faulty else ""

    def _open_github(self) -> GitHubProbe:
        """Open the probe of GitHub."""
        return PyGithubProbe(self._settings.github_api_url, create_github_auth(self._settings), _TIMEOUT)

    def _choose_model_opener(self) -> Callable[[], ModelProbe] | str:
        """Return what opens the probe of the model, or that there is no model."""
        access = get_model_access(self._settings, self._provider)
        if access is None:
            return "no model: summaries contain facts only"
        return lambda: self._provider.probe(access, _TIMEOUT)

    def _choose_mirror_opener(self) -> Callable[[], MirrorProbe] | str:
        """Return what opens the probe of the mirrors, or that there are none."""
        folder = self._settings.prdigest_mirror
        return "not used: files are read from GitHub" if folder is None else lambda: GitMirrorProbe(folder)

    def _open_slack(self) -> SlackProbe:
        """Open the probe of Slack."""
        token = require_secret(self._settings.slack_bot_token, "SLACK_BOT_TOKEN", "the bot's token (xoxb-…)")
        return SlackBotProbe(token, self._settings.slack_api_url, _TIMEOUT)

    def _open_app(self) -> AppProbe:
        """Open the probe of Socket Mode."""
        return SocketModeProbe(
            _reveal_secret(self._settings.slack_app_token), self._settings.slack_api_url, _TIMEOUT
        )

    def _open_store(self) -> StoreRecords:
        """Open the store; it is closed at the end of the doctor."""
        client = connect_store(self._settings, _STORE_TIMEOUTS)
        keys = Keyspace(self._settings.prdigest_store_prefix)
        self._closing.callback(client.close)
        return StoreRecords(
            RedisProbe(client, keys),
            RedisCache(client, keys),
            RedisSubscriptionStore(client, keys),
            RedisDueQueue(client, keys),
            RedisRunLog(client, keys),
            RedisLostJobStore(client, keys),
            Store(client, keys),
        )


def _reveal_secret(value: SecretStr | None) -> str:
    """Return the text of a secret, empty if it is not set."""
    return value.get_secret_value() if value else ""
