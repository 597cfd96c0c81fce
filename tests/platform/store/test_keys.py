from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features import backfill, import_features, previews
from bot.features.digest.posts import POSTED_DIGESTS
from bot.features.noise import service as noise
from bot.features.posting import BEGUN_POSTS
from bot.features.profiles import others, scanning
from bot.features.profiles import service as profiles
from bot.features.questions.service import ATTENTION, MEMORIES, QUESTIONS, STOPS
from bot.features.questions.view import INPUTS, VOTES
from bot.features.releases import SEEN_TAGS
from bot.features.renames import FIRST_NAMES
from bot.features.reviews import service as reviews
from bot.features.risks import service as risks
from bot.features.subscriptions import incidents, open_pulls, service, tables
from bot.features.summaries import service as summaries
from bot.features.touches import checking, contracts, decisions, team_history
from bot.features.watches.service import WATCHES
from bot.jobs.queues import LOST_JOBS
from bot.platform.github import caches
from bot.platform.models import completion
from bot.platform.slack.directory import WELCOMES
from bot.platform.store import keys, spending
from bot.platform.store.keys import (
    FAMILIES,
    DigestKeyParts,
    DurableFamily,
    ExpiringFamily,
    build_attempt_key,
    find_family,
    parse_digest_key,
)
from tests.helpers.tables import check_rows

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# as stores have them: a key of each family, its type, and its lifetime in seconds; what has none is kept for good
DURABLE = {
    tables.SUBSCRIPTIONS.family.build_key(): ("subscriptions", "hash"),
    keys.DUE_QUEUE.build_key(): ("agenda", "zset"),
    VOTES.family.build_key(): ("votes", "hash"),
    tables.RUN_LOG.family.build_key(): ("journal", "list"),
    keys.DIGEST_RECORD.build_key("T1", "C1", "o/r", "2026-02-28"): ("digest:T1:C1:o/r:2026-02-28", "hash"),
    MEMORIES.family.build_key("C1", "1.5"): ("thread:C1:1.5", "string"),
    ATTENTION.family.build_key("C1", "1.5"): ("attention:C1:1.5", "string"),
    keys.MERGE_HISTORY.build_key("o/r", date(2026, 2, 28)): ("history:o/r:2026-02-28", "hash"),
    POSTED_DIGESTS.family.build_key("o/r"): ("issued:o/r", "zset"),
    FIRST_NAMES.family.build_key(): ("renamed", "hash"),
    contracts.LEDGERS.family.build_key("octo/engine"): ("deprecations:octo/engine", "string"),
    profiles.ENTRIES.family.build_key(): ("profiles", "hash"),
    backfill.FILLED_DAYS.family.build_key("o/r", "Europe/Berlin"): ("backfilled:o/r:Europe/Berlin", "hash"),
    tables.PREVIEW_SWITCHES.family.build_key(): ("previews", "hash"),
    WELCOMES.family.build_key("U1"): ("welcomed:U1", "string"),
    profiles.PROFILES.family.build_key("ascend"): ("downstream:ascend", "string"),
    decisions.HITS.family.build_key("ascend"): ("hits:ascend", "hash"),
    decisions.DECISIONS.family.build_key("ascend"): ("decisions:ascend", "hash"),
    decisions.CLOSINGS.family.build_key("ascend"): ("closings:ascend", "hash"),
    WATCHES.family.build_key("octo/engine"): ("watches:octo/engine", "hash"),
    SEEN_TAGS.family.build_key("octo/engine"): ("tags:octo/engine", "string"),
    others.OTHERS.family.build_key("octo/engine"): ("others:octo/engine", "hash"),
    keys.SCHEMA_VERSION.build_key(): ("schema", "string"),
    keys.STORE_OWNER.build_key(): ("owner", "string"),
    QUESTIONS.family.build_key("C1:1.5"): ("waiting:C1:1.5", "zset"),
}
EXPIRING = {
    keys.INITIAL_REPLY.build_key("command:1"): ("asked:command:1", "string", HOUR),
    keys.ANSWER_PROGRESS.build_key("command:1", "tell"): ("answer:command:1:tell", "hash", DAY),
    keys.EARLIER_ANSWER.build_key("C1", "ab12"): ("given:C1:ab12", "hash", HOUR),
    INPUTS.family.build_key("C1", "1.5"): ("answered:C1:1.5", "string", 30 * DAY),
    service.RESULTS.family.build_key("command:1"): ("regular:command:1", "string", HOUR),
    previews.SHOWN.family.build_key("C1", "ab12"): ("preview:C1:ab12", "string", 7 * DAY),
    keys.SIGNED_REQUEST.build_key("ab12"): ("signed:ab12", "string", 15 * MINUTE),
    STOPS.family.build_key("C1", "1.5"): ("stopped:C1:1.5", "string", HOUR),
    previews.OTHERS.family.build_key("C1"): ("unfurled:C1", "string", 28 * DAY),
    keys.LAST_TICK.build_key(): ("clock:ticked", "string", DAY),
    keys.DIGEST_ATTEMPT.build_key("5d2cea88", "2026-03-01T17:00:00+00:00"): (
        "sent:5d2cea88:2026-03-01T17:00:00+00:00",
        "string",
        7 * DAY,
    ),
    incidents.INCIDENTS.family.build_key("digest:1#missing"): ("trouble:digest:1#missing", "string", 30 * DAY),
    incidents.REPORT_LINKS.family.build_key("digest:1#missing"): ("told:digest:1#missing", "string", 30 * DAY),
    incidents.REPORTS.family.build_key("begun"): ("report:begun", "string", 30 * DAY),
    keys.LAST_OUTCOME_CHECK.build_key("o/r"): ("looked:o/r", "string", 30 * DAY),
    BEGUN_POSTS.family.build_key("release:C1:ascend:v1"): ("post:release:C1:ascend:v1", "string", 30 * DAY),
    noise.MUTES.family.build_key("U1"): ("mutes:U1", "string", 366 * DAY),
    noise.LESS_CLICKS.family.build_key("C1"): ("less:C1", "hash", 60 * DAY),
    noise.USES.family.build_key(date(2026, 2, 28)): ("uses:2026-02-28", "hash", 31 * DAY),
    risks.LENGTHS.family.build_key("o/r"): ("sparing:o/r", "string", DAY),
    completion.ANSWERS.family.build_key("ab12"): ("llm:ab12", "string", 90 * DAY),
    reviews.REVIEWS.family.build_key("ab12", "octo/engine#7", "c0ffee"): (
        "review:ab12:octo/engine#7:c0ffee",
        "string",
        90 * DAY,
    ),
    summaries.ENTRIES.family.build_key("ab12", "o/r#1"): ("entry:ab12:o/r#1", "string", 90 * DAY),
    caches.CHANGED_FILES.family.build_key("o/r", 1, "c0ffee"): ("files:o/r:1:c0ffee", "string", 30 * DAY),
    caches.DISCUSSIONS.family.build_key("o/r", 7): ("discussion:o/r:7", "string", 10 * MINUTE),
    caches.COMMIT_MERGES.family.build_key("o/r", "c0ffee1"): ("merged:o/r:c0ffee1", "string", 30 * DAY),
    caches.RELEASES.family.build_key("o/r"): ("releases:o/r", "string", DAY),
    caches.TAG_COMMITS.family.build_key("o/r", "v1.2.0"): ("tag:o/r:v1.2.0", "string", DAY),
    contracts.CONTRACTS.family.build_key("1", "o/r", "c0ffee"): ("contract:1:o/r:c0ffee", "string", 90 * DAY),
    contracts.OPEN_CONTRACTS.family.build_key("1", "o/r", "c0ffee"): ("open:1:o/r:c0ffee", "string", 30 * DAY),
    open_pulls.OPEN_POSTS.family.build_key("5d2cea88"): ("open_post:5d2cea88", "string", 60 * DAY),
    contracts.UNREAD.family.build_key("1", "o/r", "c0", True): ("unread:1:o/r:c0:True", "string", 5 * MINUTE),
    checking.CHECKS.family.build_key("1", "ab", "cd", "c0"): ("checked:1:ab:cd:c0", "string", 30 * DAY),
    team_history.SPENT.family.build_key("1", "ab", "cd", "c0", "c1", "ef"): (
        "may_go:1:ab:cd:c0:c1:ef",
        "string",
        30 * DAY,
    ),
    team_history.LESSONS.family.build_key("1", "ab", "cd", "ef"): ("lessons:1:ab:cd:ef", "string", 30 * DAY),
    checking.FAILED_CHECKS.family.build_key("1", "a", "b", "c", "d"): (
        "check_failed:1:a:b:c:d",
        "string",
        30 * MINUTE,
    ),
    scanning.FILE_USES.family.build_key("1", "ab12"): ("scanned:1:ab12", "string", 7 * DAY),
    scanning.OUTLINES.family.build_key("1", "ab12"): ("outline:1:ab12", "string", 7 * DAY),
    caches.SOURCE_FILES.family.build_key("o/r", "c0ffee", "1a2b"): ("sources:o/r:c0ffee:1a2b", "string", 2 * DAY),
    caches.DAY_LISTS.family.build_key("o/r", date(2026, 2, 28), "UTC"): (
        "day:o/r:2026-02-28:UTC",
        "string",
        12 * HOUR,
    ),
    caches.UNSETTLED_DAY_LISTS.family.build_key("o/r", date(2026, 2, 28), "UTC", 7): (
        "unsettled:o/r:2026-02-28:UTC:7",
        "string",
        10 * MINUTE,
    ),
    spending.SPENDING.build_key("2026-02-28"): ("spent:2026-02-28", "string", 2 * DAY),
    spending.MONTHLY_SPENDING.build_key("2026-02"): ("month:2026-02", "string", 40 * DAY),
    spending.COST_LEDGER.build_key(date(2026, 2, 28)): ("cost:2026-02-28", "hash", 400 * DAY),
    spending.BUDGET_HOLDS.build_key("2026-02-28"): ("held:2026-02-28", "zset", 10 * MINUTE),
    keys.REQUEST_RATE.build_key("T1:U1"): ("rate:T1:U1", "string", MINUTE),
    keys.LEASE.build_key("schema"): ("lease:schema", "string", 6),
    keys.JOB_ATTEMPTS.build_key("7f"): ("attempts:7f", "string", DAY),
    LOST_JOBS.family.build_key(): ("lost", "list", 7 * DAY),
    keys.STORE_READINESS.build_key(): ("ready", "string", MINUTE),
    keys.WRITE_PROBE.build_key(): ("doctor:written", "string", MINUTE),
}
# what is the same in every Slack
SURVIVING = {
    "deprecations:",
    "renamed",
    "schema",
    "history:",
    "backfilled:",
    "llm:",
    "entry:",
    "review:",
    "files:",
    "sources:",
    "day:",
    "unsettled:",
    "discussion:",
    "merged:",
    "releases:",
    "tag:",
    "contract:",
    "open:",
    "unread:",
    "outline:",
    "spent:",
    "month:",
    "cost:",
}
PART = st.text(st.characters(codec="utf-8", exclude_characters=":@"), min_size=1, max_size=8)


