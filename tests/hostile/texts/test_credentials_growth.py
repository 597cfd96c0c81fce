import re
from collections.abc import Iterator

from bot.redaction import redact_patch, redact_text
from tests.helpers.tables import check_rows
from tests.hostile.tables.credentials import CREDENTIALS
from tests.hostile.texts.test_linear_time import (
    FLOOR,
    LONG,
    LONGEST,
    MOST_GROWTH,
    SHORT,
    TRIES,
    USUAL_GROWTH,
    Parser,
    seconds,
)


def pieces(text: str) -> Iterator[str]:
    """What is made to hurt of a credential: its beginnings, all but its end, and it with more behind it."""
    yield from (text[:4], text[:8], text[:16], text[:-1])
    yield from (f"{text}-", f"-{text[:12]}", f"{text[:16]}\n")


def grows(parse: Parser, piece: str, short: int, long: int, most: float) -> bool:
    """Whether ten times the text takes more than ``most`` times the time, each time that it is tried."""
    brief, whole = ((piece * (length // len(piece) + 1))[:length] for length in (short, long))
    return all(
        (duration := seconds(parse, whole)) > FLOOR and duration > most * seconds(parse, brief)
        for _ in range(TRIES)
    )


def is_slow(parse: Parser, piece: str) -> bool:
    """The longest text is tried only where the shorter ones leave a doubt."""
    return grows(parse, piece, SHORT, LONG, USUAL_GROWTH) and grows(parse, piece, LONG, LONGEST, MOST_GROWTH)


@check_rows({name: text for name, (text, _) in CREDENTIALS.items()}, [redact_text, redact_patch])
def test_none_that_begins_again_and_again_takes_the_square_of_its_length(text: str, parse: Parser) -> None:
    assert [piece for piece in pieces(text) if is_slow(parse, piece)] == []


def test_a_pattern_that_takes_the_square_is_noticed() -> None:
    """The one that web tokens had: it began again at each dash within a run without an end."""
    former = re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*")
    assert grows(former.search, "eyJ-", LONG, 10 * LONG, MOST_GROWTH)
    assert not grows(redact_text, "eyJ-", LONG, 10 * LONG, MOST_GROWTH)
