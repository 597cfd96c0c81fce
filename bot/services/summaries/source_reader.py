"""Reader of the files that a pull request changed, as they are after it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from bot.domain.errors import PrdigestError
from bot.domain.pull_requests.models import PullRequest
from bot.ports import SourceFiles
from impact.source.models import SourceFile

log = logging.getLogger(__name__)


class SourceReader:
    """Reader of whole files around changes. ``source_files`` is None where there are none, as in the demo."""

    def __init__(self, source_files: SourceFiles | None) -> None:
        self._source_files = source_files

    def read_sources(self, pull: PullRequest, paths: Sequence[str]) -> Mapping[str, SourceFile]:
        """Return the files after the change, by their paths.

        If they can't be read, return none: the diff says enough for a summary.
        """
        if self._source_files is None or not paths or not pull.commit:
            return {}
        try:
            return self._source_files.read_files(pull.repository, pull.commit, paths)
        except PrdigestError as error:
            log.info("%s#%d is read without its files: %s", pull.repository, pull.number, error)
            return {}
