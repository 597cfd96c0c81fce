"""The tools that read files as they are after a pull request, and search them for a name."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.pull_requests.reference import Reference
from bot.domain.source.excerpts import SourceExcerpt
from bot.services.questions.tools.reading_session import ReadingSession
from bot.services.questions.tools.schemas import FileArguments, UsesArguments
from bot.services.source.code_sources import CodeSources
from bot.services.source.pull_source import PullSource
from bot.services.source.source_text import FilePart


class SourceTools:
    """The tools over the files of the repositories that a session may read.

    They remember the lines that were shown: only these can be quoted. Each tool returns a text, and raises
    PrdigestError.
    """

    def __init__(self, session: ReadingSession, code: CodeSources) -> None:
        self._session = session
        self._code = code
        self._sources: dict[Reference, PullSource] = {}

    def get_excerpts(self, reference: Reference) -> Sequence[SourceExcerpt]:
        """Return the lines that were shown of files as they are after a pull request."""
        source = self._sources.get(reference)
        return source.excerpts if source else ()

    def read_file(self, arguments: FileArguments) -> str:
        """Read a part of a file."""
        source = self._get_source(arguments.repository, arguments.number)
        return source.read_part(
            arguments.path.strip(), FilePart(arguments.first, arguments.last, arguments.around.strip())
        )

    def find_uses(self, arguments: UsesArguments) -> str:
        """Find the uses of a name: everywhere with a mirror, else in the changed files."""
        return self._get_source(arguments.repository, arguments.number).find_uses(arguments.name.strip())

    def _get_source(self, repository: str, number: int) -> PullSource:
        pull = self._session.get_entry(self._session.parse_repository(repository), number).pull
        reference = Reference(pull.repository, pull.number)
        if reference not in self._sources:
            self._sources[reference] = PullSource(pull, self._code, self._session.provenance)
        return self._sources[reference]
