"""Which tags hold a commit, asked of a real repository over HTTP; no file of it is fetched."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bot.errors import SourceUnavailable
from bot.platform.git.folder import CONFIG
from bot.platform.git.mirror import GitMirror
from bot.platform.git.reading import MirrorReader
from bot.platform.git.tag_history import CommitCopy, CommitWay, GitTagHistory, Tag
from impact.testing.clones import Builder, git, needs_git
from tests.helpers.git_server import TOKEN
from tests.platform.git.conftest import ENGINE, MirrorSetup

pytestmark = needs_git

TITLE = "[Core] Keep the order of requests (#12)"
IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


class Released:
    """A repository with a merge #12 after v1.0, its copies for v1.0.x, and what only looks like a copy."""

    def __init__(self, serve: Callable[[Callable[[Builder], object]], MirrorSetup]) -> None:
        marks: dict[str, int] = {}

        def build(builder: Builder) -> None:
            marks["base"] = builder.commit("Begin (#1)", {"a.py": b"a = 1\n"})
            marks["merge"] = builder.commit(f"{TITLE}\n\nWhy.", {"a.py": b"a = 2\n"})
            marks["later"] = builder.commit("Count (#13)", {"b.py": b"b = 1\n"})
            self.shas = {name: builder.sha(mark) for name, mark in marks.items()}

        self.setup = serve(build)
        source = self.setup.source
        git(source, "config", "uploadpack.allowFilter", "true")
        self.tag("v1.0", "base")
        self.tag("v1.1.0rc1", "merge")
        self.tag("v1.1.0", "later", annotated=True)
        self.history = self.open()

    def open(self) -> GitTagHistory:
        setup = self.setup
        mirror = GitMirror(setup.root, setup.server.url, lambda: TOKEN, lambda: datetime.now(UTC), has_files=False)
        return GitTagHistory(mirror, MirrorReader(setup.root, has_files=False))

    def tag(self, name: str, on: str, *, annotated: bool = False) -> None:
        message = ("-a", "-m", "out") if annotated else ()
        git(self.setup.source, *IDENTITY, "tag", *message, name, self.shas.get(on, on))

    def copy(self, message: str, tag: str = "", on: str = "base") -> str:
        """A commit on a branch from another one, the first, which a tag may hold."""
        tree, parent = git(self.setup.source, "rev-parse", f"{self.shas['merge']}^{{tree}}"), self.shas.get(on, on)
        sha = git(self.setup.source, *IDENTITY, "commit-tree", "-p", parent, "-m", message, tree)
        if tag:
            self.tag(tag, sha)
        return sha

    def find(self) -> tuple[CommitCopy, ...]:
        self.history.update(ENGINE)
        return self.history.find_copies(ENGINE, self.shas["merge"], 12, TITLE)

    def find_copies(self) -> tuple[CommitCopy, ...]:
        merge, *copies = self.find()
        assert (merge.commit, [tag.name for tag in merge.tags]) == (self.shas["merge"], ["v1.1.0rc1", "v1.1.0"])
        return (*copies,)


@pytest.fixture
def released(serve: Callable[[Callable[[Builder], object]], MirrorSetup]) -> Released:
    return Released(serve)


def test_the_tags_of_a_commit_are_named_oldest_first_without_any_file(released: Released) -> None:
    released.history.update(ENGINE)
    tags = released.history.list_tags(ENGINE, released.shas["merge"])
    assert [(tag.name, tag.is_release) for tag in tags] == [("v1.1.0rc1", False), ("v1.1.0", True)]
    assert {tag.name for tag in released.history.list_tags(ENGINE)} == {"v1.0", "v1.1.0rc1", "v1.1.0"}
    path = released.setup.root / "octo" / "engine~commits.git"
    assert (path / "config").read_bytes() == CONFIG
    kinds = git(path, "cat-file", "--batch-check=%(objecttype)", "--batch-all-objects").split()
    assert set(kinds) == {"commit", "tag"}


def test_tags_that_come_later_move_or_go_are_seen_at_the_next_update(released: Released) -> None:
    released.history.update(ENGINE)
    sha = released.setup.commit("More (#14)", {"c.py": b"c = 1\n"})
    released.tag("v1.2.0", sha)
    git(released.setup.source, "tag", "-f", "v1.1.0rc1", sha)
    git(released.setup.source, "tag", "-d", "v1.0")
    # the last update is too fresh to be repeated
    (released.setup.root / "octo" / "engine~commits.git" / "prdigest-updated").unlink()
    released.history.update(ENGINE)
    tags = released.history.list_tags(ENGINE, released.shas["merge"])
    assert {tag.name for tag in tags} == {"v1.1.0", "v1.1.0rc1", "v1.2.0"}
    assert [tag.name for tag in released.history.list_tags(ENGINE, sha)] == ["v1.1.0rc1", "v1.2.0"]
    assert "v1.0" not in {tag.name for tag in released.history.list_tags(ENGINE)}


