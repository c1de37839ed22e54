"""Numbers and secrets as GitHub gives them out, the same for the same seed.

Each kind has a stream of its own: one token more changes no commit's hash. Within a kind they
are given in the order of asking.
"""

import random
import string
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
    "workflow": 160000001,
}
LETTERS = string.ascii_letters + string.digits


class Ids:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._given: Counter[str] = Counter()
        self._streams: dict[str, random.Random] = {}

    def next(self, kind: str) -> int:
        self._given[kind] += 1
        return FIRST[kind] + self._given[kind] - 1

    def text(self, kind: str, length: int) -> str:
        return "".join(self._stream(kind).choices(LETTERS, k=length))

    def sha(self) -> str:
        return f"{self._stream('commit').getrandbits(160):040x}"

    def guid(self) -> str:
        return str(uuid.UUID(int=self._stream("delivery").getrandbits(128), version=4))

    def _stream(self, kind: str) -> random.Random:
        if kind not in self._streams:
            self._streams[kind] = random.Random(f"github:{self.seed}:{kind}")  # noqa: S311
        return self._streams[kind]
