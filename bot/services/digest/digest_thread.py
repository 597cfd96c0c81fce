"""The messages of one digest in its channel: each is found by its key, posted if it is missing, never twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from bot.domain.conversations.commands import DigestRequest
from bot.domain.conversations.thread_subject import SubjectKind
from bot.domain.digest.view import DigestView
from bot.domain.errors import SlackCallRefused, SlackUnavailable
from bot.features.digest.view import MOVED_NOTE, format_unattached
from bot.ports import Attachment, Messenger, Post
from bot.ports.slack.messages import CLOCK_SKEW
from bot.render.conversations.notices import render_notice
from bot.services.digest.posting_plan import PostingPlan
from bot.services.digest.records import TrackedDigest

log = logging.getLogger(__name__)

_MAX_ATTEMPTS = 3


class DigestThread:
    """One attempt at the messages of a digest; ``lead`` is the timestamp of the first, empty until then."""

    def __init__(
        self, messenger: Messenger, sleep: Callable[[float], None], digest: TrackedDigest, lead: str = ""
    ) -> None:
        spec = digest.spec
        self._messenger = messenger
        self._sleep = sleep
        self._channel = spec.channel
        self._key = digest.key
        # no digest is older than its last day; our own clock is less reliable
        self._since = spec.span.days[-1].start - CLOCK_SKEW
        self._about = SubjectKind.DIGEST.format_subject(
            DigestRequest(
                spec.repository, spec.span, zone=spec.span.zone, view=DigestView(profile=spec.view.profile)
            )
        )
        self.lead = lead
        # the thread of a message that this run posted is empty; a search would need a scope, and a call
        self._is_new = False

    def find_lead(self, *, is_retry: bool) -> str:
        """Return the timestamp of the lead message, empty if there is none. Raises SlackCallRefused."""
        try:
            return self._messenger.find_posts(self._channel, self._since).get(self._key, "")
        except SlackCallRefused as error:
            # without the permission to read the channel a first attempt is still safe; a second could post twice
            if error.code != "missing_scope" or is_retry:
                raise
            return ""

    def post_lead(self, post: Mapping[str, Any]) -> str:
        """Post the lead message unless it is posted already; return its timestamp."""
        if not self.lead:
            self._is_new = True
            self.lead = self._run_once(
                lambda: self._messenger.post_message(self._channel, post, self._key, about=self._about),
                lambda: self.find_lead(is_retry=True),
            )
        return self.lead

    def post_replies(self, posts: tuple[Mapping[str, Any], ...]) -> None:
        """Post the missing messages of the thread, in order."""
        posted = {} if self._is_new else self._find_replies()
        for key, post in self._assign_keys(posts).items():
            if key not in posted:
                self._post_reply(key, post)

    def revise_messages(self, plan: PostingPlan) -> None:
        """Edit every message to the plan, post missing replies, and blank superfluous ones."""
        self._messenger.edit_message(self._channel, self.lead, plan.lead, self._key, self._about)
        posted = self._find_replies()
        for key, post in self._assign_keys(plan.thread).items():
            if ts := posted.pop(key, None):
                self._messenger.edit_message(self._channel, ts, post, key)
            else:
                self._post_reply(key, post)
        for key, ts in posted.items():
            if key.startswith(f"{self._key}#"):
                self._messenger.edit_message(self._channel, ts, render_notice(MOVED_NOTE).build_payload(), key)

    def edit_changed(self, before: PostingPlan | None, after: PostingPlan) -> None:
        """Edit the messages that differ from ``before``, all if it is None. Deleted ones are not posted again."""
        if before is None or after.lead != before.lead:
            self._messenger.edit_message(self._channel, self.lead, after.lead, self._key, self._about)
        old = self._assign_keys(before.thread) if before else {}
        changed = {key: post for key, post in self._assign_keys(after.thread).items() if old.get(key) != post}
        posted = self._find_replies() if changed else {}
        for key, post in changed.items():
            if key in posted:
                self._messenger.edit_message(self._channel, posted[key], post, key)

    def reply_once(self, name: str, post: Post) -> None:
        """Reply in the thread, once for each name."""
        key = f"{self._key}!{name}"
        if key not in self._find_replies():
            self._post_reply(key, post.build_payload())

    def attach_report(self, file: Attachment | None) -> tuple[str, ...]:
        """Attach the report unless it is attached already. Return a note if the bot lacks the scope for files."""
        if file is None:
            return ()

        def upload() -> str:
            if self._is_new or not find():
                self._messenger.attach_file(self._channel, self.lead, file)
            return file.name

        def find() -> str:
            return file.name if self._messenger.has_attachment(self._channel, self.lead, file.name) else ""

        try:
            self._run_once(upload, find)
        except SlackCallRefused as error:
            if error.code != "missing_scope":
                raise
            return (format_unattached(str(error)),)
        return ()

    def _assign_keys(self, posts: tuple[Mapping[str, Any], ...]) -> dict[str, Mapping[str, Any]]:
        return {f"{self._key}#{place}": post for place, post in enumerate(posts, 1)}

    def _post_reply(self, key: str, post: Mapping[str, Any]) -> None:
        self._run_once(
            lambda: self._messenger.post_message(self._channel, post, key, self.lead),
            lambda: self._find_replies().get(key, ""),
        )

    def _find_replies(self) -> dict[str, str]:
        return self._messenger.find_posts(self._channel, self._since, thread=self.lead)

    def _run_once(self, act: Callable[[], str], find: Callable[[], str]) -> str:
        """Call ``act``. If it is unknown whether it had an effect, look for that before the next attempt."""
        for pause in range(1, _MAX_ATTEMPTS):
            try:
                return act()
            except SlackUnavailable as error:
                if error.retry_after is not None:
                    # it had no effect, and the limit was waited for
                    raise
                log.info("not known whether Slack took it (%s), looking", error)
                self._sleep(float(pause))
            if earlier := find():
                return earlier
        return act()
