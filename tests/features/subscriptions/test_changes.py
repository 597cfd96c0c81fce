import datetime as dt
import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.errors import SlackCallRefused, SlackUnavailable, UsageError
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.service import MAX_PER_CHANNEL, get_next_due, refresh_time_zone
from bot.platform.slack.directory import AccessRules
from bot.platform.store.due_queue import NextDigest
from tests.emulators.slack.server import SlackEmulator
from tests.features.digest.posting import HOME
from tests.features.subscriptions.subscribers import (
    ANGELES,
    BERLIN,
    FIXED,
    OPEN,
    OTHERS,
    OWN,
    PRIVATE,
    TEAM,
    TOKYO,
    USUAL,
    WEB,
    Team,
    at,
)
from tests.helpers.builders import REPOSITORY
from tests.helpers.checks import is_one_sentence

NINE, FIVE = dt.time(9), dt.time(17)
BEN = "U0BEN"


@pytest.fixture
def team(slack: SlackEmulator, store: Redis) -> Team:
    return Team(slack, store)


def catch_refusal(does: Callable[[], object]) -> str:
    with pytest.raises(UsageError) as caught:
        does()
    assert is_one_sentence(str(caught.value))
    return str(caught.value)


# --- new ones


def test_without_a_word_it_is_the_usual_repository_time_and_zone(team: Team) -> None:
    made = team.subscribe()
    assert made == Subscription(HOME, REPOSITORY, USUAL, by="U0ADA", is_open=True)
    assert (list(team.kept.list_all()), team.get_due_time(made)) == ([made], at(3, 9))


def test_what_is_said_is_kept(team: Team) -> None:
    made = team.subscribe("acme/web.app at 17:00 tz Europe/Berlin weekdays path:src only:risky")
    assert (made.repository, made.timing, str(made.view)) == (
        WEB,
        Timing(FIVE, BERLIN, weekdays=True),
        "path:src only:risky",
    )
    assert team.kept.get(made.id) == made
    assert team.get_due_time(made) == at(3, 17, zone=BERLIN)


def test_the_first_one_comes_at_the_next_time_that_is_still_to_come(team: Team) -> None:
    assert team.get_due_time(team.subscribe("at 11:59")) == at(3, 11, 59)
    assert team.get_due_time(team.subscribe("acme/web.app at 12:01")) == at(2, 12, 1)


def test_a_channel_may_have_several_and_a_repository_several_channels(team: Team) -> None:
    texts = ("", "only:risky", "path:src", "acme/web.app")
    made = [team.subscribe(text, channel) for channel in (HOME, OPEN) for text in texts]
    assert {each.id for each in team.kept.list_all()} == {each.id for each in made}
    assert len({each.id for each in made}) == 8
    assert {each.id for each in team.list_visible("U0ADA", OPEN)} == {each.id for each in made[4:]}


@pytest.mark.parametrize(("channel", "is_open"), [(OPEN, True), (PRIVATE, False), (OWN, False)])
def test_it_is_known_whether_everybody_may_read_the_channel(team: Team, channel: str, is_open: bool) -> None:
    assert team.subscribe(channel=channel).is_open is is_open


# --- changes


def test_what_is_not_said_stays(team: Team) -> None:
    first = team.subscribe("at 17:00 tz Europe/Berlin weekdays")
    assert team.subscribe("at 18:00").timing == Timing(dt.time(18), BERLIN, weekdays=True)
    assert team.subscribe("tz Asia/Tokyo").timing == Timing(dt.time(18), TOKYO, weekdays=True)
    assert team.subscribe("daily").timing == Timing(dt.time(18), TOKYO)
    # who changes it does not become its maker
    assert team.subscribe("repo:OCTO/engine", user=BEN) == replace(first, timing=Timing(dt.time(18), TOKYO))
    assert len(team.kept.list_all()) == 1


def test_midnight_is_a_time(team: Team) -> None:
    team.subscribe()
    assert team.subscribe("at 0:00").timing.at == dt.time(0)


def test_a_zone_that_is_followed_stays_until_another_is_named(team: Team) -> None:
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    assert (team.subscribe("tz mine").follows, team.subscribe("at 10", user=BEN).follows) == ("U0ADA", "U0ADA")
    changed = team.subscribe("tz Europe/Berlin")
    assert (changed.follows, changed.timing.zone) == ("", BERLIN)


