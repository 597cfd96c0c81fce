"""Runs a demo: a local Slack, its page, a store, and the whole bot before them.

Only what lies outside is another: Slack always, GitHub and the model unless it is live. Everything between is what
runs everywhere: handlers, jobs, services, renderers and a real store, and they talk over HTTP.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, closing, contextmanager

from bot.adapters.embedded import end_embedded
from bot.container import Wiring
from bot.demo.page_text import COMMANDS
from bot.demo.stage import CHANNEL, YOU, LocalTeam, Stage
from bot.domain.errors import NotSetUp
from bot.processes import ended_in_time, running, told_to_stop
from bot.sandbox.blockkit import Names
from bot.sandbox.page.connection import Connection
from bot.sandbox.page.screen import Place, Screen
from bot.sandbox.page.server import Page
from bot.sandbox.page.visitor import Visitor
from bot.sandbox.slack.kept.store import BOT_USER
from bot.sandbox.slack.people.people import Person
from bot.sandbox.slack.people.wire import HttpWire
from bot.sandbox.slack.server import LocalSlack
from bot.sandbox.slack.team import Times
from bot.services.operations import deadlines

_BOT = "prdigest"
# Slack's own limit of posts to a channel
_POSTS_PER_SECOND = 1.0
_LOCAL = "127.0.0.1"
# seconds for what is being answered when somebody presses Ctrl-C: nobody will read it
_LAST_WORK = 2.0


def run_demo(stage: Stage, port: int, started: Callable[[str], None]) -> None:
    """Run until Ctrl-C or SIGTERM; ``started`` is told the address of the page once it is there.

    ``port`` is the page's, 0 for any.

    Raises:
        NotSetUp: the port, or a setting of a live demo, can't be used.
        StoreUnavailable: no store can be started here.
    """
    stopped = told_to_stop()
    stay_here(os.environ)
    with ExitStack() as parts:
        state = parts.enter_context(stage.state())
        parts.callback(end_embedded, state)
        slack = parts.enter_context(_local_slack(stage))
        team = LocalTeam(slack.url, slack.token, secrets.token_hex())
        connection = Connection()
        started(parts.enter_context(_page(stage, slack, connection, port)).address)
        settings = stage.settings(team, state)
        wiring = parts.enter_context(closing(Wiring(settings, stage.now, deadlines.sleep, stage.outside)))
        stage.prepare(wiring)
        ending = parts.enter_context(ended_in_time(stopped, _LAST_WORK))
        events = parts.enter_context(running(settings, wiring, stage.now, ending, _LOCAL, _LAST_WORK))
        connection.connect(HttpWire(f"http://{_LOCAL}:{events}/slack/events", team.signing_secret))
        stopped.wait()


def stay_here(environment: MutableMapping[str, str]) -> None:
    """Ask nothing of this machine through a proxy, which would not find it; Slack's SDK asks all through one."""
    known = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if known != "*":
        known = f"{known},{_LOCAL}".lstrip(",")
    environment.update(no_proxy=known, NO_PROXY=known)


@contextmanager
def _local_slack(stage: Stage) -> Iterator[LocalSlack]:
    """A team with one channel, one person and the bot."""
    times = Times(now=lambda: stage.now().timestamp())
    token, app_token = (f"{kind}-{secrets.token_hex()}" for kind in ("xoxb", "xapp"))
    with LocalSlack(token, posts_per_second=_POSTS_PER_SECOND, times=times, app_token=app_token) as slack:
        slack.rename_channel(CHANNEL, stage.channel)
        slack.set_person(YOU, name="You", tz=stage.zone.key)
        yield slack


@contextmanager
def _page(stage: Stage, slack: LocalSlack, connection: Connection, port: int) -> Iterator[Page]:
    visitor = Visitor(slack, Person(slack, connection, YOU, "you"), _BOT, COMMANDS)
    # their messages are there as soon as somebody looks
    slack.place(visitor.direct)
    places = (Place(CHANNEL, stage.channel), Place(visitor.direct, _BOT, "●"))
    users = {YOU: "You", BOT_USER: _BOT}
    names = Names(users, {place.id: place.name for place in places}, stage.zone, stage.now, YOU)
    try:
        page = Page(slack, visitor, Screen(slack, YOU, places, names), stage.about, secrets.token_urlsafe(), port)
    except OSError as error:
        raise NotSetUp(f"Port {port} can't be used ({error.strerror}): choose another with --port.") from error
    with page:
        try:
            yield page
        finally:
            page.close()
