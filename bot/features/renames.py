"""Repositories that got another name, on GitHub and in the settings: all that is kept of them goes on.

Keys, subscriptions and posted digests hold the name, and a process with the earlier settings may still write them.
So nothing is moved: the present name leads to the first one, by which everything goes on to be kept.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from bot.app import App
from bot.connections.sources import list_repositories
from bot.errors import ConfigurationError, GitHubUnavailable, RepositoryNotFound
from bot.features.digest.posts import POSTED_DIGESTS
from bot.features.subscriptions.tables import list_subscriptions
from bot.platform.store.keys import MERGE_HISTORY, parse_digest_key
from bot.platform.store.tables import Map
from impact.repository import Repository

log = logging.getLogger(__name__)

FIRST_NAMES = Map(
    "renamed", Repository, "the first names of repositories, by their present ones", survives_reset=True
)


def follow_renames(app: App) -> None:
    """Lead the names of the settings to those by which the store knows the repositories.

    GitHub is asked where the settings have a name that the store does not know, and lack one that it knows; the
    answer is noted by one write that keeps an earlier note. Raises StoreUnavailable, and what GitHub raises.
    """
    named, noted = list_repositories(app.settings), app.tables.list_fields(FIRST_NAMES)
    if any(_lower(each) not in noted for each in named):
        known = _list_known(app)
        unknown = [each for each in named if _lower(each) not in known | noted]
        kept = {_lower(noted.get(_lower(each), each)) for each in named}
        left = [each for name, each in known.items() if name not in kept]
        if unknown and left:
            present = {now: each for each in left if (now := _find_present_name(app, each))}
            first_names = {_lower(each): present.get(_lower(each), each) for each in unknown}
            app.tables.add_fields(FIRST_NAMES, first_names)
            noted = app.tables.list_fields(FIRST_NAMES)
    for each in named:
        first = noted.get(_lower(each), each)
        if _lower(first) != _lower(each):
            log.info("%s is kept by its first name, %s", each, first)
            app.present_names[first] = each
    settings = app.settings
    changed = {
        "prdigest_repo": settings.prdigest_repo and app.find_first_name(settings.prdigest_repo),
        "prdigest_repos": tuple(map(app.find_first_name, settings.prdigest_repos)),
    }
    app.settings = settings.model_copy(update=changed)
    app.__dict__.pop("repositories", None)


def _lower(repository: Repository) -> str:
    return str(repository).lower()


def _find_present_name(app: App, repository: Repository) -> str:
    """Return the name that GitHub has for a repository now, in lower case; empty if it has no such repository."""
    try:
        trees = app.sources.source_trees
        return _lower(trees.find_present_name(repository)) if trees else ""
    except RepositoryNotFound:
        return ""
    except ConfigurationError as error:
        # the processes that only listen and plan have no token: they wait until one that has it has asked
        raise GitHubUnavailable(f"A worker has to ask GitHub what became of {repository}: start one.") from error


def _list_known(app: App) -> dict[str, Repository]:
    """Return the repositories that the store knows by their names in lower case, spelled as in keys of digests."""
    known = {name: Repository.parse(name) for name, _ in app.tables.list_keys(MERGE_HISTORY)}
    for (name,) in app.tables.list_keys(POSTED_DIGESTS.family):
        posted = app.tables.list_members(POSTED_DIGESTS, datetime(1970, 1, 1, tzinfo=UTC), app.now(), name)
        spelled = [parts.repository for key in posted[-1:] if (parts := parse_digest_key(key))]
        known[name] = Repository.parse("".join(spelled) or name)
    subscribed = [each.repository for each in list_subscriptions(app) if not each.is_fixed]
    return known | {_lower(each): each for each in subscribed}
