"""Axes: from values to places on a drawing, with round numbers on the way."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """Maps values between ``low`` and ``high`` to places between ``start`` and ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value."""
        low, high, value = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 2)

    def ticks(self) -> list[tuple[float, str]]:
        """Places of round numbers and how they are written, some five of them, in the :attr:`unit`."""
        return [(self.at(value), text) for value, text in (self._decades() if self.log else self._steps())]

    @property
    def unit(self) -> str:
        """The power of ten that ticks are written in, where they would be long without it; empty elsewhere."""
        return _power(self._exponent) if self._exponent else ""

    @property
    def _exponent(self) -> int:
        if self.log and self._whole_decades()[1] > self._whole_decades()[0]:
            return 0  # its ticks are powers of ten themselves
        largest = max(abs(self.low), abs(self.high))
        exponent = math.floor(math.log10(largest)) if largest > 0 else 0
        return exponent if exponent >= 5 or exponent < -2 else 0

    def _whole_decades(self) -> tuple[int, int]:
        return math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)

    def _decades(self) -> list[tuple[float, str]]:
        first, last = self._whole_decades()
        if last - first < 1:  # within a decade
            for digits in ((1, 2, 5), (1, 1.5, 2, 3, 4, 6, 8)):
                values = [d * 10.0**k for k in range(first - 1, last + 1) for d in digits]
                shown = [(v, f"{v / 10.0**self._exponent:.6g}") for v in values if self.low <= v <= self.high]
                if len(shown) >= 3:
                    return shown
            return self._steps()
        every = -(-(last - first) // 5)
        return [(10.0**k, _power(k)) for k in range(first, last + 1, every)]

    def _steps(self) -> list[tuple[float, str]]:
        span = self.high - self.low
        unit = 10.0 ** math.floor(math.log10(span / 6))
        step = next(unit * d for d in (1, 2, 5, 10) if span / (unit * d) <= 6.001)
        first = math.ceil(self.low / step - 1e-9)
        values = [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]
        digits = max(0, self._exponent - math.floor(math.log10(step) + 1e-9))
        return [(v, f"{v / 10.0**self._exponent:.{digits}f}") for v in values]


def fit(values: Iterable[float], start: float, end: float, log: bool = False, room: float = 0.04) -> Scale:
    """The scale that shows all values, with a little room at both ends."""
    finite = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    low, high = (min(finite), max(finite)) if finite else (1.0, 10.0) if log else (0.0, 1.0)
    if log:
        low, high = (low / 2, high * 2) if high <= low * 1.001 else (low, high)
        spare = (high / low) ** room
        return Scale(low / spare, high * spare, start, end, True)
    if high - low <= 1e-12 * max(abs(high), abs(low), 1e-300):
        low, high = low - (abs(low) or 1.0) / 2, high + (abs(high) or 1.0) / 2
    spare = (high - low) * room
    return Scale(low - spare if low != 0 else 0.0, high + spare, start, end)


def _power(k: int) -> str:
    return {0: "1", 1: "10"}.get(k, f"10{str(k).translate(_SUPERSCRIPT)}")
