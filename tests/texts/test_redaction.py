import time
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.pulls.diff import split_hunks
from bot.redaction import CASE_INSENSITIVE_PATTERNS, CASE_SENSITIVE_PATTERNS, REDACTED, redact_patch, redact_text
from tests.helpers.tables import check_rows

# in two parts, so that nobody who scans this repository takes them for real ones
LETTERS = "abcDEF0123456789" * 6
FORMS = {
    "a-bot": ("xox", f"b-123456789012-{LETTERS[:24]}"),
    "a-user": ("xox", f"p-123456789012-{LETTERS[:24]}"),
    "a-refreshed-one": ("xox", f"e-1-{LETTERS[:40]}"),
    "an-app": ("xap", f"p-1-A012345-{LETTERS[:24]}"),
    "github": ("gh", f"p_{LETTERS[:36]}"),
    "github-oauth": ("gh", f"o_{LETTERS[:36]}"),
    "github-user": ("gh", f"u_{LETTERS[:36]}"),
    "github-server": ("gh", f"s_{LETTERS[:36]}"),
    "github-refresh": ("gh", f"r_{LETTERS[:76]}"),
    "github-fine": ("github", f"_pat_{LETTERS[:22]}_{LETTERS[:59]}"),
    "anthropic": ("sk", f"-ant-api03-{LETTERS[:80]}-x_AA"),
    "openai": ("sk", f"-{LETTERS[:48]}"),
    "openai-project": ("sk", f"-proj-{LETTERS[:60]}"),
    "aws": ("AK", "IAIOSFODNN7EXAMPLE"),
    "aws-for-a-while": ("AS", "IAIOSFODNN7EXAMPLE"),
    "hugging-face": ("hf", f"_{LETTERS[:34]}"),
    "google": ("AI", f"za{LETTERS[:35]}"),
}
TOKENS = {name: "".join(parts) for name, parts in FORMS.items()}
DASHES = "-" * 5
KINDS = ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]


def key(kind: str = "RSA ", body: str = "MIIEabc+/=\nabc", *, is_whole: bool = True) -> str:
    end = f"\n{DASHES}END {kind}PRIVATE KEY{DASHES}" if is_whole else ""
    return f"{DASHES}BEGIN {kind}PRIVATE KEY{DASHES}\n{body}{end}"


@check_rows(
    [
        ("", ""),
        ("TOKEN=", "\n"),
        ('+    token = "', '"'),
        ("Bearer ", " "),
        ("https://user:", "@github.com"),
        ("(", ")."),
        ("é ", " é"),
    ],
    TOKENS.values(),
)
def test_a_token_is_taken_out(before: str, after: str, token: str) -> None:
    assert redact_text(f"{before}{token}{after}") == f"{before}{REDACTED}{after}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_private_key_is_taken_out(kind: str) -> None:
    assert redact_text(f"a\n{key(kind)}\nb") == f"a\n{REDACTED}\nb"


def test_a_key_in_a_diff_is_taken_out() -> None:
    redacted_text = redact_text(f"+{key().replace(chr(10), chr(10) + '+')}\n+b")
    assert redacted_text == f"+{REDACTED}\n+b"


def test_the_rest_of_a_text_that_ends_within_a_key_is_taken_out() -> None:
    assert redact_text(f"a {key(is_whole=False)}") == f"a {REDACTED}"


def test_two_keys_do_not_hide_what_stands_between_them() -> None:
    assert redact_text(f"{key()} between {key('')}") == f"{REDACTED} between {REDACTED}"


def test_a_key_without_an_end_is_taken_out_of_a_long_text_too() -> None:
    assert "MIIE" not in redact_text(f"{key(is_whole=False)}\n@@ -1 +1 @@\n{'of the next file ' * 700}")


@check_rows(TOKENS)
def test_a_token_is_taken_out_of_a_diff(token: str) -> None:
    assert redact_patch(f"@@ -1 +1 @@\n-a = {token}\n+b") == f"@@ -1 +1 @@\n-a = {REDACTED}\n+b"


marked = st.lists(st.tuples(st.sampled_from("+- "), st.sampled_from(["x = 1", "", "    y"])), max_size=4)


