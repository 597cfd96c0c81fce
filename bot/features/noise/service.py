"""``/prdigest mute``, "Less like …" and ``/prdigest usefulness``: what is kept of them, and their answers."""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.app import App
from bot.dates import Span
from bot.errors import StoreUnavailable, UsageError
from bot.features.merges.timeline import list_merges
from bot.features.merges.view import make_list, render_reference
from bot.features.noise.rules import (
    LESS_DAYS,
    MAX_LESS_WANTED,
    MIN_PEOPLE,
    USE_STEP,
    FoldedMerges,
    LessClick,
    LineFeature,
    Mute,
    MuteKind,
    Use,
    Usefulness,
    UseKind,
    count_uses,
    is_muted,
    select_less_wanted,
)
from bot.platform.jobs import job
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import determine_area
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import (
    Block,
    Element,
    Post,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_section,
    make_text,
)
from bot.platform.slack.notices import render_notice
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.tables import Map, Table
from impact.text.strings import truncate_text

log = logging.getLogger(__name__)

_DAY = timedelta(days=1)
_MAX_MUTES = 50
_MAX_LINES = 30
_USE_DAYS = 30
_STAYS = "What breaks callers or touches your code, security fixes and reverts always stay."


@dataclass(frozen=True, slots=True)
class Mutes:
    user: str
    mutes: tuple[Mute, ...] = ()


# a mute lasts a year at most
MUTES = Table("mutes:{user}", Mutes, "what a person has muted for themselves", days=366)
LESS_CLICKS = Map("less:{channel}", LessClick, "what people of a channel want less of", days=LESS_DAYS)
USES = Map("uses:{date}", Use, "what people opened, asked about, marked and muted", days=_USE_DAYS + 1)

# --- mutes


def load_mutes(app: App, user: str) -> tuple[Mute, ...]:
    """Return what a person mutes today; nothing without a person. Raises StoreUnavailable."""
    stored, today = app.tables.get(MUTES, user) if user else None, app.get_today().date
    return tuple(each for each in stored.mutes if each.until > today) if stored else ()


def select_muted(app: App, mutes: Collection[Mute], pulls: Iterable[PullRequest]) -> tuple[PullRequest, ...]:
    def find_area(pull: PullRequest) -> str:
        return determine_area(pull, app.paths.get_path_classes(pull.repository))

    return tuple(pull for pull in pulls if mutes and is_muted(mutes, pull, find_area(pull)))


@job("mute")
def mute_for_asker(app: App, asker: SlackRequest, mutes: tuple[Mute, ...]) -> None:
    def make() -> Answer:
        keys = {each.key for each in mutes}
        with app.tables.hold_lease(MUTES, asker.user):
            kept = tuple(each for each in load_mutes(app, asker.user) if each.key not in keys)
            if len(kept) + len(mutes) > _MAX_MUTES:
                raise UsageError(f"Nobody mutes more than {_MAX_MUTES} things: end some with /prdigest unmute.")
            app.tables.put(MUTES, Mutes(asker.user, (*kept, *mutes)), asker.user)
        note_use(app, asker, UseKind.MUTED, *(each.value for each in mutes if each.kind is MuteKind.AREA))
        title = truncate_text(f"Muted for you until {mutes[0].until}: {', '.join(map(str, mutes))}", 300)
        sentences = (
            "Where you read alone, it becomes a count with a button that shows it.",
            "That is in your direct messages, in previews, and in answers with private.",
            _STAYS,
            "Posts in a channel stay as they are: everybody there reads the same message.",
        )
        block = make_list(title, ([make_text(each)] for each in sentences))
        return Answer.for_asker(Post(escape_mrkdwn(title), (block,)), is_private=True)

    app.replies.give_answer(asker, "mute", Audience.ASKER, make)


@job("unmute")
def unmute_for_asker(app: App, asker: SlackRequest, mutes: tuple[Mute, ...]) -> None:
    """End some mutes of the asker; all, if none is named."""

    def make() -> Answer:
        keys = {each.key for each in mutes}
        with app.tables.hold_lease(MUTES, asker.user):
            before = load_mutes(app, asker.user)
            kept = tuple(each for each in before if keys and each.key not in keys)
            app.tables.put(MUTES, Mutes(asker.user, kept), asker.user)
        return Answer.for_asker(render_notice(f"Ended: {len(before) - len(kept)} muted."), is_private=True)

    app.replies.give_answer(asker, "unmute", Audience.ASKER, make)


@job("mutes")
def show_mutes(app: App, asker: SlackRequest) -> None:
    def make() -> Answer:
        blocks = list_mutes(app, asker.user)
        post = Post("What you mute", tuple(blocks)) if blocks else render_notice("You mute nothing.")
        return Answer.for_asker(post, is_private=True)

    app.replies.give_answer(asker, "mutes", Audience.ASKER, make)


def list_mutes(app: App, user: str) -> list[Block]:
    """Return what a person mutes as a block for them alone; nothing if they mute nothing."""
    lines = [[make_text(f"{each}, until {each.until}")] for each in load_mutes(app, user)]
    title = [make_text("Muted for you", bold=True), make_text(" (/prdigest unmute ends it)", italic=True)]
    return [make_block(make_section(title), make_bullets(lines))] if lines else []