@check_rows(DURABLE.items())
def test_what_is_kept_for_good_has_the_name_it_always_had(key: str, expected: tuple[str, str]) -> None:
    family = find_family(key)
    assert isinstance(family, DurableFamily)
    assert (key, family.type, family.lifetime) == (*expected, None)


@check_rows(EXPIRING.items())
def test_all_else_expires(key: str, expected: tuple[str, str, int]) -> None:
    family = find_family(key)
    assert isinstance(family, ExpiringFamily)
    assert (key, family.type, family.lifetime.total_seconds()) == expected


def test_the_list_is_complete_and_a_key_is_of_one_family() -> None:
    import_features()
    known = [*DURABLE, *EXPIRING]
    assert [sum(family.has_key(key) for family in FAMILIES) for key in known] == [1] * len(FAMILIES)
    assert {family.prefix for family in FAMILIES if family.survives_reset} == SURVIVING


@pytest.mark.parametrize("key", ["", "digest", "votes:1", "agendas", "dramatiq:prdigest", "session:1"])
def test_another_programs_key_is_of_no_family(key: str) -> None:
    assert find_family(key) is None


def test_a_key_takes_a_part_for_each_field() -> None:
    with pytest.raises(ValueError, match=r"thread:\{channel\}:\{thread\} has 2 fields, not 1"):
        MEMORIES.family.build_key("C1")


