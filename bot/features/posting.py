"""Messages that stand once, however often a job that posts them breaks off: Slack is the proof, by their keys."""

from __future__ import annotations

from dataclasses import dataclass
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


def post_once(app: App, channel: str, key: str, post: Post, thread: str | None = None) -> str:
    """Post a message unless that of the key stands, and return its timestamp.

    Raises what Slack raises, and StoreUnavailable: another call with the same key finishes it.
    """
    with app.tables.hold_lease(BEGUN_POSTS, key):
        earlier = app.tables.get(BEGUN_POSTS, key)
        if earlier and earlier.message:
            return earlier.message
        since, message = earlier.begun_at if earlier else app.now(), ""
        if earlier:
            message = app.messenger.find_posts(channel, since - CLOCK_SKEW, thread).get(key, "")
        if not message:
            app.tables.put(BEGUN_POSTS, BegunPost(since), key)
            message = app.messenger.post_message(channel, post.build_payload(), key, thread)
        app.tables.put(BEGUN_POSTS, BegunPost(since, message), key)
        return message
