"""The tool that reads what people wrote about a pull request."""

from __future__ import annotations

from bot.domain.errors import DiscussionUnavailable, PrdigestError
from bot.domain.pull_requests.discussion import Discussion, Remark
from bot.domain.pull_requests.reference import Reference
from bot.domain.summaries.citations import Citation
from bot.domain.summaries.remark_quotes import has_quote
from bot.services.questions.background import BackgroundSources
from bot.services.questions.tools.discussion_text import SHOWN_PLACE, format_discussion, select_remarks
from bot.services.questions.tools.reading_session import ReadingSession
from bot.services.questions.tools.schemas import DiscussionArguments


class DiscussionTools:
    """The tool over discussions. It remembers the texts that were shown: only these can be quoted."""

    def __init__(self, session: ReadingSession, background: BackgroundSources) -> None:
        self._session = session
        self._background = background
        self._discussions: dict[Reference, Discussion] = {}
        self._shown: dict[Reference, dict[str, Remark]] = {}

    def read_discussion(self, arguments: DiscussionArguments) -> str:
        """Read the discussion of a pull request. Raises PrdigestError."""
        reference = Reference(self._session.parse_repository(arguments.repository), arguments.number)
        discussion = self._fetch_discussion(reference)
        remarks = select_remarks(discussion)
        self._shown[reference] = {remark.anchor: remark for remark in remarks}
        provenance = self._session.provenance
        provenance.add_discussion(discussion.number)
        hidden = discussion.unlisted + len(discussion.told) - len(remarks)
        if hidden:
            provenance.add_gap(f"{hidden} older remarks about #{discussion.number}")
        if discussion.is_partial:
            provenance.add_gap(f"a part of the discussion of #{discussion.number} (GitHub did not send it)")
        return format_discussion(discussion, remarks)

    def find_remark(self, citation: Citation) -> tuple[Discussion, Remark] | None:
        """Return the remark that a citation names, None if it was not shown or does not have the quote."""
        try:
            reference = self._session.parse_pull_request(citation.pull)
        except PrdigestError:
            return None
        place = citation.path.strip().removeprefix(SHOWN_PLACE)
        remark = self._shown.get(reference, {}).get(place)
        return (self._discussions[reference], remark) if remark and has_quote(remark, citation.quote) else None

    def _fetch_discussion(self, reference: Reference) -> Discussion:
        if reference not in self._discussions:
            github = self._background.github
            if github is None:
                raise DiscussionUnavailable("Discussions can't be read here.")
            discussion = github.fetch_discussion(reference.repository, reference.number)
            self._session.note_address(reference, discussion.url)
            self._discussions[reference] = discussion
        return self._discussions[reference]
