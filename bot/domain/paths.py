"""What kind of file a path is: product, tests, documentation and so on.

The defaults fit any repository; the patterns are those of .gitignore, the first class that matches wins.
They were measured on the merges of vLLM in 2025, where hand-made lists did no better.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from pathspec import GitIgnoreSpec


class PathClass(StrEnum):
    """Classes of paths, in the order in which they are tried."""

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
_CRITICAL = (
    "*.cu *.cuh csrc/ kernels/ *kernel* ops/ *triton* *attention* *attn* *moe* *quantiz*"
    " migrations/ auth/ security/ crypto/"
)
_SOURCE = frozenset(
    "py pyx c cc cpp cxx cu cuh hip h hh hpp hxx inl m mm metal rs go java kt kts scala groovy cs fs swift js"
    " jsx mjs cjs ts tsx mts cts vue svelte rb php ex exs erl hs ml clj dart lua r jl pl pm zig sql proto"
    " graphql jinja jinja2 j2 wgsl glsl hlsl".split()
)


@dataclass(frozen=True)
class PathClasses:
    """Sorts paths into classes. ``patterns`` and ``critical`` are blank-separated .gitignore patterns."""

    patterns: tuple[tuple[PathClass, str], ...] = tuple(_PATTERNS.items())
    critical: str = _CRITICAL

    @cached_property
    def _specs(self) -> tuple[tuple[PathClass, GitIgnoreSpec], ...]:
        return tuple((kind, GitIgnoreSpec.from_lines(text.split())) for kind, text in self.patterns)

    @cached_property
    def _critical_spec(self) -> GitIgnoreSpec:
        return GitIgnoreSpec.from_lines(self.critical.split())

    def classify(self, path: str) -> PathClass:
        """The class of a path; source code that no pattern claims is product."""
        return _classify(self, path)

    def is_critical(self, path: str) -> bool:
        """Whether a product file lies where mistakes hurt most (kernels, attention, migrations, …)."""
        return self.classify(path) is PathClass.PRODUCT and self._critical_spec.match_file(path)

    def _first_match(self, path: str) -> PathClass:
        for kind, spec in self._specs:
            if spec.match_file(path):
                return kind
        extension = PurePosixPath(path).suffix.lstrip(".").lower()
        return PathClass.PRODUCT if extension in _SOURCE else PathClass.OTHER


# a day asks for the class of the same few thousand paths again and again: packing, risk, areas
@lru_cache(maxsize=20_000)
def _classify(classes: PathClasses, path: str) -> PathClass:
    return classes._first_match(path)


DEFAULT_PATHS = PathClasses()
