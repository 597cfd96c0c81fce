"""Classes of files by their paths: product, tests, documentation and so on.

The defaults fit any repository. Patterns have the syntax of .gitignore; the first class that matches wins. The
defaults were measured on the merges of vLLM in 2025, where lists made by hand did no better. A repository may
define its own patterns, which are tried first (docs/decisions/0008-risk.md).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from bot.domain.pull_requests.models import Repository
from impact.path_globs import PathGlobs


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
class CustomPaths:
    """The patterns that a repository defines in addition to the defaults, in the syntax of .gitignore.

    ``without_defaults`` lists what has no defaults: classes, or ``critical``; for ``product``, the default
    extensions of source code are dropped.
    """

    patterns: tuple[tuple[PathClass, tuple[str, ...]], ...] = ()
    critical: tuple[str, ...] = ()
    without_defaults: tuple[str, ...] = ()

    @property
    def pattern_names(self) -> tuple[str, ...]:
        """The names of the classes with own patterns, in the order in which they are tried."""
        return (*(str(kind) for kind, _ in self.patterns), *([CRITICAL] if self.critical else []))


@dataclass(frozen=True)
class PathClasses:
    """The assignment of paths to classes. ``patterns`` and ``critical`` are blank-separated .gitignore patterns.

    ``custom`` patterns are tried before ``patterns``; custom critical paths are added to ``critical``.
    """

    patterns: tuple[tuple[PathClass, str], ...] = tuple(_PATTERNS.items())
    critical: str = _CRITICAL_PATTERNS
    custom: CustomPaths = CustomPaths()

    def classify_path(self, path: str) -> PathClass:
        """Return the class of a path; source code that matches no pattern is product."""
        return self._lookup(path)[0]

    def is_critical(self, path: str) -> bool:
        """Return whether a product file is where mistakes hurt most (kernels, attention, migrations, …)."""
        return self._lookup(path)[1]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that determines the class of a path; it changes with the patterns."""
        content = repr((astuple(self), sorted(_SOURCE_EXTENSIONS)))
        return hashlib.sha256(content.encode()).hexdigest()[:12]

    @cached_property
    def _lookup(self) -> Callable[[str], tuple[PathClass, bool]]:
        # packing, risk and areas classify the same few thousand paths of a day repeatedly; a measurement
        # classifies all paths of a year, also where a whole tree was moved
        return lru_cache(maxsize=100_000)(self._classify_uncached)

    def _classify_uncached(self, path: str) -> tuple[PathClass, bool]:
        kind = self._find_first_match(path)
        return kind, kind is PathClass.PRODUCT and self._critical_globs.has_match(path)

    def _find_first_match(self, path: str) -> PathClass:
        for kind, globs in self._globs:
            if globs.has_match(path):
                return kind
        extension = PurePosixPath(path).suffix.lstrip(".").lower()
        is_source = extension in _SOURCE_EXTENSIONS and PathClass.PRODUCT not in self.custom.without_defaults
        return PathClass.PRODUCT if is_source else PathClass.OTHER

    @cached_property
    def _globs(self) -> tuple[tuple[PathClass, PathGlobs], ...]:
        defaults = (
            (kind, tuple(text.split())) for kind, text in self.patterns if kind not in self.custom.without_defaults
        )
        return tuple((kind, PathGlobs(lines)) for kind, lines in (*self.custom.patterns, *defaults))

    @cached_property
    def _critical_globs(self) -> PathGlobs:
        defaults = [] if CRITICAL in self.custom.without_defaults else self.critical.split()
        return PathGlobs([*defaults, *self.custom.critical])


DEFAULT_PATH_CLASSES = PathClasses()

PathClassesLookup = Callable[[Repository], PathClasses]


def get_default_classes(_repository: Repository) -> PathClasses:
    """Return the default classes, which fit any repository."""
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
