"""What a phase did, and what it could not do."""

from collections import Counter
from dataclasses import dataclass, field

PROBLEMS_TOLD = 20  # of each phase; a listing of hundreds helps nobody


@dataclass(slots=True)
class Outcome:
    did: Counter[str] = field(default_factory=Counter)  # "jobs completed": 3
    problems: list[str] = field(default_factory=list)  # items that failed; the rest was done
    jobs_checked: int = 0
    jobs_updated: int = 0
    workers_checked: int = 0
    workers_failed: int = 0
    workers_provisioned: int = 0
    objects_published: int = 0

    def problem(self, text: str) -> None:
        self.problems.append(text)

    @property
    def impact(self) -> str | None:
        """`jobs advanced: 3, workers started: 1`; None if nothing changed."""
        parts = [f"{what}: {count}" for what, count in self.did.items() if count]
        return ", ".join(parts) or None

    @property
    def error(self) -> str | None:
        if not self.problems:
            return None
        told = self.problems[:PROBLEMS_TOLD]
        more = len(self.problems) - len(told)
        return "; ".join(told) + (f"; and {more} more" if more else "")
