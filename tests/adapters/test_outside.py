"""What lies outside besides Slack and the store: GitHub and Claude, or what is given in their place."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from redis import Redis

from bot.config import load_settings
from bot.domain.allowance import Allowance
from bot.domain.references import Reference
from bot.ports import ChatModel, Model, Outside, PullRequests
from bot.wiring import Wiring
from bot.wiring.outside import GitHubAndClaude
from tests.adapters.worlds import MORNING
from tests.emulators.claude import overview_answer, summary_answer
from tests.services.doubles import KnownPulls, ScriptedModel, Sleeps
from tests.support import DAY, REPOSITORY, changed_file, pull

Env = pytest.MonkeyPatch


@dataclass
class Known:
    """An outside of pull requests and answers that are known."""

    pulls: PullRequests
    model: Model | None = None
    chat: ChatModel | None = None
    has_model: bool = True
    stands_in: str = ""
    closed: list[str] = field(default_factory=list)

    def allowances(self) -> Iterable[Allowance]:
        return ()

    def close(self) -> None:
        self.closed.append("closed")


@pytest.fixture
def known(store: Redis, store_url: str, monkeypatch: Env) -> Known:
    store.ping()
    monkeypatch.setenv("REDIS_URL", store_url)
    said = summary_answer(headline="Counts once")
    model = ScriptedModel.of(json.dumps(said), json.dumps(overview_answer()))
    return Known(KnownPulls((pull(7, files=(changed_file(),)),)), model)


def wired(outside: Outside) -> Wiring:
    return Wiring(load_settings(), lambda: MORNING, Sleeps(), outside)


def test_what_is_given_is_asked_instead_of_github_and_claude(known: Known) -> None:
    with closing(wired(known)) as wiring:
        digest = wiring.daily.build(REPOSITORY, DAY, "Engine")
        assert [entry.summary.headline for entry in digest.entries] == ["Counts once"]
        assert wiring.has_model
        assert wiring.entries.known(Reference(REPOSITORY, 7))


def test_it_is_let_go_of_at_the_end(known: Known) -> None:
    with closing(wired(known)):
        assert known.closed == []
    assert known.closed == ["closed"]


def test_without_a_model_nothing_is_a_models(known: Known) -> None:
    known.model, known.has_model = None, False
    with closing(wired(known)) as wiring:
        assert not wiring.has_model
        assert wiring.entries.named(Reference(REPOSITORY, 7)).summary.is_fallback


def test_claude_is_there_with_its_key_alone(monkeypatch: Env) -> None:
    def found() -> tuple[bool, bool, bool]:
        with closing(GitHubAndClaude(load_settings(), lambda: MORNING)) as outside:
            return outside.model is not None, outside.chat is not None, outside.has_model

    assert found() == (False, False, False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    assert found() == (True, True, True)


def test_who_asks_no_model_does_not_wait_for_its_sdk() -> None:
    code = "import sys; from bot.wiring import Wiring; sys.exit('anthropic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
