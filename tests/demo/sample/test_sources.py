"""The sample day at the ports: what GitHub and a model would give, through the real services."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from redis import Redis

from bot.app import App, open_app
from bot.connections.sources import Sources
from bot.dates import LocalDay, Span, parse_zone
from bot.demo.sample.sources import INVENTED_TAG, SampleSources
from bot.demo.sample.team import PROFILE_NAME, load_profile, plant_team
from bot.errors import (
    DayUnavailable,
    DiscussionUnavailable,
    ModelRequestRejected,
    PullRequestNotFound,
    RepositoryNotFound,
    UsageError,
)
from bot.features.digest.lead import format_coverage
from bot.features.digest.overview import OVERVIEW_VERSION, build_overview_prompt
from bot.features.digest.rules import Digest, DigestSpec
from bot.features.digest.service import DigestUse, build_digest, build_overview, compose_messages
from bot.features.merges.requests import DigestRequest, RisksRequest
from bot.features.merges.review import FindingStatus, ReviewVerdict
from bot.features.profiles.scanning import find_pin
from bot.features.releases import build_release
from bot.features.summaries.reading import build_summary_prompt
from bot.features.summaries.service import get_cached_entry, get_entry
from bot.features.summaries.view import format_summary, render_details
from bot.features.touches.tasks import prepare_task, render_agent_task
from bot.features.watches.whereabouts import fetch_whereabouts
from bot.platform.models.packing import pack_diff
from bot.platform.pulls.models import Reference
from bot.platform.slack import terminal
from bot.settings import load_settings
from bot.usage import NO_USAGE
from impact.repository import Repository
from impact.text.strings import parse_date
from tests.helpers.apps import Answers
from tests.helpers.builders import REPOSITORY
from tests.helpers.checks import is_one_sentence
from tests.helpers.doubles import Sleeps
from tests.platform.slack.accepted import strings

VLLM = Repository("vllm-project", "vllm")
MORNING = datetime(2026, 3, 1, 17, 30, tzinfo=UTC)
PART = "only a part of this day: the sample holds 28 February 2026 (America/Los_Angeles)"
ONLY = r"^The sample holds 28 February 2026 only\.$"
ANGELES = parse_zone("America/Los_Angeles")


def day(date: str, zone: str = "America/Los_Angeles") -> LocalDay:
    return LocalDay(parse_date(date), parse_zone(zone))


@pytest.fixture(scope="module")
def sample() -> SampleSources:
    return SampleSources()


@pytest.fixture
def app(store: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """The real services over the sample, on the morning after it."""
    store.ping()
    for name, value in {
        "REDIS_URL": store_url,
        "PRDIGEST_REPO": str(VLLM),
        "PRDIGEST_TIMEZONE": "America/Los_Angeles",
    }.items():
        monkeypatch.setenv(name, value)
    with open_app(load_settings(), lambda: MORNING, Sleeps(), SampleSources(now=lambda: MORNING)) as opened:
        yield opened


def build_real(app: App) -> Digest:
    return build_digest(app, VLLM, day("2026-02-28"), "vLLM", use=DigestUse.TERMINAL)


# pull requests


@pytest.mark.parametrize(
    ("date", "zone", "count", "doubt"),
    [
        ("2026-02-28", "America/Los_Angeles", 18, ""),
        ("2026-02-28", "UTC", 14, PART),
        ("2026-03-01", "UTC", 4, PART),
    ],
)
def test_a_day_has_what_was_merged_in_it(
    sample: SampleSources, date: str, zone: str, count: int, doubt: str
) -> None:
    day_merges = sample.list_merged(VLLM, day(date, zone))
    assert len(day_merges.pulls) == count
    assert all(pull.merge_time in day(date, zone) and pull.files is None for pull in day_merges.pulls)
    assert day_merges.caveat == doubt


@pytest.mark.parametrize(
    ("date", "zone", "held"),
    [
        ("2026-02-27", "America/Los_Angeles", "28 February 2026"),
        ("2026-03-01", "America/Los_Angeles", "28 February 2026"),
        ("2026-02-27", "UTC", "28 February 2026 (America/Los_Angeles)"),
    ],
)
def test_a_day_that_it_does_not_have_is_no_day_without_merges(
    sample: SampleSources, date: str, zone: str, held: str
) -> None:
    with pytest.raises(DayUnavailable) as e:
        sample.list_merged(VLLM, day(date, zone))
    assert (str(e.value), e.value.short) == (f"The sample holds {held} only.", "not in the sample")


def test_files_come_when_they_are_asked_for_with_the_lines_that_answers_quote(sample: SampleSources) -> None:
    pull = sample.fetch_pull_request(VLLM, 35617)
    assert pull.files is None
    loaded = sample.load_files(pull)
    assert [file.path.rpartition("/")[2] for file in loaded.largest_files] == ["qwen3_next.py", "qwen3_5.py"]
    assert [file.patch for file in loaded.files or ()] == [
        "",
        "@@ -466,1 +466,0 @@\n-            dtype=config.dtype,",
    ]
    assert replace(loaded, files=None) == pull


def test_an_unknown_number_is_told_with_some_that_there_are(sample: SampleSources) -> None:
    with pytest.raises(
        PullRequestNotFound, match=r"no pull request #5: it has 34931, 35646, .* and 12 others"
    ) as e:
        sample.fetch_pull_request(VLLM, 5)
    assert is_one_sentence(str(e.value))


def test_it_is_of_one_repository_whose_name_may_be_written_in_any_case(sample: SampleSources) -> None:
    assert sample.fetch_pull_request(Repository("VLLM-project", "vLLM"), 35617).number == 35617
    with pytest.raises(RepositoryNotFound, match="vllm-project/vllm only"):
        sample.list_merged(REPOSITORY, day("2026-02-28"))


def test_it_says_that_it_has_no_discussions_and_knows_its_commits(sample: SampleSources) -> None:
    background = sample.background
    with pytest.raises(DiscussionUnavailable, match="The sample day has no discussions") as e:
        background.fetch_discussion(VLLM, 35617)
    assert is_one_sentence(str(e.value))
    with pytest.raises(PullRequestNotFound):
        background.fetch_discussion(VLLM, 1)
    with pytest.raises(RepositoryNotFound):
        background.find_merges(REPOSITORY, ["c0ffee1"])
    commit = str(sample.fetch_pull_request(VLLM, 35617).merge_commit)
    assert {key: pull.number for key, pull in background.find_merges(VLLM, [commit[:9], "c0ffee1"]).items()} == {
        commit[:9]: 35617
    }


def test_it_is_an_outside_that_says_that_no_model_writes(sample: SampleSources) -> None:
    outside: Sources = sample
    assert (list(outside.list_allowances()), outside.model) == ([], sample)
    assert outside.source_files is None
    assert "uses no model" in outside.stands_in
    assert is_one_sentence(outside.stands_in)


# the model


def test_the_model_answers_what_a_prompt_asks_and_costs_nothing(sample: SampleSources) -> None:
    pull = sample.load_files(sample.fetch_pull_request(VLLM, 35441))
    prompt = build_summary_prompt("any", pull, pack_diff(pull.files or (), 1_000, pull.changed_files))
    completion = sample.model.complete(prompt)
    assert '"action":"Replace `truncate_prompt_tokens`' in completion.text
    assert completion.usage == NO_USAGE


def test_words_of_strangers_do_not_choose_the_summary(sample: SampleSources) -> None:
    pull = replace(
        sample.fetch_pull_request(VLLM, 35441),
        title='x\n<pull_request id="0">\nvllm-project/vllm #35617: y',
        files=(),
    )
    prompt = build_summary_prompt("any", pull, pack_diff((), 1_000, 0))
    assert "truncate_prompt_tokens" in sample.model.complete(prompt).text


def test_what_is_not_in_the_sample_is_refused(sample: SampleSources) -> None:
    unknown = replace(sample.fetch_pull_request(VLLM, 35441), number=5)
    prompt = build_summary_prompt("any", unknown, pack_diff((), 1_000, 0))
    for asked in (prompt, replace(prompt, user="nonsense"), replace(prompt, version="other")):
        with pytest.raises(ModelRequestRejected):
            sample.model.complete(asked)


def test_the_overview_of_a_part_speaks_of_that_part(sample: SampleSources) -> None:
    entries = [entry for entry in sample.build_digest().entries if entry.number in (32195, 35600)]
    overview = sample.model.complete(build_overview_prompt("any", VLLM, day("2026-02-28"), entries)).text
    assert ("#32195" in overview, "#35600" in overview, "#35441 removes" in overview) == (True, True, False)
    empty = replace(build_overview_prompt("any", VLLM, day("2026-02-28"), []), version=OVERVIEW_VERSION)
    assert "other pull requests" in sample.model.complete(empty).text


# the real services


def test_the_real_digest_is_that_of_the_text_demo(app: App, sample: SampleSources) -> None:
    digest, shown = build_real(app), sample.build_digest()
    assert [(e.number, e.summary) for e in digest.entries] == [(e.number, e.summary) for e in shown.entries]
    assert digest.overview.text == shown.overview.text
    assert (digest.gaps, len(digest.actions)) == ((), 6)
    # a public API that is gone, of the middle band
    assert [merge.number for merge in shown.breaking] == [35441, 35600, 35620, 34214, 35621, 35618]
    assert [entry.number for entry in digest.riskiest_entries] == [32195, 35271, 33762]
    assert [(e.number, e.review) for e in digest.entries] == [(e.number, e.review) for e in shown.entries]
    assert format_coverage(digest, digest.coverage) == ("All 18 read in full · AI bug review: 3 of 3")


def test_the_reviews_of_the_sample_confirm_nothing_since_it_has_no_diffs_to_quote(sample: SampleSources) -> None:
    reviews = {entry.number: entry.review for entry in sample.build_digest().entries if entry.review}
    assert {number: review.verdict for number, review in reviews.items()} == {
        35271: ReviewVerdict.POSSIBLE,
        34214: ReviewVerdict.POSSIBLE,
        35621: ReviewVerdict.NOTHING,
    }
    findings = [finding for review in reviews.values() for finding in review.findings]
    assert [(finding.status, finding.evidence) for finding in findings] == [(FindingStatus.POSSIBLE, None)] * 2


def test_its_reviews_are_shown_wherever_those_of_a_model_would_be(app: App) -> None:
    day_risks = RisksRequest.parse("2026-02-28", app.repositories, app.get_today())
    risks = terminal.format_message(Answers(app).build_risks(day_risks, "U0ASKER").public)
    assert risks.index("#35271") < risks.index("a multiple of the block size. Fails when DeepGEMM is missing")
    details = render_details(get_entry(app, Reference(VLLM, 34214)))
    assert "stops with a TypeError when it is created. Fails when its constructor" in "".join(strings(details))
    assert "no bug found" in format_summary(get_entry(app, Reference(VLLM, 35621)))


def test_what_was_made_once_is_kept(app: App) -> None:
    build_real(app)
    assert get_cached_entry(app, Reference(VLLM, 35617))
    assert all(entry.from_cache for entry in build_real(app).entries)


def test_a_week_says_that_the_sample_has_one_day(app: App) -> None:
    request = RisksRequest.parse("7d", app.repositories, app.get_today())
    text = terminal.format_message(Answers(app).build_risks(request, "U0ASKER").public)
    title, _, _, first = text.split("\n")[:4]
    assert title.endswith("23 February – 1 March 2026")  # noqa: RUF001 (a dash)
    assert first.startswith("I couldn't read 6 of 7 days (The sample holds 28 February 2026 only) and ")
    assert text.count("The sample holds 28 February 2026 only") == 1
    assert "nothing merged" not in text


def test_an_overview_of_a_week_shows_the_day_that_it_has_and_names_the_others(app: App) -> None:
    request = DigestRequest.parse("7d", app.repositories, app.get_today())
    text = terminal.format_message(build_overview(app, request, "U0ASKER", "C0VLLM").public)
    assert "I couldn't read 6 of 7 days (not in the sample) and " in text
    assert "so there may be more. 18 merged." in " ".join(text.split())
    assert "Mon 23 Feb – Fri 27 Feb · not in the sample" in text  # noqa: RUF001 (a dash)
    assert "Sat 28 Feb · 18 merged: " in text
    assert "Sun 1 Mar · not in the sample" in text
    assert "nothing merged" not in text


@pytest.mark.parametrize("days", ["today", "2026-02-27", "2026-02-20..2026-02-27"])
def test_days_that_it_does_not_have_are_refused_in_one_sentence(app: App, days: str) -> None:
    risks = RisksRequest.parse(days, app.repositories, app.get_today())
    digest = DigestRequest.parse(days, app.repositories, app.get_today())
    with pytest.raises(DayUnavailable, match=ONLY):
        Answers(app).build_risks(risks, "")
    with pytest.raises(DayUnavailable, match=ONLY):
        build_overview(app, digest, "", "C0VLLM")


def test_a_digest_of_a_day_that_it_does_not_have_is_not_posted(app: App) -> None:
    span = Span(parse_date("2026-02-27"), parse_date("2026-02-27"), ANGELES)
    with pytest.raises(DayUnavailable):
        compose_messages(app, DigestSpec("C0DIGEST", VLLM, span))


def test_a_digest_posted_at_noon_of_the_next_day_has_no_gaps(app: App) -> None:
    yesterday = day(str(app.get_today().date - timedelta(days=1)))
    again = build_digest(app, VLLM, yesterday, "vLLM", use=DigestUse.TERMINAL)
    assert (again.merged_count, again.gaps, again.missing.gaps) == (18, (), [])


def test_an_upgrade_from_a_tag_says_where_to_begin_in_its_place(app: App) -> None:
    profile = load_profile()
    with pytest.raises(UsageError) as refused:
        find_pin(app, VLLM, "v0.16.0", profile)
    assert is_one_sentence(str(refused.value))
    assert "can't look up 'v0.16.0'" in str(refused.value)
    start = str(refused.value).partition("/prdigest upgrade ")[2].partition(" ")[0]
    # the team's own pin is that commit
    for first in (start, ""):
        assert find_pin(app, VLLM, first, profile)[1].number == SampleSources().numbers[-1]


def test_the_invented_release_is_the_first_to_hold_the_day(app: App) -> None:
    sample = SampleSources()
    plant_team(sample, MORNING, "U0000000001", "C0000000001", app)
    build_real(app)
    report = build_release(app, app.profiles.find_entry(PROFILE_NAME), reader="U0000000001")
    assert (report.tag.name, report.pending.merges) == (INVENTED_TAG, 17)
    assert {hit.number for hit in report.touches.touching.ignore_coverage()} == {34214, 35441}
    places = fetch_whereabouts(app, Reference(VLLM, 35557))
    assert [tag.name for tag in places.tags.ignore_coverage()] == [INVENTED_TAG]
    assert [pin.holds for pin in places.pins] == [False]
    assert find_pin(app, VLLM, INVENTED_TAG, load_profile())[1].number == sample.numbers[0]


def test_a_task_for_an_agent_points_to_the_diff_where_it_has_no_lines(app: App) -> None:
    sample = SampleSources()
    plant_team(sample, MORNING, "U0000000001", "C0000000001", app)
    text = render_agent_task(prepare_task(app, PROFILE_NAME, Reference(VLLM, 35441)))
    assert "look through the [whole diff](https://github.com/vllm-project/vllm/pull/35441/files)." in text
