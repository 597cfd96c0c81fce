"""The work that one process hands to another: Dramatiq actors, each does one declared kind of job.

Delivery is at least once: a worker that is killed has its jobs run again elsewhere after some ten seconds. What a
job did it finds done when it runs again.
"""

from __future__ import annotations

from bot.jobs.queues import DramatiqJobQueue, JobTimeLimits

__all__ = ["DramatiqJobQueue", "JobTimeLimits"]
