import time
from pathlib import Path

import pytest

from bot.connections.sources import read_path_settings
from bot.errors import ConfigurationError
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, PathClass, PathClasses, PathSettings
from impact.repository import Repository
from tests.helpers.checks import is_one_sentence
from tests.helpers.processes.command import ROOT

ENGINE, OTHER = Repository("octo", "engine"), Repository("octo", "other")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "paths.toml"


def read(file: Path, text: str) -> PathSettings:
    file.write_text(text)
    return read_path_settings(file)


def refusal(file: Path, content: str | bytes) -> str:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigurationError) as caught:
        read_path_settings(file)
    message = str(caught.value)
    assert is_one_sentence(message), message
    return message.removeprefix(f"PRDIGEST_PATHS, {file}")


def test_a_repository_has_what_its_table_names_and_the_others_have_the_defaults(file: Path) -> None:
    settings = read(
        file,
        """
        ["octo/engine"]
        product = ["examples/serving/", "/bin/*"]
        docs = ["design/"]
        critical = ["billing/"]
        without_defaults = ["critical", "ci", "ci"]
        """,
    )
    patterns = ((PathClass.DOCS, ("design/",)), (PathClass.PRODUCT, ("examples/serving/", "/bin/*")))
    assert settings.get_path_classes(ENGINE) == PathClasses(patterns, ("billing/",), ("ci", "critical"))
    assert settings.get_path_classes(OTHER) == DEFAULT_PATH_CLASSES
    assert settings.source == str(file)


def _example() -> str:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.removeprefix("#   ") for line in lines if line.startswith("#   "))


def _page() -> str:
    return (ROOT / "docs" / "risk.md").read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]


@pytest.mark.parametrize("text", [_example(), _page()], ids=[".env.example", "docs/risk.md"])
def test_the_examples_can_be_used(file: Path, text: str) -> None:
    classes = read(file, text).get_path_classes(Repository("vllm-project", "vllm"))
    kinds = [classes.classify_path(f"examples/online_serving/{name}") for name in ("a.py", "b/c.py", "README.md")]
    assert kinds == [PathClass.PRODUCT, PathClass.PRODUCT, PathClass.DOCS]
    assert classes.is_critical("vllm/v1/engine/core.py")
    assert not classes.is_critical("vllm/layers/fused_moe.py")
    assert classes.classify_path("tools/a.py") is PathClass.PRODUCT


@pytest.mark.parametrize("name", ["Octo/Engine", "https://github.com/octo/engine", "octo/engine.git"])
def test_names_are_those_of_github_in_any_case(file: Path, name: str) -> None:
    assert read(file, f'["{name}"]\ndocs = ["design/"]').get_path_classes(ENGINE).pattern_names == ("docs",)


def test_the_table_for_all_is_for_those_without_one_of_their_own(file: Path) -> None:
    settings = read(file, '["*"]\ndocs = ["design/"]\n["octo/engine"]\nci = ["bots/"]')
    assert (
        settings.get_path_classes(ENGINE).pattern_names,
        settings.get_path_classes(OTHER).pattern_names,
    ) == (("ci",), ("docs",))


@pytest.mark.parametrize("text", ["", "# nothing", '["octo/engine"]', '["octo/engine"]\ndocs = []', '["*"]'])
def test_what_names_nothing_leaves_the_defaults(file: Path, text: str) -> None:
    assert read(file, text).get_path_classes(ENGINE) == DEFAULT_PATH_CLASSES


def test_every_class_has_a_name_in_the_file(file: Path) -> None:
    lists = "\n".join(f'{name} = ["only/{name}/x.py"]' for name in (*PathClass, "critical"))
    classes = read(file, f'["octo/engine"]\n{lists}').get_path_classes(ENGINE)
    assert [classes.classify_path(f"only/{kind}/x.py") for kind in PathClass] == list(PathClass)
    assert classes.is_critical("only/critical/x.py")


GOOD = [
    "docs/", "/docs", "a/b/*.py", "**/serving/**/*.py", "!docs/keep.md", "My Docs/", "pages/\\\\[id\\\\].tsx",
    "[a-c]*", "[!x]", "?.md", "\\\\#notes", "größe/", "a**", "...", ".github/",
]  # fmt: skip


@pytest.mark.parametrize("pattern", GOOD)
def test_any_pattern_that_can_match_is_taken(file: Path, pattern: str) -> None:
    assert read(file, f'["*"]\ndocs = ["{pattern}"]').get_path_classes(ENGINE).pattern_names == ("docs",)


def test_escaped_brackets_are_letters_of_a_name(file: Path) -> None:
    classes = read(file, "['*']\nother = ['pages/\\[id\\].tsx']").get_path_classes(ENGINE)
    kinds = [classes.classify_path(path) for path in ("pages/[id].tsx", "pages/i.tsx")]
    assert kinds == [PathClass.OTHER, PathClass.PRODUCT]


