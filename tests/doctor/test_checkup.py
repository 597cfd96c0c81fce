"""The order of the checks, and that none of them stops those after it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, time
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue, RedisSubscriptionStore
from bot.doctor.checks.settings import SettingsSnapshot
from bot.doctor.checkup import CheckPlan, Doctor, ServiceProbes
from bot.domain.errors import SlackCallRefused, StoreUnavailable
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.due_items import NextDigest
from bot.domain.subscriptions.models import Subscription, Timing
from bot.platform.models.claude import CLAUDE
from bot.ports.probes import GitHubAccess, Installation, StoreRecords
from tests.doctor.checks.test_settings import GOOD, HOLD_TOKENS, KNOWN
from tests.doctor.checks.test_store import records_of
from tests.doctor.findings import NOW, format_findings, now

UTC_ZONE = ZoneInfo("UTC")
FIXED = Subscription("C0DIGEST", Repository("octo", "engine"), Timing(time(9), UTC_ZONE))


class AnyGitHub:
    def check_access(self) -> GitHubAccess:
        return GitHubAccess(None, NOW)

    def can_read_commits(self, repository: Repository) -> bool:
        return True


class AnyModel:
    def has_model(self, model: str) -> bool:
        return True


class AnySlack:
    def __init__(self, missing: Mapping[str, str] | None = None, time: datetime | None = NOW) -> None:
        self._installed = Installation("Emulated", missing or {}, time)

    def fetch_installation(self) -> Installation:
        return self._installed

    def fetch_team(self) -> str:
        return "T0TEAM"

    def check_channel(self, name: str) -> str:
        return f"#{name.lower()}"


class AnyApp:
    def connect(self) -> None:
        """Nothing to refuse."""


PLAN = CheckPlan(
    SettingsSnapshot(GOOD, {}, KNOWN, HOLD_TOKENS, "from the environment"),
    repositories=(FIXED.repository,),
    models={"claude-haiku-5-5": "PRDIGEST_SUMMARY_MODEL"},
    provider=CLAUDE,
    channels={"C0DIGEST": "PRDIGEST_CHANNEL", "C0ADMIN": "PRDIGEST_ADMIN_CHANNEL"},
    store_address="redis://localhost",
    zone=UTC_ZONE,
    fixed_subscription=FIXED,
)


def worlds(store: Redis) -> ServiceProbes:
    return ServiceProbes(AnyGitHub, AnyModel, AnySlack, AnyApp, lambda: records_of(store), "not in use")


def list_findings(worlds: ServiceProbes, plan: CheckPlan = PLAN, patience: float = 5.0) -> list[str]:
    return format_findings(Doctor(plan, worlds, now, lambda _: None, patience).run_checks())


def names(lines: list[str]) -> list[str]:
    return [line[2:].split(":")[0].split(" ")[0] for line in lines]


def test_the_checks_come_in_the_order_in_which_people_set_a_bot_up(store: Redis) -> None:
    subjects = list(dict.fromkeys(names(list_findings(worlds(store)))))
    assert subjects == ["Settings", "Paths", "GitHub", "Mirror", "Claude", "Model", "Store", "Slack", "Channel",
                     "Metrics", "Traces", "Time", "Clock", "Worker", "Jobs", "Runs", "Schedule"]  # fmt: skip


def test_channels_are_checked_once_with_all_that_they_are_for(store: Redis) -> None:
    stored = RedisSubscriptionStore(store)
    for subscription in (
        replace(FIXED, repository=Repository("octo", "other"), by="U0ADA"),
        replace(FIXED, repository=Repository("octo", "third"), by="U0ADA", is_paused=True),
        replace(FIXED, channel="D0ADA", by="U0ADA"),
    ):
        stored.put(subscription)
    channel_lines = [line for line in list_findings(worlds(store)) if "Channel" in line]
    assert channel_lines == [
        "+ Channel C0DIGEST (PRDIGEST_CHANNEL, 2 subscriptions): #c0digest, the bot can post there",
        "+ Channel C0ADMIN (PRDIGEST_ADMIN_CHANNEL): #c0admin, the bot can post there",
        "+ Channel D0ADA (1 subscription): #d0ada, the bot can post there",
    ]


def test_without_any_channel_it_says_so(store: Redis) -> None:
    lines = list_findings(worlds(store), replace(PLAN, channels={}, fixed_subscription=None))
    assert "- Channels: none: PRDIGEST_CHANNEL is not set, and there are no subscriptions" in lines


def test_the_subscription_of_the_settings_is_one_of_those_that_are_due(store: Redis) -> None:
    RedisDueQueue(store).put(NextDigest(FIXED.id), NOW)
    assert list_findings(worlds(store))[-1] == (
        "+ Schedule: 1 subscription, the next is octo/engine for C0DIGEST at 2026-03-01 17:20 UTC"
    )


def test_without_a_store_the_channels_of_the_settings_are_checked(store: Redis) -> None:
    def away() -> StoreRecords:
        raise StoreUnavailable("The store does not answer.")

    lines = list_findings(replace(worlds(store), store=away))
    assert [line for line in lines if line.startswith("!")] == [
        "! Store: can't be used -> The store does not answer."
    ]
    assert "+ Channel C0DIGEST (PRDIGEST_CHANNEL): #c0digest, the bot can post there" in lines
    assert "- Channels of subscriptions: not checked: see Store above" in lines
    after = ("Clock process", "Worker", "Jobs", "Runs", "Schedule")
    assert lines[-5:] == [f"- {name}: not checked: see Store above" for name in after]


def test_without_slack_its_channels_are_no_failures(store: Redis) -> None:
    def raise_refusal() -> AnySlack:
        raise SlackCallRefused("Slack rejected the token.", "invalid_auth")

    lines = list_findings(replace(worlds(store), slack=raise_refusal))
    assert "- Channel C0ADMIN (PRDIGEST_ADMIN_CHANNEL): not checked: see Slack token above" in lines
    # GitHub's clock then stands in for Slack's
    assert "+ Time of this machine against GitHub: 0 s apart" in lines


def test_a_world_that_hangs_fails_its_own_checks_and_no_other(store: Redis) -> None:
    end = threading.Event()

    class Hanging(AnySlack):
        def check_channel(self, name: str) -> str:
            end.wait(30)
            return ""

    lines = list_findings(replace(worlds(store), slack=Hanging), patience=0.3)
    end.set()
    assert "+ Slack token: accepted, the workspace is Emulated" in lines
    advice = "Check that it runs, its address and the network, then run doctor again."
    assert f"! Channels: no answer within 0.3 seconds -> {advice}" in lines
    assert names(lines)[-5:] == ["Clock", "Worker", "Jobs", "Runs", "Schedule"]


def test_what_hangs_before_it_tells_anything_leaves_those_after_it_unchecked(store: Redis) -> None:
    end = threading.Event()

    def hanging() -> AnySlack:
        end.wait(30)
        return AnySlack()

    lines = list_findings(replace(worlds(store), slack=hanging), patience=0.3)
    end.set()
    assert "- Channel C0DIGEST (PRDIGEST_CHANNEL): not checked: see Slack above" in lines


@pytest.mark.parametrize("error", [ValueError("xoxb-MARK"), KeyError("xoxb-MARK")])
def test_a_defect_is_told_without_what_the_error_says(store: Redis, error: Exception) -> None:
    def raise_defect() -> AnySlack:
        raise error

    lines = list_findings(replace(worlds(store), slack=raise_defect))
    bug_lines = [line for line in lines if line.startswith("!") and "bug" in line]
    assert bug_lines[0].startswith(f"! Slack: not checked: {type(error).__name__} in raise_defect, line ")
    assert "MARK" not in "".join(lines)


def test_a_secret_where_a_name_belongs_is_not_shown(store: Redis) -> None:
    token = "xox" + "b-123456789012-abcDEF0123456789abcDEF"
    lines = list_findings(worlds(store), replace(PLAN, channels={token: "PRDIGEST_CHANNEL"}, models={token: "x"}))
    assert token not in "".join(lines)
    assert "+ Channel [redacted] (PRDIGEST_CHANNEL): #[redacted], the bot can post there" in lines
