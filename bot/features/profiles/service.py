"""The profiles that the bot keeps, and how people name them in requests and subscriptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.app import App
from bot.errors import UsageError
from bot.features.merges.requests import DigestView, ViewLevel
from bot.platform.store.tables import Map, Table
from impact.coverage import COMPLETE, Coverage, CoveredPart
from impact.profile.models import Profile, ProfileMove
from impact.repository import Repository
from impact.source.models import is_tag
from impact.text.strings import quote_input

_MAX_NAMES = 8


@dataclass(frozen=True, slots=True)
class PinnedMerge:
    """The merge of upstream that a tree pins, and the ``name`` by which it does: a hash or a tag. Time in UTC."""

    name: str
    commit: str
    merged_at: datetime

    @property
    def label(self) -> str:
        """What people call it: its tag, or the beginning of its hash."""
        return self.name if is_tag(self.name) else self.commit[:7]


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """A profile in the list of profiles. Times are in UTC.

    ``upstream`` is the repository whose merges are judged by it. ``source`` is the repository that is scanned
    again each day; None for a profile that was read from a file. ``commit`` is what was scanned, empty before the
    first scan. ``problem`` is why the last scan failed, as a sentence; empty if it did not. ``moves`` are the last
    moves to another commit with which earlier merges began or ceased to touch, oldest first. ``owners`` are the
    ids of the channels and people that it was added for; without any it is for the whole workspace. ``pin`` is
    None if the tree pins no merge that is known.
    """

    name: str
    upstream: Repository
    packages: tuple[str, ...]
    source: Repository | None = None
    commit: str = ""
    uses: int = 0
    files: int = 0
    refreshed_at: datetime | None = None
    moved_at: datetime | None = None
    problem: str = ""
    moves: tuple[ProfileMove, ...] = ()
    owners: tuple[str, ...] = ()
    pin: PinnedMerge | None = None

    @property
    def coverage(self) -> Coverage:
        """Whether the tree is known as it is now: what a failed scan left is older."""
        since = f" since {self.refreshed_at:%Y-%m-%d}" if self.refreshed_at else ""
        problem = self.problem.rstrip(".")
        return Coverage.of(CoveredPart(f"the code of {self.name}{since}", 1, 0, problem)) if problem else COMPLETE

    @classmethod
    def build(
        cls, name: str, upstream: Repository, packages: Sequence[str], source: Repository | None = None
    ) -> ProfileEntry:
        return cls(name, upstream, tuple(packages) or (upstream.name.lower().replace("-", "_"),), source)


ENTRIES = Map("profiles", ProfileEntry, "profiles by name, with their origin and state")
# a private tree's names, paths and used lines; that of vllm-ascend takes 1 MB as JSON, packed a tenth of that
PROFILES = Table("downstream:{name}", Profile, "what a team's tree uses of an upstream")


class Profiles:
    """The profiles of a workspace. Every method may raise StoreUnavailable.

    With ``may_see``, only those whose names it admits exist, and none is changed: what reads a profile for a
    person or an agent reads it here, so that no reason, count or list tells of another one.
    """

    def __init__(self, app: App, may_see: Callable[[str], bool] | None = None) -> None:
        self._app = app
        self._may_see = may_see

    def list_entries(self) -> Sequence[ProfileEntry]:
        """List the entries by name. An unreadable one keeps nobody from the others."""
        entries = self._app.tables.list_fields(ENTRIES, skips_later=True).values()
        return sorted((each for each in entries if self._is_shown(each.name)), key=lambda entry: entry.name)

    def get_entry(self, name: str) -> ProfileEntry | None:
        return self._app.tables.get_field(ENTRIES, name) if self._is_shown(name) else None

    def get_profile(self, name: str) -> Profile | None:
        return self._app.tables.get(PROFILES, name) if self._is_shown(name) else None

    def put(self, entry: ProfileEntry, profile: Profile | None = None) -> None:
        """Store an entry in place of an earlier one; without a profile, the one that is there stays."""
        self._require_all()
        # in this order: what another attempt compares is still there if this one ends in between
        self._app.tables.put_field(ENTRIES, entry.name, entry)
        if profile:
            self._app.tables.put(PROFILES, profile, entry.name)

    def remove(self, name: str) -> None:
        self._require_all()
        self._app.tables.remove(PROFILES, name)
        self._app.tables.remove_field(ENTRIES, name)

    def _is_shown(self, name: str) -> bool:
        return self._may_see is None or self._may_see(name)

    def _require_all(self) -> None:
        if self._may_see:
            raise UsageError("Only an operator changes profiles.")

    # --- as people name them

    def list_names(self) -> Sequence[str]:
        return [entry.name for entry in self.list_entries()]

    def find_entry(self, name: str) -> ProfileEntry:
        """Return an entry whatever the case of its name; without one, the only one. Raises UsageError."""
        entries, key = self.list_entries(), name.strip().casefold()
        fitting = [entry for entry in entries if key in ("", entry.name.casefold())]
        if len(fitting) == 1:
            return fitting[0]
        if not entries:
            raise UsageError("I don't know your code yet: ask the bot's admin to run prdigest profile add.")
        known = ", ".join([entry.name for entry in entries][:_MAX_NAMES])
        if not key:
            raise UsageError(f"Which profile? Add profile:NAME with one of {known}.")
        raise UsageError(f"There is no profile {quote_input(name)}: use {known}.")

    def require_scanned(self, entry: ProfileEntry) -> Profile:
        """Return what the code of a profile uses. Raises UsageError if its scan failed, or is still to come."""
        if profile := self.get_profile(entry.name):
            return profile
        if entry.problem:
            raise UsageError(f"The profile {entry.name} could not be scanned: {entry.problem}")
        raise UsageError(f"The profile {entry.name} was not scanned yet: try again in a few minutes.")

    def require_known(self, name: str, repository: Repository) -> str:
        """Return a name as it is stored; empty for none. Raises UsageError, also for one of another repository."""
        if not name:
            return ""
        entry = self.find_entry(name)
        if str(entry.upstream).casefold() != str(repository).casefold():
            raise UsageError(f"The profile {entry.name} is about {entry.upstream}, not about {repository}.")
        return entry.name

    def require_view(self, view: DigestView, repository: Repository) -> DigestView:
        """Return a view with its profile as it is stored. Raises UsageError as ``require_known``."""
        name = self.require_known(view.profile, repository)
        if view.only is ViewLevel.PENDING and self.find_entry(name).pin is None:
            raise UsageError(f"{name} names no commit of {repository} that I know: write only:touching instead.")
        return replace(view, profile=name)
