"""What guests and people of other workspaces get to see without asking, or by asking for what is not theirs."""

import datetime as dt
import json
from dataclasses import replace

import pytest
from localslack.state.workspace import Json
from localslack.users.person import Person

from bot.features.profiles.service import ProfileEntry
from bot.features.subscriptions.rules import Subscription, Timing
from bot.platform.jobs import QueueName
from impact.repository import Repository
from tests.emulators.github.store import sha
from tests.helpers.apps import make_app
from tests.helpers.checks import eventually
from tests.helpers.subscriptions import StoredSubscriptions
from tests.helpers.world import as_read
from tests.hostile.tables.permissions import ACTORS, PROFILE_TEXTS, PROFILES, Belonging
from tests.scenarios import REPO, Bot, old_button
from tests.scenarios.commands.test_contract import profile, removal
from tests.scenarios.subscriptions.regularly import direct, form_of

pytestmark = pytest.mark.slow

MAKER = "U0MAKER"
OWN_LINE = "plugin/worker.py"
# what says most of who may do what, and each room of it
ONE_PROCESS = pytest.mark.parametrize("layout", ["http"], indirect=True)


# --- profiles


def make_actor(bot: Bot, name: str) -> Person:
    actor = ACTORS[name]
    person = bot.person(team=actor.team)
    bot.world.slack.set_person(
        person.user,
        restricted=actor.restricted,
        ultra_restricted=actor.ultra_restricted,
        admin=actor.admin,
        team=actor.team or "",
    )
    bot.world.slack.set_person(MAKER)
    return person


def add_profile(bot: Bot, name: str, belonging: Belonging, channel: str) -> None:
    repository = Repository.parse(REPO)
    profile(bot, REPO, name)
    profiles = make_app(bot.store).profiles
    entry = profiles.get_entry(name)
    assert isinstance(entry, ProfileEntry)
    match belonging:
        case Belonging.OWNED_OPENLY | Belonging.OWNED_PRIVATELY:
            profiles.put(replace(entry, owners=(channel,)))
        case Belonging.USED_OPENLY | Belonging.USED_PRIVATELY | Belonging.OTHERS_DIGEST:
            is_open = belonging is Belonging.USED_OPENLY
            target = f"D{MAKER[1:]}" if belonging is Belonging.OTHERS_DIGEST else channel
            made = Subscription(target, repository, Timing(dt.time(6), bot.zone), by=MAKER, is_open=is_open)
            StoredSubscriptions(bot.store).put(replace(made, view=replace(made.view, profile=name)))


def list_shown(bot: Bot, person: Person, *channels: str) -> str:
    """All that a person can read, as JSON too: values of buttons and choices tell as much as texts."""
    slack = bot.world.slack
    posts = [message for channel in channels for message in bot.list_posts(channel)]
    written = bot.list_posts(direct(person)) if slack.has_direct(person.user) else []
    views = [view for view in (slack.get_modal(person.user), slack.get_home(person.user)) if view]
    return json.dumps([*bot.list_whispers(person), *posts, *written, *views], ensure_ascii=False)


@ONE_PROCESS
@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_seen_by_whom_it_belongs_to(partner_bot: Bot, name: str) -> None:
    bot, actor, seen = partner_bot, ACTORS[name], set[Belonging]()
    for belonging in Belonging:
        person = make_actor(bot, name)
        is_private = belonging in (Belonging.USED_PRIVATELY, Belonging.OWNED_PRIVATELY)
        people = {MAKER, person.user} if actor.is_in else {MAKER}
        channel = bot.channel(people=people, private=is_private, shared=bool(actor.team))
        side = bot.channel(people={person.user}, shared=bool(actor.team))
        secret = f"team-{side.lower()}"
        add_profile(bot, secret, belonging, channel)
        person.send_command("/prdigest", f"touches score profile:{secret}", side)
        posts = bot.list_posts(side)
        if posts:
            assert secret in as_read(posts[0])
            seen.add(belonging)
    assert seen == PROFILES[name]


@ONE_PROCESS
def test_nothing_of_a_profile_is_shown_to_a_guest_by_any_way(partner_bot: Bot) -> None:
    bot, repository = partner_bot, partner_bot.repository()
    number, guest = removal(bot, repository), make_actor(bot, "multi-channel guest of others")
    secret, hidden = f"secret-{number}", f"hidden-{number}"
    for each in (secret, hidden):
        profile(bot, repository, each)
    side = bot.channel(people={guest.user})
    for text in PROFILE_TEXTS:
        before = len(bot.list_whispers(guest))
        day, commit = f"{bot.noon(2):%Y-%m-%d}", sha(f"merge {number}")[:12]
        typed = text.format(profile=secret, repository=repository, commit=commit, day=day)
        reply = guest.send_command("/prdigest", typed, side).ack.text
        assert not reply, (typed, reply)
        assert bot.list_posts(side) or bot.list_whispers(guest)[before:], typed
        shown = list_shown(bot, guest, side)
        assert OWN_LINE not in shown, typed
        assert hidden not in shown, typed
        assert "breaks:" not in shown, typed
    guest.send_command("/prrisks", f"2d repo:{repository} profile:{secret}", side)
    guest.mention(f"touches 2d profile:{secret}", side)
    for action, value in (
        ("hit_task", f"{secret} {repository}#{number}"),
        ("hit_ours", f"{secret} {repository}#{number}"),
    ):
        guest.press(old_button(action, value), action, channel=side)
    guest.open_home()
    bot.settle()
    shown = list_shown(bot, guest, side)
    assert OWN_LINE not in shown
    assert hidden not in shown
    # the form of a subscription lists none to choose from
    guest.send_command("/prdigest", "schedule", side)
    assert secret not in json.dumps(form_of(bot, guest))
    # and nobody else is kept from it
    ada, place = bot.person(), bot.channel()
    ada.send_command("/prdigest", f"touches 2d profile:{secret}", place)
    (answer,) = bot.list_posts(place)
    assert f"{OWN_LINE}:7" in as_read(answer)


