"""The path classes of each repository, and their defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from bot.domain.operations.finding import Finding
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.path_classes import PathClasses, PathSettings, default_patterns
from bot.domain.text.strings import quoted

PATHS = "Paths"
# the files that a list of patterns applies to, where that is not all
_OF = {"product": "of what no other class claims, ", "critical": "of product code, "}


def path_checks(settings: Callable[[], PathSettings], repositories: Sequence[Repository]) -> Iterator[Finding]:
    """Report the defaults, then the patterns of each repository. Raises what ``settings`` raises."""
    for name, patterns in default_patterns().items():
        yield Finding.note(f"{PATHS} by default, {name}", f"{_OF.get(name, '')}{patterns}")
    path_settings = settings()
    for repository in repositories:
        yield Finding.ok(f"{PATHS} {repository}", _told(path_settings.of(repository)))
    yield from _strangers(path_settings, repositories)


def _told(classes: PathClasses) -> str:
    """Return how the patterns of a repository differ from the defaults."""
    own = classes.own
    without = f"without the defaults of {', '.join(own.without)}" if own.without else ""
    if not own.named:
        return f"the defaults, {without}" if without else "the defaults"
    return "; ".join(
        filter(None, [f"own patterns for {', '.join(own.named)}", without, "the defaults for the rest"])
    )


def _strangers(settings: PathSettings, repositories: Sequence[Repository]) -> Iterator[Finding]:
    """Yield the tables that are for no repository: its name may be misspelt."""
    names = {str(repository).lower() for repository in repositories}
    for name in sorted(settings.named.keys() - names):
        problem = f"a table of {quoted(settings.source)}, but of no repository of the settings"
        advice = "Write the name as PRDIGEST_REPO and PRDIGEST_REPOS have it if it is meant for one of theirs."
        yield Finding.note(f"{PATHS} {name}", problem, advice)