@given(PART, PART, PART, PART, PART, st.one_of(st.just(""), PART))
def test_the_key_of_a_digest_is_taken_apart_as_it_was_built(
    team: str, channel: str, repository: str, days: str, offsets: str, view: str
) -> None:
    name = DigestKeyParts(team, channel, repository, days, offsets, view)
    assert parse_digest_key(name.key) == name


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("digest:T1:C1:o/r:2026-02-28@+0000", DigestKeyParts("T1", "C1", "o/r", "2026-02-28", "+0000")),
        ("digest:T1:C1:o/r:2026-02-28@+0000:ab", DigestKeyParts("T1", "C1", "o/r", "2026-02-28", "+0000", "ab")),
        (
            "digest:T1:C1:o/r:2026-02-27..2026-02-28@-0800",
            DigestKeyParts("T1", "C1", "o/r", "2026-02-27..2026-02-28", "-0800"),
        ),
        ("digest:C1:2026-02-28", None),
        ("digest:T1:C1:o/r:2026-02-28", None),
        ("answer:mention:C1:1.5:question", None),
        ("", None),
    ],
)
def test_keys_of_digests_as_they_are_written(key: str, name: DigestKeyParts | None) -> None:
    assert parse_digest_key(key) == name


def test_a_try_has_its_number_behind_the_digest() -> None:
    assert (
        build_attempt_key("5d2cea88", "2026-03-01T17:00:00+00:00", "2")
        == "sent:5d2cea88:2026-03-01T17:00:00+00:00:2"
    )
