"""Messages that stand once, however often a job that posts them breaks off: Slack is the proof, by their keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.app import App
from bot.platform.slack.blocks import CLOCK_SKEW, Post
from bot.platform.store.tables import Table


@dataclass(frozen=True, slots=True)
class BegunPost:
    """When the first attempt began (aware), and the timestamp in Slack, empty until it is known to stand."""

    begun_at: datetime
    message: str = ""


# longer than anything is tried again
BEGUN_POSTS = Table("post:{key}", BegunPost, "when a message was posted", days=30)


def find_posted(app: App, channel: str, key: str, thread: str | None = None) -> str:
    """Return the timestamp of the message of a key, empty if none stands."""
    begun = app.tables.get(BEGUN_POSTS, key)
    if begun is None or begun.message:
        return begun.message if begun else ""
    return app.messenger.find_posts(channel, begun.begun_at - CLOCK_SKEW, thread).get(key, "")


def post_once(app: App, channel: str, key: str, post: Post, thread: str | None = None) -> str:
    """Post a message unless that of the key stands, and return its timestamp.

    Raises what Slack raises, and StoreUnavailable: another call with the same key finishes it.
    """
    with app.tables.hold_lease(BEGUN_POSTS, key):
        begun = BegunPost(app.now())
        is_first = app.tables.add(BEGUN_POSTS, begun, key)
        message = "" if is_first else find_posted(app, channel, key, thread)
        message = message or app.messenger.post_message(channel, post.build_payload(), key, thread)
        app.tables.put(BEGUN_POSTS, replace(begun, message=message), key)
        return message
