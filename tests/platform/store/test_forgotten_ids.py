import pytest

from bot.platform.store.forgotten_ids import ForgottenIds, is_channel_id, is_user_id

IDS = ForgottenIds(frozenset({"U0ADA"}), frozenset({"C0OPS", "D0ADA"}), frozenset({"C0DEV:17.5"}))


@pytest.mark.parametrize(
    ("text", "is_in", "owns"),
    [
        ("C0OPS:177.5", True, True),
        ("digest:T0:D0ADA:owner/name:2026-02-28", True, True),
        ('{"user": "U0ADA", "channel": "C0DEV"}', True, True),
        ('{"args": [{"user": "U0ADA"}]}', True, True),
        ('{"key": "digest:T0:C0OPS:owner/name:2026-02-28"}', True, True),
        ('{"channel": "C0OPS", "by": "U0BEN"}', True, True),
        # these name an id, and belong to others
        ('{"channel": "C0DEV", "by": "U0ADA"}', True, False),
        ('{"text": "ask <@U0ADA> in <#C0OPS>", "user": "U0BEN"}', True, False),
        ('{"user_id": "U0ADA"}', True, False),
        ("ask <@U0ADA>", True, False),
        ('"U0ADA"', True, False),
        # parts of longer words, and other ids
        ("U0ADAM", False, False),
        ("C0OPS2:177.5", False, False),
        ('{"user": "U0BEN"}', False, False),
        ("", False, False),
        ("{U0BEN", False, False),
    ],
)
def test_what_is_about_an_id_is_told_from_what_names_it(text: str, *, is_in: bool, owns: bool) -> None:
    assert (IDS.is_in(text), IDS.owns(text)) == (is_in, owns)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('{"by":"U0ADA","follows":"U0ADA"}', '{"by":"UFORGOTTEN","follows":""}'),
        ('{"to": "U0ADA", "at": 1}', '{"to": "", "at": 1}'),
        ("<@U0ADA> in <#C0OPS|ops>, not U0ADAM", "<@UFORGOTTEN> in <#CFORGOTTEN|ops>, not U0ADAM"),
    ],
)
def test_an_id_is_taken_out_of_a_text(text: str, redacted: str) -> None:
    assert IDS.redact(text) == redacted
    assert IDS.redact(redacted) == redacted
    assert not IDS.is_in(redacted)


def test_an_id_with_its_workspace_is_a_value() -> None:
    assert [text for text in ("U0ADA", "T0:U0ADA", "T0:U0BEN", "a:b:U0ADA", "by U0ADA") if IDS.is_value(text)] == [
        "U0ADA",
        "T0:U0ADA",
    ]


def test_a_key_of_a_message_is_known_and_one_beside_it_is_not() -> None:
    keys = ("thread:C0DEV:17.5", "answer:mention:C0DEV:17.5:question", "thread:C0DEV:17.55", "thread:C0DEV:117.5")
    assert [IDS.is_of_message(key) for key in keys] == [True, True, False, False]


def test_nothing_is_of_no_ids() -> None:
    nobody = ForgottenIds()
    assert not any((nobody.is_in("U0ADA"), nobody.owns('{"user": "U0ADA"}'), nobody.is_of_message("a:1")))
    assert nobody.redact('{"to": ""}') == '{"to": ""}'


def test_ids_have_their_form() -> None:
    assert [is_user_id(each) for each in ("U0ADA", "W0ADA", "C0OPS", "@ada", "U", "u0ada")] == [True, True] + 4 * [
        False
    ]
    assert [is_channel_id(each) for each in ("C0OPS", "D0ADA", "G0OLD", "U0ADA", "#ops")] == 3 * [True] + 2 * [
        False
    ]
