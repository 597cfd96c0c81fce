from tests.helpers.tables import check_rows
from tests.hostile.tables.credentials import CREDENTIALS
from tests.project.tools.secret_scan import MADE_UP, ROOT, find_lines


def test_each_exception_is_needed() -> None:
    texts = {name: (ROOT / name).read_text() for name in MADE_UP}
    assert [name for name, text in texts.items() if not any(find_lines(text))] == []


@check_rows({"a key": ("-----BEGIN " + "PRIVATE KEY-----",), "a token": ("ghp_" + "a1B2" * 9,)})
def test_a_credential_is_found_on_its_line(text: str) -> None:
    assert list(find_lines(f"one\ntwo {text} \nthree")) == [2]


def test_most_forms_that_the_bot_takes_out_are_found() -> None:
    names = [name for name, (text, _) in CREDENTIALS.items() if any(find_lines(text))]
    assert len(names) > 20
