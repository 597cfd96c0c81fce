"""Paths of a repository: their globs, areas and classes, and the filters by which people choose pull requests."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from bot.errors import UsageError
from bot.platform.pulls.models import Account, ChangedFile, PullRequest
from impact.path_globs import PathGlobs
from impact.repository import Repository
from impact.text.strings import collapse_lines, quote_input


class PathClass(StrEnum):
    """The classes of paths, in the order in which they are tried."""

    LOCK = "lock"
    GENERATED = "generated"
    CI = "ci"
    TESTS = "tests"
    DOCS = "docs"
    BUILD = "build"
    SUPPORT = "support"
    PRODUCT = "product"
    OTHER = "other"


_PATTERNS: dict[PathClass, str] = {
    PathClass.LOCK: (
        "*.lock package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum *.lock.json Package.resolved"
    ),
    PathClass.GENERATED: (
        "vendor/ vendored/ third_party/ third-party/ node_modules/ generated/ dist/ *.min.js *.min.css *.map"
        " *_pb2.py *_pb2.pyi *_pb2_grpc.py *.pb.go *.pb.cc *.pb.h *.g.dart *.generated.*"
        " *.snap __snapshots__/"
    ),
    PathClass.CI: (
        ".github/ .gitlab/ .gitlab-ci.yml .circleci/ .buildkite/ .ci/ /ci/ azure-pipelines* Jenkinsfile*"
        " .pre-commit* /tools/pre_commit/ .gitignore .gitattributes .editorconfig .clang-* .eslint*"
        " eslint.config.* .prettier* .yapf* .flake8 .pylintrc .shellcheck* .lintrunner* codecov.y* .codecov*"
        " .mergify.y* .vscode/"
    ),
    PathClass.TESTS: (
        "test/ tests/ __tests__/ __mocks__/ testdata/ test_data/ fixtures/ e2e/ integration-tests/"
        " integration_tests/ test_*.py conftest.py *_test.* *_tests.* *.test.* *.spec.* *Test.java"
        " *Tests.java *Test.kt *_spec.rb"
    ),
    PathClass.DOCS: (
        "docs/ doc/ website/ examples/ example/ samples/ *.md *.mdx *.rst *.adoc *.ipynb LICENSE* NOTICE*"
        " CODEOWNERS CHANGELOG* AUTHORS* *.png *.jpg *.gif *.svg"
    ),
    PathClass.BUILD: (
        "requirements*.txt requirements*.in /requirements/ constraints*.txt pyproject.toml setup.py setup.cfg"
        " Pipfile* environment*.y* package.json pnpm-workspace.yaml tsconfig*.json webpack.config.*"
        " vite.config.* rollup.config.* esbuild.config.* babel.config.* Cargo.toml go.mod go.work pom.xml"
        " *.gradle *.gradle.kts gradle.properties Gemfile* *.gemspec composer.json *.csproj *.sln BUILD"
        " BUILD.bazel BUCK TARGETS *.bzl WORKSPACE* MODULE.bazel CMakeLists.txt *.cmake /cmake/ Makefile"
        " GNUmakefile *.mk meson.build Dockerfile* *.Dockerfile /docker/ docker-compose*"
        " flake.nix .gitmodules"
    ),
    PathClass.SUPPORT: "/benchmarks/ /benchmark/ /bench/ /scripts/ /tools/ /hack/ /dev/",
}
_CRITICAL_PATTERNS = (
    "*.cu *.cuh csrc/ kernels/ *kernel* ops/ *triton* *attention* *attn* *moe* *quantiz*"
    " migrations/ auth/ security/ crypto/"
)
_SOURCE_EXTENSIONS = frozenset(
    "py pyx c cc cpp cxx cu cuh hip h hh hpp hxx inl m mm metal rs go java kt kts scala groovy cs fs swift js"
    " jsx mjs cjs ts tsx mts cts vue svelte rb php ex exs erl hs ml clj dart lua r jl pl pm zig sql proto"
    " graphql jinja jinja2 j2 wgsl glsl hlsl".split()
)
# not a class: the name of product code in places where mistakes hurt most
CRITICAL = "critical"


@dataclass(frozen=True)
class PathClasses:
    """The assignment of paths to classes, by patterns in the syntax of .gitignore.

    ``patterns`` of a repository are tried before the defaults, and its ``critical`` ones are added to theirs.
    ``without_defaults`` lists what has no defaults: classes, or ``critical``; for ``product``, the default
    extensions of source code are dropped.
    """

    patterns: tuple[tuple[PathClass, tuple[str, ...]], ...] = ()
    critical: tuple[str, ...] = ()
    without_defaults: tuple[str, ...] = ()

    @property
    def pattern_names(self) -> tuple[str, ...]:
        return (*(str(kind) for kind, _ in self.patterns), *([CRITICAL] if self.critical else []))

    def classify_path(self, path: str) -> PathClass:
        """Return the class of a path; source code that matches no pattern is product."""
        return self._lookup(path)[0]

    def is_critical(self, path: str) -> bool:
        """Return whether a product file is where mistakes hurt most (kernels, attention, migrations, …)."""
        return self._lookup(path)[1]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that determines the class of a path; it changes with the patterns."""
        defaults = (tuple(_PATTERNS.items()), _CRITICAL_PATTERNS)
        content = repr(((*defaults, astuple(self)), sorted(_SOURCE_EXTENSIONS)))
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @cached_property
    def _lookup(self) -> Callable[[str], tuple[PathClass, bool]]:
        # packing, risk and areas classify the same few thousand paths of a day repeatedly; a measurement
        # classifies all paths of a year, also where a whole tree was moved
        return lru_cache(maxsize=100_000)(self._classify_uncached)

    def _classify_uncached(self, path: str) -> tuple[PathClass, bool]:
        kind = next((kind for kind, globs in self._globs if globs.has_match(path)), None)
        if kind is None:
            extension = PurePosixPath(path).suffix.lstrip(".").lower()
            is_source = extension in _SOURCE_EXTENSIONS and PathClass.PRODUCT not in self.without_defaults
            kind = PathClass.PRODUCT if is_source else PathClass.OTHER
        return kind, kind is PathClass.PRODUCT and self._critical_globs.has_match(path)

    @cached_property
    def _globs(self) -> tuple[tuple[PathClass, PathGlobs], ...]:
        defaults = ((kind, text.split()) for kind, text in _PATTERNS.items() if kind not in self.without_defaults)
        return tuple((kind, PathGlobs(lines)) for kind, lines in (*self.patterns, *defaults))

    @cached_property
    def _critical_globs(self) -> PathGlobs:
        defaults = [] if CRITICAL in self.without_defaults else _CRITICAL_PATTERNS.split()
        return PathGlobs([*defaults, *self.critical])


