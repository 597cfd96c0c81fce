"""Control over the team's channels and people, for setting up and changing them."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import replace
from typing import Unpack

from localslack.errors import require
from localslack.rules.elements import is_zone
from localslack.state.channel import Channel, get_direct_id
from localslack.state.identity import BOT_USER
from localslack.state.profiles import ProfileFields
from localslack.state.unfurls import COMPOSER_CHANNEL
from localslack.state.workspace import Workspace


class TeamChannels:
    """Changes to channels and people that do not come from the app. Safe to use from any thread."""

    workspace: Workspace
    _lock: threading.Lock

    def add_channel(
        self,
        id: str,  # noqa: A002 (Slack's own word)
        name: str,
        *,
        member: bool = True,
        archived: bool = False,
        private: bool = False,
        shared: bool = False,
        several: bool = False,
        people: Collection[str] | None = None,
    ) -> None:
        """Add a channel. ``several`` is a group DM: direct messages among several people and the bot.

        ``people`` are its members; by default all people of the team except guests.
        """
        with self._lock:
            private = private or several or id.startswith(("G", "D"))
            user = f"U{id[1:]}" if id.startswith("D") else ""
            self.workspace.channels[id] = Channel(
                id,
                name,
                member,
                archived,
                private,
                shared,
                user,
                several=several,
                people=None if people is None else frozenset(people),
            )

    def rename_channel(self, channel: str, name: str) -> None:
        """Give a channel another name."""
        with self._lock:
            self.workspace.channels[channel].name = name

    def archive_channel(self, channel: str) -> None:
        """Archive a channel."""
        with self._lock:
            self.workspace.channels[channel].archived = True

    def unarchive_channel(self, channel: str) -> None:
        """Restore a channel with the bot in it as before; whether Slack does so is not documented."""
        with self._lock:
            self.workspace.channels[channel].archived = False

    def share_channel(self, channel: str, *, shared: bool = True) -> None:
        """Share a channel with another team, or end that."""
        with self._lock:
            self.workspace.channels[channel].shared = shared

    def remove_bot(self, channel: str) -> None:
        """Remove the bot from a channel."""
        with self._lock:
            self.workspace.channels[channel].member = False

    def invite_bot(self, channel: str) -> None:
        """Add the bot to a channel."""
        with self._lock:
            self.workspace.channels[channel].member = True

    def join_channel(self, channel: str, user: str) -> None:
        """Add a person to a channel."""
        with self._lock:
            place = self.workspace.channels[channel]
            place.people = frozenset({*self._list_people(channel), user})

    def leave_channel(self, channel: str, user: str) -> None:
        """Remove a person from a channel."""
        with self._lock:
            place = self.workspace.channels[channel]
            place.people = self._list_people(channel) - {user}

    def _list_people(self, channel: str) -> frozenset[str]:
        place = self.workspace.channels[channel]
        return frozenset(self.workspace.list_members(place)) - {BOT_USER}

    def register_user(self, user: str, team: str) -> None:
        """Add a person to the team, since they use the app."""
        with self._lock:
            self.workspace.people.setdefault(user, replace(self.workspace.get_profile(user), team=team))

    def can_write(self, channel: str, user: str) -> bool:
        """Return whether a person is in a channel; in one without a list of members, everybody but guests is."""
        with self._lock:
            place = self.workspace.get_channel(channel)
            if place.kind == "im" or place.people is not None:
                return self.workspace.is_in(place, user)
            return not self.workspace.get_profile(user).is_guest

    def set_person(self, user: str, **facts: Unpack[ProfileFields]) -> None:
        """Set fields of a person's profile; other fields stay. The person need not exist yet."""
        require(facts.get("tz") is None or is_zone(facts["tz"]), f"no zone {facts.get('tz')}")
        with self._lock:
            self.workspace.people[user] = replace(self.workspace.get_profile(user), **facts)

    def has_direct(self, user: str) -> bool:
        """Return whether a person and the bot have direct messages."""
        with self._lock:
            return get_direct_id(user) in self.workspace.channels

    def is_shared(self, channel: str) -> bool:
        """Return whether another team shares a channel. Neither the message box nor nothing is one."""
        with self._lock:
            return channel not in ("", COMPOSER_CHANNEL) and self.workspace.get_channel(channel).shared

    def get_channel(self, channel: str) -> Channel:
        """Return a channel that a person is in: one that was added, or direct messages."""
        with self._lock:
            return self.workspace.get_channel(channel)
