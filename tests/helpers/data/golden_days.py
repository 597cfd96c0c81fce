"""The real days of the data pack, as processes against the emulators: report, digest, calls, tokens."""

import json
import re
from pathlib import Path
from typing import Any

from localslack.rules.messages import check_message, find_links, find_mentions

from tests.emulators.claude.server import Json, Step, overview_answer, schema_of
from tests.helpers.builders import SHARED
from tests.helpers.data.golden import answers_of
from tests.helpers.processes.command import prdigest
from tests.helpers.world import CHANNEL, World, replay, world

# how many pull requests each has
DAYS = {"2026-02-22": 10, "2026-02-24": 43, "2026-02-28": 18}


def check_golden_day(date: str, store_url: str, folder: Path) -> None:
    """Report a day twice and post it by processes: the report is the published one, and each model call made once.

    The store has to be empty.

    Raises:
        AssertionError: what differs.
    """
    golden = SHARED / "golden" / f"{date}.md"
    with world(store_url) as there:
        records = replay(there.github, SHARED, date)
        answer_with(answers_of(golden), there)
        done = prdigest("report", *_arguments(date), settings=there.settings, folder=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == golden.read_text(encoding="utf-8")
        assert there.claude.problems == []
        assert len(there.claude.requests) == DAYS[date]
        # for each pull request its patches, and where it changes code, its files
        assert len(there.github.calls) <= 2 * DAYS[date] + 4

        again = prdigest("report", *_arguments(date), "--out", "day.md", settings=there.settings, folder=folder)
        assert again.returncode == 0
        assert (folder / "day.md").read_bytes() == golden.read_bytes()
        assert len(there.claude.requests) == DAYS[date], "a warm run asks the model nothing"

        posted = ("digest", *_arguments(date), "--channel", CHANNEL)
        done = prdigest(*posted, settings=there.settings, folder=folder)
        assert (done.returncode, done.stderr) == (0, "")
        _check_posts(date, there, [record["number"] for record in records])


def _arguments(date: str) -> tuple[str, ...]:
    repository = ("--repo", "vllm-project/vllm", "--name", "vLLM")
    return (*repository, "--date", date, "--timezone", "America/Los_Angeles")


def answer_with(answers: dict[int, dict[str, Any]], there: World) -> None:
    def respond(body: dict[str, Any]) -> Step:
        if "overview" in (schema_of(body) or {})["properties"]:
            return Json(overview_answer(themes=[{"title": "All", "pull_requests": [*answers, 1]}]))
        asked = re.search(r"vllm-project/vllm #(\d+):", body["messages"][0]["content"])
        assert asked
        return Json(answers[int(asked[1])])

    there.claude.respond = respond


def _check_posts(date: str, there: World, numbers: list[int]) -> None:
    lead, replies = there.digest()
    assert f"{DAYS[date]} merged" in lead["text"]
    # a day too full for it says only what was not read
    assert "could not be read" not in json.dumps(lead["blocks"])
    parts = [reply for reply in replies if not reply.get("files")]
    linked_numbers = re.findall(r'"https://github.com/vllm-project/vllm/pull/(\d+)"', json.dumps(parts))
    assert sorted(map(int, linked_numbers)) == sorted(numbers)
    for message in (lead, *parts):
        assert check_message(message) is None
        assert find_mentions(message) == []
        assert all(link.startswith("https://github.com/vllm-project/vllm/pull/") for link in find_links(message))
    (file,) = there.slack.files
    assert file["content"] == (SHARED / "golden" / f"{date}.md").read_bytes()
    assert file["thread_ts"] == lead["ts"]
