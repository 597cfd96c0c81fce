"""One page on all that was merged since a day, from work that was done before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.domain.digest.models import Entry
from bot.domain.digest.stories import Story, StoryKind, StoryList
from bot.domain.review.ranking import select_riskiest
from bot.domain.time.date_range import Span
from impact.touches.models import TouchReport

MAX_RISKS = 5


@dataclass(frozen=True, slots=True)
class SincePage:
    """The stories of some weeks. ``entries`` has what was summarised before, by number; nothing else is.

    ``touches`` is what the merges mean for a profile, None without one. Of ``unread`` merges nobody has looked yet
    at what they change for others.
    """

    name: str
    span: Span
    merged: int
    stories: StoryList
    entries: Mapping[int, Entry] = field(default_factory=dict)
    touches: TouchReport | None = None
    unread: int = 0
    caveats: tuple[str, ...] = ()

    @property
    def riskiest(self) -> tuple[Entry, ...]:
        """What deserves a second look, of what was summarised before and not taken back."""
        shown = frozenset(number for story in self.stories.stories for number in story.numbers)
        entries = [entry for number, entry in self.entries.items() if number in shown]
        return select_riskiest(entries, MAX_RISKS, is_reduced=False)

    @property
    def actions(self) -> tuple[Entry, ...]:
        """What readers have to act on, of what was summarised before and not taken back."""
        pulls = (pull for story in self.stories.stories for pull in story.pulls)
        entries = (self.entries.get(pull.number) for pull in pulls)
        return tuple(entry for entry in entries if entry and entry.summary.action)

    @property
    def not_summarised(self) -> int:
        """The number of merges in the stories that nobody summarised before."""
        pulls = (pull for story in self.stories.stories for pull in story.pulls)
        return sum(pull.number not in self.entries for pull in pulls)

    def list_stories(self, kind: StoryKind) -> tuple[Story, ...]:
        """Return the stories of a kind, the longest first."""
        stories = (story for story in self.stories.stories if story.kind is kind)
        return tuple(sorted(stories, key=lambda story: -len(story.pulls)))
