"""The package stands by itself: it names no bot that was made with it. A contract says that it imports none."""

from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "localslack"
FILES = sorted(path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
NAMES = ("prdigest", "vllm", "C0DIGEST")


def test_all_of_it_is_looked_at() -> None:
    assert {".py", ".html", ".js", ".css", ".svg"} <= {path.suffix for path in FILES}
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_it_names_no_bot(path: Path) -> None:
    text = path.read_text(encoding="utf-8").lower()
    assert [name for name in NAMES if name.lower() in text] == []
