"""The page of a local Slack, assembled: one person, one channel and the bot's direct messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from localslack.blockkit import Names
from localslack.manifest import Manifest, ShortcutKind
from localslack.page.about import About
from localslack.page.screen import PageConversation, Screen
from localslack.page.server import Page
from localslack.page.visitor import Visitor
from localslack.server.local_slack import LocalSlack
from localslack.state.identity import BOT_USER
from localslack.users.person import Person
from localslack.users.transport import Transport

YOU = "U0YOU"
NO_APP = Manifest()


@dataclass(frozen=True, slots=True)
class Reader:
    """The person at the page: their user ``id``, the ``name`` on the page and their time zone.

    ``now`` is the clock with which dates can say "today"; without it they never do.
    """

    id: str = YOU
    name: str = "You"
    zone: tzinfo = UTC
    now: Callable[[], datetime] | None = None


def make_page(
    slack: LocalSlack,
    transport: Transport,
    about: About,
    token: str,
    *,
    reader: Reader,
    app: Manifest = NO_APP,
    terminal: str = "bot",
    port: int = 0,
) -> Page:
    """Return the page on which ``reader`` uses the app behind ``transport``; it is served while it is entered.

    ``token`` opens it, and ``app`` has the commands and shortcuts that it offers. ``terminal`` names the program
    in the terminal that shows the bot's errors. Raises OSError if the ``port`` is not available.
    """
    person = Person(slack, transport, reader.id, reader.name.lower())
    visitor = Visitor(slack, person, app.commands, terminal, app.shortcuts)
    # creates the direct messages, which exist from the first look
    slack.get_channel(visitor.direct)
    places = (
        PageConversation(slack.home, slack.get_channel(slack.home).name),
        PageConversation(visitor.direct, slack.bot_name, mark=""),
    )
    users = {reader.id: reader.name, BOT_USER: slack.bot_name}
    names = Names(users, {place.id: place.name for place in places}, reader.zone, reader.now, reader.id)
    screen = Screen(slack, reader.id, places, names, visitor.list_shortcuts(ShortcutKind.MESSAGE))
    return Page(slack, visitor, screen, about, token, port)
