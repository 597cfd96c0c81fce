"""What the settings lead to: repositories, the store, GitHub, clones, and the provider of models."""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from redis import Redis

from bot.errors import ConfigurationError, SourceUnavailable, UsageError
from bot.platform.git.mirror import GitMirror, MirrorLimits, is_own_address
from bot.platform.git.reading import MirrorReader
from bot.platform.git.tag_history import GitTagHistory, TagHistory
from bot.platform.github.client import GitHubClient, GitHubRateLimits, create_github_auth, read_git_token
from bot.platform.github.discussions import GitHubBackground
from bot.platform.github.open_pulls import GitHubOpenPulls
from bot.platform.github.pulls import GitHubPullRequests
from bot.platform.github.source_files import GitHubReleases, GitHubSourceFiles, GitHubTrees
from bot.platform.http.bounded_calls import CallWatch, watch_nothing
from bot.platform.models import ChatModel, Model, ModelProvider
from bot.platform.models.registry import LazyModelConnection, get_model_access
from bot.platform.packages.index import PackageIndex
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import (
    CRITICAL,
    PathClass,
    PathClasses,
    PathSettings,
    find_fault,
    list_default_patterns,
)
from bot.platform.pulls.sources import PullRequestBackground, PullRequests, RateAllowance, Releases
from bot.platform.source.models import SourceFiles, SourceVersionReader
from bot.platform.store.connection import RedisTimeouts, connect_embedded, connect_server
from bot.settings import Settings
from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceVersions
from impact.text.strings import collapse_lines, quote_input, truncate_text

if TYPE_CHECKING:
    from bot.features.merges.review import BugReview


_ALL_REPOSITORIES = "*"
# bytes of the file, patterns of one repository
_MAX_BYTES, _MAX_PATTERNS = 100_000, 500


def _validate_pattern(text: str) -> str:
    if reason := find_fault(text):
        raise ValueError(f"{quote_input(text)} {reason}")
    return text


def _validate_class_name(name: str) -> str:
    if name not in list_default_patterns():
        raise ValueError(f"{quote_input(name)} has no defaults: write any of {', '.join(list_default_patterns())}")
    return name


_Patterns = Annotated[list[Annotated[str, AfterValidator(_validate_pattern)]], Field(default_factory=list)]
_Names = Annotated[list[Annotated[str, AfterValidator(_validate_class_name)]], Field(default_factory=list)]