# --- cards


@ONE_PROCESS
@pytest.mark.parametrize(
    ("who", "shared", "is_shown"),
    [
        pytest.param("member", False, True, id="of our own, among ourselves"),
        pytest.param("member", True, False, id="of our own, where others read along"),
        pytest.param("other workspace, in it", True, False, id="of another workspace"),
        pytest.param("other workspace, in it", False, False, id="of another one, in no shared channel"),
        pytest.param("other workspace, allowed, in it", True, False, id="of an allowed one"),
        pytest.param("unknown", False, False, id="whom Slack does not know"),
    ],
)
def test_a_guessed_number_tells_no_stranger_what_is_behind_it(
    partner_bot: Bot, who: str, shared: bool, is_shown: bool
) -> None:
    bot, slack = partner_bot, partner_bot.world.slack
    slack.grant_scopes("links:read", "links:write")
    slack.watch_domains({"github.com"})
    channel, ada = bot.channel(), bot.person()
    ada.send_command("/prdigest", "previews on", channel)
    bot.settle()
    slack.share_channel(channel, shared=shared)
    poster = make_actor(bot, "member" if who == "unknown" else who)
    slack.join_channel(channel, poster.user)
    number = bot.pull(title="A private plan", merged_at=bot.noon(1))
    if who == "unknown":
        slack.fail_next("users.info", error="user_not_found")
    sent = poster.send_message(f"https://github.com/{REPO}/pull/{number}", channel).payload
    work_off(bot)
    assert bool(slack.get_message(channel, sent["event"]["ts"]).get("attachments")) is is_shown


def work_off(bot: Bot) -> None:
    """Until nothing waits but the second look for other apps, which comes after seconds."""
    eventually(lambda: not any(bot.store.hlen(f"dramatiq:{lane}.msgs") for lane in QueueName))


@ONE_PROCESS
def test_previews_can_not_be_turned_on_where_others_read_along(partner_bot: Bot) -> None:
    bot, ada, channel = partner_bot, partner_bot.person(), partner_bot.channel(shared=True)
    for text in ("previews on", f"subscribe {REPO} previews"):
        ada.send_command("/prdigest", text, channel)
        assert "shared with another workspace" in bot.list_whispers(ada)[-1]["text"], text
    assert StoredSubscriptions(bot.store).list_all() == [] or not any(
        each.channel == channel for each in StoredSubscriptions(bot.store).list_all()
    )
    ada.send_command("/prdigest", "previews off", channel)
    assert "no previews here any more" in as_read(bot.list_posts(channel)[-1])


# --- whose workspace a request does not name: Slack's events name that of the installation


def as_shortcut(bot: Bot, person: Person, channel: str) -> Json:
    ts = bot.world.slack.add_message(channel, f"see {REPO}#{bot.pull()}", MAKER)
    return person.use_message_shortcut("explain_message", ts, channel).payload


def as_click(bot: Bot, person: Person, channel: str) -> Json:
    value = f"2|{REPO}#{bot.pull()}"
    return person.press(old_button("share_summary", value), "share_summary", channel=channel).payload


@ONE_PROCESS
@pytest.mark.parametrize("use", [as_shortcut, as_click])
@pytest.mark.parametrize("team", ["T0OTHER", None])
def test_who_does_not_say_whence_they_are_is_looked_up(partner_bot: Bot, use: object, team: str | None) -> None:
    assert callable(use)
    bot, number = partner_bot, partner_bot.pull(title="A private plan")
    known, channel = bot.person(), bot.channel(shared=True)
    bot.world.slack.set_person(known.user, team=team or "")
    client = bot.person()
    payload = use(bot, client, channel)
    bot.settle()
    # the rest, such as the address for answers, is that of the client that sent it
    user = {key: value for key, value in payload["user"].items() if key != "team_id"} | {"id": known.user}
    before = bot.calls()
    known._deliver_payload("interactive", {**payload, "user": user, "trigger_id": f"forged.{number}"})
    told = [each["text"] for each in (*bot.list_whispers(client), *bot.list_whispers(known))]
    assert any("people of my own workspace" in text for text in told) is bool(team)
    if team:
        assert bot.calls() == before