DEFAULT_PATH_CLASSES = PathClasses()

PathClassesLookup = Callable[[Repository], PathClasses]


def get_default_classes(_repository: Repository) -> PathClasses:
    return DEFAULT_PATH_CLASSES


def list_default_patterns() -> dict[str, str]:
    """Return the default patterns by class, in the order in which they are tried, and the critical ones."""
    source = " ".join(f"*.{extension}" for extension in sorted(_SOURCE_EXTENSIONS))
    return {
        **{str(kind): text for kind, text in _PATTERNS.items()},
        "product": source,
        CRITICAL: _CRITICAL_PATTERNS,
    }


@dataclass(frozen=True)
class PathSettings:
    """The path classes of each repository: its own ones, else the common ones.

    ``by_repository`` maps owner/name in lower case to classes. ``source`` is the file with these settings, empty
    if there is none.
    """

    by_repository: Mapping[str, PathClasses] = field(default_factory=dict)
    default: PathClasses = DEFAULT_PATH_CLASSES
    source: str = ""

    def get_path_classes(self, repository: Repository) -> PathClasses:
        """Return the path classes of a repository; names on GitHub are case-insensitive."""
        return self.by_repository.get(str(repository).lower(), self.default)


# characters
_MAX_LENGTH = 200
# more stars make a pattern incomprehensible
_MAX_STARS, _MAX_STARS_IN_NAME, _MAX_DOUBLE_STARS = 4, 3, 2
_STARS = re.compile(r"\*+")
# the characters that a backslash may escape, and what brackets may hold
_ESCAPE = re.compile(r"\\[#! *?\[\]\\]")
_BRACKETS = re.compile(r"\[[!^]?(?:\w(?:-\w)?)+\]")


def _remove_escapes(pattern: str) -> str:
    return _BRACKETS.sub("", _ESCAPE.sub("", pattern))


def _is_invalid_path(pattern: str) -> bool:
    names = pattern.removeprefix("!").removeprefix("/").removesuffix("/").split("/")
    return not {"", ".", ".."}.isdisjoint(names)


