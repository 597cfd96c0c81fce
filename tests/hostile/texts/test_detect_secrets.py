"""What the library detect-secrets finds is taken out too: it is the measure, and is not needed to run the bot."""

from bot.redaction import redact_patch, redact_text
from tests.helpers.data.secret_patterns import find_patterns
from tests.helpers.tables import check_rows
from tests.hostile.tables.credentials import CREDENTIALS


def test_the_table_has_a_credential_for_each_of_its_patterns() -> None:
    """A pattern of a later version has to be decided upon."""
    texts = [text for text, _ in CREDENTIALS.values()]
    missing = [pattern.pattern for pattern in find_patterns() if not any(map(pattern.search, texts))]
    assert (missing, len(find_patterns()) > 40) == ([], True)


@check_rows(CREDENTIALS)
def test_it_finds_nothing_in_what_is_left(text: str, hidden: str) -> None:
    added = "\n".join(f"+{line}" for line in text.split("\n"))
    for left in (redact_text(f"See {text} there"), redact_patch(f"@@ -1 +1,9 @@\n{added}")):
        assert hidden not in left
        assert [pattern.pattern for pattern in find_patterns() if pattern.search(left)] == []
