"""All checks in their order, what each needs of earlier ones, and how long each may take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from traceback import extract_tb

from packaging.utils import canonicalize_name

from bot.app import App
from bot.connections.sources import LiveSources, build_package_index, list_repositories, load_path_settings
from bot.doctor.checks import (
    CLOCK,
    JOBS,
    OWNER,
    PATHS,
    RUNS,
    SCHEDULE,
    SETTINGS,
    STORE,
    WORKER,
    check_agents,
    check_clock_skew,
    check_monitoring,
    check_owner,
    check_paths,
    check_previews,
    check_processes,
    check_runs,
    check_settings,
    check_store,
    find_faults,
    read_snapshot,
)
from bot.errors import ConfigurationError, ModelRequestRejected, PackageUnavailable, PrdigestError
from bot.features.profiles.others import OTHERS_FOLDER, list_downstreams
from bot.features.subscriptions.rules import Subscription
from bot.features.subscriptions.tables import list_subscriptions
from bot.mcp import has_sdk
from bot.platform.finding import Finding
from bot.platform.git.folder import check_downstreams, check_mirror
from bot.platform.github.check import check_github
from bot.platform.models import ModelAccess, ModelProvider
from bot.platform.models.registry import PROVIDERS, choose_provider, get_model_access, report_unknown_name
from bot.platform.slack.check import APP_TOKEN, BotAccess, check_app_token, check_channels, check_slack
from bot.platform.store.connection import RedisTimeouts
from bot.platform.tracing import has_exporter
from bot.redaction import redact_text
from bot.settings import DOTENV, UsableSettings
from bot.text import format_count

Check = Callable[[], Iterable[Finding]]

# seconds for one call, also on a busy machine; a service that takes longer fails its users too
CALL_SECONDS = 8
# seconds without a finding after which a group of checks is abandoned; single calls end before that
GROUP_SECONDS = 10.0
PACKAGES = "Package index"
# one that nearly every index has
_KNOWN_PACKAGE = canonicalize_name("packaging")


def run_checks(
    usable: UsableSettings,
    now: Callable[[], datetime],
    sleep: Callable[[float], None],
    providers: Sequence[ModelProvider] = PROVIDERS,
) -> Iterator[Finding]:
    usable = report_unknown_name(usable, providers)
    settings, provider = usable.settings, choose_provider(usable.settings, providers)
    with ExitStack() as closing:
        app = App(
            settings,
            now,
            sleep,
            provider,
            LiveSources(settings, now, provider),
            closing,
            timeouts=RedisTimeouts(connect=CALL_SECONDS, answer=CALL_SECONDS, retries=0),
        )
        yield from run_groups(_Checkup(app, usable, providers).list_groups())


class _Checkup:
    """The groups of checks. A service whose settings have a fault is not called, so that no token leaks."""

    def __init__(self, app: App, usable: UsableSettings, providers: Sequence[ModelProvider]) -> None:
        self._app = app
        self._settings = app.settings
        self._repositories = list_repositories(app.settings)
        self._snapshot = read_snapshot(usable, providers, app.provider.required_variables)
        self._faulty = find_faults(self._snapshot).keys()
        # until a check says otherwise
        self._slack: BotAccess | str = "see Slack above"
        self._no_store = f"see {STORE} above"
        self._clock_skews: dict[str, timedelta | None] = {"Slack": None, "GitHub": None, "the store": None}
        self._subscriptions: Sequence[Subscription] = ()

    def list_groups(self) -> dict[str, Check]:
        """Return the checks by the names of their groups, in the order in which people set a bot up."""
        settings, app, provider = self._settings, self._app, self._app.provider
        of_models = (provider.address_variable, provider.key_variable, *provider.required_variables)
        return {
            SETTINGS: lambda: check_settings(self._snapshot),
            PATHS: lambda: check_paths(load_path_settings(settings), self._repositories),
            "GitHub": self._if_sound(self._check_github, "GitHub", "GITHUB_API_URL", "GITHUB_TOKEN"),
            "Mirror": self._check_mirror,
            PACKAGES: self._if_sound(self._check_packages, PACKAGES, "PRDIGEST_PACKAGE_INDEX"),
            provider.name: self._if_sound(self._check_models, provider.name, *of_models),
            STORE: self._if_sound(self._check_store, STORE, "REDIS_URL"),
            "Slack": self._check_slack,
            APP_TOKEN: self._if_sound(self._check_app_token, APP_TOKEN, "SLACK_API_URL", "SLACK_APP_TOKEN"),
            "Channels": self._check_channels,
            "Monitoring": lambda: check_monitoring(settings, can_export=has_exporter()),
            "Agents": lambda: check_agents(settings, has_sdk=has_sdk()),
            "Time": lambda: check_clock_skew(self._clock_skews),
            "Processes": self._if_stored(lambda: check_processes(app, self._subscriptions), CLOCK, WORKER, JOBS),
            "Runs": self._if_stored(lambda: check_runs(app, self._subscriptions), RUNS, SCHEDULE),
        }

    def _if_sound(self, check: Check, name: str, *variables: str) -> Check:
        faulty = next((each for each in (DOTENV, *variables) if each in self._faulty), None)
        note = Finding.build_note(name, f"not checked: see {faulty} above")
        return (lambda: [note]) if faulty else check

    def _if_stored(self, check: Check, *names: str) -> Check:
        return lambda: (
            [Finding.build_unchecked(name, self._no_store) for name in names] if self._no_store else check()
        )

    def _check_github(self) -> Iterator[Finding]:
        ahead = yield from check_github(self._settings, self._repositories, self._app.now, CALL_SECONDS)
        self._clock_skews["GitHub"] = ahead

    def _check_mirror(self) -> Iterable[Finding]:
        folder = self._settings.mirror_folder
        if folder is None:
            return [Finding.build_note("Mirror", "not used: files are read from GitHub")]
        downstreams = (each for known in self._repositories for each in list_downstreams(self._app, known))
        return [
            *check_mirror(folder, self._repositories, self._app.now),
            *check_downstreams(folder / OTHERS_FOLDER, list(downstreams), self._app.now),
        ]

    def _check_packages(self) -> Iterator[Finding]:
        index = build_package_index(self._settings)
        if index is None:
            return
        if self._settings.mirror_folder is None:
            yield Finding.build_note(PACKAGES, "not used: a mirror says which versions are pinned")
            return
        try:
            is_listed = replace(index, seconds=CALL_SECONDS).check(_KNOWN_PACKAGE)
        except PackageUnavailable as error:
            yield Finding.build_error(PACKAGES, error)
            return
        count, size = index.measure_folder()
        kept = f"{format_count(count, 'wheel')} kept, {size / 1e6:.1f} MB"
        if is_listed:
            yield Finding.build_success(PACKAGES, f"answers; {kept}")
        else:
            advice = "Check PRDIGEST_PACKAGE_INDEX, unless it has only your own packages."
            yield Finding.build_note(PACKAGES, f"has no {_KNOWN_PACKAGE}; {kept}", advice)

    def _check_models(self) -> Iterable[Finding]:
        provider = self._app.provider
        access = get_model_access(self._settings, provider)
        if access is None:
            return [Finding.build_note(provider.name, "no model: summaries contain facts only")]
        models = self._group_by_value("PRDIGEST_SUMMARY_MODEL", "PRDIGEST_ANSWER_MODEL")
        return check_models(provider, access, models, CALL_SECONDS)

    def _check_store(self) -> Iterator[Finding]:
        self._no_store, self._clock_skews["the store"] = yield from check_store(self._app)
        if not self._no_store:
            self._subscriptions = list_subscriptions(self._app)

    def _check_slack(self) -> Iterator[Finding]:
        yield from self._if_sound(self._check_token, "Slack", "SLACK_API_URL", "SLACK_BOT_TOKEN")()
        if isinstance(self._slack, str):
            yield Finding.build_unchecked(OWNER, self._slack)
        elif self._no_store:
            yield Finding.build_unchecked(OWNER, self._no_store)
        else:
            yield check_owner(self._app, self._slack)
            yield from check_previews(self._app, self._slack)

    def _check_token(self) -> Iterator[Finding]:
        checked = yield from check_slack(self._settings, self._app.now, CALL_SECONDS)
        self._slack, self._clock_skews["Slack"] = checked

    def _check_app_token(self) -> Iterable[Finding]:
        if self._settings.slack_app_token is None:
            return [Finding.build_note(APP_TOKEN, "not used: requests come over HTTP")]
        return check_app_token(self._settings, self._slack, CALL_SECONDS)

    def _check_channels(self) -> Iterator[Finding]:
        """Check the channels; those of the settings are checked even if the subscriptions can't be read."""
        uses = self._group_by_value("PRDIGEST_CHANNEL", "PRDIGEST_ADMIN_CHANNEL")
        counts = Counter(each.channel for each in self._subscriptions if not each.is_fixed)
        for channel, count in counts.items():
            uses[channel] = ", ".join(filter(None, [uses.get(channel), format_count(count, "subscription")]))
        yield from check_channels(self._slack, uses)
        if self._no_store:
            yield Finding.build_unchecked("Channels of subscriptions", self._no_store)
        elif not uses:
            yield Finding.build_note(
                "Channels", "none: PRDIGEST_CHANNEL is not set, and there are no subscriptions"
            )

    def _group_by_value(self, *settings: str) -> dict[str, str]:
        names: dict[str, str] = {}
        for setting in settings:
            if value := getattr(self._settings, setting.lower()):
                names[value] = f"{names[value]} and {setting}" if value in names else setting
        return names