@pytest.mark.parametrize(
    ("message", "is_copy"),
    [
        pytest.param("[Core] Keep the order of requests (#12) (#20)", True, id="by its number"),
        pytest.param("Order\n\n(cherry picked from commit {merge})", True, id="by the commit"),
        pytest.param("Order\n\nCherry-picked from commit {short}.", True, id="by a short hash"),
        pytest.param("[core] keep the order of requests (#21)", False, id="by a title in other case"),
        pytest.param("[Core] Keep the order of requests (#21)", True, id="by its title"),
        pytest.param('Revert "[Core] Keep the order of requests (#12)" (#22)', False, id="a revert"),
        pytest.param("Follow up on (#12)\n\nSee (#12).", True, id="a number in the subject"),
        pytest.param("Order\n\nSee (#12) and {short}.", False, id="a number in the text"),
        pytest.param("Keep (#120)", False, id="a longer number"),
        pytest.param("Order\n\n(cherry picked from commit {later})", False, id="another commit"),
    ],
)
def test_a_copy_in_a_tag_is_known_by_what_it_says(released: Released, message: str, *, is_copy: bool) -> None:
    merge, later = released.shas["merge"], released.shas["later"]
    sha = released.copy(message.format(merge=merge, short=merge[:9], later=later), "v1.0.1")
    assert [(each.commit, [tag.name for tag in each.tags]) for each in released.find_copies()] == (
        [(sha, ["v1.0.1"])] if is_copy else []
    )


# where a branch of releases begins, its commits, of which each has a tag, and the tags that hold the merge #12
COPY, REVERT = f"{TITLE} (#20)", 'Revert "{title} (#20)"\n\nThis reverts commit {0}.'
PICKED, AGAIN = "Keep (#12)\n\n(cherry picked from commit {merge})", 'Reapply "X"\n\nThis reverts commit {1}.'
OTHER, OWN = (
    'Revert "Count (#13)"\n\nThis reverts commit {later}.',
    'Revert "{title}"\n\nThis reverts commit {merge}.',
)
BRANCHES: dict[str, tuple[str, tuple[str, ...], list[str]]] = {
    "without a pull request": ("base", (COPY, REVERT), ["0"]),
    "a pull request of the branch": ("base", (COPY, 'Revert "{title} (#20)" (#22)'), ["0"]),
    "without a number": ("base", (PICKED.replace(" (#12)", ""), "Undo it\n\nThis reverts commit {0}."), ["0"]),
    "without its title": ("base", (PICKED, "Undo the order\n\nThis reverts commit {0}."), ["0"]),
    "a copy of the revert": ("base", (PICKED, "Undo (#22) (#23)\n\nThis reverts commit {merge}."), ["0"]),
    "and that too": ("base", (COPY, REVERT, AGAIN), ["0", "2"]),
    "and copied again": ("base", (COPY, 'Revert "{title} (#20)"', f"{TITLE} (#24)"), ["0", "2"]),
    "of another commit": ("base", (COPY, OTHER), ["0", "1"]),
    "of the merge itself": ("merge", (OWN, "Bump"), []),
    "of the merge, and that too": ("merge", ('Revert "{title}"', 'Revert "Revert "{title}""'), ["1"]),
}


@pytest.mark.parametrize(("on", "messages", "held"), BRANCHES.values(), ids=BRANCHES)
def test_a_tag_does_not_hold_what_its_branch_took_back(
    released: Released, on: str, messages: tuple[str, ...], held: list[str]
) -> None:
    made: list[str] = []
    for place, message in enumerate(messages):
        text = message.format(*made, title=TITLE, **released.shas)
        made.append(released.copy(text, f"v9.0.{place}", made[-1] if made else on))
    names = {tag.name for each in released.find() for tag in each.tags}
    assert sorted(name for name in names if name.startswith("v9")) == [f"v9.0.{place}" for place in held]
    for place, sha in enumerate(made):
        way = released.history.list_way(ENGINE, released.shas["base"], sha)
        assert way.has_merge(released.shas["merge"], 12) == (str(place) in held), place


def test_a_copy_that_no_tag_holds_is_not_fetched(released: Released) -> None:
    released.copy(f"{TITLE} (#20)")
    assert released.find_copies() == ()


