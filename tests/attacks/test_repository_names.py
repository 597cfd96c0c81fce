"""Names of repositories lead to one place: none leaves its folder, its host or the list of the settings."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ConfigurationError, UsageError
from bot.platform.commands import AllowedRepositories
from bot.platform.git.folder import MirrorFolder
from bot.platform.pulls.models import parse_reference
from bot.settings import load_settings
from impact.profile.models import parse_profile_name
from impact.repository import GITHUB_WEB, Repository
from tests.attacks.tables.repository_names import NAMES
from tests.helpers.tables import check_rows
from tests.scenarios import Bot
from tests.scenarios.conftest import Bots, guard_bot

ENGINE = Repository("octo", "engine")
ALLOWED = AllowedRepositories(ENGINE, (Repository("octo", "part-1"),))
ROOT = Path("/mirrors")
ROWS = {name: (text,) for name, text in NAMES.items()}


@check_rows(ROWS)
def test_a_name_that_is_none_is_refused_in_one_sentence(text: str) -> None:
    for parse in (Repository.parse, ALLOWED.parse_repository):
        with pytest.raises(UsageError) as refused:
            parse(text)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 250


@check_rows(ROWS)
def test_no_reference_names_one(text: str) -> None:
    # nothing before a number is the repository of the settings
    for form in (f"{text.strip() or 'x'}#1", f"{GITHUB_WEB}/{text}/pull/1", f"{text}/pull/1"):
        with pytest.raises(UsageError):
            ALLOWED.parse_pull_request(form)


@check_rows(ROWS)
def test_no_mirror_is_made_of_one(text: str) -> None:
    owner, _, name = text.partition("/")
    # as a value of the store that somebody has altered would be read
    with pytest.raises(UsageError):
        MirrorFolder(ROOT, Repository(owner, name))


@check_rows(ROWS)
def test_no_setting_takes_one(text: str) -> None:
    for name in ("PRDIGEST_REPO", "PRDIGEST_REPOS"):
        with pytest.MonkeyPatch.context() as patch:
            if not text.strip() or "\0" in text:
                continue  # nothing is set, or no environment holds it
            patch.setenv(name, text)
            with pytest.raises(ConfigurationError) as refused:
                load_settings()
            assert name in str(refused.value)


_signs = st.sampled_from(
    [*"aZ09._-/~%:@?#\\ \n\0\u043e\u200b", "..", "../", "octo", "engine", "github.com", ".git"]
)


@given(st.lists(_signs, max_size=12).map("".join) | st.text(max_size=40))
def test_whatever_is_taken_for_a_name_stays_where_it_belongs(text: str) -> None:
    try:
        repository = Repository.parse(text)
    except UsageError:
        return
    assert str(repository).isascii()
    assert str(repository).isprintable()
    folder = MirrorFolder(ROOT, repository).path
    assert folder.resolve().parent.parent == ROOT
    address = urlsplit(f"{GITHUB_WEB}/{repository}/pull/1")
    assert (address.netloc, address.path, address.query) == ("github.com", f"/{repository}/pull/1", "")
    assert parse_reference(f"{repository}#1", None).repository == repository


@given(st.lists(_signs, max_size=12).map("".join) | st.text(max_size=40))
def test_whatever_is_taken_for_a_profile_is_no_path(text: str) -> None:
    try:
        name = parse_profile_name(text)
    except UsageError:
        return
    assert name.isascii()
    assert not {*name} & {*"/\\:*?\n\0 "}
    assert name[0].isalnum()


@pytest.fixture
def bot(bots: Bots) -> Iterator[Bot]:
    yield from guard_bot(bots.bot("http"))


@pytest.mark.slow
def test_no_command_asks_anybody_about_one(bot: Bot) -> None:
    ada, channel = bot.person(), bot.channel()
    before = bot.calls()
    forms = (
        "/prsummary {}#1",
        "/prrisks 7d repo:{}",
        "/prdigest 2026-02-27 repo:{}",
        "/prdigest since 7d repo:{}",
    )
    for place, text in enumerate(NAMES.values()):
        if text.strip():
            command, _, words = forms[place % len(forms)].partition(" ")
            assert ada.send_command(command, words.format(text), channel).ack.status == 200
    assert (bot.list_posts(channel), bot.calls()) == ([], before)
