"""An upstream on an emulated GitHub, a team's profile of it, and an app that reads both."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from github import Auth
from redis import Redis

from bot.app import App
from bot.errors import GitHubUnavailable
from bot.features.profiles.service import ProfileEntry
from bot.platform.github.client import GitHubClient
from bot.platform.github.source_files import GitHubSourceFiles
from bot.platform.pulls.models import PullRequest
from impact.profile.models import Profile, Use, UseKind
from impact.python.models import CallShape
from tests.emulators.github.store import sha
from tests.emulators.github.trees import Entry, FixedTree, TreeCommit
from tests.helpers.apps import make_app
from tests.helpers.builders import NOON, REPOSITORY, changed_file, pull
from tests.helpers.worlds import REPO, ScriptedGitHub

BEFORE = {
    "engine/core.py": b"def run(a):\n    return a\n\n\ndef stop():\n    return 1\n",
    "engine/__init__.py": b"",
}
# the one that the profile calls is gone
AFTER = {"engine/core.py": b"def run(a):\n    return a\n", "engine/__init__.py": b""}
CORE = (changed_file("engine/core.py"),)
CALL = Use(
    UseKind.CALL, "engine.core.stop", "plugin/worker.py", 7, "stop()", ("engine.core.stop",), call=CallShape()
)
PROFILE = Profile("ascend", ("engine",), "octo/plugin", "c0ffee", NOON, (CALL,), {}, 1)
ENTRY = ProfileEntry("ascend", REPOSITORY, ("engine",), commit="c0ffee", uses=1, files=1)


class NoFiles:
    """Pull requests whose files nobody can list."""

    def load_files(self, _: PullRequest) -> PullRequest:
        raise GitHubUnavailable("GitHub is away.")


def open_app(store: Redis, github: ScriptedGitHub | None = None, **sources: Any) -> App:
    """An app that reads the files of an emulated GitHub; without one, there is no source of files."""
    versions = GitHubSourceFiles(GitHubClient(github.url, Auth.Token(github.token))) if github else None
    parts = {
        "source_versions": versions,
        "background": None,
        "releases": None,
        "source_mirror": None,
        "source_search": None,
        **sources,
    }
    return make_app(store, SimpleNamespace(**parts), pulls=NoFiles())


def add_merge(
    github: ScriptedGitHub,
    number: int,
    after: Mapping[str, bytes] = AFTER,
    before: Mapping[str, bytes] = BEFORE,
    files: Any = CORE,
) -> PullRequest:
    trees = [FixedTree({path: Entry(data) for path, data in each.items()}) for each in (before, after)]
    commit = sha(f"merge {number}")
    github.add_commit(REPO, TreeCommit(commit, trees[1], TreeCommit(sha("before"), trees[0])))
    return pull(number, files=files, merge_commit=commit)
