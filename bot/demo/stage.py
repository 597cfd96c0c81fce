"""Stages of a demo: the sample day, or a repository of the user's own with real keys."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from localslack.page.about import About
from pydantic import SecretStr

from bot.app import App
from bot.connections.sources import Sources
from bot.demo.page_text import SAMPLE_ABOUT, TEAM_ABOUT, build_live_about
from bot.demo.sample.sources import SampleSources
from bot.demo.sample.team import plant_contracts, plant_team
from bot.errors import ConfigurationError, StoreUnavailable
from bot.features import import_features
from bot.platform.github.client import create_github_auth
from bot.platform.models.registry import choose_provider, get_model_access
from bot.platform.store.embedded.server import claim_state, is_platform_supported
from bot.platform.store.erasure import reset_store
from bot.settings import Settings
from impact.repository import Repository

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
    sample, began = SampleSources(time.sleep), clock()
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
        now=lambda: due + _DIGEST_AGE + timedelta(seconds=clock() - began),
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
