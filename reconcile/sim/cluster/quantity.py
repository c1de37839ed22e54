"""Kubernetes quantities: `500m`, `1.5Gi`, `2e3`. Read exactly, and written as the server would."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

# What the server quotes to whoever sends something else.
PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"
NUMBER = re.compile(r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][-+]?[0-9]+)|([a-zA-Z]{0,2}))")
DECIMAL = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
BINARY = {10: "Ki", 20: "Mi", 30: "Gi", 40: "Ti", 50: "Pi", 60: "Ei"}
POWERS = {suffix: Fraction(10) ** power for power, suffix in DECIMAL.items()} | {
    suffix: Fraction(2) ** power for power, suffix in BINARY.items()
}
FINEST = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Quantity:
    value: Fraction
    suffix: str  # as it was written; `e` for a decimal exponent

    def __str__(self) -> str:
        """The canonical form: no fraction, and the largest suffix that allows it."""
        if self.suffix in BINARY.values() and abs(self.value) >= 1024:
            value = _up(self.value)
            power = max((p for p in BINARY if value % 2**p == 0), default=0)
            return f"{value // 2**power}{BINARY.get(power, '')}"
        if not self.value:
            return "0"
        value = _up(self.value / FINEST)
        power = max(p for p in DECIMAL if value % 10 ** (p + 9) == 0)
        number = value // 10 ** (power + 9)
        if self.suffix == "e":
            return f"{number}e{power}" if power else str(number)
        return f"{number}{DECIMAL[power]}"

    @property
    def whole(self) -> int:
        return _up(self.value)

    @property
    def thousandths(self) -> int:
        return _up(self.value * 1000)


def _up(value: Fraction) -> int:
    """Away from zero, as the server rounds what is finer than it can hold."""
    return math.ceil(value) if value >= 0 else math.floor(value)


@lru_cache(maxsize=4096)
def parse(text: str) -> Quantity:
    """Raises ValueError, in the server's words."""
    if not text:
        raise ValueError("quantities must be non-empty")  # an empty one has its own sentence
    found = NUMBER.fullmatch(text)
    if not found:
        raise ValueError(f"quantities must match the regular expression '{PATTERN}'")
    number, exponent, suffix = found.groups()
    if exponent:
        if abs(int(exponent[1:])) > 30:
            raise ValueError("unable to parse quantity's suffix")
        return Quantity(Fraction(number) * Fraction(10) ** int(exponent[1:]), "e")
    if (suffix or "") not in POWERS:
        raise ValueError("unable to parse quantity's suffix")
    return Quantity(Fraction(number) * POWERS[suffix or ""], suffix or "")


def total(texts: list[str]) -> Quantity:
    """Their sum, written as the first of them is."""
    parts = [parse(text) for text in texts]
    return Quantity(sum((part.value for part in parts), Fraction(0)), parts[0].suffix)


def difference(text: str, less: str) -> Quantity:
    """Not below nothing."""
    value = parse(text)
    return Quantity(max(value.value - parse(less).value, Fraction(0)), value.suffix)
