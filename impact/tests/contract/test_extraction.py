"""What upstream still takes out of keyword arguments, though it does nothing with it any more."""

from datetime import UTC, datetime

from impact.contract.extraction import extract_contract
from impact.contract.models import MergeContract
from impact.testing.checks import check_rows
from tests.contract.merges import versions_of

OLD = "class Engine:\n    def __init__(self, swap=4, **kwargs): ...\n"
TAKEN = (
    "import warnings\nclass Engine:\n    def __init__(self, **kwargs):\n"
    '        if "swap" in kwargs:\n            kwargs.pop("swap")\n            warnings.warn("swap is ignored")\n'
)


@check_rows(
    {
        "it is taken out": ("up/engine.py", OLD, TAKEN, ("swap",)),
        "with a default": ("up/engine.py", OLD, TAKEN.replace('("swap")', "('swap', None)"), ("swap",)),
        "its value is used": ("up/engine.py", OLD, TAKEN.replace("kwargs.pop", "self.swap = kwargs.pop"), ()),
        "another one is": ("up/engine.py", OLD, TAKEN.replace('pop("swap")', 'pop("other")'), ()),
        "a test does it": ("tests/test_engine.py", OLD, TAKEN, ()),
        "nothing is gone": ("up/engine.py", TAKEN, TAKEN + "# more\n", ()),
        "a field is gone": (
            "up/config.py",
            "class EngineConfig:\n    swap: int = 4\n",
            'class EngineConfig:\n    size: int = 4\ndef make(**kw):\n    kw.pop("swap", None)\n',
            ("swap",),
        ),
    }
)
def test_names_that_are_taken_and_ignored(path: str, old: str, new: str, ignored: tuple[str, ...]) -> None:
    facts = MergeContract(1, "a" * 40, datetime(2026, 1, 1, tzinfo=UTC))
    contract = extract_contract(facts, versions_of({path: old}, {path: new}), lambda _: None)
    assert contract.ignored == ignored
