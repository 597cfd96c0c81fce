"""``/prdigest watch 35617``: people are told when it is merged, reverted, repaired, released or pinned."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.app import App
from bot.errors import PrdigestError, SlackCallRefused, StoreUnavailable, UsageError
from bot.features.merges.view import format_outcome, render_reference
from bot.features.posting import post_once
from bot.features.watches.whereabouts import Whereabouts, fetch_whereabouts, render_whereabouts
from bot.platform.jobs import job
from bot.platform.pulls.models import Reference
from bot.platform.slack.answers import Answer, compute_fingerprint
from bot.platform.slack.blocks import (
    Element,
    Post,
    add_buttons,
    escape_mrkdwn,
    make_block,
    make_bullets,
    make_details_button,
    make_section,
    make_text,
)
from bot.platform.slack.notices import render_notice
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.due_queue import CHECK_INTERVAL, OutcomeCheck
from bot.platform.store.tables import Map
from bot.text import format_count
from impact.history.outcomes import OutcomeKind
from impact.repository import Repository
from impact.text.strings import truncate_text

log = logging.getLogger(__name__)

# of one person in one repository: each takes a call to GitHub every six hours
MAX_WATCHES = 50
# what was not released by then is not worth a message any more; a project has a release in half a year
WATCH_PERIOD = timedelta(days=180)
# a release and a pin that have it end a watch once nobody reverts it any more: 95 of 100 reverts come within that
_SETTLING = timedelta(days=30)
_MAX_TITLE = 120
# Slack's codes for a person whom no message reaches any more
_GONE_CODES = {"user_not_found", "user_disabled", "user_not_visible", "cannot_dm_bot"}
_WHAT = "when it is merged, reverted or repaired, first in a release, and in your pin"


@dataclass(frozen=True, slots=True)
class Watch:
    """A pull request that a person watches. Times are aware.

    ``told`` are the events that they know of. ``telling`` are those that a message is about which may be posted.
    """

    user: str
    number: int
    title: str
    since: datetime
    told: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        return f"{self.user}#{self.number}"


WATCHES = Map("watches:{repository}", Watch, "pull requests that people watch")


def _name(repository: Repository) -> str:
    return str(repository).lower()


def has_watches(app: App, repository: Repository) -> bool:
    return bool(app.tables.list_fields(WATCHES, _name(repository), skips_later=True))


# --- what people ask for


@job("watch_one")
def begin_watch(app: App, asker: SlackRequest, reference: Reference) -> None:
    """Watch a pull request for the asker, who gets to know where it is by now."""

    def make() -> Answer:
        known = Reference(app.repositories.require_known(reference.repository), reference.number)
        places = fetch_whereabouts(app, known)
        pull = places.pull
        if not pull.is_merged and pull.state == "CLOSED":
            raise UsageError(f"#{pull.number} was closed without being merged: nothing will come of it.")
        with app.tables.hold_lease(WATCHES, _name(known.repository)):
            own = list_watched(app, known.repository, asker.user)
            if len(own) >= MAX_WATCHES and known.number not in [each.number for each in own]:
                raise UsageError(f"You watch {len(own)} pull requests: end one with /prdigest unwatch NUMBER.")
            told = tuple(event for event, _ in list_events(places))
            title = truncate_text(pull.title, _MAX_TITLE)
            watch = Watch(asker.user, pull.number, title, app.now(), told)
            app.tables.put_field(WATCHES, watch.field, watch, _name(known.repository))
        app.due_queue.add(OutcomeCheck(known.repository), app.now() + CHECK_INTERVAL)
        post = render_whereabouts(places)
        note = make_block(make_section([make_text(f"I will tell you {_WHAT}, for {WATCH_PERIOD.days} days.")]))
        post = replace(post, blocks=(*post.blocks, note))
        return Answer.for_asker(add_buttons(post, make_details_button(pull)))

    app.replies.give_answer(asker, "watch", Audience.ASKER, make)


@job("unwatch")
def end_watches(app: App, asker: SlackRequest, reference: Reference | None) -> None:
    """End the asker's watch of a pull request; without one, all of them."""

    def make() -> Answer:
        ended = 0
        for repository in [reference.repository] if reference else app.repositories.list_all():
            with app.tables.hold_lease(WATCHES, _name(repository)):
                for watch in list_watched(app, repository, asker.user):
                    if reference is None or watch.number == reference.number:
                        app.tables.remove_field(WATCHES, watch.field, _name(repository))
                        ended += 1
        if reference and not ended:
            raise UsageError(f"You don't watch #{reference.number}: /prdigest watch lists what you watch.")
        told = f"You no longer watch {format_count(ended, 'pull request')}." if ended else "You watch nothing."
        return Answer.for_asker(render_notice(told))

    app.replies.give_answer(asker, "unwatch", Audience.ASKER, make)


@job("watches")
def list_watches(app: App, asker: SlackRequest) -> None:
    def make() -> Answer:
        lines = [
            [make_text(f"{repository}#{watch.number} {watch.title}, since {watch.since:%Y-%m-%d}")]
            for repository in app.repositories.list_all()
            for watch in sorted(list_watched(app, repository, asker.user), key=lambda each: each.since)
        ]
        if not lines:
            return Answer.for_asker(render_notice("You watch nothing: write /prdigest watch and a number."))
        title = f"You watch {format_count(len(lines), 'pull request')}"
        blocks = (make_block(make_section([make_text(title, bold=True)]), make_bullets(lines[:MAX_WATCHES])),)
        return Answer.for_asker(Post(escape_mrkdwn(title), blocks))

    app.replies.give_answer(asker, "watches", Audience.ASKER, make)


