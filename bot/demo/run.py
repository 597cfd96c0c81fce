"""Runner of a demo: a local Slack with its page, a store, and the whole bot.

Only external services are replaced: Slack always, GitHub and the model unless the demo is live. Everything between
them is the same as elsewhere: handlers, jobs, services, renderers and a real store, connected over HTTP.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from localslack.manifest import Manifest, Shortcut, ShortcutKind, SlashCommand
from localslack.page.about import About, Fact, Suggestion
from localslack.page.connection import Connection
from localslack.page.server import Page
from localslack.page.setup import Reader, make_page
from localslack.server.local_slack import LocalSlack
from localslack.server.team import Times
from localslack.users.transport import HttpTransport
from pydantic import SecretStr

from bot.app import App, open_app
from bot.connections.sources import Sources
from bot.demo.sample.sources import INVENTED_TAG, SampleSources
from bot.demo.sample.team import plant_contracts, plant_team
from bot.errors import ConfigurationError, StoreUnavailable
from bot.features import import_features
from bot.platform import deadlines
from bot.platform.github.client import create_github_auth
from bot.platform.models import ModelProvider
from bot.platform.models.registry import choose_provider, get_model_access
from bot.platform.slack.app_manifest import PREVIEW_SCOPES
from bot.platform.slack.check import SCOPES
from bot.platform.slack.notices import HELP_QUESTION
from bot.platform.store.embedded.server import claim_state, is_platform_supported, stop_embedded
from bot.platform.store.erasure import reset_store
from bot.processes import limit_shutdown, listen_for_stop_signals, run_processes, wait_for_signal
from bot.settings import Settings
from handlers import COMMANDS as DECLARED
from handlers.declaration import Commands
from handlers.summaries import SHORTCUTS
from impact.repository import GITHUB_WEB, Repository

# --- the page


def list_commands(commands: Commands) -> tuple[SlashCommand, ...]:
    return tuple(SlashCommand(each.name, each.hint, each.description) for each in commands)


APP = Manifest(
    commands=list_commands(DECLARED),
    shortcuts=tuple(Shortcut(each.callback_id, each.name, ShortcutKind(each.kind)) for each in SHORTCUTS),
)
_COMMON_TEXTS = {
    "title": "prdigest in a local Slack",
    "program": "demo",
    "command": "prdigest demo",
    "without_script": "The same day in the terminal: prdigest demo --text",
    "example": "*Hello* from <https://github.com/vllm-project/vllm|vLLM>",
}

SAMPLE_ABOUT = About(
    **_COMMON_TEXTS,
    line=(
        "The bot is real, the day is a sample: 28 February 2026 of vLLM, seen the next morning. The demo "
        "uses no model."
    ),
    facts=(
        Fact(
            "Sample",
            "The 18 pull requests: numbers, titles, authors, files, counts and times are from a public day "
            "of vllm-project/vllm. The summaries and the answers to questions were written for this sample, from "
            "the full diffs. Of these, only the lines that answers quote are included.",
        ),
        Fact(
            "Computed here",
            "Everything else comes from the real bot: the schedule, risk ratings, areas, filters, and every "
            "message, button, window and form. An answer is found by its likeness to your question, and its "
            "quotes are checked as a model's are. If there is none, it says so.",
        ),
        Fact(
            "Needs a key",
            "Your repository, today: set GITHUB_TOKEN. Summaries and answers by a model: set ANTHROPIC_API_KEY. "
            "With both, run prdigest demo --live --repo owner/repo.",
        ),
    ),
    tries=(
        Suggestion("/prsummary 35617"),
        Suggestion("/prrisks"),
        Suggestion("@prdigest what may break our API callers?"),
        Suggestion("/prdigest subscribe at 09:00 path:vllm/v1"),
        Suggestion("/prdigest schedule"),
        Suggestion(HELP_QUESTION, in_thread=True),
        Suggestion("and the second one?", in_thread=True),
        Suggestion("why is #35441 risky?", in_thread=True),
        Suggestion("what changed in the Anthropic endpoint?", in_thread=True),
    ),
)

TEAM_ABOUT = replace(
    SAMPLE_ABOUT,
    command="prdigest demo --profile",
    facts=(
        Fact(
            "A team",
            "The profile satellite is a small team invented for this demo. It serves a model with vLLM, and its "
            "six files were scanned for what they use of it. The digest begins with the merges that touch them.",
        ),
        Fact(
            "A release",
            f"About two minutes after the digest, a post says what the tag {INVENTED_TAG} means for the team. It "
            "was invented for this demo, too.",
        ),
        *SAMPLE_ABOUT.facts,
    ),
    tries=(
        Suggestion("/prdigest touches 7d"),
        Suggestion("/prdigest pending"),
        Suggestion("/prdigest upgrade"),
        Suggestion("/prdigest watch 35557"),
        Suggestion("/prdigest where 35557"),
        Suggestion("/prdigest release"),
        Suggestion(
            "/prdigest broke TypeError: SamplingParams.__init__() got an unexpected keyword argument "
            "'truncate_prompt_tokens' since 2026-02-28"
        ),
        *SAMPLE_ABOUT.tries[:3],
        Suggestion("what of this breaks us?", in_thread=True),
        Suggestion("where do we use it?", in_thread=True),
        *SAMPLE_ABOUT.tries[5:],
    ),
)


def build_live_about(repository: Repository, provider: ModelProvider, *, has_model: bool) -> About:
    """Return the texts of a live demo; without a model, they say that it has facts only, and what is to be set."""
    without_model = f"without a model: {provider.key_variable} is not set, so summaries contain facts only"
    written = f" Summaries and answers come from {provider.name}, with your settings."
    return About(
        **{**_COMMON_TEXTS, "command": f"prdigest demo --live --repo {repository}"},
        line=(
            f"Live: {repository}, with GitHub{f' and {provider.name}' if has_model else f', {without_model}'}. "
            "Only Slack is local."
        ),
        facts=(
            Fact("Local", "Slack: this page. Messages here are deleted when the demo ends."),
            Fact(
                "Real",
                f"Pull requests and diffs come from GitHub, with your token.{written if has_model else ''} They "
                "are kept for the next live demo, so that you pay only once.",
            ),
            Fact(
                "Needs more",
                "A workspace: create a Slack app from the output of prdigest manifest, then start prdigest run.",
            ),
        ),
        tries=(
            Suggestion("/prrisks 2d"),
            Suggestion("/prdigest today"),
            Suggestion("@prdigest what may break our callers?"),
            Suggestion("/prdigest schedule"),
            Suggestion("which of these need action from us?", in_thread=True),
            Suggestion("what was reverted?", in_thread=True),
        ),
    )


# --- the stage

CHANNEL, YOU = "C0DIGEST", "U0YOU"
# the hour of the sample's digest, and how old it is when the demo starts
_DIGEST_HOUR = 9
_DIGEST_AGE = timedelta(seconds=5)
_TEXT_DEMO_ADVICE = "see the sample day here with prdigest demo --text"


@dataclass(frozen=True, slots=True)
class Stage:
    """The parts in which demos differ.

    ``build_settings`` takes those that connect the bot to the local Slack. The store is kept in ``state``; None is
    for one that is removed. ``prepare_bot`` is called before the bot starts. ``sources`` is None for the real
    services.
    """

    build_settings: Callable[[Mapping[str, Any]], Settings]
    state: Path | None
    prepare_bot: Callable[[App], None]
    sources: Sources | None
    channel: str
    zone: ZoneInfo
    now: Callable[[], datetime]
    about: About


class _FixedSettings(Settings):
    """Settings that ignore the environment, so that the demo is the same everywhere."""

    reads_environment = False


def build_sample_stage(clock: Callable[[], float] = time.monotonic, *, with_profile: bool = False) -> Stage:
    """Build the stage of the sample day on the next morning. ``clock`` returns seconds that only go up.

    ``with_profile`` adds the sample team: its channel's digest begins with what touches its code.
    """

    def get_time() -> datetime:
        return due + _DIGEST_AGE + timedelta(seconds=clock() - began)

    sample, began = SampleSources(time.sleep, get_time), clock()
    due = sample.day.end.astimezone(sample.day.zone).replace(hour=_DIGEST_HOUR)

    def make_settings(local: Mapping[str, Any]) -> Settings:
        # the team's digest is a subscription, which has a profile; that of the settings has none
        return _FixedSettings(
            **{**local, **({"prdigest_channel": None} if with_profile else {})},
            prdigest_mirror=Path("off"),
            prdigest_repo=sample.repository,
            prdigest_name=sample.name,
            prdigest_timezone=sample.day.zone,
            prdigest_post_at=due.time(),
        )

    return Stage(
        build_settings=make_settings,
        state=None,
        prepare_bot=partial(plant_team, sample, due, YOU, CHANNEL)
        if with_profile
        else partial(plant_contracts, sample),
        sources=sample,
        channel=f"{sample.repository.name}-digest",
        zone=sample.day.zone,
        now=get_time,
        about=TEAM_ABOUT if with_profile else SAMPLE_ABOUT,
    )


def build_live_stage(settings: Settings, repository: Repository, now: Callable[[], datetime]) -> Stage:
    """Build the stage of a repository as it is now, with the real services: yesterday's digest comes at once.

    Without a model's key, it has facts only. Raises ConfigurationError if GitHub's token is missing.
    """
    provider = choose_provider(settings)
    has_model = get_model_access(settings, provider) is not None
    create_github_auth(settings)
    zone = settings.prdigest_timezone

    def make_settings(local: Mapping[str, Any]) -> Settings:
        minute = now().astimezone(zone).time().replace(second=0, microsecond=0)
        values = {
            **local,
            **dict.fromkeys(("slack_app_token", "redis_url", "prdigest_admin_channel")),
            **{f"prdigest_allowed_{kind}": frozenset() for kind in ("workspaces", "channels", "users")},
            "prdigest_store_prefix": "",
            "prdigest_repo": repository,
            "prdigest_repos": (),
            "prdigest_post_at": minute,
            # the name in the settings is that of their own repository
            "prdigest_name": settings.prdigest_name if repository == settings.prdigest_repo else None,
        }
        return settings.model_copy(update=values)

    def reset_bot(app: App) -> None:
        import_features()
        reset_store(app.store)

    return Stage(
        build_settings=make_settings,
        state=settings.prdigest_state_dir / "demo",
        prepare_bot=reset_bot,
        sources=None,
        channel=f"{repository.name}-digest",
        zone=zone,
        now=now,
        about=build_live_about(repository, provider, has_model=has_model),
    )


def build_local_settings(url: str, bot_token: str, signing_secret: str, state: Path) -> dict[str, Any]:
    return {
        "slack_api_url": url,
        "slack_bot_token": SecretStr(bot_token),
        "slack_signing_secret": SecretStr(signing_secret),
        "port": 0,
        "prdigest_state_dir": state,
        "prdigest_channel": CHANNEL,
        # there is one person only, who may try everything in a minute
        "prdigest_user_limit": 1_000,
    }


@contextmanager
def open_state(kept: Path | None = None, has_store: Callable[[], bool] = is_platform_supported) -> Iterator[Path]:
    """Yield the folder of the store: ``kept``, for one demo at a time, or one that is removed afterwards.

    Raises ConfigurationError if another demo uses it, StoreUnavailable if it can't be used.
    """
    if not has_store():
        raise StoreUnavailable(f"The demo's store is not available for this platform: {_TEXT_DEMO_ADVICE}.")
    if kept:
        with claim_state(kept) as is_ours:
            if not is_ours:
                raise ConfigurationError("Another live demo is running: stop it with Ctrl-C first.")
            yield kept
        return
    try:
        temporary = tempfile.TemporaryDirectory(prefix="prdigest-demo-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ConfigurationError(
            f"No temporary folder can be created ({error.strerror}): set TMPDIR to a folder that you own."
        ) from error
    with temporary as folder:
        try:
            yield Path(folder)
        except StoreUnavailable as error:
            # the store's own sentence names a log that is removed with the folder, and a setting that is not read
            raise StoreUnavailable(f"The demo's store does not start here: {_TEXT_DEMO_ADVICE}.") from error


# --- the run

# Slack's own limit of posts to a channel
_POSTS_PER_SECOND = 1.0
_LOOPBACK_HOST = "127.0.0.1"
# seconds for running jobs after Ctrl-C: nobody will read their answers
_JOB_GRACE = 2.0


def run_demo(stage: Stage, port: int, started: Callable[[str], None], *, is_agent: bool = False) -> None:
    """Run a demo until Ctrl-C or SIGTERM. ``started`` gets the page's address, whose ``port`` is 0 for any.

    Raises ConfigurationError for a port or a setting that can't be used, StoreUnavailable without a store.
    """
    stopped = listen_for_stop_signals()
    bypass_proxy(os.environ)
    with ExitStack() as parts:
        state = parts.enter_context(open_state(stage.state))
        parts.callback(stop_embedded, state)
        slack = parts.enter_context(_run_local_slack(stage))
        if is_agent:
            slack.declare_agent()
        secret = secrets.token_hex()
        connection = Connection()
        started(parts.enter_context(_serve_page(stage, slack, connection, port)).address)
        settings = stage.build_settings(build_local_settings(slack.url, slack.token, secret, state))
        app = parts.enter_context(open_app(settings, stage.now, deadlines.sleep, stage.sources))
        stage.prepare_bot(app)
        shutdown = parts.enter_context(limit_shutdown(stopped, _JOB_GRACE))
        events = parts.enter_context(run_processes(app, shutdown, _LOOPBACK_HOST, _JOB_GRACE))
        connection.connect(HttpTransport(f"http://{_LOOPBACK_HOST}:{events}/slack/events", secret))
        wait_for_signal(stopped)


def bypass_proxy(environment: MutableMapping[str, str]) -> None:
    """Exclude this machine from the proxy of an environment, which Slack's SDK asks for everything."""
    hosts = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if hosts != "*":
        hosts = f"{hosts},{_LOOPBACK_HOST}".lstrip(",")
    environment.update(no_proxy=hosts, NO_PROXY=hosts)


