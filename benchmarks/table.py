"""Measurements beside their bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Table:
    """A printer of measurements beside their bounds, which remembers a miss."""

    missed: bool = False

    def print_row(self, name: str, value: float, bound: float, unit: str) -> None:
        """Print one measurement; a bound of nought has no ratio."""
        held = value <= bound
        self.missed |= not held
        ratio = f"ratio {value / bound:4.2f}" if bound else ""
        verdict = "" if held else "  MISSED"
        print(f"{name:<58} {value:>11,.2f} {unit:<7} bound {bound:>10,.2f}  {ratio}{verdict}")