def describe_watch(watch: Watch) -> str:
    """Return what is watched, and what its owner was told of it."""
    words = {"release": "in a release", "tag": "in a tag", "pin": "in a pin", "undone": "and that undone"}
    kinds = dict.fromkeys(event.partition(":")[0] for event in watch.told)
    told = ", ".join(words.get(kind, kind) for kind in kinds)
    return f"#{watch.number} {watch.title}: {told or 'not merged yet'}"


def list_watched(app: App, repository: Repository, user: str) -> list[Watch]:
    watches = app.tables.list_fields(WATCHES, _name(repository), skips_later=True).values()
    return [each for each in watches if each.user == user]


# --- what they are told


def list_events(places: Whereabouts) -> Iterator[tuple[str, str]]:
    """Yield what happened to a pull request so far: a name for each that never changes, and a sentence."""
    pull = places.pull
    if not pull.is_merged:
        if pull.state == "CLOSED":
            yield "closed", "It was closed without being merged."
        return
    yield "merged", f"It was merged on {pull.merge_time:%Y-%m-%d} as {pull.commit[:10]}."
    for outcome in places.outcomes:
        words = format_outcome(outcome)
        title = "" if outcome.kind is OutcomeKind.REVERTED else f" ({truncate_text(outcome.by.title, _MAX_TITLE)})"
        yield f"{outcome.kind.name.lower()}:{outcome.by.number}", f"It was {words} #{outcome.by.number}{title}."
        if not outcome.stands:
            now = "It is back" if outcome.kind is OutcomeKind.REVERTED else "Its repair is gone"
            yield f"undone:{outcome.by.number}", f"{now}: #{outcome.by.number} was itself reverted."
    if first := places.first_release:
        tag, copy = first
        kind = "release" if tag.is_release else "tag"
        as_copy = f", as {copy.commit[:10]}" if copy else ""
        yield kind, f"The first {kind} that holds it is {tag.name} of {tag.at:%Y-%m-%d}{as_copy}."
    for pin in places.pins:
        if pin.holds:
            yield f"pin:{pin.profile}", f"The pin of {pin.profile} ({pin.name}) holds it."


def tell_watchers(app: App, repository: Repository) -> None:
    """Tell people what is new of what they watch; what can't be read or told now, the next check tells."""
    for watch in app.tables.list_fields(WATCHES, _name(repository), skips_later=True).values():
        try:
            # its profiles are those that this person may see
            places = fetch_whereabouts(app.serve(watch.user), Reference(repository, watch.number))
            with app.tables.hold_lease(WATCHES, _name(repository)):
                current = app.tables.get_field(WATCHES, watch.field, _name(repository))
                if current:
                    _tell_news(app, repository, current, places)
        except StoreUnavailable:
            raise
        except SlackCallRefused as error:
            log.warning("the owner of a watch of #%s can't be told: %s", watch.number, error)
            if error.code in _GONE_CODES or app.now() - watch.since > WATCH_PERIOD:
                app.tables.remove_field(WATCHES, watch.field, _name(repository))
        except PrdigestError as error:
            log.warning("what is new of #%s is told later: %s", watch.number, error)
        except Exception:
            # what is wrong with one must not keep the others from being told
            log.exception("what is new of #%s is told later", watch.number)


def _tell_news(app: App, repository: Repository, watch: Watch, places: Whereabouts) -> None:
    """Post what is new, once: what an attempt began that was ended is looked for, and told first."""
    events = dict(list_events(places))
    telling = watch.telling or tuple(event for event in events if event not in watch.told)
    if telling:
        # who watches it anew may be told the same again
        events_told = " ".join((watch.user, watch.since.isoformat(), *telling))
        key = f"{WATCHES.family.build_key(_name(repository))}:{watch.number}:{compute_fingerprint(events_told)}"
        # what another attempt finds new beside it has a message of its own
        app.tables.put_field(WATCHES, watch.field, replace(watch, telling=telling), _name(repository))
        sentences = [events[each] for each in telling if each in events]
        channel = app.messenger.open_direct_messages(watch.user)
        # a tag that an attempt was to tell is none any more once a release has it
        if sentences:
            post_once(app, channel, key, _render_news(places, sentences))
        watch = replace(watch, told=(*watch.told, *telling), telling=())
        app.tables.put_field(WATCHES, watch.field, watch, _name(repository))
    if _is_over(watch, places, app.now()):
        app.tables.remove_field(WATCHES, watch.field, _name(repository))


def _is_over(watch: Watch, places: Whereabouts, now: datetime) -> bool:
    pull = places.pull
    is_settled = pull.is_merged and now - pull.merge_time > _SETTLING
    has_all = "release" in watch.told and all(f"pin:{pin.profile}" in watch.told for pin in places.pins)
    return "closed" in watch.told or now - watch.since > WATCH_PERIOD or (is_settled and has_all)


def _render_news(places: Whereabouts, sentences: Sequence[str]) -> Post:
    pull = places.pull
    head: list[Element] = [make_text("You watch ", bold=True), *render_reference(pull)]
    blocks = (make_block(make_section(head), make_bullets([make_text(each)] for each in sentences)),)
    text = f"#{pull.number} {pull.title}: {' '.join(sentences)}"
    return add_buttons(Post(escape_mrkdwn(truncate_text(text, 800)), blocks), make_details_button(pull))
