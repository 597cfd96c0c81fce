import pytest

from bot.doctor.checks import check_paths, list_default_paths
from bot.platform.pulls.paths import PathClass, PathClasses, PathSettings, list_default_patterns
from impact.repository import Repository
from tests.doctor.findings import format_findings

ENGINE, OTHER = Repository("Octo", "engine"), Repository("octo", "other")


def list_findings(settings: PathSettings, *repositories: Repository) -> list[str]:
    return format_findings(check_paths(settings, repositories))


def test_the_defaults_of_every_class_are_shown() -> None:
    lines = format_findings(list_default_paths())
    shown = {line.partition(":")[0].rpartition(" ")[2]: line.partition(": ")[2] for line in lines}
    assert list(shown) == [
        "lock", "generated", "ci", "tests", "docs", "build", "support", "product", "critical",
    ]  # fmt: skip
    assert all(line.startswith("- Paths defaults, ") for line in lines)
    *others, product, critical = list_default_patterns().values()
    assert [*shown.values()] == [*others, shown["product"], f"for product code, {critical}"]
    assert shown["product"].endswith(product)
    assert shown["product"].startswith("for files of no other class, *.c *.cc ")


DOCS, BOTH = ((PathClass.DOCS, ("a/",)),), ((PathClass.DOCS, ("a/",)), (PathClass.PRODUCT, ("b/",)))
TOLD: dict[str, tuple[PathClasses, str]] = {
    "nothing": (PathClasses(), "the defaults"),
    "one": (PathClasses(DOCS), "own patterns for docs; the defaults for the rest"),
    "several": (PathClasses(BOTH, ("c/",)), "own patterns for docs, product, critical; the defaults for the rest"),
    "without": (PathClasses((), (), ("critical", "docs")), "the defaults, without the defaults of critical, docs"),
    "both": (
        PathClasses(DOCS, (), ("docs",)),
        "own patterns for docs; without the defaults of docs; the defaults for the rest",
    ),
}


@pytest.mark.parametrize(("own", "expected"), TOLD.values(), ids=TOLD)
def test_each_repository_is_told_with_what_it_names(own: PathClasses, expected: str) -> None:
    settings = PathSettings({"octo/engine": own}, source="paths.toml")
    assert list_findings(settings, ENGINE, OTHER) == [
        f"+ Paths Octo/engine: {expected}",
        "+ Paths octo/other: the defaults",
    ]


def test_those_without_a_table_have_that_for_all() -> None:
    settings = PathSettings({"octo/engine": PathClasses()}, PathClasses(DOCS), "paths.toml")
    assert list_findings(settings, ENGINE, OTHER) == [
        "+ Paths Octo/engine: the defaults",
        "+ Paths octo/other: own patterns for docs; the defaults for the rest",
    ]


def test_a_table_of_an_unknown_repository_may_be_a_slip() -> None:
    settings = PathSettings({"octo/enigne": PathClasses(DOCS)}, source="paths.toml")
    remark, _, advice = list_findings(settings, ENGINE)[1].partition(" -> ")
    assert remark == "- Paths octo/enigne: a table in 'paths.toml', but not a repository in the settings"
    assert advice.startswith("Use a name from PRDIGEST_REPO or PRDIGEST_REPOS")