@given(marked, st.sampled_from("+- "), st.sampled_from(KINDS), st.booleans(), marked)
def test_a_diff_keeps_its_lines_and_their_marks(
    before: list[tuple[str, str]], mark: str, kind: str, is_whole: object, after: list[tuple[str, str]]
) -> None:
    secret = key(kind, is_whole=bool(is_whole)).split("\n")
    lines = [*before, *((mark, line) for line in secret), *after]
    patch = "\n".join(["@@ -7 +7 @@", *(f"{sign}{line}" for sign, line in lines)])
    [(_, redacted_lines)] = split_hunks(redact_patch(patch))
    [(_, whole)] = split_hunks(patch)
    assert [(line.mark, line.old, line.new) for line in redacted_lines] == [
        (line.mark, line.old, line.new) for line in whole
    ]
    assert [line.text for line in redacted_lines[: len(before)]] == [text for _, text in before]
    assert not any("MIIE" in line.text for line in redacted_lines)
    if is_whole:
        assert [line.text for line in redacted_lines[len(before) + len(secret) :]] == [text for _, text in after]


ORDINARY = [
    "task-force-that-works-on-schedules, risk-of-a-longer-name, disk-usage-in-megabytes-per-node",
    "sk-learn, xoxo, xox-1, ghp_short, gho_, github_pattern_matches_here, hf_hub_download_of_the_whole_repository",
    "hf_config = AutoConfig.from_pretrained(model)",
    "AKIA, AKIAlowercase00000000, MAKIAIOSFODNN7EXAMPLE, AIza",
    "d670460b4b4aece5915caf5c68d12f560a9fe3e4 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "123e4567-e89b-12d3-a456-426614174000",
    f"{DASHES}BEGIN CERTIFICATE{DASHES}\nMIIE\n{DASHES}END CERTIFICATE{DASHES}",
    f"{DASHES}BEGIN PUBLIC KEY{DASHES}\nMIIE\n{DASHES}END PUBLIC KEY{DASHES}",
    "os.environ['GITHUB_TOKEN'], ${{ secrets.SLACK_BOT_TOKEN }}, password = getpass()",
    "def weighs_and_measures_of_all_kinds(): highs_and_lows_of_the_last_days = 1",
    "https://github.com/octo/engine/blob/d670460b4b4aece5915caf5c68d12f560a9fe3e4/a.py#L1",
    "eyJ, -----, BEGIN PRIVATE KEY",
    REDACTED,
    "",
]


@check_rows(ORDINARY)
def test_ordinary_code_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text
    assert redact_patch(text) == text


@pytest.mark.parametrize("text", [".sk-toggleable__label-arrow:before", "sk-estimator-doc-link-of-scikit"])
def test_the_names_of_scikit_learn_s_styles_stay(text: str) -> None:
    assert redact_text(text) == text


tokens = st.sampled_from(["".join(parts) for parts in FORMS.values()] + [key(kind) for kind in KINDS])
around = st.text(st.characters(categories=["Z", "P", "S"], exclude_characters="-_"), max_size=6)


@given(st.lists(st.tuples(around, tokens), max_size=5), around)
def test_nothing_of_any_token_is_left(pairs: list[tuple[str, str]], last: str) -> None:
    text = " ".join(f"{before} {token}" for before, token in pairs)
    left = redact_text(f"{text} {last}")
    assert left == " ".join(f"{before} {REDACTED}" for before, _ in pairs) + f" {last}"


def test_no_pattern_matches_a_text_too_short_to_be_searched() -> None:
    assert redact_text("ab://:y@") == f"ab://:{REDACTED}@"
    parse = import_module("re._parser").parse
    least = {
        parse(form.pattern, form.flags).getwidth()[0]: form.pattern
        for _, form in (*CASE_SENSITIVE_PATTERNS, *CASE_INSENSITIVE_PATTERNS)
    }
    # an address with a password also needs the sign behind it, which it does not take
    address = least.pop(min(least))
    assert "://" in address
    assert min(least) >= len("ab://:y@")


@given(st.text(max_size=200))
def test_doing_it_twice_changes_nothing_more(text: str) -> None:
    assert redact_text(redact_text(text)) == redact_text(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["sk-", "-", "ghp_a ", f"{DASHES}BEGIN ", "A", "xoxb-", f"{DASHES}BEGIN PRIVATE KEY"]
)
def test_a_text_of_one_piece_over_and_over_is_read_soon(piece: str) -> None:
    began = time.process_time()
    redact_text(piece * (50_000 // len(piece)))
    redact_patch(piece * (50_000 // len(piece)))
    assert time.process_time() - began < 1.5
