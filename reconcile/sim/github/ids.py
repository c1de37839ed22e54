"""Numbers and secrets as GitHub gives them out, the same for the same seed."""

import random
import uuid
from collections import Counter

FIRST = {
    "account": 21003710,
    "app": 1001,
    "delivery": 12345678001,
    "installation": 50100001,
    "job": 41000000001,
    "repository": 310000001,
    "run": 9000000001,
    "runner": 101,
    "runner_group": 3,
    "workflow": 160000001,
}


class Ids:
    def __init__(self, seed: int) -> None:
        self._given: Counter[str] = Counter()
        self._random = random.Random(f"github:{seed}")  # noqa: S311 nothing here is secret

    def next(self, kind: str) -> int:
        self._given[kind] += 1
        return FIRST[kind] + self._given[kind] - 1

    def text(self, length: int) -> str:
        return "".join(
            self._random.choices(
                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=length
            )
        )

    def sha(self) -> str:
        return f"{self._random.getrandbits(160):040x}"

    def guid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def chance(self) -> float:
        return self._random.random()
