"""Which class a path has: the first class that claims it wins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.paths import DEFAULT_PATHS, PathClass, PathClasses

TABLE = {
    PathClass.LOCK: "uv.lock package-lock.json web/pnpm-lock.yaml go.sum deps.lock.json ios/Package.resolved",
    PathClass.GENERATED: (
        "vendor/lib.py third_party/a/b.c node_modules/x/index.js web/dist/app.js app.min.js api/v1_pb2.py"
        " api/v1.pb.go src/__snapshots__/a.snap types.generated.ts"
    ),
    PathClass.CI: (
        ".github/workflows/ci.yml .buildkite/pipeline.yaml ci/run.sh Jenkinsfile .pre-commit-config.yaml"
        " tools/pre_commit/check.py .gitignore sub/.editorconfig codecov.yml eslint.config.mjs"
    ),
    PathClass.TESTS: (
        "tests/test_core.py engine/tests/util.py test_core.py engine/conftest.py core_test.go web/app.test.tsx"
        " web/app.spec.ts src/CoreTest.java spec/core_spec.rb fixtures/day.json e2e/login.ts"
    ),
    PathClass.DOCS: "docs/guide.md README.md examples/run.py LICENSE logo.png notes.ipynb guide.rst CHANGELOG.txt",
    PathClass.BUILD: (
        "requirements.txt requirements-dev.txt requirements/common.in pyproject.toml setup.py package.json"
        " web/tsconfig.app.json Cargo.toml go.mod CMakeLists.txt cmake/utils.py Makefile Dockerfile.rocm"
        " docker/entry.sh rules.bzl BUILD"
    ),
    PathClass.SUPPORT: "benchmarks/serve.py scripts/run.sh tools/profile.py hack/x.go dev/seed.sql",
    PathClass.PRODUCT: (
        "engine/core.py csrc/kernel.cu src/main.rs web/App.vue api/schema.proto templates/chat.jinja ENGINE.PY"
        " engine/benchmarks/serve.py engine/tools/call.py latest/core.py contest/core.py"
    ),
    PathClass.OTHER: "config.yaml data.bin engine/prompt.txt Procfile script.sh no_extension .env.sample",
}


@pytest.mark.parametrize(
    ("path", "kind"), [(path, kind) for kind, paths in TABLE.items() for path in paths.split()]
)
def test_a_path_has_its_class(path: str, kind: PathClass) -> None:
    assert DEFAULT_PATHS.classify(path) is kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        pytest.param("vendor/Cargo.lock", PathClass.LOCK, id="lock-before-generated"),
        pytest.param("vendor/tests/test_a.py", PathClass.GENERATED, id="generated-before-tests"),
        pytest.param(".github/dist/index.js", PathClass.GENERATED, id="generated-before-ci"),
        pytest.param(".github/README.md", PathClass.CI, id="ci-before-docs"),
        pytest.param("ci/test_all.py", PathClass.CI, id="ci-before-tests"),
        pytest.param("tests/README.md", PathClass.TESTS, id="tests-before-docs"),
        pytest.param("tests/requirements.txt", PathClass.TESTS, id="tests-before-build"),
        pytest.param("benchmarks/test_speed.py", PathClass.TESTS, id="tests-before-support"),
        pytest.param("docs/requirements.txt", PathClass.DOCS, id="docs-before-build"),
        pytest.param("scripts/README.md", PathClass.DOCS, id="docs-before-support"),
        pytest.param("tools/setup.py", PathClass.BUILD, id="build-before-support"),
        pytest.param("benchmarks/kernels/attn.cu", PathClass.SUPPORT, id="support-before-product"),
    ],
)
def test_the_first_class_that_claims_a_path_wins(path: str, kind: PathClass) -> None:
    assert DEFAULT_PATHS.classify(path) is kind


@pytest.mark.parametrize(
    "path",
    [
        "csrc/cache.cpp",
        "engine/kernels/norm.py",
        "engine/fused_moe.py",
        "engine/flash_attention.py",
        "engine/paged_attn.py",
        "ops/sum.cu",
        "engine/quantization/fp8.py",
        "app/migrations/0001_first.py",
        "app/auth/login.go",
        "app/security/tokens.ts",
    ],
)
def test_product_code_where_mistakes_hurt_most_is_critical(path: str) -> None:
    assert DEFAULT_PATHS.is_critical(path)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("engine/core.py", id="plain-product"),
        pytest.param("tests/kernels/test_attention.py", id="tests"),
        pytest.param("docs/attention.md", id="docs"),
        pytest.param("benchmarks/kernels/moe.py", id="support"),
        pytest.param("csrc/CMakeLists.txt", id="build"),
        pytest.param("app/auth/keys.bin", id="no-source"),
        pytest.param("vendor/csrc/a.cu", id="generated"),
    ],
)
def test_only_product_code_is_critical(path: str) -> None:
    assert not DEFAULT_PATHS.is_critical(path)


def test_a_repository_may_have_its_own_classes_and_critical_paths() -> None:
    own = PathClasses(((PathClass.DOCS, "book/"), (PathClass.TESTS, "book/ checks/")), critical="billing/")
    kinds = [own.classify(path) for path in ("book/a.py", "checks/a.py", "tests/a.py", "book.bin")]
    assert kinds == [PathClass.DOCS, PathClass.TESTS, PathClass.PRODUCT, PathClass.OTHER]
    assert own.is_critical("app/billing/invoice.py")
    assert not own.is_critical("csrc/a.cu")


def test_two_sets_of_classes_do_not_share_answers() -> None:
    assert PathClasses(((PathClass.DOCS, "a/"),)).classify("a/b.py") is PathClass.DOCS
    assert PathClasses(((PathClass.TESTS, "a/"),)).classify("a/b.py") is PathClass.TESTS


names = st.text(st.characters(exclude_characters="/\0\n"), min_size=1, max_size=12).filter(
    lambda name: name.strip(".")
)


@given(st.lists(names, min_size=1, max_size=5).map("/".join))
def test_any_path_has_exactly_one_class(path: str) -> None:
    assert DEFAULT_PATHS.classify(path) in PathClass
    assert not DEFAULT_PATHS.is_critical(path) or DEFAULT_PATHS.classify(path) is PathClass.PRODUCT
