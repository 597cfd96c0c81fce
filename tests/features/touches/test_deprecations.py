import pytest

from bot.features.touches.lines import render_news
from bot.features.touches.terminal import format_deprecations
from bot.features.touches.view import render_deprecations
from bot.platform.slack.blocks import MAX_BLOCKS, MAX_CHARACTERS, count_characters
from impact.contract.deprecations import Deprecation, DeprecationNews, DeprecationState, build_releases
from impact.contract.models import ContractClass
from impact.coverage import CoveredList
from impact.profile.models import Use, UseKind
from impact.touches.profile_index import UsedDeprecation
from tests.helpers.builders import NOON
from tests.helpers.world import as_read

S = DeprecationState
URL = "https://github.com/octo/engine"
USE = Use(UseKind.FLAG, "--old", "run.sh", 4)


def entry(name: str = "--old", **uses: tuple[Use, ...]) -> UsedDeprecation:
    gone = Deprecation(ContractClass.FLAG, name, 5, "c" * 40, NOON, when="v1.2", replacement="--new")
    return UsedDeprecation(gone, **uses)


def read(*entries: tuple[DeprecationState, UsedDeprecation]) -> str:
    return as_read(render_deprecations("engine", CoveredList(entries), URL).build_payload())


def test_the_list_is_by_state_with_what_we_use_first() -> None:
    text = read(
        (S.ANNOUNCED, entry("--a")), (S.ANNOUNCED, entry("--b", uses=(USE, USE))), (S.OVERDUE, entry("--c"))
    )
    assert "engine · 3 deprecations" in text
    assert (
        text.index("Overdue") < text.index("--c") < text.index("Announced") < text.index("--b") < text.index("--a")
    )
    assert "--b to go in v1.2, use --new (#5) · used at run.sh:4 and 1 other line" in text


def test_an_empty_list_says_so() -> None:
    sentence = "I know of no deprecation, and I have read all merges of the last 31 days."
    assert sentence in read()
    assert format_deprecations(CoveredList()) == sentence


def test_a_terminal_gets_a_line_for_each() -> None:
    text = format_deprecations(CoveredList(((S.DUE, entry(uses=(USE,))),)))
    assert text == "due --old to go in v1.2, use --new #5 run.sh:4"


def test_news_name_the_release() -> None:
    (release,) = build_releases([("v1.1.0", NOON)])
    ((text, name, *_),) = render_news([(DeprecationNews(S.DUE, entry().entry, NOON, release), entry())], URL)
    assert (text["text"], name["text"]) == ("may go with the next release since v1.1.0: ", "--old")


@pytest.mark.slow
def test_many_hostile_names_fit_into_a_message() -> None:
    name = "<!channel> `x`\n*y* " * 50
    entries = tuple((state, entry(name, uses=(USE,))) for state in S for _ in range(300))
    post = render_deprecations(name, CoveredList(entries), URL)
    assert count_characters(post.blocks) <= MAX_CHARACTERS
    assert len(post.blocks) <= MAX_BLOCKS
    assert "<!channel>" not in post.text
