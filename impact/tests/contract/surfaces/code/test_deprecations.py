import pytest

from impact.contract.deprecations import read_deadline
from impact.contract.models import Deadline
from tests.contract.surfaces.changes import compare, list_kinds

CONFIG = "@config\nclass PoolerConfig:\n    normalize: bool | None = None\n\n    def check(self):\n        pass\n"


@pytest.mark.parametrize(
    ("message", "row"),
    [
        ("--url is deprecated. Use --host.", [("deprecated", "--url")]),
        (
            "VLLM_OLD environment variable is deprecated and will be removed in v0.15.",
            [("deprecated", "VLLM_OLD")],
        ),
        ("`normalize` is deprecated and will be removed in v0.15.", [("deprecated", "PoolerConfig.normalize")]),
        # a value of a flag is not the flag
        ("`--convert reward` is deprecated.", []),
        ("`something` is deprecated.", []),
        ("--url is slow.", []),
    ],
)
def test_what_a_warning_is_about(message: str, row: list[tuple[str, str]]) -> None:
    new = CONFIG.replace("pass\n", f'logger.warning_once("{message}")\n')
    assert list_kinds("vllm/config/pooler.py", CONFIG, new) == row
    assert list_kinds("vllm/config/pooler.py", new, new + "\n") == []


def test_a_message_in_a_variable() -> None:
    new = CONFIG.replace("pass\n", 'msg = f"--url is deprecated since {x}"\n        warnings.warn(msg)\n')
    (row,) = compare("vllm/config/pooler.py", CONFIG, new)
    assert (row.name, row.after) == ("--url", "--url is deprecated since {}")


@pytest.mark.parametrize(
    ("text", "deadline"),
    [
        ("deprecated and will be removed in v0.15.0", Deadline("v0.15.0")),
        ("will be removed in the next release", Deadline("next release")),
        (
            "removed in a future version. Please use `use_activation` instead.",
            Deadline("future version", "use_activation"),
        ),
        ("Please pass `json` to `structured_outputs` instead.", Deadline("", "structured_outputs.json")),
        ("Please pass it via `tokenization_kwargs` instead.", Deadline("", "tokenization_kwargs")),
        ("[DEPRECATED] Use --host instead.", Deadline("", "--host")),
        ("nothing of the kind", Deadline()),
    ],
)
def test_when_and_what_instead(text: str, deadline: Deadline) -> None:
    assert (read_deadline(text) or Deadline()) == deadline
