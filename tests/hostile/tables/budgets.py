"""What one person may send within a minute to have the model called as often as they can.

There must not be more model calls than ``PRDIGEST_USER_CALLS`` in that minute, nor more dollars than
``PRDIGEST_USER_BUDGET`` and what is in flight. They are told once; others, and the morning digest, have theirs.
"""

from collections.abc import Callable, Sequence

# more than are asked for until the money is spent, and as many as may be in flight by then
MANY = 100
Spree = Callable[[Sequence[int]], list[tuple[str, str]]]


def _one_by_one(numbers: Sequence[int]) -> list[tuple[str, str]]:
    return [("/prsummary", str(number)) for number in numbers]


def _by_fives(numbers: Sequence[int]) -> list[tuple[str, str]]:
    fives = [numbers[first : first + 5] for first in range(0, len(numbers), 5)]
    return [("/prsummary", " ".join(map(str, five))) for five in fives]


# commands and texts, given the numbers of as many distinct pull requests of the last days
SPREES: dict[str, Spree] = {
    "summaries one by one": _one_by_one,
    "summaries by fives": _by_fives,
    "risks": lambda numbers: [("/prrisks", "7d top:10")] * 8,
    "overviews": lambda numbers: [("/prdigest", "7d private")] * 5,
    "digests by hand": lambda numbers: [("/prdigest", "yesterday")] * 5,
}
