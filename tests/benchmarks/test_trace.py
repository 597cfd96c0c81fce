"""No request crosses more of our code than it did: its bounds only go down (``tests/project/bounds.toml``)."""

from tests.project.size import load_bounds, measure_trace


def test_no_request_crosses_more_than_its_bound() -> None:
    bounds, figures = load_bounds(), measure_trace()
    assert {name for name in bounds if ": " in name} <= figures.keys()
    misses = [bounds[name].explain_miss(name, figure) for name, figure in figures.items() if name in bounds]
    assert [miss for miss in misses if miss] == []
