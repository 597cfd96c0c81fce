import json
import logging
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

import pytest
from redis import Redis

from bot.dates import Span
from bot.features.digest.rules import Digest
from bot.features.digest.service import build_digest
from bot.features.digest.view import render_digest, render_report
from bot.features.merges.requests import RisksRequest
from bot.features.merges.timeline import MergeTimeline
from bot.features.risks.service import build_list
from bot.features.summaries.service import get_entry
from bot.features.summaries.view import build_summary_json, render_details, render_summary
from bot.features.summaries.view import format_summary as in_terminal
from bot.platform.github.caches import DayListCache, FileCache
from bot.platform.pulls.models import PullRequest, Reference
from bot.platform.store.merge_records import HistoryStore
from bot.platform.store.tables import Store
from tests.helpers.apps import make_digest_app
from tests.helpers.builders import DAY, REPOSITORY, summary
from tests.helpers.data.odd_records import TABLE, Odd, add_odd, any_odd
from tests.helpers.doubles import SummaryResult
from tests.helpers.processes.command import prdigest
from tests.helpers.world import CHANNEL, SMALL_DAY, World, add_small_day, world
from tests.helpers.worlds import LONG_AFTER, MORNING, REPO, ScriptedGitHub

pytestmark = pytest.mark.slow

GOOD = (101, 102, 103)
SEEDS = (1, 2)
LOST = sum(odd.is_lost for odd in TABLE.values())


@pytest.fixture
def github() -> Iterator[ScriptedGitHub]:
    with ScriptedGitHub() as server:
        add_small_day(server)
        yield server


class Bot:
    def __init__(self, github: ScriptedGitHub, store: Redis, now: datetime = MORNING) -> None:
        cache = Store(store)
        self.pulls = FileCache(DayListCache(github.pulls(now), cache, lambda: now), cache)
        chronicle = MergeTimeline(lambda: HistoryStore(store), self.pulls.list_merged, lambda: now)
        self.app = make_digest_app(
            self.pulls, model=None, timeline=chronicle, cached=Store(store), name_repository=str
        )

    def digest(self) -> Digest:
        return build_digest(self.app, REPOSITORY, DAY, "Engine")


def sections(written: str) -> dict[int, str]:
    sections_by_number = {}
    for part in re.split(r"^## \d+\. ", written, flags=re.M)[1:]:
        numbers = re.findall(r"^- \*\*PR Number:\*\* #(\d+)$", part, re.M)
        assert len(numbers) == 1, part
        sections_by_number[int(numbers[0])] = part
    return sections_by_number


def everything_of(day_digest: Digest) -> str:
    """All that is written of a digest, as it goes out: to a file, to Slack and to a terminal."""
    written = render_report(day_digest)
    written.encode()
    shown = render_digest(day_digest)
    assert shown.attachment
    json.dumps(shown.to_payload(), ensure_ascii=False).encode()
    for each in day_digest.entries:
        for made in (
            render_summary(each).build_payload(),
            render_details(each),
            build_summary_json(each),
            in_terminal(each),
        ):
            json.dumps(made, ensure_ascii=False).encode()
    return written


def add(github: ScriptedGitHub, records: Mapping[str, Odd]) -> set[int]:
    numbers = add_odd(github, REPO, records)
    return {numbers[name] for name, odd in records.items() if not odd.is_lost}