EMPTY = "is empty: write a file or folder, such as docs/."
BLANK = "begins or ends with a blank, or has invisible characters: write it without."
BRACKETS = "has brackets that are not closed or empty: write them as [a-z], or \\[ and \\] for a name."
FROM_ROOT = "matches no path: write it from the root of the repository, without ./, ../ or //."
STARS = "has too many stars: write up to 4, 3 in one name, 2 times **."
PATTERNS: dict[str, str] = {
    "": EMPTY,
    " ": EMPTY,
    "!": EMPTY,
    "/": EMPTY,
    "!/": EMPTY,
    "docs/ ": BLANK,
    "docs\\n": BLANK,
    "\\u202edocs": BLANK,
    "#docs": "is a comment: write \\# for a name that begins with #.",
    "docs\\\\api": "has a backslash: write / between folders.",
    "docs\\\\": "has a backslash: write / between folders.",
    "[a": BRACKETS,
    "a]": BRACKETS,
    "[[:alpha:]]": BRACKETS,
    "[a--b]": BRACKETS,
    "[z-a]": "matches no path: write it as in a .gitignore.",
    "./docs": FROM_ROOT,
    "docs/../api": FROM_ROOT,
    "a//b": FROM_ROOT,
    "docs//": FROM_ROOT,
    "*a*/*a*/*a": STARS,
    "*a*b*c*d": STARS,
    "**/a/**/a/**/b": STARS,
    "a" * 201: "is too long: write at most 200 characters.",
}


@pytest.mark.parametrize(("pattern", "reason"), PATTERNS.items(), ids=[repr(each[:12]) for each in PATTERNS])
def test_a_pattern_that_can_not_match_is_refused(file: Path, pattern: str, reason: str) -> None:
    message = refusal(file, f'["octo/engine"]\ndocs = ["good/", "{pattern}"]')
    assert message.startswith(', table ["octo/engine"]: docs: \'')
    assert message.endswith(f"' {reason}")


NO_TOML = ': write ["owner/name"] with quotes, and below it docs = ["design/"].'
CLASSES = "lock, generated, ci, tests, docs, build, support, product"
FILES: dict[str, tuple[str | bytes, str]] = {
    "no quotes": ("[octo/engine]", NO_TOML),
    "cut": ('["octo/engine"', NO_TOML),
    "nested": ("x = " + "[" * 50_000, NO_TOML),
    "a number too long": ("x = " + "9" * 9_999, NO_TOML),
    "not UTF-8": (b'["*"]\ndocs = ["gr\xf6\xdfe/"]', ": it is not UTF-8 text: save it as UTF-8."),
    "too large": ("#" * 100_001, ": it is larger than 100 KB: name folders instead of files."),
    "no table": ('docs = ["a/"]', ": 'docs' is not in a table: write [\"owner/name\"] above it."),
    "no owner": (
        '[engine]\ndocs = ["a/"]',
        ', table ["engine"]: it is not a repository: write it as ["owner/name"], with quotes.',
    ),
    "a table in a table": (
        '[octo.engine]\ndocs = ["a/"]',
        ', table ["octo"]: it is not a repository: write it as ["owner/name"], with quotes.',
    ),
    "twice": (
        '["octo/engine"]\n["Octo/engine"]',
        ', table ["Octo/engine"]: it appears twice: write one table for each repository.',
    ),
    "almost a class": (
        '["octo/engine"]\ndoc = ["a/"]',
        ", table [\"octo/engine\"]: 'doc' is not a class: write docs instead.",
    ),
    "no class": (
        '["*"]\nxyzzy = ["a/"]',
        f", table [\"*\"]: 'xyzzy' is not a class: write one of {CLASSES}, other, critical, without_defaults.",
    ),
    "a text": (
        '["*"]\ndocs = "a/"',
        ', table ["*"]: docs is not a list of texts: write it as docs = ["design/"].',
    ),
    "a number": (
        '["*"]\ndocs = ["a/", 7]',
        ', table ["*"]: docs is not a list of texts: write it as docs = ["design/"].',
    ),
    "without, but no list": (
        '["*"]\nwithout_defaults = true',
        ', table ["*"]: without_defaults is not a list of texts: write it as without_defaults = ["critical"].',
    ),
    "without what has none": (
        '["*"]\nwithout_defaults = ["other"]',
        f", table [\"*\"]: without_defaults: 'other' has no defaults: write any of {CLASSES}, critical.",
    ),
    "too many": (
        '["*"]\ndocs = [' + '"a/",' * 300 + "]\ncritical = [" + '"b/",' * 201 + "]",
        ', table ["*"]: it has more than 500 patterns: name folders instead of files.',
    ),
}


@pytest.mark.parametrize(("content", "ending"), FILES.values(), ids=FILES)
def test_every_mistake_is_one_sentence_on_what_to_write(file: Path, content: str | bytes, ending: str) -> None:
    assert refusal(file, content).endswith(ending)


def test_as_many_patterns_as_are_allowed_are_taken(file: Path) -> None:
    assert read(file, '["*"]\ndocs = [' + '"a/",' * 500 + "]").get_path_classes(ENGINE).pattern_names == ("docs",)


@pytest.mark.parametrize("name", ["nowhere.toml", ".", "a\0b"])
def test_a_file_that_is_none_names_the_setting(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"^PRDIGEST_PATHS, .*can't be read \(.*\): write the path of a file"
    ) as caught:
        read_path_settings(tmp_path / name)
    assert is_one_sentence(str(caught.value))


@pytest.mark.parametrize("pattern", ["*a*a*b", "**/a/**/*a*b", "**/*a*a*b", "*a*/*a*b", "**/*a/**/*ab"])
def test_no_pattern_takes_long_on_any_path(file: Path, pattern: str) -> None:
    """Paths have at most 4,096 characters, and 255 between two slashes."""
    classes = read(file, f'["*"]\ndocs = ["{pattern}"]').get_path_classes(ENGINE)
    paths = ("a" * 255, "/".join(["a" * 255] * 16), "a/" * 2_048, "b" + "ab" * 100)
    started = time.perf_counter()
    for path in paths:
        classes.classify_path(path)
    assert time.perf_counter() - started < 5
