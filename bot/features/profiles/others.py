"""The other downstreams of an upstream: fetched without a token, read as histories, and kept.

They are read by a job of their own, and what is shown of them comes from the store: no digest waits for one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, timedelta

from bot.app import App
from bot.errors import MirrorUnavailable, PrdigestError, StoreUnavailable
from bot.features.merges.others import OtherHistory, SeenCommit
from bot.features.profiles.scanning import find_merge
from bot.platform import deadlines
from bot.platform.cleaning import clean_code, clean_hash, clean_path, clean_text, clean_title
from bot.platform.git.folder import MirrorFolder
from bot.platform.git.mirror import GitMirror, MirrorLimits
from bot.platform.store.due_queue import CHECK_INTERVAL
from bot.platform.store.tables import Map
from impact.clones.followers import REACH, FollowedMerge, list_pins, read_following
from impact.errors import ImpactError
from impact.git.clone_trees import CloneTrees
from impact.history.causes import FollowingCommit
from impact.repository import Repository

log = logging.getLogger(__name__)

# in the folder of mirrors; no owner has that name
OTHERS_FOLDER = "~others"
# what is fetched reaches back a little further than what is read
_DAYS = REACH.days + 30
# a change that upstream made is read up to days after it, so that commits of these days are looked at again
_AGAIN = timedelta(days=14)
# the newest; of vllm-ascend some 200 in three months
_MAX_COMMITS = 400
# seconds of a job that are left for what comes after one downstream
_RESERVED = 20.0

OTHERS = Map("others:{upstream}", OtherHistory, "what other public downstreams pin, and did about merges")


def list_downstreams(app: App, upstream: Repository) -> tuple[Repository, ...]:
    return app.settings.prdigest_downstreams.by_upstream.get(str(upstream).lower(), ())


def list_histories(app: App, upstream: Repository) -> tuple[OtherHistory, ...]:
    """Return what is kept of each downstream in the settings. Raises StoreUnavailable."""
    downstreams = list_downstreams(app, upstream)
    if not downstreams or app.sources.source_mirror is None:
        return ()
    kept = app.tables.list_fields(OTHERS, str(upstream).lower(), skips_later=True)
    unread = "it was not read yet"
    return tuple(kept.get(str(each).lower()) or OtherHistory(each, problem=unread) for each in downstreams)


def refresh_others(app: App, upstream: Repository, merges: Mapping[int, FollowedMerge]) -> None:
    """Fetch and read each downstream again, one after the other. What fails is noted, and the others go on."""
    for known in list_histories(app, upstream):
        if deadlines.get_seconds_left() < _RESERVED:
            log.warning("no time is left to read %s", known.repository)
            return
        try:
            read = _read_history(app, upstream, known, merges)
        except StoreUnavailable:
            raise
        except MirrorUnavailable as error:
            log.warning("%s can't be fetched: %s", known.repository, error)
            read = replace(known, problem=f"{known.repository.name} can't be fetched")
        except (PrdigestError, ImpactError) as error:
            log.warning("%s can't be read: %s", known.repository, error)
            read = replace(known, problem=f"{known.repository.name}: {str(error).rstrip('.')}")
        app.tables.put_field(OTHERS, str(known.repository).lower(), read, str(upstream).lower())


def _read_history(
    app: App, upstream: Repository, known: OtherHistory, merges: Mapping[int, FollowedMerge]
) -> OtherHistory:
    now, folder = app.now().astimezone(UTC), update_other(app, known.repository)
    since = max(known.read_at - _AGAIN, now - REACH) if known.read_at else now - REACH
    packages = (upstream.name.lower().replace("-", "_"),)
    names = tuple(dict.fromkeys((upstream.name, *packages)))
    with closing(CloneTrees(folder.path, clean=clean_text)) as trees:
        following = []
        for followed in read_following(trees, names, merges, since):
            deadlines.get_limit().ending.raise_if_triggered()
            following.append(_clean(followed))
        pins = list_pins(trees, packages, upstream.name)
    known = _locate_pin(app, upstream, known, pins)
    commits = {(each.followed.commit, each.followed.number): each for each in known.commits}
    # what had no room any more would be news again
    oldest = known.commits[0].followed.at if len(known.commits) == _MAX_COMMITS else since
    # a digest of the day that ended meanwhile may be there already
    seen_at = app.now().astimezone(UTC)
    for each in following:
        if each.at > oldest:
            # what was there before the first look is no news
            seen = SeenCommit(each, seen_at if known.read_at else min(each.at, seen_at))
            commits.setdefault((each.commit, each.number), seen)
    kept = sorted(commits.values(), key=lambda each: each.followed.at)[-_MAX_COMMITS:]
    return replace(known, read_at=now, commits=tuple(kept), problem="")


def _locate_pin(app: App, upstream: Repository, history: OtherHistory, pins: Sequence[str]) -> OtherHistory:
    """Return a history with the newest of its pins; with the last one while GitHub does not answer."""
    try:
        merges = {name: merge for name in pins if (merge := find_merge(app, upstream, name))}
    except StoreUnavailable:
        raise
    except PrdigestError as error:
        log.warning("the pin of %s can't be looked up: %s", history.repository, error)
        return history
    pin = max(merges, key=lambda name: merges[name].merge_time, default="")
    return replace(history, pin=pin, pinned_at=merges[pin].merge_time.astimezone(UTC) if pin else None)


def _clean(followed: FollowingCommit) -> FollowingCommit:
    """Return a commit without what steers terminals, and without credentials."""
    return replace(
        followed,
        commit=clean_hash(followed.commit),
        title=clean_title(followed.title),
        path=clean_path(followed.path) if followed.path else "",
        excerpt=tuple(clean_code("\n".join(followed.excerpt)).split("\n")) if followed.excerpt else (),
    )


def update_other(app: App, repository: Repository) -> MirrorFolder:
    """Bring the mirror of a downstream up to date. Raises MirrorUnavailable with the reason."""
    root = app.settings.mirror_folder
    if root is None:
        raise MirrorUnavailable("There are no mirrors here.")
    # each is fetched once in that time, whoever asks, and after a failure, too
    pause = CHECK_INTERVAL.total_seconds() * 0.9
    limits = replace(MirrorLimits.of_days(_DAYS), fresh_seconds=pause, retry_seconds=pause)
    # without a token, it can only be a public one
    GitMirror(root / OTHERS_FOLDER, app.settings.github_web_url, str, app.now, limits).update(repository)
    return MirrorFolder(root / OTHERS_FOLDER, repository)
