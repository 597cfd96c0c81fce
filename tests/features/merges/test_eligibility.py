from bot.features.merges.review import should_review
from bot.features.merges.risk import Risk
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES
from tests.helpers.builders import changed_file, pull

DOCS = changed_file("docs/a.md")
CASES: tuple[tuple[str, PullRequest, Risk, bool], ...] = (
    ("middle", pull(), Risk(4.0, ()), True),
    ("highest", pull(files=(DOCS, changed_file())), Risk(30.0, ()), True),
    ("low", pull(), Risk(-3.0, ()), True),
    ("no product", pull(files=(DOCS, changed_file("tests/test_a.py"))), Risk(12.0, ()), False),
    ("open", pull(merged_at=None), Risk(12.0, ()), False),
    ("unknown files", pull(files=None), Risk(12.0, ()), False),
    ("a revert", pull(), Risk(12.0, (), may_be_listed=False), False),
)


def test_product_code_of_every_band_is_reviewed() -> None:
    wrong = [
        name
        for name, change, risk, expected in CASES
        if should_review(change, risk, DEFAULT_PATH_CLASSES) is not expected
    ]
    assert wrong == []