CHANGES = {
    "later": "at 17:00",
    "earlier": "at 06:00",
    "zone to the east": "tz Asia/Tokyo",
    "zone to the west": "tz Pacific/Honolulu",
    "all at once": "at 23:00 tz Europe/Berlin daily",
    "nothing": "",
}
MOMENTS = {"before": at(4, 7), "just after": at(4, 9, 30), "evening": at(4, 20)}


@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.slow
def test_a_change_before_or_after_the_post_of_a_day_loses_and_doubles_none(
    team: Team, change: str, moment: datetime
) -> None:
    team.subscribe()
    before = team.live(moment)
    team.subscribe(change)
    days = [span for _, span in (*before, *team.live(at(8, 3)))]
    assert days == [f"2026-03-{day:02}" for day in range(2, 2 + len(days))]
    assert len(days) in (5, 6)


@pytest.mark.parametrize(("hour", "day"), [(7, 4), (12, 5)], ids=["before", "after"])
def test_a_time_that_is_moved_is_todays_if_todays_is_still_to_come(team: Team, hour: int, day: int) -> None:
    team.subscribe()
    team.live(at(4, hour))
    assert team.get_due_time(team.subscribe("at 17:00")) == at(day, 17)


@pytest.mark.parametrize(
    ("moment", "text", "posted"),
    [
        (at(7, 12), "daily", [("07 12:00", "2026-03-06"), ("08 09:00", "2026-03-07"), ("09 09:00", "2026-03-08")]),
        (at(9, 8), "at 10:00", [("09 10:00", "2026-03-06..2026-03-08")]),
        (at(7, 12), "tz Europe/Berlin", [("09 09:00", "2026-03-06..2026-03-08")]),
    ],
    ids=["every day from now on", "another time", "another zone"],
)
def test_a_change_at_the_weekend_loses_no_day_of_it(
    team: Team, moment: datetime, text: str, posted: list[tuple[str, str]]
) -> None:
    team.subscribe("weekdays")
    assert [span for _, span in team.live(moment)] == ["2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05"]
    team.subscribe(text)
    assert team.live(at(9, 13)) == posted


def test_from_weekdays_on_the_weekend_waits_for_monday(team: Team) -> None:
    team.subscribe()
    team.live(at(6, 12))
    team.subscribe("weekdays")
    assert team.live(at(9, 12)) == [("09 09:00", "2026-03-06..2026-03-08")]


# --- once a week, and what comes before and after


def test_a_weekly_one_comes_once_a_week_with_seven_days(team: Team) -> None:
    team.subscribe("weekly monday 09:00")
    # no clock ran for most of a day, and two ticks come at once
    assert team.live(at(9, 8)) == []
    team.now = at(9, 20)
    assert team.live(at(24, 0)) == [
        ("09 20:00", "2026-03-02..2026-03-08"),
        ("16 09:00", "2026-03-09..2026-03-15"),
        ("23 09:00", "2026-03-16..2026-03-22"),
    ]


WEEKLY_CHANGES = {
    "every day becomes weekly": ("", "weekly", at(4, 12), [("09 09:00", "2026-03-02..2026-03-08")]),
    "weekly becomes every day": ("weekly", "daily", at(4, 12), [("05 09:00", "2026-03-04")]),
    "weekly before its time becomes every day": ("weekly", "daily", at(4, 8), [("04 09:00", "2026-03-03")]),
    "another weekday": ("weekly", "friday", at(4, 12), [("06 09:00", "2026-02-27..2026-03-05")]),
    "another time": ("weekly", "at 17:00", at(4, 12), [("09 17:00", "2026-03-02..2026-03-08")]),
    "another zone": ("weekly", "tz Asia/Tokyo", at(4, 12), [("09 09:00", "2026-03-02..2026-03-08")]),
}


@pytest.mark.parametrize(("before", "after", "moment", "posted"), WEEKLY_CHANGES.values(), ids=WEEKLY_CHANGES)
def test_a_change_from_or_to_a_week_posts_each_day_at_most_once(
    team: Team, before: str, after: str, moment: datetime, posted: list[tuple[str, str]]
) -> None:
    made = team.subscribe(before)
    team.live(moment)
    assert team.subscribe(after, replaces=made.id).id == made.id
    assert team.live(at(11, 0))[:1] == posted


