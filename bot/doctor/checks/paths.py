"""The path classes of each repository, and their defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bot.domain.operations.finding import Finding
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathClasses, PathSettings, list_default_patterns
from bot.domain.text.strings import quote_input

PATHS = "Paths"
# the files that a list of patterns applies to, where that is not all
_PATTERN_SCOPES = {"product": "for files of no other class, ", "critical": "for product code, "}


def list_default_paths() -> Iterator[Finding]:
    """Report the default patterns of each class."""
    for name, patterns in list_default_patterns().items():
        yield Finding.build_note(f"{PATHS} defaults, {name}", f"{_PATTERN_SCOPES.get(name, '')}{patterns}")


def check_paths(settings: Callable[[], PathSettings], repositories: Sequence[Repository]) -> Iterator[Finding]:
    """Report the patterns of each repository. Raises what ``settings`` raises."""
    path_settings = settings()
    for repository in repositories:
        yield Finding.build_success(
            f"{PATHS} {repository}", _describe_classes(path_settings.get_path_classes(repository))
        )
    yield from _report_unknown_tables(path_settings, repositories)


def _describe_classes(classes: PathClasses) -> str:
    """Return how the patterns of a repository differ from the defaults."""
    own = classes.custom
    without = f"without the defaults of {', '.join(own.without_defaults)}" if own.without_defaults else ""
    if not own.pattern_names:
        return f"the defaults, {without}" if without else "the defaults"
    return "; ".join(
        filter(None, [f"own patterns for {', '.join(own.pattern_names)}", without, "the defaults for the rest"])
    )


def _report_unknown_tables(settings: PathSettings, repositories: Sequence[Repository]) -> Iterator[Finding]:
    """Yield the tables that are for no repository: its name may be misspelt."""
    names = {str(repository).lower() for repository in repositories}
    for name in sorted(settings.by_repository.keys() - names):
        problem = f"a table in {quote_input(settings.source)}, but not a repository in the settings"
        advice = "Use a name from PRDIGEST_REPO or PRDIGEST_REPOS, or remove the table."
        yield Finding.build_note(f"{PATHS} {name}", problem, advice)
