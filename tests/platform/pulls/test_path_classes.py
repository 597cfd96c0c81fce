import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.pulls.paths import (
    DEFAULT_PATH_CLASSES,
    PathClass,
    PathClasses,
    PathSettings,
    get_default_classes,
    list_default_patterns,
)
from impact.repository import Repository
from tests.helpers.tables import check_rows

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


@check_rows([(path, kind) for kind, paths in TABLE.items() for path in paths.split()])
def test_a_path_has_its_class(path: str, kind: PathClass) -> None:
    assert DEFAULT_PATH_CLASSES.classify_path(path) is kind


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
    assert DEFAULT_PATH_CLASSES.classify_path(path) is kind


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
    assert DEFAULT_PATH_CLASSES.is_critical(path)


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
    assert not DEFAULT_PATH_CLASSES.is_critical(path)


def test_two_sets_of_classes_do_not_share_answers() -> None:
    assert PathClasses(((PathClass.DOCS, ("a/",)),)).classify_path("a/b.py") is PathClass.DOCS
    assert PathClasses(((PathClass.TESTS, ("a/",)),)).classify_path("a/b.py") is PathClass.TESTS


names = st.text(st.characters(exclude_characters="/\0\n"), min_size=1, max_size=12).filter(
    lambda name: name.strip(".")
)


@given(st.lists(names, min_size=1, max_size=5).map("/".join))
def test_any_path_has_exactly_one_class(path: str) -> None:
    assert DEFAULT_PATH_CLASSES.classify_path(path) in PathClass
    assert (
        not DEFAULT_PATH_CLASSES.is_critical(path) or DEFAULT_PATH_CLASSES.classify_path(path) is PathClass.PRODUCT
    )


# --- what a repository names itself


def own(*patterns: tuple[PathClass, str], critical: str = "", without: str = "") -> PathClasses:
    """The defaults and, before them, what is named here with blanks between."""
    named = tuple((kind, tuple(text.split())) for kind, text in patterns)
    return PathClasses(named, tuple(critical.split()), tuple(without.split()))


OWN: dict[str, tuple[PathClasses, str, PathClass]] = {
    "before the defaults": (own((PathClass.PRODUCT, "examples/")), "examples/serve.py", PathClass.PRODUCT),
    "whatever it is": (own((PathClass.PRODUCT, "examples/")), "examples/tests/data.json", PathClass.PRODUCT),
    "the rest": (own((PathClass.PRODUCT, "examples/")), "docs/serve.py", PathClass.DOCS),
    "in the order of classes": (
        own((PathClass.DOCS, "*.md"), (PathClass.PRODUCT, "examples/")),
        "examples/README.md",
        PathClass.DOCS,
    ),
    "less what is taken out": (
        own((PathClass.PRODUCT, "examples/ !examples/old/")),
        "examples/old/a.py",
        PathClass.DOCS,
    ),
    "from the defaults to other": (own((PathClass.OTHER, "plugins/")), "plugins/a.py", PathClass.OTHER),
    "blanks in names": (
        PathClasses(((PathClass.DOCS, ("My Notes/",)),)),
        "My Notes/a.py",
        PathClass.DOCS,
    ),
    "without its defaults": (own(without="docs"), "examples/serve.py", PathClass.PRODUCT),
    "without, but what it names": (own((PathClass.DOCS, "book/"), without="docs"), "book/a.py", PathClass.DOCS),
    "without those of another": (own(without="docs"), "tests/serve.py", PathClass.TESTS),
    "without source code": (own(without="product"), "engine/core.py", PathClass.OTHER),
    "named source code alone": (
        own((PathClass.PRODUCT, "engine/"), without="product"),
        "engine/core.py",
        PathClass.PRODUCT,
    ),
}


@pytest.mark.parametrize(("classes", "path", "kind"), OWN.values(), ids=OWN)
def test_what_a_repository_names_goes_before_the_defaults(
    classes: PathClasses, path: str, kind: PathClass
) -> None:
    assert classes.classify_path(path) is kind


CRITICALS: dict[str, tuple[PathClasses, str, bool]] = {
    "named": (own(critical="billing/"), "app/billing/invoice.py", True),
    "beside the defaults": (own(critical="billing/"), "app/auth/login.py", True),
    "taken out": (own(critical="!auth/"), "app/auth/login.py", False),
    "no product code": (own(critical="billing/"), "billing/tests/invoice.py", False),
    "product code by name": (own((PathClass.PRODUCT, "docs/"), critical="docs/"), "docs/serve.py", True),
    "without the defaults": (own(without="critical"), "app/auth/login.py", False),
    "instead of the defaults": (own(critical="billing/", without="critical"), "app/billing/a.py", True),
}


@pytest.mark.parametrize(("classes", "path", "expected"), CRITICALS.values(), ids=CRITICALS)
def test_a_repository_may_name_further_critical_paths(classes: PathClasses, path: str, expected: bool) -> None:
    assert classes.is_critical(path) is expected


@given(st.lists(names, min_size=1, max_size=5).map("/".join))
def test_naming_nothing_changes_nothing(path: str) -> None:
    classes = PathClasses()
    assert classes.classify_path(path) is DEFAULT_PATH_CLASSES.classify_path(path)
    assert classes.is_critical(path) is DEFAULT_PATH_CLASSES.is_critical(path)


@given(st.lists(names, min_size=1, max_size=5).map("/".join), st.sampled_from(list(PathClass)))
def test_naming_a_folder_changes_what_is_in_it_and_nothing_else(path: str, kind: PathClass) -> None:
    classes = own((kind, "/only-this/"))
    assert classes.classify_path(path) is DEFAULT_PATH_CLASSES.classify_path(path)
    assert classes.classify_path(f"only-this/{path}") is kind


def test_whoever_names_anything_has_a_fingerprint_of_their_own() -> None:
    different = [
        own(),
        own((PathClass.DOCS, "a/")),
        own((PathClass.DOCS, "b/")),
        own((PathClass.TESTS, "a/")),
        own(critical="a/"),
        own(without="docs"),
    ]
    assert len({classes.fingerprint for classes in different}) == len(different)
    assert own().fingerprint == DEFAULT_PATH_CLASSES.fingerprint


ENGINE, OTHER = Repository("Octo", "Engine"), Repository("octo", "other")


def test_each_repository_has_the_classes_of_its_settings() -> None:
    mine, others = own((PathClass.DOCS, "a/")), own((PathClass.TESTS, "a/"))
    settings = PathSettings({"octo/engine": mine}, others)
    assert (settings.get_path_classes(ENGINE), settings.get_path_classes(OTHER)) == (mine, others)
    assert PathSettings().get_path_classes(ENGINE) == get_default_classes(ENGINE) == DEFAULT_PATH_CLASSES


def test_the_defaults_can_be_shown_and_are_those_that_are_used() -> None:
    shown = list_default_patterns()
    for name in shown.keys() - {"product", "critical"}:
        sample = shown[name].split()[0].strip("/").replace("*", "x")
        assert DEFAULT_PATH_CLASSES.classify_path(f"{sample}/x.py") == name
    assert all(
        DEFAULT_PATH_CLASSES.classify_path(f"x{each[1:]}") == "product" for each in shown["product"].split()
    )
    assert "csrc/" in shown["critical"].split()