@pytest.mark.parametrize("filters", ["", "only:risky"])
@pytest.mark.parametrize(("first", "second"), [("", "weekly"), ("weekdays", "weekly"), ("weekly", "daily")])
def test_a_daily_and_a_weekly_one_stand_beside_each_other(
    team: Team, first: str, second: str, filters: str
) -> None:
    one = team.subscribe(f"{first} {filters}")
    two = team.subscribe(f"{second} {filters} at 10:00")
    assert {each.id: each for each in team.kept.list_all()} == {one.id: one, two.id: two}
    assert {span.count("..") for _, span in team.live(at(9, 12))} == {0, 1}
    later = team.subscribe(f"{second} {filters} at 11:00")
    assert (later.id, len(team.kept.list_all())) == (two.id, 2)
    assert "add daily or weekly" in catch_refusal(lambda: team.subscribe(f"{filters} at 12:00"))
    # the form makes one of the other, and leaves one
    assert team.subscribe(f"{second} {filters} at 13:00", replaces=one.id).id == two.id
    assert [each.id for each in team.kept.list_all()] == [two.id]


def test_the_id_of_the_first_one_is_what_it_was_before_there_could_be_two(team: Team) -> None:
    assert team.subscribe("weekly").id == hashlib.sha256(f"{HOME}\n{REPOSITORY}\n".encode()).hexdigest()[:8]


# --- nothing until a day


@pytest.mark.parametrize(
    ("days", "posted"), [("daily", ("09 09:00", "2026-03-08")), ("weekly", ("09 09:00", "2026-03-02..2026-03-08"))]
)
def test_who_is_away_gets_nothing_until_the_day_they_name(team: Team, days: str, posted: tuple[str, str]) -> None:
    made = team.subscribe(days)
    team.run("snooze", "until 2026-03-09")
    assert team.live(at(9, 12)) == [posted]
    assert team.kept.get(made.id) == made


def test_who_is_back_sooner_goes_on_at_once_and_a_change_does_not_wake(team: Team) -> None:
    made = team.subscribe()
    team.run("snooze", "until 20 March")
    team.subscribe("at 08:00")
    assert team.get_due_time(made) == at(20, 8)
    team.live(at(4, 12))
    team.run("resume")
    assert team.live(at(6, 12)) == [("05 08:00", "2026-03-04"), ("06 08:00", "2026-03-05")]


def test_a_paused_one_that_is_snoozed_begins_on_that_day(team: Team) -> None:
    made = team.subscribe()
    team.run("pause")
    team.run("pause", "all until 2w")
    assert (team.get_due_time(made), team.kept.get(made.id)) == (at(16, 9), made)


# --- in the place of another


def test_the_form_puts_a_changed_one_in_the_place_of_the_old(team: Team) -> None:
    old = team.subscribe("at 17:00")
    made = team.subscribe("acme/web.app at 17:00 only:risky", target=OPEN, replaces=old.id)
    assert (list(team.kept.list_all()), made.channel) == ([made], OPEN)
    assert (team.get_due_time(old), team.get_due_time(made)) == (None, at(2, 17))


def test_saving_the_form_as_it_was_changes_nothing(team: Team) -> None:
    old = team.subscribe("at 17:00 weekdays")
    planned = team.get_due_time(old)
    again = f"{old.view} at 17:00 tz America/Los_Angeles weekdays"
    assert team.subscribe(again, target=HOME, replaces=old.id) == old
    assert (list(team.kept.list_all()), team.get_due_time(old)) == ([old], planned)


def test_one_that_becomes_like_another_leaves_one(team: Team) -> None:
    old, other = team.subscribe("only:risky"), team.subscribe("at 17:00")
    made = team.subscribe("at 10:00", replaces=old.id)
    assert (made.id, list(team.kept.list_all()), team.get_due_time(old)) == (other.id, [made], None)


def test_a_digest_that_was_posted_is_not_posted_again_for_one_that_becomes_like_it(team: Team) -> None:
    old = team.subscribe("only:risky at 17:00")
    team.subscribe()
    team.live(at(3, 12))
    team.subscribe("at 17:00", replaces=old.id)
    assert [span for _, span in team.live(at(5, 3))] == ["2026-03-03"]


# --- paused, resumed, removed


def test_nothing_of_the_time_of_a_pause_is_posted(team: Team) -> None:
    made = team.subscribe()
    before = team.live(at(3, 12))
    team.run("pause")
    assert team.kept.get(made.id) == replace(made, is_paused=True)
    assert (team.get_due_time(made), team.live(at(6, 12))) == (None, [])
    team.run("resume")
    assert team.kept.get(made.id) == made
    assert team.get_due_time(made) == at(7, 9)
    assert [*before, *team.live(at(8, 3))] == [("03 09:00", "2026-03-02"), ("07 09:00", "2026-03-06")]