def run_groups(groups: Mapping[str, Check], seconds: float = GROUP_SECONDS) -> Iterator[Finding]:
    """Run groups of checks in their order; none waits long for one before it, or fails with it."""
    for name, check in groups.items():
        # an embedded store has 15 seconds to start
        for finding in _run_group(name, check, seconds * (2 if name == STORE else 1)):
            # a secret may be set where a name belongs
            name_shown, result, advice = map(redact_text, (finding.name, finding.result, finding.advice))
            yield Finding(name_shown, finding.status, result, advice)


def _run_group(name: str, check: Check, seconds: float) -> Iterator[Finding]:
    """Yield the findings of a group as they come, until none comes for so many seconds."""
    # a group runs in a thread of its own, since some waits have no timeout, such as looking up a host name
    queue: SimpleQueue[Finding | None] = SimpleQueue()

    def run() -> None:
        try:
            for finding in check():
                queue.put(finding)
        except PrdigestError as error:
            queue.put(Finding.build_error(name, error))
        except Exception as error:
            # not the error's text, which may hold a secret
            last = extract_tb(error.__traceback__)[-1]
            problem = f"not checked: {type(error).__name__} in {last.name}, line {last.lineno}"
            advice = "Report it to the developers of prdigest: this check has a bug."
            queue.put(Finding.build_failure(name, problem, advice))
        queue.put(None)

    Thread(target=run, daemon=True, name=f"doctor {name}").start()
    while True:
        try:
            finding = queue.get(timeout=seconds)
        except Empty:
            advice = "Check that it runs, its address and the network, then run doctor again."
            yield Finding.build_failure(name, f"no answer within {seconds:g} seconds", advice)
            return
        if finding is None:
            return
        yield finding


