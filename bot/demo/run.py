"""Runner of a demo: a local Slack with its page, a store, and the whole bot.

Only external services are replaced: Slack always, GitHub and the model unless the demo is live. Everything between
them is the same as elsewhere: handlers, jobs, services, renderers and a real store, connected over HTTP.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from importlib.resources import files
from urllib.parse import urlsplit

from localslack.page.connection import Connection
from localslack.page.server import Page
from localslack.page.setup import Reader, make_page
from localslack.server.local_slack import LocalSlack
from localslack.server.team import Times
from localslack.users.transport import HttpTransport

from bot.app import open_app
from bot.demo.page_text import APP
from bot.demo.stage import CHANNEL, YOU, Stage, build_local_settings, open_state
from bot.errors import ConfigurationError
from bot.platform import deadlines
from bot.platform.slack.app_manifest import PREVIEW_SCOPES
from bot.platform.slack.check import SCOPES
from bot.platform.store.embedded.server import stop_embedded
from bot.processes import limit_shutdown, listen_for_stop_signals, run_processes, wait_for_signal
from impact.repository import GITHUB_WEB

# Slack's own limit of posts to a channel
_POSTS_PER_SECOND = 1.0
_LOOPBACK_HOST = "127.0.0.1"
# seconds for running jobs after Ctrl-C: nobody will read their answers
_JOB_GRACE = 2.0


def run_demo(stage: Stage, port: int, started: Callable[[str], None]) -> None:
    """Run a demo until Ctrl-C or SIGTERM. ``started`` gets the page's address, whose ``port`` is 0 for any.

    Raises ConfigurationError for a port or a setting that can't be used, StoreUnavailable without a store.
    """
    stopped = listen_for_stop_signals()
    bypass_proxy(os.environ)
    with ExitStack() as parts:
        state = parts.enter_context(open_state(stage.state))
        parts.callback(stop_embedded, state)
        slack = parts.enter_context(_run_local_slack(stage))
        secret = secrets.token_hex()
        connection = Connection()
        started(parts.enter_context(_serve_page(stage, slack, connection, port)).address)
        settings = stage.build_settings(build_local_settings(slack.url, slack.token, secret, state))
        app = parts.enter_context(open_app(settings, stage.now, deadlines.sleep, stage.sources))
        stage.prepare_bot(app)
        shutdown = parts.enter_context(limit_shutdown(stopped, _JOB_GRACE))
        events = parts.enter_context(run_processes(app, shutdown, _LOOPBACK_HOST, _JOB_GRACE))
        connection.connect(HttpTransport(f"http://{_LOOPBACK_HOST}:{events}/slack/events", secret))
        wait_for_signal(stopped)


def bypass_proxy(environment: MutableMapping[str, str]) -> None:
    """Exclude this machine from the proxy of an environment, which Slack's SDK asks for everything."""
    hosts = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    if hosts != "*":
        hosts = f"{hosts},{_LOOPBACK_HOST}".lstrip(",")
    environment.update(no_proxy=hosts, NO_PROXY=hosts)


@contextmanager
def _run_local_slack(stage: Stage) -> Iterator[LocalSlack]:
    """Run a local Slack with one channel, one person and the bot during the block."""
    token, app_token = (f"{kind}-{secrets.token_hex()}" for kind in ("xoxb", "xapp"))
    slack = LocalSlack(
        token,
        scopes=frozenset({*SCOPES, *PREVIEW_SCOPES}),
        app_token=app_token,
        bot_name="prdigest",
        channel=(CHANNEL, stage.channel),
        posts_per_second=_POSTS_PER_SECOND,
        times=Times(now=lambda: stage.now().timestamp()),
    )
    with slack:
        slack.set_person(YOU, name="You", tz=stage.zone.key)
        slack.watch_domains({urlsplit(GITHUB_WEB).netloc})
        yield slack


@contextmanager
def _serve_page(stage: Stage, slack: LocalSlack, connection: Connection, port: int) -> Iterator[Page]:
    """Serve the page during the block. Raises ConfigurationError if its port can't be used."""
    icon = files("bot.demo").joinpath("icon.svg").read_text(encoding="utf-8")
    about = replace(stage.about, icon=icon)
    reader = Reader(YOU, "You", stage.zone, stage.now)
    token = secrets.token_urlsafe()
    try:
        page = make_page(
            slack, connection, about, token, reader=reader, app=APP, terminal=about.program, port=port
        )
    except OSError as error:
        raise ConfigurationError(
            f"Port {port} can't be used ({error.strerror}): choose another one with --port."
        ) from error
    with page, closing(page):
        yield page