def test_a_digest_that_waits_on_the_queue_is_not_sent_while_it_is_paused(team: Team) -> None:
    made = team.subscribe()
    team.now = at(3, 9)
    team.run("pause")
    team.agenda.put(NextDigest(made.id), at(3, 9))
    assert team.live(at(4, 12)) == []


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_doing_it_twice_is_as_good_as_once(team: Team, verb: str) -> None:
    made = team.subscribe()
    first, second = team.run(verb), team.run(verb)
    assert first == second
    assert team.get_due_time(made) == (None if verb == "pause" else at(3, 9))


def test_subscribing_again_goes_on(team: Team) -> None:
    made = team.subscribe()
    team.run("pause")
    assert (team.subscribe(), team.get_due_time(made)) == (made, at(3, 9))


def test_all_of_a_channel_at_once(team: Team) -> None:
    here, there = [team.subscribe(text) for text in ("", "only:risky")], team.subscribe(channel=OPEN)
    team.run("pause", "all")
    assert {each.id for each in team.kept.list_all() if each.is_paused} == {each.id for each in here}
    team.run("unsubscribe", "all")
    assert (list(team.kept.list_all()), [team.get_due_time(each) for each in here]) == ([there], [None, None])


def test_what_is_removed_is_posted_no_more(team: Team) -> None:
    made = team.subscribe()
    assert team.run("unsubscribe", "octo/engine").private.text == f"Unsubscribed: {made.repository}"
    assert (list(team.kept.list_all()), team.live(at(5, 12))) == ([], [])
    assert "no subscription here" in catch_refusal(lambda: team.run("unsubscribe"))


def test_what_is_made_again_is_the_same_and_its_days_come_once(team: Team) -> None:
    team.subscribe()
    before = team.live(at(3, 12))
    team.run("unsubscribe")
    team.subscribe("at 17:00")
    assert [span for _, span in (*before, *team.live(at(5, 3)))] == ["2026-03-02", "2026-03-03"]


# --- limits, and where


def test_a_channel_has_so_many_and_no_more(team: Team) -> None:
    team.many(MAX_PER_CHANNEL)
    assert catch_refusal(team.subscribe) == (
        f"This channel already has {MAX_PER_CHANNEL} subscriptions: remove one first."
    )
    assert team.subscribe("label:1 at 17:00").timing.at == FIVE
    assert team.subscribe("only:risky", replaces=team.subscribe("label:1").id)
    assert team.subscribe(channel=OPEN)
    assert len(team.list_visible("U0ADA", HOME)) == MAX_PER_CHANNEL


def test_none_is_moved_into_a_channel_that_has_all_it_can(team: Team) -> None:
    team.many(MAX_PER_CHANNEL)
    old = team.subscribe(channel=OPEN)
    assert "remove one first" in catch_refusal(lambda: team.subscribe(channel=OPEN, target=HOME, replaces=old.id))
    assert team.kept.get(old.id) == old


def test_the_one_of_the_settings_counts(team: Team) -> None:
    team.many(MAX_PER_CHANNEL - 1, FIXED.channel)
    assert "remove one first" in catch_refusal(lambda: team.subscribe("only:risky", FIXED.channel))


NOT_A_MEMBER = "I'm not in that channel: invite me with /invite, then subscribe again."


@pytest.mark.parametrize("target", ["", "C0GONE"])
def test_where_the_bot_is_not_it_says_how_to_invite_it(team: Team, target: str) -> None:
    team.slack.add_channel("C0AWAY", "away", member=False)
    assert catch_refusal(lambda: team.subscribe(channel="C0AWAY", target=target)) == NOT_A_MEMBER
    assert not team.kept.list_all()


def test_a_private_channel_without_the_bot_is_the_same(team: Team) -> None:
    team.slack.remove_bot(PRIVATE)
    assert catch_refusal(lambda: team.subscribe(channel=PRIVATE)) == NOT_A_MEMBER
    team.slack.invite_bot(PRIVATE)
    assert team.subscribe(channel=PRIVATE)


def test_an_archived_channel_is_none(team: Team) -> None:
    team.slack.archive_channel(OPEN)
    assert catch_refusal(lambda: team.subscribe(target=OPEN)) == "That channel is archived: choose another one."


def test_nobody_subscribes_for_the_direct_messages_of_another(team: Team) -> None:
    team.slack.get_channel(OTHERS)
    assert "somebody else's direct messages" in catch_refusal(lambda: team.subscribe(target=OTHERS))
    assert not team.kept.list_all()