@job("show_muted")
def show_muted(app: App, asker: SlackRequest, folded: FoldedMerges) -> None:
    """Show the asker what was folded; a merge that is on no list of its day is shown by its number."""

    def make() -> Answer:
        repository, numbers = app.repositories.require_known(folded.repository), folded.numbers
        days, workers = Span(folded.first, folded.last, ZoneInfo("UTC")), app.settings.prdigest_concurrency
        merged = list_merges(app.day_lists.list_merged, workers, repository, days)
        known = {pull.number: pull for pull in merged.pulls}
        lines: list[list[Element]] = []
        for number in numbers[:_MAX_LINES]:
            link = make_link(f"{app.repositories.web}/{repository}/pull/{number}", f"#{number}")
            pull = known.get(number)
            lines.append([*render_reference(pull), make_text(f", by {pull.author.login}")] if pull else [link])
        if rest := numbers[_MAX_LINES:]:
            lines.append([make_text(f"and {', '.join(f'#{number}' for number in rest)}")])
        title = f"{len(numbers)} muted for you"
        return Answer.for_asker(Post(title, (make_list(title, lines),)), is_private=True)

    app.replies.give_answer(asker, "muted", Audience.ASKER, make)


# --- "Less like …"


def find_less_wanted(app: App, channel: str) -> frozenset[LineFeature]:
    """Return what enough people of a channel want less of by now; nothing while the store is away."""
    try:
        clicks = app.tables.list_fields(LESS_CLICKS, channel, skips_later=True).values()
    except StoreUnavailable as error:
        log.warning("what %s wants less of is not known: %s", channel, error)
        return frozenset()
    return select_less_wanted(clicks, app.now(), 1 if channel.startswith("D") else MIN_PEOPLE)


@job("less_like")
def record_less(app: App, asker: SlackRequest, feature: str, at: datetime) -> None:
    """Record that the asker wants less of a feature, at an instant (aware). Another run changes nothing more."""
    named = LineFeature.parse(feature)
    for field, click in app.tables.list_fields(LESS_CLICKS, asker.channel, skips_later=True).items():
        if click.is_over(at):
            app.tables.remove_field(LESS_CLICKS, field, asker.channel)
    app.tables.put_field(
        LESS_CLICKS, f"{asker.user}|{named}", LessClick(asker.user, str(named), at), asker.channel
    )
    note_use(app, asker, UseKind.LESS, named.area)
    needed = "It counts at once here" if asker.is_direct else f"It counts once {MIN_PEOPLE} people here say so"
    sentence = (
        f"Noted, less like this: {named.label}. {needed}, and fades within {LESS_DAYS} days. Such lines then "
        f"stand in the thread, at most {MAX_LESS_WANTED} of a lead. {_STAYS}"
    )
    app.replies.tell_asker(asker, sentence)


# --- what people made use of


def note_use(app: App, asker: SlackRequest, kind: UseKind, *areas: str) -> None:
    """Note once for a request that a person did something about merges of some areas. It may be lost."""
    date = app.now().astimezone(dt.UTC).date()
    with suppress(StoreUnavailable):
        for area in dict.fromkeys(areas):
            name = hashlib.sha256(f"{asker.key} {kind} {area}".encode()).hexdigest()[:12]
            app.tables.put_field(USES, f"{asker.user} {name}", Use(asker.user, kind, area[:80]), date)


@job("usefulness")
def answer_usefulness(app: App, asker: SlackRequest) -> None:
    def make() -> Answer:
        today = app.now().astimezone(dt.UTC).date()
        dates = (today - days * _DAY for days in range(_USE_DAYS))
        uses = [use for date in dates for use in app.tables.list_fields(USES, date, skips_later=True).values()]
        # with their own, askers could try how many are missing to the next step
        others = [use for use in uses if use.user != asker.user]
        return Answer.for_asker(render_usefulness(count_uses(others), find_less_wanted(app, asker.channel)))

    app.replies.give_answer(asker, "usefulness", Audience.ASKER, make)


def render_usefulness(uses: Usefulness, less_wanted: Collection[LineFeature]) -> Post:
    title = f"What was of use to others in the last {_USE_DAYS} days"
    few = f"Nothing was done by as many as {MIN_PEOPLE} others."
    blocks = [make_header(title)]
    blocks.append(make_block(make_bullets(_list_uses(uses)) if uses else make_section([make_text(few)])))
    if less_wanted:
        lines = ([make_text(label)] for label in sorted(each.label for each in less_wanted))
        blocks.append(make_list("Less wanted here, so that it stands in the thread", lines))
    note = f"Without names, and rounded down to tens. What fewer than {MIN_PEOPLE} others did is left out."
    return Post(escape_mrkdwn(title), (*blocks, make_context(note)))


def _list_uses(uses: Usefulness) -> Iterator[Sequence[Element]]:
    for area, counts in [*uses.items()][:_MAX_LINES]:
        times = {kind: f"{count}+" if count else f"fewer than {USE_STEP}" for kind, count in counts.items()}
        did = ", ".join(f"{kind} {times[kind]} times" for kind in UseKind if kind in times)
        yield [make_text(f"{area or 'No area'}: ", bold=True), make_text(did)]
