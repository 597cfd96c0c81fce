"""A sentence that people read is written at one place in the product: what is said twice is changed once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import pytest

from tests.helpers.processes.command import ROOT
from tests.project.tools.full_sentences import is_full_sentence, list_texts
from tests.project.tools.module_nodes import list_nodes

PACKAGES = ("bot", "handlers")
MIN_WORDS = 4


def list_repeated(modules: Iterable[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """Return the sentences of modules, each a name and its source, that stand at two places or more.

    ``{}`` stands for a value.
    """
    places: dict[str, list[str]] = defaultdict(list)
    for name, source in modules:
        for line, text in list_texts(list_nodes(source)):
            if is_full_sentence(text, MIN_WORDS):
                places[" ".join(text.split())].append(f"{name}:{line}")
    return {text: each for text, each in places.items() if len(each) > 1}


@pytest.mark.slow
def test_no_sentence_is_written_twice() -> None:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(paths) > 200
    assert list_repeated((str(path.relative_to(ROOT)), path.read_text()) for path in paths) == {}


@pytest.mark.parametrize(
    ("first", "second", "repeated"),
    [
        ('GONE = "It is not there."', 'raise UsageError("It is not " "there.")', {"It is not there.": 2}),
        ('x = f"{name} is not there yet."', 'y = f"{who} is not there yet."', {"{} is not there yet.": 2}),
        ('"""It is not there."""', 'def look() -> None:\n    """It is not there."""', {}),
        ('GONE = "it is not there"', 'GONE = "it is not there"', {}),
        ('GONE = "Not there."', 'GONE = "Not there."', {}),
    ],
)
def test_what_is_written_twice_is_seen(first: str, second: str, repeated: dict[str, int]) -> None:
    texts = list_repeated([("first", first), ("second", second)])
    assert {text: len(places) for text, places in texts.items()} == repeated
