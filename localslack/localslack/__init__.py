"""A local Slack on the loopback: its Web API with the limits and errors of the real one, and people who use it.

It knows no bot: the caller says what the bot is called and what it may do. ``python -m localslack`` shows it in a
browser.
"""

from localslack.errors import InvalidAction, SlackError
from localslack.server.local_slack import LocalSlack, Refusal
from localslack.server.team import Times
from localslack.users.person import Delivery, Person
from localslack.users.transport import Ack, HttpTransport, Transport

__all__ = [
    "Ack",
    "Delivery",
    "HttpTransport",
    "InvalidAction",
    "LocalSlack",
    "Person",
    "Refusal",
    "SlackError",
    "Times",
    "Transport",
]
