"""Reviews for bugs as they are built from settings: a digest asks for them, all else shows what is kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis

from bot.app import App, open_app
from bot.features.digest.rules import Digest
from bot.features.digest.service import DigestUse, build_digest
from bot.features.merges.review import NO_REVIEWS, ReviewVerdict
from bot.features.reviews.service import get_review
from bot.settings import load_settings
from bot.usage import BudgetRefusal
from tests.emulators.claude.server import Step, ToolUse, default_answer, schema_of
from tests.emulators.github.store import changed_file, pull
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.features.reviews.changes import CONFIRMED, CORE, PATCH, report
from tests.helpers.builders import DAY, NOON, REPOSITORY
from tests.helpers.doubles import Sleeps
from tests.helpers.world import World, world
from tests.helpers.worlds import MORNING

pytestmark = pytest.mark.slow

MANY = "\n".join(f"+total_{line} = {line}" for line in range(300))


@pytest.fixture
def there(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Three merges that the rules put high, and one of documentation."""
    with world(store_url) as made:
        for number in (101, 102, 103):
            files = (
                changed_file("engine/core.py", patch=PATCH),
                changed_file("engine/more.py", patch=f"@@ -0,0 +1,300 @@\n{MANY}"),
            )
            add_merge(made, number, *files)
        add_merge(made, 104, changed_file("docs/a.md", patch="@@ -1 +1,2 @@\n one\n+two"))
        for name, value in made.settings.items():
            monkeypatch.setenv(name, value)
        yield made


def add_merge(made: World, number: int, *files: dict[str, Any]) -> None:
    record = pull(number, merged_at=NOON + timedelta(minutes=number - 200), files=files)
    made.github.add("octo/engine", record)
    tree = FixedTree({"engine/core.py": Entry(CORE.encode())})
    made.github.add_commit("octo/engine", TreeCommit(str(record.merge_commit_sha), tree))


@contextmanager
def services() -> Iterator[App]:
    with open_app(load_settings(), lambda: MORNING, Sleeps()) as base:
        yield base


def read(use: DigestUse = DigestUse.TERMINAL) -> Digest:
    with services() as base:
        return build_digest(base, REPOSITORY, DAY, "Engine", use=use)


def count_reviews(there: World) -> int:
    return sum("suspicions" in (schema_of(body) or {}).get("properties", {}) for body in there.claude.requests)


def answer(body: dict[str, Any]) -> Step:
    """Answer as a model that looks once before it reports."""
    if not body.get("tools"):
        return default_answer(body)
    return report(CONFIRMED) if len(body["messages"]) > 1 else ToolUse("find_uses", {"name": "split_batch"})


def test_a_digest_has_its_reviews_and_a_second_one_pays_for_none(there: World, store: Redis) -> None:
    there.claude.respond = answer
    first = read()
    verdicts = {entry.number: entry.review and entry.review.verdict for entry in first.entries}
    assert verdicts == {**dict.fromkeys((101, 102, 103), ReviewVerdict.CONFIRMED), 104: None}
    coverage = first.review_coverage
    assert (coverage.eligible, coverage.reviewed, coverage.stop) == (3, 3, "")
    assert first.cost is not None
    assert coverage.cost is not None
    assert first.cost > coverage.cost > 0
    assert count_reviews(there) == 6
    spent = int(store.get(f"spent:{DAY.date.replace(month=3, day=1)}:reviews") or 0)
    assert spent == pytest.approx(coverage.cost * 1e6, abs=10)
    assert len(there.github.calls) <= 2 * 4 + 4, "what a review reads of changed files was read for summaries"
    calls = len(there.github.calls)
    again = read()
    assert (again.review_coverage.reviewed, again.review_coverage.cost) == (3, 0.0)
    assert [entry.review for entry in again.entries] == [entry.review for entry in first.entries]
    assert count_reviews(there) == 6
    assert not any("/files" in call.path for call in there.github.calls[calls:])
    for use in (DigestUse.PREVIEW, DigestUse.REPORT):
        assert {entry.number for entry in read(use).entries if entry.review} == {101, 102, 103}
    with services() as digests:
        kept = get_review(digests, digests.pulls.fetch_pull_request(REPOSITORY, 102))
        assert kept == {entry.number: entry.review for entry in first.entries}[102]


@pytest.mark.parametrize("use", [DigestUse.PREVIEW, DigestUse.REPORT])
def test_a_preview_and_a_report_review_nothing(use: DigestUse, there: World) -> None:
    assert all(entry.review is None for entry in read(use).entries)
    assert count_reviews(there) == 0


@pytest.mark.parametrize(("name", "value"), [("ANTHROPIC_API_KEY", ""), ("PRDIGEST_REVIEW_BUDGET", "0")])
def test_without_a_model_or_a_budget_a_digest_is_as_before(
    name: str, value: str, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    digest = read()
    assert (digest.review_coverage, count_reviews(there)) == (NO_REVIEWS, 0)
    assert all(entry.review is None for entry in digest.entries)


def test_a_small_budget_says_so(there: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRDIGEST_REVIEW_BUDGET", "0.03")
    coverage = read().review_coverage
    assert (coverage.eligible, coverage.reviewed, coverage.stop) == (3, 0, BudgetRefusal.REVIEWS_USED.clause)


def test_another_answer_model_reads_again(there: World, monkeypatch: pytest.MonkeyPatch) -> None:
    read()
    monkeypatch.setenv("PRDIGEST_ANSWER_MODEL", "claude-opus-5-5")
    assert read().review_coverage.cost
    assert count_reviews(there) == 6
