"""A digest as all that is posted: lead, thread, and the report as a file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.features.digest.lead import render_lead
from bot.features.digest.markdown import render_report
from bot.features.digest.rules import Digest
from bot.features.digest.thread import render_thread
from bot.features.digest.view import render_digest
from bot.render.summaries.evidence_url import build_evidence_url
from tests.helpers.builders import digest, entry
from tests.helpers.processes.command import environment
from tests.render.hostile_days import WORST, digests, full_day


def test_a_digest_is_its_lead_its_thread_and_its_report() -> None:
    day_digest = digest(entry(2), entry(1))
    rendered = render_digest(day_digest)
    assert (rendered.lead.blocks[:-1], rendered.thread) == (
        render_lead(day_digest).blocks,
        render_thread(day_digest),
    )
    assert [element["type"] for element in rendered.lead.blocks[-1]["elements"]] == ["static_select", "button"]
    assert rendered.attachment is not None
    assert rendered.attachment.name == "Engine-2026-02-28.md"
    assert rendered.attachment.title == "Full report of 2026-02-28"
    assert rendered.attachment.text == render_report(day_digest)


def test_a_day_without_merges_is_a_lead_alone() -> None:
    rendered = render_digest(digest())
    assert (rendered.thread, rendered.attachment) == ((), None)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("vLLM", "vLLM"),
        ("My Team's repo", "My-Team-s-repo"),
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c:d", "a-b-c-d"),
        ("..", "report"),
        ("", "report"),
        ("漢字", "report"),
        ("<!channel>", "channel"),
        ("evil\u202egnp.exe", "evil-gnp.exe"),
    ],
    ids=ascii,
)
def test_the_file_is_named_without_odd_signs(name: str, stem: str) -> None:
    attachment = render_digest(replace(digest(entry(1)), name=name)).attachment
    assert attachment is not None
    assert attachment.name == f"{stem}-2026-02-28.md"


@given(digests())
@pytest.mark.slow
def test_a_hostile_digest_is_plain_json_that_slack_takes(day_digest: Digest) -> None:
    rendered = render_digest(day_digest)
    payload = rendered.to_payload()
    assert json.loads(json.dumps(payload)) == payload
    assert set(payload) == {"lead", "thread"}
    reviewed = [
        (entry.pull, finding) for entry in day_digest.entries if entry.review for finding in entry.review.findings
    ]
    known = {entry.pull.url for entry in day_digest.entries}
    known |= {build_evidence_url(pull, finding.evidence) for pull, finding in reviewed if finding.evidence}
    for message in (payload["lead"], *payload["thread"]):
        assert check_message(message) is None
        assert (find_mentions(message), set(find_links(message)) - known) == ([], set())
    assert rendered.attachment is None or re.fullmatch(r"[\w.-]+\.md", rendered.attachment.name, re.A)


# of a process with a hash seed of its own
RENDER = """
from bot.features.digest.view import render_digest
from tests.render.hostile_days import WORST, full_day
for text in WORST.values():
    print(ascii(render_digest(full_day(27, text, is_reviewed=True))))
"""


@pytest.mark.slow
def test_another_process_renders_the_same() -> None:
    """Sets have another order there: one process posts a digest, others amend it."""
    ours = [ascii(render_digest(full_day(27, text, is_reviewed=True))) for text in WORST.values()]
    line, env = [sys.executable, "-c", RENDER], environment(PYTHONHASHSEED="1")
    theirs = subprocess.run(line, env=env, capture_output=True, check=True, text=True).stdout
    assert theirs.splitlines() == ours
