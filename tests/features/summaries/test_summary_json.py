"""One summary as JSON: plain values under names that scripts rely on."""

import json
from dataclasses import replace

import pytest
from hypothesis import given

from bot.features.digest.rules import Digest
from bot.features.merges.review import BugReview, FindingAdvice, FindingStatus
from bot.features.merges.risk import Risk
from bot.features.merges.summary import Evidence, RiskKind, SummaryRisk
from bot.features.summaries.view import build_summary_json
from bot.platform.models.packing import Coverage
from impact.source.models import DiffSide
from tests.features.digest.hostile_days import digests
from tests.helpers.builders import changed_file, entry, failed, finding, pull, summary

PROOF = (
    Evidence("engine/a b#c.py", "return new_count", DiffSide.NEW, 7),
    Evidence("engine/core.py", "return old_count", DiffSide.OLD, 9),
)
RISK = SummaryRisk("It may count twice.", "engine/core.py", RiskKind.CORRECTNESS)
MADE = entry(
    12,
    files=[changed_file("engine/core.py", 12, 3), changed_file("docs/a.md")],
    merge_commit="abc123",
    entry_summary=summary(action="Set the flag", risk_reason="It may count twice", evidence=PROOF, risks=(RISK,)),
)


def test_a_summary_is_exactly_this() -> None:
    made = replace(MADE, risk=Risk(12.5, ("touches 2 product folders",)), from_cache=True, cost=0.25)
    assert build_summary_json(made) == {
        "repository": "octo/engine",
        "number": 12,
        "title": "Change number 12",
        "url": "https://github.com/octo/engine/pull/12",
        "state": "MERGED",
        "author": "ada-dev",
        "merged_by": "merge-bot",
        "merged_at": "2026-02-28T19:48:00+00:00",
        "additions": 13,
        "deletions": 3,
        "files": ["engine/core.py", "docs/a.md"],
        "type": "SUBSTANTIAL",
        "headline": "Requests are counted once",
        "condition": "",
        "what_changed_and_why": "The counter moved.",
        "technical_impact": "One place counts.",
        "potential_risks": "None stand out.",
        "risks": [{"claim": "It may count twice.", "where": "engine/core.py", "kind": "correctness"}],
        "key_insights": "Read the counter.",
        "risk_reason": "It may count twice",
        "action": "Set the flag",
        "evidence": [
            {
                "path": "engine/a b#c.py",
                "quote": "return new_count",
                "side": "new",
                "line": 7,
                "url": "https://github.com/octo/engine/blob/abc123/engine/a%20b%23c.py#L7",
            },
            {
                "path": "engine/core.py",
                "quote": "return old_count",
                "side": "old",
                "line": 9,
                "url": "https://github.com/octo/engine/pull/12/files#diff-62cd9605f3f646b295d76b851898fa74e900bbc5ca91b4a1070434244522d05eL9",
            },
        ],
        "coverage": "full",
        "left_out": [],
        "fallback": None,
        "risk": {"listed": True, "reasons": ["touches 2 product folders"], "without_history": False},
        "review": None,
        "from_cache": True,
        "cost_usd": 0.25,
    }


def test_a_review_is_exactly_this() -> None:
    possible = finding("Counts are doubled", status=FindingStatus.POSSIBLE, advice=FindingAdvice.WATCH)
    made = replace(MADE, risk=Risk(5, ()), review=BugReview((possible, finding()), 2))
    document = build_summary_json(made)
    same = {"trigger": "a request has no tokens", "affected": "servers that allow empty prompts"}
    assert document["review"] == {
        "verdict": "confirmed",
        "findings": [
            {
                "status": "confirmed",
                "consequence": "The engine stops with an IndexError",
                **same,
                "certainty": "high",
                "advice": "adapt",
                "wait_for": None,
                "repaired_by": None,
                "reverted": False,
                "evidence": {
                    "path": "engine/core.py",
                    "quote": "return counts[0]",
                    "side": "new",
                    "line": 7,
                    "url": "https://github.com/octo/engine/blob/abc123/engine/core.py#L7",
                },
            },
            {
                "status": "possible",
                "consequence": "Counts are doubled",
                **same,
                "certainty": "high",
                "advice": "watch",
                "wait_for": None,
                "repaired_by": None,
                "reverted": False,
                "evidence": None,
            },
        ],
        "refuted": 2,
    }
    assert document["risk"]["listed"] is True
    cleared = replace(made, risk=Risk(13, ()), review=BugReview())
    assert build_summary_json(cleared)["risk"]["listed"] is False


def test_what_there_is_not_is_null() -> None:
    made = replace(MADE, pull=pull(12, files=None, merged_at=None, state="OPEN"), cost=None)
    document = build_summary_json(made)
    assert [document[name] for name in ("merged_at", "merged_by", "cost_usd", "fallback")] == [None] * 4
    assert (document["state"], document["files"]) == ("OPEN", [])


@pytest.mark.parametrize("coverage", Coverage)
def test_coverage_and_fallback_are_told(coverage: Coverage) -> None:
    model_summary = summary(coverage=coverage, left_out=("engine/core.py",), fallback=failed("the model is busy"))
    document = build_summary_json(replace(MADE, summary=model_summary))
    assert (document["coverage"], document["left_out"]) == (coverage.value, ["engine/core.py"])
    assert document["fallback"] == "the model is busy"


@given(digests())
@pytest.mark.slow
def test_any_entry_survives_json_unchanged_with_the_same_names(day_digest: Digest) -> None:
    for made in day_digest.entries:
        told = build_summary_json(made)
        assert json.loads(json.dumps(told)) == told
        assert set(told) == set(build_summary_json(MADE))
        assert told["title"] == made.pull.title
