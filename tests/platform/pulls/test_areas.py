import pytest

from bot.platform.pulls.models import ChangedFile
from bot.platform.pulls.paths import (
    OTHER_AREA,
    OTHER_PRODUCT_AREA,
    PathClass,
    PathClasses,
    build_area_sort_key,
    determine_area,
    is_product_area,
)
from tests.helpers.builders import changed_file, pull
from tests.helpers.tables import check_rows


def area(*files: ChangedFile) -> str:
    return determine_area(pull(files=files))


@check_rows(
    [
        ("engine/models/llama.py", "Models"),
        ("engine/spec_decode/eagle.py", "Speculative decoding"),
        ("engine/quantization/fp8.py", "Quantization and MoE"),
        ("csrc/cache.cpp", "Kernels and attention"),
        ("engine/flash_attn.py", "Kernels and attention"),
        ("engine/entrypoints/server.py", "API and serving"),
        ("engine/distributed/mesh.py", "Distributed"),
        ("engine/multimodal/image.py", "Multimodal"),
        ("src/lora/layers.py", "LoRA"),
        ("engine/loop.py", "Engine and scheduling"),
        ("src/platforms/rocm.py", "Platforms"),
        ("src/envs.py", "Configuration"),
        ("app/migrations/0001.py", "Database"),
        ("src/App.vue", "User interface"),
        ("src/parser/lexer/token.rs", "Parser"),
        ("src/main.rs", "Src"),
        ("src/.query_plan/a.rs", "Query plan"),
        ("src/___/a.rs", "Other"),
        ("main.rs", OTHER_AREA),
        ("uv.lock", "Dependencies and build"),
        ("pyproject.toml", "Dependencies and build"),
        ("scripts/run.py", "Tools and benchmarks"),
        ("tests/test_core.py", "CI and tests"),
        (".github/ci.yml", "CI and tests"),
        ("README.md", "Documentation"),
        ("data.bin", OTHER_AREA),
        ("vendor/lib.py", OTHER_AREA),
    ]
)
def test_a_path_belongs_to_an_area(path: str, label: str) -> None:
    assert area(changed_file(path)) == label


def test_the_first_label_that_matches_wins() -> None:
    assert area(changed_file("engine/models/quantized_attention.py")) == "Models"


def test_the_area_with_most_changed_lines_wins() -> None:
    assert area(
        changed_file("src/lora/a.py", 5), changed_file("src/lora/b.py", 6), changed_file("db/a.py", 10)
    ) == ("LoRA")


def test_product_code_outweighs_all_else() -> None:
    assert area(changed_file("db/query.py", 1), changed_file("tests/test_db.py", 9_000)) == "Database"


def test_without_product_code_the_heaviest_kind_wins() -> None:
    assert area(changed_file("docs/a.md", 10), changed_file("tests/test_a.py", 30)) == "CI and tests"


def test_files_that_only_moved_count_too() -> None:
    assert area(changed_file("src/lora/a.py", 0, status="renamed", patch=None)) == "LoRA"


def test_a_pull_request_without_files_has_no_area() -> None:
    assert determine_area(pull(files=None)) == OTHER_AREA


@pytest.mark.parametrize("turn", [1, -1])
def test_the_order_of_files_does_not_matter_at_equal_weight(turn: int) -> None:
    files = [changed_file("src/lora/a.py"), changed_file("db/a.py")][::turn]
    assert area(*files) == "LoRA"


def test_the_classes_of_a_repository_are_used() -> None:
    classes = PathClasses(((PathClass.DOCS, ("book/",)),))
    assert determine_area(pull(files=[changed_file("book/lora/a.py")]), classes) == "Documentation"


def test_areas_are_ordered_product_first_then_larger_then_by_name() -> None:
    sized = [
        (OTHER_AREA, 90),
        ("Documentation", 80),
        ("CI and tests", 70),
        ("Tools and benchmarks", 60),
        (OTHER_PRODUCT_AREA, 50),
        ("Models", 2),
        ("LoRA", 2),
        ("Distributed", 9),
    ]
    ordered = [label for label, _ in sorted(sized, key=lambda item: build_area_sort_key(*item))]
    assert ordered == [
        "Distributed",
        "LoRA",
        "Models",
        OTHER_PRODUCT_AREA,
        "Tools and benchmarks",
        "CI and tests",
        "Documentation",
        OTHER_AREA,
    ]


@pytest.mark.parametrize(
    ("label", "product"),
    [
        ("Models", True),
        ("src/parser", True),
        ("Dependencies and build", False),
        ("Documentation", False),
        (OTHER_PRODUCT_AREA, False),
        (OTHER_AREA, False),
    ],
)
def test_some_areas_hold_product_code(label: str, product: bool) -> None:
    assert is_product_area(label) is product