# --- models


def check_models(
    provider: ModelProvider, access: ModelAccess, models: Mapping[str, str], seconds: int
) -> Iterator[Finding]:
    """Check the provider. ``models`` maps each model to the settings that name it. A call may take ``seconds``."""
    if provider.is_cloud:
        key = f"{provider.name} credentials"
    else:
        key = provider.name if provider.is_key_optional else f"{provider.name} key"
    try:
        known = provider.find_models(access, tuple(models), seconds)
    except PrdigestError as error:
        yield Finding.build_error(key, error, _advise(error, provider))
        yield from (Finding.build_unchecked(f"Model {model}", f"see {key} above") for model in models)
        return
    if None in known.values():
        yield Finding.build_note(
            key,
            f"not checked: the server at {provider.address_variable} does not list its models",
            "Try `prdigest summary` with the number of a pull request to see whether a model answers.",
        )
    else:
        yield Finding.build_success(key, "accepted")
    for model, settings in models.items():
        name, is_known = f"Model {model}", known[model]
        if is_known is None:
            yield Finding.build_unchecked(name, f"see {key} above")
        elif is_known:
            yield _report_price(name, model, provider)
        else:
            missing = f"{provider.name} has no model with that name"
            yield Finding.build_failure(name, missing, f"Set {settings} to the name of a model.")
        if provider.try_model and is_known is not False:
            try:
                yield from provider.try_model(access, model, seconds)
            except PrdigestError as error:
                yield Finding.build_error(name, error, _advise_on_outage(provider))


def _advise(error: PrdigestError, provider: ModelProvider) -> str:
    if isinstance(error, ConfigurationError):
        return ""
    if not isinstance(error, ModelRequestRejected):
        return _advise_on_outage(provider)
    key, address = provider.key_variable, provider.address_variable
    if provider.is_cloud:
        return f"Give this machine credentials of the cloud with the right to use the models, and check {address}."
    if provider.is_key_optional:
        return f"Set {key} to a key that the server at {address} accepts."
    return f"Set {key} to a valid key, or leave it empty for facts-only summaries."


def _advise_on_outage(provider: ModelProvider) -> str:
    return (
        f"Check {provider.address_variable} and the network, or try again in a few minutes: until then, summaries "
        "contain facts only."
    )


def _report_price(name: str, model: str, provider: ModelProvider) -> Finding:
    price = provider.prices[model]
    if price is not None:
        cost = f"${price.input:.2f} in and ${price.output:.2f} out per million tokens"
        return Finding.build_success(name, f"available, {cost}")
    if provider.prices.prices:
        unknown = "available, price unknown: budgets assume the price of the most expensive model"
        return Finding.build_note(name, unknown)
    unknown = "available, price unknown: no budget in dollars limits it"
    advice = f"Set {provider.prices_variable}; 0/0 is for a server that costs nothing per token."
    return Finding.build_note(name, unknown, advice)
