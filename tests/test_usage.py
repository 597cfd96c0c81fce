import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.models.claude import CLAUDE
from bot.usage import NO_PRICES, NO_USAGE, Usage

M = 1_000_000
usages = st.builds(Usage, *[st.integers(0, 10**7)] * 4)


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        pytest.param("claude-haiku-5-5", Usage(input=100_000), 0.01, id="haiku-input"),
        pytest.param("claude-haiku-5-5", Usage(output=M), 0.50, id="haiku-output"),
        pytest.param("claude-haiku-5-5", Usage(input=100_001), 0.0500005, id="haiku-long-prompt"),
        pytest.param("claude-haiku-5-5", Usage(input=100_001, output=M), 2.5500005, id="haiku-long-all"),
        pytest.param("claude-haiku-5-5", Usage(100_000, cache_read=1), 0.05 + 5e-8, id="cache-counts-as-prompt"),
        pytest.param("claude-sonnet-5-5", Usage(input=M, output=M), 12.0, id="sonnet"),
        pytest.param("claude-sonnet-5-5", Usage(cache_read=M), 0.2, id="cache-read"),
        pytest.param("claude-sonnet-5-5", Usage(cache_write=M), 2.5, id="cache-write"),
        pytest.param("claude-opus-5-5", Usage(input=M, output=M), 24.0, id="opus"),
        pytest.param("claude-opus-5-5", NO_USAGE, 0.0, id="nothing"),
        pytest.param("claude-opus-5-5", Usage(cache_read=M), 0.2, id="opus reads half as cheap"),
        pytest.param("claude-sonnet-5-5", Usage(cache_read=M), 0.2, id="sonnet"),
    ],
)
def test_a_call_costs_what_the_price_list_says(model: str, usage: Usage, dollars: float) -> None:
    assert CLAUDE.prices.cost(model, usage) == pytest.approx(dollars, rel=1e-6)


@pytest.mark.parametrize("model", ["", "claude-haiku-9", "CLAUDE-OPUS-5-5"])
def test_the_cost_of_an_unknown_model_is_unknown(model: str) -> None:
    assert CLAUDE.prices.cost(model, NO_USAGE) is None
    assert CLAUDE.prices.cost(model, Usage(input=M)) is None


def test_a_budget_counts_an_unknown_model_as_the_dearest() -> None:
    used = Usage(input=M, output=M)
    assert CLAUDE.prices.cautious_cost("claude-haiku-9", used) == CLAUDE.prices.cost("claude-opus-5-5", used)
    assert CLAUDE.prices.cautious_cost("claude-sonnet-5-5", used) == 12.0


def test_what_has_no_price_list_costs_nobody_knows_what() -> None:
    assert NO_PRICES.cost("claude-opus-5-5", NO_USAGE) is None


@given(usages, usages)
def test_tokens_add_up(one: Usage, other: Usage) -> None:
    both = one + other
    assert both == other + one
    assert (both.input, both.output) == (one.input + other.input, one.output + other.output)
    assert (both.cache_read, both.cache_write) == (
        one.cache_read + other.cache_read,
        one.cache_write + other.cache_write,
    )
    assert one + NO_USAGE == one


@given(st.sampled_from(sorted(CLAUDE.prices.prices)), usages, usages)
def test_more_tokens_never_cost_less(model: str, one: Usage, more: Usage) -> None:
    first, second = CLAUDE.prices.cost(model, one), CLAUDE.prices.cost(model, one + more)
    assert first is not None
    assert second is not None
    assert 0 <= first <= second + 1e-9
