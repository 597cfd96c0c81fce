import pytest

from tests.contract.surfaces.changes import change, compare, list_kinds, list_rows

BINDINGS = """
TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {
  // ops.def("commented(Tensor a) -> ()");
  ops.def(
      "scale(Tensor! out, Tensor a,"
      "      float eps) -> ()");
  ops.impl("scale", torch::kCUDA, &scale);
  /* ops.def("too(Tensor a) -> ()"); */
}
TORCH_LIBRARY_EXPAND(CONCAT(TORCH_EXTENSION_NAME, _cache_ops), cache_ops) {
  cache_ops.def("swap(Tensor a) -> ()", &swap);
}
TORCH_LIBRARY_FRAGMENT(_vllm_fa, m) { m.def("attend(Tensor a) -> Tensor"); }
TORCH_LIBRARY_IMPL_EXPAND(TORCH_EXTENSION_NAME, CUDA, m) { m.impl("scale", &scale); }
"""


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("csrc/torch_bindings.cpp", ["_C.scale", "_C_cache_ops.swap", "_vllm_fa.attend"]),
        ("csrc/moe/torch_bindings.cpp", ["_moe_C.scale", "_moe_C_cache_ops.swap", "_vllm_fa.attend"]),
        ("csrc/cpu/torch_bindings.cpp", ["_C.scale", "_C_cache_ops.swap", "_vllm_fa.attend"]),
    ],
)
def test_names_are_those_of_python(path: str, names: list[str]) -> None:
    assert list_kinds(path, "", BINDINGS) == [("added", f"torch.ops.{name}") for name in names]


def test_a_schema_is_compared_without_its_layout() -> None:
    path = "csrc/torch_bindings.cpp"
    laid_out = BINDINGS.replace('Tensor a,"\n      "      float eps', "Tensor a, float eps")
    assert list_kinds(path, BINDINGS, laid_out) == []
    (row,) = compare(path, BINDINGS, BINDINGS.replace("float eps", "float eps, bool fast"))
    assert (row.kind.value, row.line) == ("signature", 4)
    assert row.after == "scale(Tensor! out, Tensor a, float eps, bool fast) -> ()"


def test_what_one_device_loses_another_may_keep() -> None:
    assert list_kinds("csrc/torch_bindings.cpp", BINDINGS, "")[0] == ("removed", "torch.ops._C.scale")
    assert list_kinds("csrc/cpu/torch_bindings.cpp", BINDINGS, "") == []


def test_an_op_that_moves_between_files_stays() -> None:
    assert list_rows(change("csrc/a.cpp", BINDINGS, ""), change("csrc/torch_bindings.cpp", "", BINDINGS)) == []
