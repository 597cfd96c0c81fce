import pytest

from tests.contract.surfaces.changes import compare, list_kinds

FUNCTION = "def f(x: torch.Tensor, eps: Optional[float] = None) -> torch.Tensor: ...\n"
SIGNATURE = "scale(x: torch.Tensor, eps: float | None = None) -> torch.Tensor"


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        (f'{FUNCTION}direct_register_custom_op(op_name="scale", op_func=f)\n', "vllm.scale", SIGNATURE),
        (f'{FUNCTION}direct_register_custom_op("scale", f, target_lib=lib)\n', "lib.scale", SIGNATURE),
        (f'@torch.library.custom_op("vllm::scale", mutates_args=[])\n{FUNCTION}', "vllm.scale", SIGNATURE),
        (
            'lib = Library("mine", "DEF")\nlib.define("scale(Tensor a) -> Tensor")\n',
            "mine.scale",
            "scale(Tensor a) -> Tensor",
        ),
    ],
)
def test_ops_of_python(text: str, name: str, after: str) -> None:
    (row,) = compare("vllm/ops.py", "", text)
    assert (row.subject.value, row.name, row.after) == ("op", f"torch.ops.{name}", after)


def test_an_op_of_python_changes_with_its_function() -> None:
    text = f'{FUNCTION}direct_register_custom_op(op_name="scale", op_func=f)\n'
    assert list_kinds("vllm/ops.py", text, text.replace("Optional[float]", "float | None")) == []
    assert list_kinds("vllm/ops.py", text, text.replace("eps:", "epsilon:")) == [
        ("signature", "torch.ops.vllm.scale")
    ]
