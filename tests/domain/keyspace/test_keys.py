"""The stored names of all keys, which no change of the code may change."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.keyspace import keys
from bot.domain.keyspace.family import Durable, Expiring, Family
from bot.domain.keyspace.keys import FAMILIES, DigestName, find_family, name_try, parse_digest

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# as stores have them: a key of each family, its type, and its lifetime in seconds; an export holds what has none
EXPORTED = {
    keys.SUBSCRIPTIONS.key(): ("subscriptions", "hash"),
    keys.AGENDA.key(): ("agenda", "zset"),
    keys.JOURNAL.key(): ("journal", "list"),
    keys.VOTES.key(): ("votes", "hash"),
    keys.DIGEST.key("T1", "C1", "o/r", "2026-02-28"): ("digest:T1:C1:o/r:2026-02-28", "hash"),
    keys.THREAD.key("C1", "1.5"): ("thread:C1:1.5", "string"),
    keys.ATTENTION.key("C1", "1.5"): ("attention:C1:1.5", "string"),
    keys.WELCOMED.key("U1"): ("welcomed:U1", "string"),
    keys.HISTORY.key("o/r", date(2026, 2, 28)): ("history:o/r:2026-02-28", "hash"),
    keys.BACKFILLED.key("o/r", "Europe/Berlin"): ("backfilled:o/r:Europe/Berlin", "hash"),
    keys.ISSUED.key("o/r"): ("issued:o/r", "zset"),
}
OWN = {keys.SCHEMA.key(): ("schema", "string"), keys.OWNER.key(): ("owner", "string")}
EXPIRING = {
    keys.ASKED.key("command:1"): ("asked:command:1", "string", HOUR),
    keys.ANSWER.key("command:1", "tell"): ("answer:command:1:tell", "hash", DAY),
    keys.COMMAND_RESULT.key("command:1"): ("regular:command:1", "string", HOUR),
    keys.ANSWERED.key("C1", "1.5"): ("answered:C1:1.5", "string", 30 * DAY),
    keys.WAITING.key("C1:1.5"): ("waiting:C1:1.5", "zset", 3 * DAY),
    keys.TICKED.key(): ("clock:ticked", "string", DAY),
    keys.SENT.key("5d2cea88", "2026-03-01T17:00:00+00:00"): (
        "sent:5d2cea88:2026-03-01T17:00:00+00:00",
        "string",
        7 * DAY,
    ),
    keys.TROUBLE.key("digest:1#missing"): ("trouble:digest:1#missing", "string", 30 * DAY),
    keys.TOLD.key("digest:1#missing"): ("told:digest:1#missing", "string", 30 * DAY),
    keys.REPORT.key("begun"): ("report:begun", "hash", 30 * DAY),
    keys.LOOKED.key("o/r"): ("looked:o/r", "string", 30 * DAY),
    keys.SPARING.key("o/r"): ("sparing:o/r", "string", DAY),
    keys.COMPLETION.key("ab12"): ("llm:ab12", "string", 90 * DAY),
    keys.ENTRY.key("ab12", "o/r#1"): ("entry:ab12:o/r#1", "string", 90 * DAY),
    keys.FILES.key("o/r", 1, "c0ffee"): ("files:o/r:1:c0ffee", "string", 30 * DAY),
    keys.DAY.key("o/r", date(2026, 2, 28), "UTC"): ("day:o/r:2026-02-28:UTC", "string", 12 * HOUR),
    keys.SPENT.key("2026-02-28"): ("spent:2026-02-28", "string", 2 * DAY),
    keys.HELD.key("2026-02-28"): ("held:2026-02-28", "zset", 10 * MINUTE),
    keys.RATE.key("T1:U1"): ("rate:T1:U1", "string", MINUTE),
    keys.LEASE.key("schema"): ("lease:schema", "string", 6),
    keys.ATTEMPTS.key("7f"): ("attempts:7f", "string", DAY),
    keys.ASIDE.key(): ("aside", "zset", 7 * DAY),
    keys.READY.key(): ("ready", "string", MINUTE),
    keys.PROBE.key(): ("doctor:written", "string", MINUTE),
}
# what is the same in every Slack
SURVIVING = {"schema", "history:", "backfilled:", "llm:", "entry:", "files:", "day:", "spent:"}
PART = st.text(st.characters(codec="utf-8", exclude_characters=":@"), min_size=1, max_size=8)


@pytest.mark.parametrize(("key", "expected"), EXPORTED.items())
def test_what_is_kept_for_good_has_the_name_it_always_had(key: str, expected: tuple[str, str]) -> None:
    family = find_family(key)
    assert isinstance(family, Durable)
    assert (key, family.type, family.lifetime, family.is_exported) == (*expected, None, True)


@pytest.mark.parametrize(("key", "expected"), OWN.items())
def test_what_belongs_to_one_store_is_kept_and_not_exported(key: str, expected: tuple[str, str]) -> None:
    family = find_family(key)
    assert isinstance(family, Durable)
    assert (key, family.type, family.lifetime, family.is_exported) == (*expected, None, False)


@pytest.mark.parametrize(("key", "expected"), EXPIRING.items())
def test_all_else_expires(key: str, expected: tuple[str, str, int]) -> None:
    family = find_family(key)
    assert isinstance(family, Expiring)
    assert (key, family.type, family.lifetime.total_seconds()) == expected


def test_the_list_is_complete_and_a_key_is_of_one_family() -> None:
    declared = [each for each in vars(keys).values() if isinstance(each, Family)]
    assert list(FAMILIES) == declared
    known = [*EXPORTED, *OWN, *EXPIRING]
    assert [sum(family.holds(key) for family in FAMILIES) for key in known] == [1] * len(FAMILIES)
    assert {family.name for family in FAMILIES if family.survives_reset} == SURVIVING


@pytest.mark.parametrize("key", ["", "digest", "votes:1", "agendas", "dramatiq:prdigest", "session:1"])
def test_another_programs_key_is_of_no_family(key: str) -> None:
    assert find_family(key) is None


def test_a_key_takes_a_part_for_each_field() -> None:
    with pytest.raises(ValueError, match=r"thread:\{channel\}:\{thread\} has 2 fields, not 1"):
        keys.THREAD.key("C1")


@given(PART, PART, PART, PART, st.one_of(st.just(""), PART), st.one_of(st.just(""), PART))
def test_the_key_of_a_digest_is_taken_apart_as_it_was_built(
    team: str, channel: str, repository: str, days: str, offsets: str, view: str
) -> None:
    name = DigestName(team, channel, repository, days, offsets, view)
    assert parse_digest(name.key) == name


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("digest:T1:C1:o/r:2026-02-28", DigestName("T1", "C1", "o/r", "2026-02-28")),
        ("digest:T1:C1:o/r:2026-02-28:1a2b", DigestName("T1", "C1", "o/r", "2026-02-28", view="1a2b")),
        (
            "digest:T1:C1:o/r:2026-02-27..2026-02-28@-0800",
            DigestName("T1", "C1", "o/r", "2026-02-27..2026-02-28", "-0800"),
        ),
        ("digest:C1:2026-02-28", None),
        ("answer:mention:C1:1.5:question", None),
        ("", None),
    ],
)
def test_keys_of_digests_as_they_are_written(key: str, name: DigestName | None) -> None:
    assert parse_digest(key) == name


def test_a_try_has_its_number_behind_the_digest() -> None:
    assert name_try("5d2cea88", "2026-03-01T17:00:00+00:00", "2") == "sent:5d2cea88:2026-03-01T17:00:00+00:00:2"