@pytest.mark.parametrize("now", [MORNING, LONG_AFTER], ids=["walked", "searched"])
def test_a_day_of_everything_odd_is_whole(github: ScriptedGitHub, store: Redis, now: datetime) -> None:
    before = sections(everything_of(Bot(github, store, now).digest()))
    told = add(github, TABLE)
    store.flushdb()
    day_digest = Bot(github, store, now).digest()
    after = sections(everything_of(day_digest))
    assert after.keys() == {*GOOD, *told}
    assert {number: after[number] for number in GOOD} == before
    assert day_digest.count.unread == LOST
    assert f"{LOST} merges in GitHub's list could not be read" in day_digest.gaps[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hundred_records_of_odd_values_make_a_whole_day(github: ScriptedGitHub, store: Redis, seed: int) -> None:
    before = sections(everything_of(Bot(github, store).digest()))
    told = add(github, any_odd(seed, 100))
    store.flushdb()
    bot = Bot(github, store)
    after = sections(everything_of(bot.digest()))
    assert after.keys() == {*GOOD, *told}
    assert {number: after[number] for number in GOOD} == before
    # from the caches it is the same
    assert sections(everything_of(bot.digest())) == after


def test_each_is_told_by_itself_and_listed_with_the_risks(github: ScriptedGitHub, store: Redis) -> None:
    told = add(github, TABLE)
    bot = Bot(github, store)
    for number in told:
        entry = get_entry(bot.app, Reference(REPOSITORY, number))
        json.dumps(render_summary(entry).build_payload(), ensure_ascii=False).encode()
    request = RisksRequest(REPOSITORY, Span(DAY.date, DAY.date, DAY.zone))
    assert build_list(bot.app, request).merged == len(GOOD) + len(told)


UNREAD = [
    "hunk-4301-digits",
    "hunk-4301-digits-new",
    "hunk-negative",
    "hunk-count-negative",
    "hunk-combined",
    "patch-number",
    "patch-without-header",
]


def test_what_could_not_be_read_is_said_wherever_it_is_shown(
    github: ScriptedGitHub, store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    numbers = sorted(add(github, {name: TABLE[name] for name in UNREAD}))
    with caplog.at_level(logging.INFO):
        day_digest = Bot(github, store).digest()
    assert [each.number for each in day_digest.unreadable_entries] == numbers
    told = [record.message for record in caplog.records if "could not be read" in record.message]
    assert sorted(line.split()[0] for line in told) == [f"{REPO}#{number}" for number in numbers]
    shown = render_digest(day_digest)
    lead, thread = (
        json.dumps(shown.lead.build_payload()),
        json.dumps([post.build_payload() for post in shown.thread]),
    )
    assert f"could not be read: {', '.join(f'#{number}' for number in numbers[:6])} and 1 more" in lead
    assert thread.count("could not be read") == len(numbers)
    assert render_report(day_digest).count("*No model summary: it could not be read.") == len(numbers)


def test_of_a_file_that_can_not_be_read_the_others_are_read(github: ScriptedGitHub, store: Redis) -> None:
    odd, good = TABLE["hunk-4301-digits"].files[0], TABLE["title-null"].files[0]
    add(github, {"both": Odd(files=({**odd, "filename": "engine/odd.py"}, good))})
    (entry_,) = [each for each in Bot(github, store).digest().entries if each.number == 201]
    assert not entry_.summary.is_unread
    assert [file.is_unreadable for file in entry_.pull.files or ()] == [True, False]


def test_a_defect_is_logged_in_one_line_and_the_others_are_read(
    github: ScriptedGitHub, store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    bot = Bot(github, store)

    def failing(pull: PullRequest) -> SummaryResult:
        if pull.number == 102:
            raise ValueError("two\nlines")
        return SummaryResult(summary())

    with caplog.at_level(logging.INFO):
        day_digest = build_digest(make_digest_app(bot.pulls, failing), REPOSITORY, DAY, "Engine")
    assert [each.number for each in day_digest.unreadable_entries] == [102]
    assert [each.number for each in day_digest.entries] == sorted(GOOD, reverse=True)
    told = [record for record in caplog.records if "could not be read" in record.message]
    assert [record.message for record in told] == [f"{REPO}#102 could not be read (ValueError: two lines)"]
    assert told[0].exc_info is None


def test_the_names_of_accounts_lead_nowhere_else(github: ScriptedGitHub, store: Redis) -> None:
    add(github, {"author-markup": TABLE["author-markup"]})
    assert "- **Author:** [httpsevil.example](https://github.com/httpsevil.example)" in render_report(
        Bot(github, store).digest()
    )


def test_the_time_of_a_record_is_that_of_its_day(github: ScriptedGitHub) -> None:
    add(github, {name: TABLE[name] for name in ("merge-without-zone", "merge-in-nanoseconds")})
    assert len(github.pulls().list_merged(REPOSITORY, DAY).pulls) == len(GOOD) + 2


@pytest.fixture
def there(store: Redis, store_url: str) -> Iterator[World]:
    with world(store_url) as made:
        yield made


class TestCommands:
    def test_the_report_of_such_a_day_is_whole(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        good = prdigest("report", *SMALL_DAY, settings=there.settings, folder=tmp_path)
        numbers = add_odd(there.github, REPO, TABLE)
        done = prdigest("report", *SMALL_DAY, settings=there.settings, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        report_sections = sections(done.stdout)
        assert report_sections.keys() == {
            *GOOD,
            *(numbers[name] for name, odd in TABLE.items() if not odd.is_lost),
        }
        assert {number: report_sections[number] for number in GOOD} == sections(good.stdout)

    def test_the_digest_of_such_a_day_is_posted(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        numbers = add_odd(there.github, REPO, TABLE)
        done = prdigest("digest", *SMALL_DAY, "--channel", CHANNEL, settings=there.settings, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        lead, replies = there.digest()
        thread = json.dumps(replies)
        for number in (*GOOD, *(numbers[name] for name, odd in TABLE.items() if not odd.is_lost)):
            assert f'"#{number}"' in thread
        assert "could not be read" in json.dumps(lead)

    def test_a_summary_of_one_is_no_defect(self, there: World, tmp_path: Path) -> None:
        add_small_day(there.github)
        numbers = add_odd(there.github, REPO, {"hunk-4301-digits": TABLE["hunk-4301-digits"]})
        asked = ("summary", str(numbers["hunk-4301-digits"]), "--repo", REPO)
        done = prdigest(*asked, settings=there.settings, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "it could not be read" in done.stdout
