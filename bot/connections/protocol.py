"""Interface to the services besides Slack and the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from bot.platform.models import ChatModel, Model
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.sources import PullRequestBackground, PullRequests, RateAllowance, Releases
from bot.platform.source.models import (
    SourceFiles,
    SourceMirror,
    SourceSearch,
    SourceTrees,
    SourceVersionReader,
)

if TYPE_CHECKING:
    from bot.features.merges.review import BugReview


class Sources(Protocol):
    """Sources of pull requests and of texts. The settings of a source are needed only when it is used.

    ``pulls``, ``background``, those of files and releases, ``model`` and ``chat`` raise ConfigurationError if a
    setting is missing or wrong.
    """

    @property
    def pulls(self) -> PullRequests:
        """The source of pull requests."""

    @property
    def background(self) -> PullRequestBackground | None:
        """The source of discussions, and of the pull requests of commits; None if there is none."""

    @property
    def source_files(self) -> SourceFiles | None:
        """The source of whole files at a commit, None if there is none."""

    @property
    def source_versions(self) -> SourceVersionReader | None:
        """The source of files before and after a commit, None if there is none."""

    @property
    def source_trees(self) -> SourceTrees | None:
        """The source of the list of all files of a repository, None if there is none."""

    @property
    def releases(self) -> Releases | None:
        """The source of the releases of a repository, None if there is none."""

    @property
    def model(self) -> Model | None:
        """The model that writes summaries and overviews, None if there is none."""

    @property
    def chat(self) -> ChatModel | None:
        """The model that answers questions, None if there is none."""

    @property
    def has_model(self) -> bool:
        """Whether there is a model that writes and answers. Reading this opens no connection."""

    @property
    def stands_in(self) -> str:
        """Who writes in place of a model, as a sentence for readers; empty if a model writes, or nobody.

        Such a writer has read the changes before, so its statements need no proof by a quote from a diff.
        """

    @property
    def source_mirror(self) -> SourceMirror | None:
        """The copies of repositories that are brought up to date before a digest; None if there are none."""

    @property
    def source_search(self) -> SourceSearch | None:
        """The search over all files of a repository; None without a mirror."""

    def get_written_review(self, pull: PullRequest) -> BugReview | None:
        """Return the review for bugs that was written for a pull request of a sample; None elsewhere."""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """Return the remaining allowances of the source of pull requests; empty without reported limits."""

    def open_sources(self) -> None:
        """Open everything now that the first use would otherwise open. This may take time."""

    def close(self) -> None:
        """Close everything that was opened."""
