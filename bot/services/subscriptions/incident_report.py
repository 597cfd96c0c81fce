"""The record of a message about incidents, with which a later attempt finishes it and edits their ends into it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.domain.operations.incident import Incident
from bot.ports.codecs.record_codec import RecordCodec


class ReportState(StrEnum):
    """The progress of the message."""

    NEW = "new"
    BEGUN = "begun"
    """It may be posted."""
    POSTED = "posted"


@dataclass(frozen=True, slots=True)
class PostedIncidentReport:
    """A message in a ``channel``; ``message`` is its timestamp, ``incidents`` are the ids of its incidents.

    The record of the report that is about to be posted has only its ``incidents``.
    """

    begun_at: datetime | None = None
    channel: str = ""
    message: str = ""
    incidents: tuple[str, ...] = ()

    @property
    def state(self) -> ReportState:
        """The progress, derived from the recorded fields."""
        if self.message:
            return ReportState.POSTED
        return ReportState.BEGUN if self.begun_at else ReportState.NEW

    def begin_posting(self, at: datetime) -> PostedIncidentReport:
        """Return the record of an attempt that is about to post."""
        return replace(self, begun_at=at)

    def complete(self, channel: str, message: str, incidents: Iterable[Incident]) -> PostedIncidentReport:
        """Return the record of the posted message."""
        ids = tuple(incident.id for incident in incidents)
        return replace(self, channel=channel, message=message, incidents=ids)


INCIDENT_REPORT_CODEC = RecordCodec(PostedIncidentReport, version=1)
