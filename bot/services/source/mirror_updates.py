"""Update of a mirror before files are read from it."""

from __future__ import annotations

import logging

from bot.domain.errors import MirrorUnavailable
from bot.domain.pull_requests.models import Repository
from bot.platform import deadlines
from bot.ports import SourceMirror

log = logging.getLogger(__name__)


def update_mirror(mirror: SourceMirror | None, repository: Repository) -> None:
    """Update the mirror of a repository, if there are mirrors. A failure is only logged.

    It gets half of the time that the work has left: what the mirror lacks is read from GitHub.
    """
    if mirror is None:
        return
    try:
        with deadlines.bound_work(deadlines.get_seconds_left() / 2):
            mirror.update(repository)
    except MirrorUnavailable as error:
        log.warning("files of %s are read from GitHub where the mirror lacks them: %s", repository, error)