@pytest.mark.parametrize("text", ["", "me"])
def test_in_direct_messages_with_somebody_else_it_comes_from_the_bot(team: Team, text: str) -> None:
    made = team.subscribe(text, channel="D0BETWEEN")
    assert (made.channel, made.is_personal) == (OWN, True)


@pytest.mark.parametrize("code", ["missing_scope", "fatal_error"])
def test_slack_that_does_not_say_leaves_nothing_behind(team: Team, code: str) -> None:
    team.slack.fail_next("conversations.info", error=code)
    with pytest.raises(SlackCallRefused if code == "missing_scope" else SlackUnavailable):
        team.subscribe()
    assert not team.kept.list_all()


@pytest.mark.parametrize(
    ("allowed", "text", "target", "word"),
    [
        (AccessRules(frozenset({TEAM}), channels=frozenset({HOME})), "", OPEN, "I don't answer in this channel"),
        (AccessRules(frozenset({TEAM}), users=frozenset({BEN})), "", OPEN, "I'm not allowed to answer you"),
        (AccessRules(frozenset({TEAM}), users=frozenset({BEN})), "me", "", "I'm not allowed to answer you"),
        (AccessRules(frozenset({"T0OTHER"})), "", OPEN, "people of my own workspace"),
    ],
    ids=["channel", "person", "person alone", "workspace"],
)
def test_who_and_where_is_allowed_holds_for_the_channel_that_is_meant(
    team: Team, allowed: AccessRules, text: str, target: str, word: str
) -> None:
    team.allowed = allowed
    assert word in catch_refusal(lambda: team.subscribe(text, target=target))
    assert not team.kept.list_all()


# --- personal ones


def test_a_personal_one_comes_by_direct_message_in_the_persons_own_zone(team: Team) -> None:
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    made = team.subscribe("me at 08:00 path:src")
    assert (made.channel, made.timing, made.follows) == (OWN, Timing(dt.time(8), TOKYO), "U0ADA")
    assert (made.is_open, team.get_due_time(made)) == (False, at(3, 8, zone=TOKYO))


@pytest.mark.parametrize(
    ("text", "zone", "follows"), [("me tz Europe/Berlin", BERLIN, ""), ("me tz mine", TOKYO, "U0ADA")]
)
def test_in_another_zone_if_they_say_so(team: Team, text: str, zone: ZoneInfo, follows: str) -> None:
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    made = team.subscribe(text)
    assert (made.timing.zone, made.follows) == (zone, follows)


@pytest.mark.parametrize("tz", [None, "Etc/UTC"])
def test_who_has_no_zone_is_in_utc(team: Team, tz: str | None) -> None:
    team.slack.set_person("U0ADA", tz=tz)
    assert team.subscribe("me").timing.zone.key in ("UTC", "Etc/UTC")


def test_everybody_has_their_own(team: Team) -> None:
    ada, ben = team.subscribe("me"), team.subscribe("me", user=BEN)
    assert (ada.channel, ben.channel, ada.id == ben.id) == (OWN, OTHERS, False)


VERBS = ("pause", "resume", "unsubscribe")


@pytest.mark.parametrize("where", [HOME, OPEN, OTHERS, ""], ids=["there", "elsewhere", "direct", "home"])
@pytest.mark.parametrize("verb", VERBS)
def test_nobody_but_its_owner_changes_a_personal_one(team: Team, verb: str, where: str) -> None:
    made = team.subscribe("me")
    assert "here" in catch_refusal(lambda: team.run(verb, made.id, where, BEN))
    assert "personal subscription" in catch_refusal(
        lambda: team.subscribe(channel=HOME, user=BEN, replaces=made.id)
    )
    assert (team.kept.get(made.id), team.get_due_time(made) is None) == (made, False)


@pytest.mark.parametrize("where", [HOME, OWN, ""], ids=["channel", "direct", "home"])
@pytest.mark.parametrize("verb", VERBS)
def test_its_owner_changes_it_from_wherever_they_are(team: Team, verb: str, where: str) -> None:
    made = team.subscribe("me")
    team.run(verb, made.id, where)
    assert (team.kept.get(made.id) == made) == (verb == "resume")


def test_it_is_in_no_list_of_another(team: Team) -> None:
    made = team.subscribe("me")
    assert made not in team.list_visible(BEN)
    assert made in team.list_visible("U0ADA")
    assert made not in team.list_visible("U0ADA", HOME)
    assert made in team.list_visible("U0ADA", OWN)


