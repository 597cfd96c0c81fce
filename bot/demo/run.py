"""Runs a demo: a local Slack, its page, a store, and the whole bot before them.

Only what lies outside is another: Slack always, GitHub and the model unless it is live. Everything between is what
runs everywhere: handlers, jobs, services, renderers and a real store, and they talk over HTTP.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.resources import files

from localslack.page.connection import Connection
from localslack.page.server import Page
from localslack.page.setup import Reader, make_page
from localslack.server.local_slack import LocalSlack
from localslack.server.team import Times
from localslack.users.transport import HttpTransport

from bot.adapters.embedded import stop_embedded
from bot.adapters.slack import SCOPES
from bot.container import open_foundation
from bot.demo.page_text import COMMANDS
from bot.demo.stage import CHANNEL, YOU, LocalTeam, Stage
from bot.domain.errors import ConfigurationError
from bot.processes import limit_shutdown, listen_for_stop_signals, run_processes
from bot.services.operations import deadlines

_BOT_NAME = "prdigest"
# Slack's own limit of posts to a channel
_POSTS_PER_SECOND = 1.0
_LOOPBACK_HOST = "127.0.0.1"
# seconds for what is being answered when somebody presses Ctrl-C: nobody will read it
_JOB_GRACE = 2.0


def run_demo(stage: Stage, port: int, started: Callable[[str], None]) -> None:
    """Run until Ctrl-C or SIGTERM; ``started`` is told the address of the page once it is there.

    ``port`` is the page's, 0 for any.

    Raises:
        NotSetUp: the port, or a setting of a live demo, can't be used.
        StoreUnavailable: no store can be started here.
    """
    stopped = listen_for_stop_signals()
    bypass_proxy(os.environ)
    with ExitStack() as parts:
        state = parts.enter_context(stage.open_state())
        parts.callback(stop_embedded, state)
        slack = parts.enter_context(_run_local_slack(stage))
        team = LocalTeam(slack.url, slack.token, secrets.token_hex())
        connection = Connection()
        started(parts.enter_context(_serve_page(stage, slack, connection, port)).address)
        settings = stage.build_settings(team, state)
        base = parts.enter_context(open_foundation(settings, stage.now, deadlines.sleep, stage.sources))
        stage.prepare_bot(base)
        ending = parts.enter_context(limit_shutdown(stopped, _JOB_GRACE))
        events = parts.enter_context(run_processes(base, ending, _LOOPBACK_HOST, _JOB_GRACE))
        connection.connect(HttpTransport(f"http://{_LOOPBACK_HOST}:{events}/slack/events", team.signing_secret))
        stopped.wait()


def bypass_proxy(environment: MutableMapping[str, str]) -> None:
    """Ask nothing of this machine through a proxy, which would not find it; Slack's SDK asks all through one."""
    known = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if known != "*":
        known = f"{known},{_LOOPBACK_HOST}".lstrip(",")
    environment.update(no_proxy=known, NO_PROXY=known)


@contextmanager
def _run_local_slack(stage: Stage) -> Iterator[LocalSlack]:
    """A team with one channel, one person and the bot."""
    token, app_token = (f"{kind}-{secrets.token_hex()}" for kind in ("xoxb", "xapp"))
    slack = LocalSlack(
        token,
        scopes=frozenset(SCOPES),
        app_token=app_token,
        bot_name=_BOT_NAME,
        channel=(CHANNEL, stage.channel),
        posts_per_second=_POSTS_PER_SECOND,
        times=Times(now=lambda: stage.now().timestamp()),
    )
    with slack:
        slack.set_person(YOU, name="You", tz=stage.zone.key)
        yield slack


@contextmanager
def _serve_page(stage: Stage, slack: LocalSlack, connection: Connection, port: int) -> Iterator[Page]:
    icon = files("bot.demo").joinpath("icon.svg").read_text(encoding="utf-8")
    about = replace(stage.about, icon=icon)
    reader = Reader(YOU, "You", stage.zone, stage.now)
    token = secrets.token_urlsafe()
    try:
        page = make_page(
            slack, connection, about, token, reader=reader, commands=COMMANDS, terminal=about.program, port=port
        )
    except OSError as error:
        raise ConfigurationError(
            f"Port {port} can't be used ({error.strerror}): choose another with --port."
        ) from error
    with page:
        try:
            yield page
        finally:
            page.close()