@contextmanager
def _run_local_slack(stage: Stage) -> Iterator[LocalSlack]:
    """Run a local Slack with one channel, one person and the bot during the block."""
    token, app_token = (f"{kind}-{secrets.token_hex()}" for kind in ("xoxb", "xapp"))
    slack = LocalSlack(
        token,
        scopes=frozenset({*SCOPES, *PREVIEW_SCOPES}),
        app_token=app_token,
        bot_name="prdigest",
        channel=(CHANNEL, stage.channel),
        posts_per_second=_POSTS_PER_SECOND,
        times=Times(now=lambda: stage.now().timestamp()),
    )
    with slack:
        slack.set_person(YOU, name="You", tz=stage.zone.key)
        slack.watch_domains({urlsplit(GITHUB_WEB).netloc})
        yield slack


@contextmanager
def _serve_page(stage: Stage, slack: LocalSlack, connection: Connection, port: int) -> Iterator[Page]:
    """Serve the page during the block. Raises ConfigurationError if its port can't be used."""
    icon = files("bot.demo").joinpath("icon.svg").read_text(encoding="utf-8")
    about = replace(stage.about, icon=icon)
    reader = Reader(YOU, "You", stage.zone, stage.now)
    token = secrets.token_urlsafe()
    try:
        page = make_page(
            slack, connection, about, token, reader=reader, app=APP, terminal=about.program, port=port
        )
    except OSError as error:
        raise ConfigurationError(
            f"Port {port} can't be used ({error.strerror}): choose another one with --port."
        ) from error
    with page, closing(page):
        yield page