class _PathTable(BaseModel):
    """The table of one repository. Its keys are the names of the path classes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    lock: _Patterns
    generated: _Patterns
    ci: _Patterns
    tests: _Patterns
    docs: _Patterns
    build: _Patterns
    support: _Patterns
    product: _Patterns
    other: _Patterns
    critical: _Patterns
    without_defaults: _Names

    @property
    def lists(self) -> dict[str, list[str]]:
        return self.model_dump(exclude={"without_defaults"})

    @model_validator(mode="after")
    def _check_size(self) -> _PathTable:
        if sum(map(len, self.lists.values())) > _MAX_PATTERNS:
            raise ValueError(f"has more than {_MAX_PATTERNS} patterns: name folders instead of files")
        return self


def read_path_settings(file: Path) -> PathSettings:
    """Read the path classes from a file. Raises ConfigurationError, which names file and table."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "its name is empty"
        advice = "write the path of a file, or leave it empty for the defaults"
        raise _build_error(file, f"it can't be read ({why}): {advice}") from error
    if len(content) > _MAX_BYTES:
        raise _build_error(file, f"it is larger than {_MAX_BYTES // 1_000} KB: name folders instead of files")
    try:
        tables = tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise _build_error(file, "it is not UTF-8 text: save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        why = truncate_text(collapse_lines(str(error)), 100)
        advice = 'write ["owner/name"] with quotes, and below it docs = ["design/"]'
        raise _build_error(file, f"it is not valid TOML ({why}): {advice}") from error
    classes: dict[str, PathClasses] = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise _build_error(file, f'{quote_input(name)} is not in a table: write ["owner/name"] above it')
        try:
            key = name if name == _ALL_REPOSITORIES else str(Repository.parse(name)).lower()
        except UsageError as error:
            advice = 'write it as ["owner/name"], with quotes'
            raise _build_error(file, f"it is not a repository: {advice}", name) from error
        if key in classes:
            raise _build_error(file, "it appears twice: write one table for each repository", name)
        try:
            parsed = _PathTable.model_validate(table)
        except ValidationError as error:
            raise _build_error(file, _describe_fault(error), name) from error
        lists = parsed.lists
        own = tuple((kind, tuple(lists[kind])) for kind in PathClass if lists[kind])
        without = tuple(sorted(set(parsed.without_defaults)))
        classes[key] = PathClasses(own, tuple(lists[CRITICAL]), without)
    others = classes.pop(_ALL_REPOSITORIES, PathClasses())
    return PathSettings(classes, others, source=str(file))


def _describe_fault(error: ValidationError) -> str:
    """Return pydantic's first error as a clause for the person who writes the file."""
    first = error.errors()[0]
    key = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        close = get_close_matches(key, _PathTable.model_fields, n=1)
        advice = f"write {close[0]} instead" if close else f"write one of {', '.join(_PathTable.model_fields)}"
        return f"{quote_input(key)} is not a class: {advice}"
    if first["type"] == "value_error":
        reason = first["msg"].removeprefix("Value error, ")
        return f"{key}: {reason}" if key else f"it {reason}"
    example = '["critical"]' if key == "without_defaults" else '["design/"]'
    return f"{key} is not a list of texts: write it as {key} = {example}"


def _build_error(file: Path, reason: str, table: str = "") -> ConfigurationError:
    """Return the error for the file, or for one of its tables. ``reason`` is a clause about the problem."""
    inside = f', table ["{truncate_text(collapse_lines(table), 100)}"]' if table else ""
    return ConfigurationError(f"PRDIGEST_PATHS, {collapse_lines(str(file))}{inside}: {reason}.")


# --- sources

log = logging.getLogger(__name__)
NO_NAMES: Mapping[Repository, Repository] = MappingProxyType({})


def list_repositories(settings: Settings) -> tuple[Repository, ...]:
    """List the repositories that the bot may speak of, each once, the default one first."""
    return tuple(dict.fromkeys(each for each in (settings.prdigest_repo, *settings.prdigest_repos) if each))


def load_path_settings(settings: Settings) -> PathSettings:
    """Load the path classes of each repository. Raises ConfigurationError if their file can't be used."""
    return read_path_settings(settings.prdigest_paths) if settings.prdigest_paths else PathSettings()


def connect_store(settings: Settings, timeouts: RedisTimeouts) -> Redis:
    """Open a client of the store. Raises StoreUnavailable."""
    if settings.redis_url:
        return connect_server(settings.redis_url, timeouts=timeouts)
    return connect_embedded(settings.prdigest_state_dir, timeouts)


def get_display_name(settings: Settings, repository: Repository) -> str:
    if settings.prdigest_name and repository == settings.prdigest_repo:
        return settings.prdigest_name
    return repository.name


class VersionedFiles(SourceFiles, SourceVersionReader, Protocol):
    """Files at a commit, and before it."""


def build_mirror(
    settings: Settings,
    now: Callable[[], datetime],
    present_names: Mapping[Repository, Repository] = NO_NAMES,
    *,
    has_files: bool = True,
) -> GitMirror | None:
    """Build what updates the mirrors, None without a folder. The token goes to pages of the set GitHub alone."""
    folder = settings.mirror_folder
    if folder is None:
        return None
    api, web = settings.github_api_url, settings.github_web_url

    def read_token() -> str:
        return read_git_token(api, create_github_auth(settings)) if is_own_address(api, web) else ""

    # without files, the whole history is smaller than that of a month with them
    limits = MirrorLimits.of_days(settings.prdigest_mirror_days) if has_files else MirrorLimits.of_commits()
    return GitMirror(folder, web, read_token, now, limits, present_names=present_names, has_files=has_files)


def add_mirror(settings: Settings, github: VersionedFiles) -> VersionedFiles:
    """Return a source of files that reads the mirror first; ``github`` itself without mirrors."""
    folder = settings.mirror_folder
    return github if folder is None else MirroredFiles(MirrorReader(folder), github)


def build_package_index(settings: Settings) -> PackageIndex | None:
    address = settings.prdigest_package_index
    return PackageIndex(address, settings.prdigest_state_dir / "packages") if address else None


class MirroredFiles:
    """Files and their versions from the mirror, and from GitHub where the mirror lacks the commit.

    A mirror has the default branch alone, as it was when it was last updated. Both methods raise what GitHub
    raises.
    """

    def __init__(self, mirror: VersionedFiles, github: VersionedFiles) -> None:
        self._mirror = mirror
        self._github = github

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        try:
            return self._mirror.read_files(repository, commit, paths, side)
        except SourceUnavailable as error:
            log.info("files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_files(repository, commit, paths, side)

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        try:
            return self._mirror.read_versions(repository, commit, old, new)
        except SourceUnavailable as error:
            log.info("versions of files of %s at %s are read from GitHub: %s", repository, commit, error)
        return self._github.read_versions(repository, commit, old, new)


class Sources(Protocol):
    """Sources of pull requests and of texts. The settings of a source are needed only when it is used.

    ``pulls``, ``background``, those of files and releases, ``model`` and ``chat`` raise ConfigurationError if a
    setting is missing or wrong. What is None is not there.
    """

    @property
    def pulls(self) -> PullRequests: ...

    @property
    def background(self) -> PullRequestBackground | None: ...

    @property
    def source_files(self) -> SourceFiles | None: ...

    @property
    def source_versions(self) -> SourceVersionReader | None: ...

    @property
    def source_trees(self) -> GitHubTrees | None: ...

    @property
    def open_pulls(self) -> GitHubOpenPulls | None: ...

    @property
    def releases(self) -> Releases | None: ...

    @property
    def model(self) -> Model | None: ...

    @property
    def chat(self) -> ChatModel | None: ...

    @property
    def stands_in(self) -> str:
        """Who writes in place of a model, as a sentence for readers; empty if a model writes, or nobody.

        Such a writer has read the changes before, so its statements need no proof by a quote from a diff.
        """

    @property
    def source_mirror(self) -> GitMirror | None:
        """The copies of repositories that are brought up to date before a digest."""

    @property
    def source_search(self) -> MirrorReader | None: ...

    @property
    def tag_history(self) -> TagHistory | None:
        """All commits of repositories with their tags, without files."""

    def get_written_review(self, pull: PullRequest) -> BugReview | None:
        """Return the review for bugs that was written for a pull request of a sample; None elsewhere."""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """Return the remaining allowances of the source of pull requests; empty without reported limits."""

    def open_sources(self) -> None:
        """Open everything now that the first use would otherwise open. This may take time."""

    def close(self) -> None: ...


class LiveSources:
    """:class:`Sources` over the network; each client is opened when it is first used.

    Those of GitHub raise ConfigurationError without credentials. ``watch_github`` watches each call to it.
    ``present_names`` are those of repositories that are spoken of by an earlier one.
    """

    # a model writes, or nobody
    stands_in = ""

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], datetime],
        provider: ModelProvider,
        watch_github: CallWatch = watch_nothing,
        present_names: Mapping[Repository, Repository] = NO_NAMES,
    ) -> None:
        # it is filled when the store is open
        self._present_names = present_names
        self._settings = settings
        self._provider = provider
        self._now = now
        self._watch_github = watch_github

    @cached_property
    def _client(self) -> GitHubClient:
        settings, watch = self._settings, self._watch_github
        auth = create_github_auth(settings)
        return GitHubClient(settings.github_api_url, auth, watch=watch, present_names=self._present_names)

    @cached_property
    def pulls(self) -> PullRequests:
        return GitHubPullRequests(self._client, self._now)

    @cached_property
    def background(self) -> PullRequestBackground:
        return GitHubBackground(self._client)

    @cached_property
    def source_files(self) -> VersionedFiles:
        return add_mirror(self._settings, GitHubSourceFiles(self._client))

    @property
    def source_versions(self) -> VersionedFiles:
        return self.source_files

    @cached_property
    def source_trees(self) -> GitHubTrees | None:
        return GitHubTrees(self._client)

    @cached_property
    def open_pulls(self) -> GitHubOpenPulls | None:
        return GitHubOpenPulls(self._client)

    @cached_property
    def releases(self) -> Releases | None:
        return GitHubReleases(self._client)

    @cached_property
    def source_mirror(self) -> GitMirror | None:
        return build_mirror(self._settings, self._now, self._present_names)

    @cached_property
    def source_search(self) -> MirrorReader | None:
        """The search over the mirror; None without a folder for it."""
        folder = self._settings.mirror_folder
        return None if folder is None else MirrorReader(folder)

    @cached_property
    def tag_history(self) -> TagHistory | None:
        mirror = build_mirror(self._settings, self._now, self._present_names, has_files=False)
        folder = self._settings.mirror_folder
        return GitTagHistory(mirror, MirrorReader(folder, has_files=False)) if mirror and folder else None

    @cached_property
    def _lazy_model(self) -> LazyModelConnection | None:
        access = get_model_access(self._settings, self._provider)
        return None if access is None else LazyModelConnection(self._provider, access)

    @property
    def model(self) -> Model | None:
        return self._lazy_model

    @property
    def chat(self) -> ChatModel | None:
        return self._lazy_model

    def get_written_review(self, pull: PullRequest) -> None:
        """Return None: reviews are made by the model."""

    def list_allowances(self) -> Iterable[RateAllowance]:
        """Return the remaining allowances of GitHub. Not for use by several threads."""
        return self._rate_limits.list_allowances()

    @cached_property
    def _rate_limits(self) -> GitHubRateLimits:
        return GitHubRateLimits(self._settings.github_api_url, create_github_auth(self._settings))

    def open_sources(self) -> None:
        if self._lazy_model is not None:
            self._lazy_model.open_connection()

    def close(self) -> None:
        if self._lazy_model is not None:
            self._lazy_model.close()