def test_copies_that_are_not_all_read_are_never_none(released: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.platform.git.tag_history.read_output", lambda _: (b"", False))
    with pytest.raises(SourceUnavailable, match="has too many commits"):
        released.find_copies()


def test_a_pin_holds_what_is_in_its_history(released: Released) -> None:
    released.history.update(ENGINE)
    shas = released.shas
    assert released.history.is_part(ENGINE, shas["merge"], shas["later"])
    assert not released.history.is_part(ENGINE, shas["later"], shas["merge"])
    with pytest.raises(SourceUnavailable, match="does not have that commit"):
        released.history.is_part(ENGINE, shas["merge"], "a" * 40)
    with pytest.raises(SourceUnavailable, match="does not have that commit"):
        released.history.list_tags(ENGINE, "a" * 40)


def test_names_and_titles_of_strangers_are_data(released: Released) -> None:
    git(released.setup.source, "update-ref", "refs/tags/-x", released.shas["merge"])
    git(released.setup.source, "update-ref", "refs/tags/v9\u202e1", released.shas["merge"])
    released.history.update(ENGINE)
    names = {tag.name for tag in released.history.list_tags(ENGINE, released.shas["merge"])}
    assert "-x" in names
    assert not [name for name in names if "\u202e" in name]
    copies = released.history.find_copies(ENGINE, released.shas["merge"], 12, "--all -p \x01 $(touch x) `id`")
    assert [each.commit for each in copies] == [released.shas["merge"]]


def test_many_packs_are_fetched_anew(released: Released) -> None:
    released.history.update(ENGINE)
    path = released.setup.root / "octo" / "engine~commits.git"
    for number in range(22):
        released.setup.commit(f"Add {number} (#{30 + number})", {f"d{number}.py": b"d = 1\n"})
        (path / "prdigest-updated").unlink()
        released.history.update(ENGINE)
    assert len([*path.glob("objects/pack/*.pack")]) < 22
    assert released.history.list_tags(ENGINE, released.shas["merge"])


def test_the_way_to_a_tag_has_the_commits_since_another_and_the_numbers_of_copies(released: Released) -> None:
    released.copy("[Core] Keep the order of requests (#12) (#90)", "v1.0.1")
    released.copy('Revert "Count (#13)"', "v1.0.2")
    history, shas = released.history, released.shas
    history.update(ENGINE)
    tags = {tag.name: tag.commit for tag in history.list_tags(ENGINE)}
    assert tags["v1.1.0"] == shas["later"], "an annotated tag is of its commit"
    way = history.list_way(ENGINE, shas["base"], tags["v1.1.0"])
    assert way == CommitWay({shas["merge"]: 12, shas["later"]: 13})
    assert way.has_merge(shas["merge"], 0)
    assert history.list_way(ENGINE, shas["later"], tags["v1.0.1"]) == CommitWay({}, frozenset({12, 90}))
    assert history.list_way(ENGINE, shas["later"], tags["v1.0.2"]) == CommitWay({})
    assert history.list_way(ENGINE, shas["later"], shas["merge"]) == CommitWay({})
    with pytest.raises(SourceUnavailable):
        history.list_way(ENGINE, "f" * 40, tags["v1.1.0"])


@pytest.mark.parametrize(
    ("name", "is_release", "is_candidate", "version"),
    [
        ("v1.2.0", True, False, "v1.2.0"),
        ("1.2", True, False, "1.2"),
        ("v1.2.0.post1", True, False, "v1.2.0.post1"),
        ("v1.2.0rc1", False, True, "v1.2.0"),
        ("v1.2.0-beta.2", False, True, "v1.2.0"),
        ("v1.2.0\x1b[31m", False, False, "v1.2.0\x1b[31m"),
        ("v1.2.0<!channel>", False, False, "v1.2.0<!channel>"),
        ("v1." + "1" * 5_000, False, False, "v1." + "1" * 5_000),
        ("v1.2.0.post" + "1" * 5_000, False, False, "v1.2.0.post" + "1" * 5_000),
        ("nightly", False, False, "nightly"),
    ],
)
def test_a_release_and_its_candidates_are_known_by_their_names(
    name: str, version: str, *, is_release: bool, is_candidate: bool
) -> None:
    tag = Tag(name, datetime.now(UTC))
    assert (tag.is_release, tag.is_candidate, tag.version) == (is_release, is_candidate, version)


def test_hostile_names_of_tags_stay_on_their_line(released: Released) -> None:
    names = ["<!channel>", "`_|", "a\u2028b", "\u202ev1.0", "--all", "x" * 200]
    for name in names:
        git(released.setup.source, "update-ref", f"refs/tags/{name}", released.shas["base"])
    released.history.update(ENGINE)
    tags = released.history.list_tags(ENGINE)
    assert len(tags) == 3 + len(names)
    assert all(tag.name.isprintable() for tag in tags)
    assert sum(tag.commit == released.shas["base"] for tag in tags) == 1 + len(names)
