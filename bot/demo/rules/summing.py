"""Answers about all of some days: who, how large, which are trivial or have no tests, and the day as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from bot.demo.rules.findings import Told, told_in
from bot.demo.rules.known import Known
from bot.demo.rules.looking import TESTS
from bot.demo.rules.wording import ended, listed, sized

_FEW, _MOST_AREAS = 3, 5


def tell_largest(known: Known) -> Iterable[str]:
    """The largest pull requests."""
    largest = sorted(known.all, key=lambda told: -told.changed_lines)[:_FEW]
    yield f"**The largest of the {known.total}**, by changed lines:"
    yield "\n".join(f"- #{told.number} ({sized(told)}): {ended(told.headline or told.title)}" for told in largest)


def tell_trivial(known: Known) -> Iterable[str]:
    """Those after which the product does the same as before."""
    verb = "is" if len(known.all) == 1 else "are"
    yield f"**{len(known.all)} of the {known.total} {verb} trivial**: they do not change what the product does."
    yield "\n".join(f"- #{told.number} {ended(told.headline or told.title)}" for told in known.all)


def tell_untested(known: Known) -> Iterable[str]:
    """Those that change no test file, and those that do."""
    tests = next(each for each in known.used if each.arguments.get("paths") == list(TESTS))
    tested = told_in(tests.text)
    having = [told.number for told in known.all if told.number in tested]
    without = [told for told in known.all if told.number not in tested]
    if not without:
        yield f"Every one of the {known.total} changes test files: {listed(having)}."
        return
    verb = "changes" if len(without) == 1 else "change"
    yield f"**{len(without)} of the {known.total} {verb} no test file:**"
    yield "\n".join(f"- #{told.number} {ended(told.headline)}" for told in without)
    yield f"Test files are changed by {listed(having)}." if having else ""


def tell_most_by(known: Known, person: Callable[[Told], str], did: str) -> Iterable[str]:
    """Who did the most, and who comes next."""
    counts = Counter(map(person, known.all))
    first, *others = [(name, count) for name, count in counts.most_common(4)]
    mine = listed(told.number for told in known.all if person(told) == first[0])
    yield f"**{first[0]} {did} the most:** {first[1]} of the {known.total} ({mine})."
    yield "Then come " + ", ".join(f"{name} ({count})" for name, count in others) + "." if others else ""


def tell_day(known: Known) -> Iterable[str]:
    """All of the days: how many by area, what is risky and what needs action."""
    areas = Counter(told.area for told in known.all).most_common()
    named = ", ".join(f"{area} ({count})" for area, count in areas[:_MOST_AREAS])
    rest = sum(count for _, count in areas[_MOST_AREAS:])
    yield f"**{known.total}**, by area: {named}{f', elsewhere ({rest})' if rest else ''}."
    risky = [told for told in known.all if told.band in ("high", "highest")]
    yield f"Most likely to cause trouble: {listed(told.number for told in risky)}." if risky else ""
    acting = [told.number for told in told_in(known.record).values() if told.action]
    yield f"May require changes on your side: {listed(acting)}." if acting else ""