# --- whose channel it is


@pytest.mark.slow
@pytest.mark.parametrize("where", [HOME, OPEN, OTHERS, ""], ids=["channel", "open", "direct", "home"])
@pytest.mark.parametrize("verb", VERBS)
def test_one_of_a_private_channel_is_unknown_to_all_elsewhere(team: Team, verb: str, where: str) -> None:
    made = team.subscribe(channel=PRIVATE)
    assert "here" in catch_refusal(lambda: team.run(verb, made.id, where, BEN))
    assert made not in team.list_visible(BEN)
    if where in (HOME, OPEN):
        assert "no longer exists" in catch_refusal(lambda: team.subscribe("", where, BEN, replaces=made.id))
    assert team.kept.get(made.id) == made


def test_in_the_private_channel_everybody_changes_it(team: Team) -> None:
    made = team.subscribe(channel=PRIVATE)
    team.slack.join_channel(PRIVATE, BEN)
    team.run("unsubscribe", "", PRIVATE, BEN)
    assert (made.id in {each.id for each in team.kept.list_all()}) is False


def test_one_of_an_open_channel_is_changed_from_everywhere(team: Team) -> None:
    made = team.subscribe(channel=OPEN)
    assert made in team.list_visible(BEN)
    team.run("pause", made.id, "", BEN)
    assert team.kept.get(made.id) == replace(made, is_paused=True)


# --- the one of the settings


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("text", ["", "all", "octo/engine", FIXED.id])
def test_the_one_of_the_settings_can_not_be_changed(team: Team, verb: str, text: str) -> None:
    assert "settings of the bot" in catch_refusal(lambda: team.run(verb, text, FIXED.channel))


def test_nor_made_again_nor_replaced(team: Team) -> None:
    assert "set by the bot's admin" in catch_refusal(lambda: team.subscribe("at 17:00", FIXED.channel))
    assert "settings of the bot" in catch_refusal(lambda: team.subscribe("only:risky", replaces=FIXED.id))
    assert not team.kept.list_all()


def test_others_of_its_channel_are_changed_beside_it(team: Team) -> None:
    made = team.subscribe("only:risky", FIXED.channel)
    team.run("unsubscribe", "all", FIXED.channel)
    assert (made in team.list_visible("U0ADA"), team.list_visible("U0ADA")) == (False, (FIXED,))


# --- the zone that is followed


def test_who_travels_is_followed_and_each_day_comes_once(team: Team) -> None:
    team.slack.set_person("U0ADA", tz="America/Los_Angeles")
    made = team.subscribe("me")
    before = team.live(at(3, 12))
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    refresh_time_zone(team.open_app(), made.id)
    [kept] = team.kept.list_all()
    assert kept.timing.zone == TOKYO
    assert [span for _, span in (*before, *team.live(at(6, 12)))] == [f"2026-03-0{day}" for day in range(2, 6)]


@pytest.mark.parametrize("case", ["gone", "paused", "own zone", "refused", "away"])
def test_who_can_not_be_followed_keeps_the_zone(team: Team, case: str) -> None:
    made = team.subscribe("me tz UTC" if case == "own zone" else "me")
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    if case == "paused":
        team.run("pause", "", OWN)
    if case in ("refused", "away"):
        team.slack.fail_next("users.info", error="user_not_found" if case == "refused" else "fatal_error")
    refresh_time_zone(team.open_app(), "0000" if case == "gone" else made.id)
    [kept] = team.kept.list_all()
    assert kept.timing == made.timing


def test_a_zone_that_is_named_is_not_asked_of_slack(team: Team) -> None:
    team.slack.set_person("U0ADA", tz="Asia/Tokyo")
    team.subscribe("tz Europe/Berlin")
    assert team.slack.list_calls_to("users.info") == []
    assert team.subscribe("acme/web.app").timing.zone == ANGELES


def test_the_time_of_the_next_is_that_of_the_agenda_or_else_of_its_timing(team: Team) -> None:
    made = team.subscribe()
    team.now = at(3, 12)
    assert get_next_due(team.open_app(), made) == at(3, 9)
    team.agenda.drop(NextDigest(made.id))
    assert get_next_due(team.open_app(), made) == at(4, 9)
    assert get_next_due(team.open_app(), replace(FIXED, timing=Timing(NINE, ANGELES))) == at(4, 9)