def _is_too_complex(pattern: str) -> bool:
    stars = _STARS.findall(pattern)
    most = max(len(_STARS.findall(name)) for name in pattern.split("/"))
    doubled = sum(len(each) > 1 for each in stars)
    return len(stars) > _MAX_STARS or most > _MAX_STARS_IN_NAME or doubled > _MAX_DOUBLE_STARS


def _is_invalid_glob(pattern: str) -> bool:
    try:
        PathGlobs([pattern])
    except re.error:
        return True
    return False


# in this order: each check relies on those before it
_FAULTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is empty: write a file or folder, such as docs/", lambda pattern: not pattern.strip(" !/")),
    (f"is too long: write at most {_MAX_LENGTH} characters", lambda pattern: len(pattern) > _MAX_LENGTH),
    (
        "begins or ends with a blank, or has invisible characters: write it without",
        lambda pattern: pattern != collapse_lines(pattern),
    ),
    ("is a comment: write \\# for a name that begins with #", lambda pattern: pattern.startswith("#")),
    ("has a backslash: write / between folders", lambda pattern: "\\" in _remove_escapes(pattern)),
    (
        "has brackets that are not closed or empty: write them as [a-z], or \\[ and \\] for a name",
        lambda pattern: not {"[", "]"}.isdisjoint(_remove_escapes(pattern)),
    ),
    ("matches no path: write it from the root of the repository, without ./, ../ or //", _is_invalid_path),
    (
        (
            f"has too many stars: write up to {_MAX_STARS}, {_MAX_STARS_IN_NAME} in one name, "
            f"{_MAX_DOUBLE_STARS} times **"
        ),
        _is_too_complex,
    ),
    ("matches no path: write it as in a .gitignore", _is_invalid_glob),
)


def find_fault(pattern: str) -> str:
    """Return the fault of a pattern and its remedy as the end of a sentence; empty if the pattern is valid."""
    return next((fault for fault, is_so in _FAULTS if is_so(pattern)), "")


# the first label that matches a product file wins; a path that matches none has the name of its folder
_LABELS: tuple[tuple[str, PathGlobs], ...] = tuple(
    (label, PathGlobs(patterns.split()))
    for label, patterns in (
        ("Models", "models/"),
        ("Speculative decoding", "*spec_decode* *speculat* *eagle*"),
        ("Quantization and MoE", "*quantiz* *moe*"),
        ("Kernels and attention", "csrc/ kernels/ *kernel* *attention* *attn* *triton* *.cu *.cuh ops/"),
        ("API and serving", "entrypoints/ api/ server/ serving/ routes/ handlers/ *openai* grpc/"),
        ("Distributed", "distributed/ *kv_transfer* *parallel*"),
        ("Multimodal", "multimodal/"),
        ("LoRA", "lora/"),
        ("Engine and scheduling", "engine/ core/ worker/ executor/ *schedul*"),
        ("Platforms", "platforms/ *rocm* *xpu* *tpu* *cpu*"),
        ("Configuration", "config/ *config* envs.py settings*"),
        ("Database", "migrations/ db/ *.sql"),
        ("User interface", "ui/ frontend/ web/ components/ *.vue *.svelte *.tsx *.jsx"),
    )
)
_KIND_LABELS = {
    PathClass.BUILD: "Dependencies and build",
    PathClass.LOCK: "Dependencies and build",
    PathClass.SUPPORT: "Tools and benchmarks",
    PathClass.TESTS: "CI and tests",
    PathClass.CI: "CI and tests",
    PathClass.DOCS: "Documentation",
}
OTHER_AREA = "Other"
OTHER_PRODUCT_AREA = "Elsewhere in the product"
# the least important areas of a digest, in their order
_TRAILING_AREAS = (OTHER_PRODUCT_AREA, "Tools and benchmarks", "CI and tests", "Documentation", OTHER_AREA)


def determine_area(pull: PullRequest, classes: PathClasses = DEFAULT_PATH_CLASSES) -> str:
    """Return the label of the area with the most changed lines; product code takes precedence over all else."""
    files = pull.files or ()
    product = [file for file in files if classes.classify_path(file.path) is PathClass.PRODUCT]
    if product:
        return _select_heaviest_label((_label_product_path(file.path), file) for file in product)
    return _select_heaviest_label(
        (_KIND_LABELS.get(classes.classify_path(file.path), OTHER_AREA), file) for file in files
    )


