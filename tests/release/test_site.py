import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from docs.site.drawings import DRAWINGS, render_all
from tests.helpers.processes.command import ROOT

DOCS = ROOT / "docs"
_MISSING = next((name for name in ("sphinx", "myst_parser", "furo") if find_spec(name) is None), "")
# what a browser loads by itself; links that people follow may lead anywhere
_LOADED = re.compile(
    r"""<(?:script|img|iframe|source|audio|video|embed)\b[^>]*?\bsrc\w*=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link\b[^>]*?\bhref=["']?((?:https?:)?//[^"'\s>]+)|url\(["']?((?:https?:)?//[^"')]+)|@import[^;]*//([^;]+)"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. Every warning is an error: also links to pages, files and sections that do not exist."""
    if _MISSING:
        pytest.skip(f"there is no {_MISSING}: uv sync --group docs")
    folder = tmp_path_factory.mktemp("site")
    build = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", DOCS / "site", ROOT, folder)
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


@pytest.mark.slow
class TestSite:
    def test_each_page_and_decision_is_there_and_in_the_contents(self, site: Path) -> None:
        first = (site / "docs" / "index.html").read_text(encoding="utf-8")
        pages = [path for path in DOCS.glob("*.md") if path.name != "index.md"]
        assert [path.name for path in pages if f'href="{path.stem}.html"' not in first] == []
        for name in ("CHANGELOG", "ARCHITECTURE", "CONTRIBUTING", "SECURITY"):
            assert f'href="../{name}.html"' in first
        listed = (site / "docs" / "decisions" / "README.html").read_text(encoding="utf-8")
        decisions = sorted((DOCS / "decisions").glob("0*.md"))
        assert [path.name for path in decisions if f'href="{path.stem}.html"' not in listed] == []

    def test_it_loads_nothing_from_other_hosts(self, site: Path) -> None:
        files = [path for path in site.rglob("*") if path.suffix in {".html", ".css", ".svg"}]
        assert len(files) > 60
        loaded = {path.name: _LOADED.findall(path.read_text(encoding="utf-8")) for path in files}
        assert {name: addresses for name, addresses in loaded.items() if addresses} == {}

    def test_pictures_and_files_come_along(self, site: Path) -> None:
        names = {path.name for path in site.rglob("*")}
        assert {"channel-light.png", "compose.yaml", "grafana.json"} <= names
        assert {f"{drawing.name}.svg" for drawing in DRAWINGS} <= names


def test_what_would_be_loaded_is_found() -> None:
    texts = (
        '<script src="https://cdn.example/a.js"></script>',
        "<img alt='x' src=//cdn.example/a.png>",
        '<link rel="stylesheet" href="https://fonts.example/css">',
        "@font-face { src: url('https://fonts.example/a.woff') }",
        "@import 'https://fonts.example/css';",
    )
    assert all(_LOADED.search(text) for text in texts)
    assert not _LOADED.search('<a href="https://api.slack.com/apps">apps</a><img src="a.png">')


def test_the_drawings_are_as_their_script_draws_them() -> None:
    """``python -m docs.site.drawings`` writes them."""
    assert {path: path.read_text(encoding="utf-8") for path in (DOCS / "pictures").glob("*.svg")} == render_all()


@pytest.mark.parametrize(("path", "text"), render_all().items(), ids=lambda each: getattr(each, "stem", ""))
def test_a_drawing_can_be_read_in_light_and_dark_and_fits(path: Path, text: str) -> None:
    picture = ET.fromstring(text)  # noqa: S314 (our own text)
    space = "{http://www.w3.org/2000/svg}"
    title = picture.find(f"{space}title")
    assert title is not None
    assert title.text == picture.get("aria-label")
    assert "prefers-color-scheme: dark" in text
    assert f"pictures/{path.name}" in (DOCS / "install.md").read_text(encoding="utf-8")
    width = int((picture.get("viewBox") or "").split()[2])
    for each in picture.iter(f"{space}text"):
        if each.get("text-anchor") is None:
            # 14 pixels high: half as wide on average, and titles a little more
            size = 8.2 if "title" in (each.get("class") or "") else 7.2
            assert int(each.get("x", "0")) + size * len(each.text or "") < width, each.text


def test_the_steps_of_a_drawing_are_counted_from_one() -> None:
    for drawing in DRAWINGS:
        steps = [row.step for row in drawing.rows if row.step] + (
            [drawing.sidebar_step] if drawing.sidebar_step else []
        )
        assert sorted(steps) == list(range(1, len(steps) + 1)), drawing.name
