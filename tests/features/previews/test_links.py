import pytest

from bot.features.previews import compute_fingerprint, parse_link
from bot.platform.commands import AllowedRepositories
from impact.repository import Repository
from tests.helpers.tables import check_rows

HERE = AllowedRepositories(Repository("octo", "engine"), (Repository("octo", "parts"),))
WEB = "https://github.com"
KNOWN = {
    f"{WEB}/octo/engine/pull/7": "octo/engine#7",
    f"{WEB}/Octo/Parts/pull/7": "octo/parts#7",
    f"{WEB}/octo/engine/pull/7/files#diff-1": "octo/engine#7",
    f"{WEB}/octo/engine/pull/7/files/{'a' * 40}..{'b' * 40}": "octo/engine#7",
    f"{WEB}/octo/engine/pull/7?a=1&amp;b=2": "octo/engine#7",
    f"{WEB}/octo/engine/compare/v1.2.0...v1.3.0": "octo/engine v1.2.0..v1.3.0",
    f"{WEB}/octo/engine/compare/{'a' * 40}..{'b' * 7}?diff=split": f"octo/engine {'a' * 40}..{'b' * 7}",
}
OTHER = (
    "",
    WEB,
    "http://github.com/octo/engine/pull/7",
    "https://github.com.evil.test/octo/engine/pull/7",
    "https://github.com@evil.test/octo/engine/pull/7",
    "https://user@github.com/octo/engine/pull/7",
    "https://github.com:8443/octo/engine/pull/7",
    "https://GITHUB.com\\@evil.test/octo/engine/pull/7",
    "https://githuḃ.com/octo/engine/pull/7",
    f"{WEB}//octo/engine/pull/7",
    f"{WEB}/octo%2Fengine/pull/7",
    f"{WEB}/octo/engine/pull/%37",
    f"{WEB}/octo/engine/pull/7%2F8",
    f"{WEB}/octo/engine/pull/\N{ARABIC-INDIC DIGIT SEVEN}",
    f"{WEB}/octo/engine/pull/0",
    f"{WEB}/octo/engine/pull/07",
    f"{WEB}/octo/engine/pull/{'7' * 30}",
    f"{WEB}/octo/engine/pull/7\n",
    f"{WEB}/octo/../octo/engine/pull/7",
    f"{WEB}/octo/secret/pull/7",
    f"{WEB}/octo/engine/issues/7",
    f"{WEB}/octo/engine/compare/main...topic",
    f"{WEB}/octo/engine/compare/v1...evil:v2",
    f"{WEB}/octo/engine/compare/v1",
    f"{WEB}/octo/engine/compare/--output=1...v2",
    f"{WEB}/octo/engine/compare/{'1.' * 400}",
    f"{WEB}/octo/engine/pull/7?{'a' * 2_000}",
)


@pytest.mark.parametrize("link", KNOWN)
def test_a_link_to_a_pull_request_or_a_comparison_is_known(link: str) -> None:
    assert str(parse_link(link, HERE)) == KNOWN[link]


@check_rows(OTHER)
def test_any_other_link_is_not(link: str) -> None:
    assert parse_link(link, HERE) is None


def test_two_links_about_the_same_have_one_fingerprint() -> None:
    first, second, other = (
        parse_link(f"{WEB}/{path}", HERE)
        for path in ("octo/engine/pull/7", "OCTO/engine/pull/7/files", "octo/engine/pull/8")
    )
    assert first
    assert second
    assert other
    assert compute_fingerprint(first) == compute_fingerprint(second) != compute_fingerprint(other)
