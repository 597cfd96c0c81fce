import pytest

from tests.contract.surfaces.changes import compare, list_kinds

PATH = "vllm/v1/metrics/loggers.py"
LOGGER = """
class Logger:
    def __init__(self):
        labelnames = ["model_name", "engine"]
        self.a = self._gauge_cls({})
"""


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ('self._gauge_cls(name="vllm:x", documentation="X.")', "gauge vllm:x"),
        ('Counter("vllm:x", "X.", ["a", "b"])', "counter vllm:x {a, b}"),
        (
            'prometheus_client.Histogram(name="vllm:x", documentation="", labelnames=("a",))',
            "histogram vllm:x {a}",
        ),
        ('self._counter_cls(name="vllm:x", documentation="", labelnames=LABELS + ["c"])', "counter vllm:x {m, c}"),
        # a label by its name reads as the label
        ('Gauge("vllm:x", "X.", [NAME])', "gauge vllm:x {vllm:named}"),
        ('RayGaugeWrapper(name=NAME, documentation="")', "gauge vllm:named"),
    ],
)
def test_how_a_metric_reads(call: str, text: str) -> None:
    (row,) = compare(PATH, "", f'LABELS = ["m"]\nNAME = "vllm:named"\na = {call}\n')
    assert (row.subject.value, row.kind.value, row.after) == ("metric", "added", text)


@pytest.mark.parametrize(
    "call", ['Counter("abc")', "Counter(words)", 'collections.Counter("abc", 1)', 'f("vllm:x", "")']
)
def test_what_is_no_metric(call: str) -> None:
    assert list_kinds(PATH, "", f"a = {call}\n") == []


def test_labels_in_a_local_list() -> None:
    old = LOGGER.format('name="vllm:x", documentation="", labelnames=labelnames')
    (row,) = compare(PATH, old, old.replace('"engine"]', '"engine", "role"]'))
    assert (row.kind.value, row.before, row.after) == (
        "signature",
        "gauge vllm:x {model_name, engine}",
        "gauge vllm:x {model_name, engine, role}",
    )


def test_a_metric_that_is_hidden_is_deprecated() -> None:
    text = 'def f(self):\n    {}\n        a = Gauge("vllm:x", "DEPRECATED: use vllm:y instead.")\n'
    old = text.format("if True:").replace("DEPRECATED: use vllm:y instead.", "X.")
    (row,) = compare(PATH, old, text.format("if self.show_hidden_metrics:"))
    assert (row.kind.value, row.name) == ("deprecated", "vllm:x")
    assert row.deadline is not None
    assert row.deadline.replacement == "vllm:y"


def test_a_metric_with_the_same_description_and_a_like_name_is_renamed() -> None:
    call = 'a = Gauge("vllm:{}_cache_usage", "KV-cache usage.")\n'
    (row,) = compare(PATH, call.format("gpu"), call.format("kv"))
    assert (row.kind.value, row.name, row.new_name) == ("renamed", "vllm:gpu_cache_usage", "vllm:kv_cache_usage")