def build_area_sort_key(label: str, size: int) -> tuple[int, int, str]:
    rank = _TRAILING_AREAS.index(label) + 1 if label in _TRAILING_AREAS else 0
    return (rank, -size, label)


def is_product_area(label: str) -> bool:
    return label not in _TRAILING_AREAS and label not in _KIND_LABELS.values()


def _select_heaviest_label(labelled: Iterable[tuple[str, ChangedFile]]) -> str:
    weights: Counter[str] = Counter()
    for label, file in labelled:
        weights[label] += 1 + file.changed_lines
    return max(weights, key=lambda label: (weights[label], label)) if weights else OTHER_AREA


def _label_product_path(path: str) -> str:
    for label, globs in _LABELS:
        if globs.has_match(path):
            return label
    folders = PurePosixPath(path).parts[:-1][:2]
    name = folders[-1].strip("._- ").replace("_", " ").replace("-", " ") if folders else ""
    return name[:1].upper() + name[1:] or OTHER_AREA


# --- filters

# the rest of .gitignore's syntax (classes, escapes, comments) has another meaning, or none, here
_PATH = re.compile(r"!?[^#\[\]\\!][^\[\]\\!]*")
_BLANK = re.compile(r"\s")
# in one name; more are not needed to select files
_MAX_FILTER_STARS = 3
# characters: the limit of a command, and enough for the path of any file
MAX_PATH_LENGTH = 1_000
BOTS = "bots"
_APP_SUFFIX = "[bot]"


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of several kinds. Values of one kind are alternatives; a pull request must match every kind in use.

    A path is a folder, a file or a glob in the syntax of ``.gitignore``: ``vllm/v1``, ``*.cu``, ``csrc/**/moe``.
    A ``!`` in front excludes matches from the preceding paths, or from all files. Authors and labels are
    compared case-insensitively; ``bots`` stands for every bot. ``not_authors`` are excluded.
    An invalid path raises UsageError.
    """

    paths: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    not_authors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for path in self.paths:
            if len(path) > MAX_PATH_LENGTH:
                raise UsageError(
                    f"path:{quote_input(path)} is too long: use up to {MAX_PATH_LENGTH:,} characters."
                )
            folders = path.split("/")
            if not _PATH.fullmatch(path) or any(folder.count("*") > _MAX_FILTER_STARS for folder in folders):
                raise UsageError(
                    f"path:{quote_input(path)} can't be used: write vllm/v1, *.cu or csrc/**/moe instead."
                )

    def is_match(self, pull: PullRequest) -> bool:
        """Return whether the pull request matches; one without files matches no path filter."""
        if not self.may_match(pull):
            return False
        if not self.paths:
            return True
        files = pull.files or ()
        return any(self.has_path(file.path) or self.has_path(file.previous_path or file.path) for file in files)

    def has_path(self, path: str) -> bool:
        return not self.paths or _build_path_predicate(self.paths)(path)

    def may_match(self, pull: PullRequest) -> bool:
        names = _list_author_names(pull.author)
        is_unwanted = bool(self.not_authors) and _has_match(self.not_authors, names)
        return not is_unwanted and _has_match(self.authors, names) and _has_match(self.labels, pull.labels)

    def list_options(self) -> tuple[str, ...]:
        kinds = (
            ("path", self.paths),
            ("author", self.authors),
            ("label", self.labels),
            ("not-author", self.not_authors),
        )
        quoted = (
            (kind, f'"{value}"' if _BLANK.search(value) else value) for kind, each in kinds for value in each
        )
        return tuple(f"{kind}:{value}" for kind, value in quoted)

    def __str__(self) -> str:
        return " ".join(self.list_options())

    def __bool__(self) -> bool:
        return bool(self.paths or self.authors or self.labels or self.not_authors)


NO_FILTERS = Filters()


@lru_cache
def _build_path_predicate(paths: tuple[str, ...]) -> Callable[[str], bool]:
    if all(path.startswith("!") for path in paths):
        excluded = PathGlobs(path[1:] for path in paths)
        return lambda file: not excluded.has_match(file)
    return PathGlobs(paths).has_match


def _list_author_names(author: Account) -> tuple[str, ...]:
    """Return the names of an author. GitHub appends ``[bot]`` to the names of apps in some answers only."""
    name = author.login.removesuffix(_APP_SUFFIX)
    return (name, f"{name}{_APP_SUFFIX}", BOTS) if author.is_bot or name != author.login else (name,)


def _has_match(values: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return not values or not {name.casefold() for name in values}.isdisjoint(name.casefold() for name in names)
