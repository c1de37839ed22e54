"""What pending jobs wait for, by what the last plan wrote down."""

from collections import Counter
from collections.abc import Iterable

from .. import words
from ..model import Waiting
from ..rows import BoardsRow, JobRow, WaitRow, WorkerCount

Key = tuple[int, str, str, str]  # entity, repository of a personal account, labels, pool
A_RUNNER = words.Wait("runner")
NOT_PLANNED = words.Wait(None)


class Waits:
    def __init__(
        self,
        rows: Iterable[WaitRow],
        covered: frozenset[int],
        boards: Iterable[BoardsRow],
        workers: Iterable[WorkerCount],
    ) -> None:
        self.rows = list(rows)
        self._covered = covered
        self._boards = {each.pool: each for each in boards}
        self._workers: Counter[int] = Counter()
        for each in workers:
            self._workers[each.entity_id] += each.pending + each.running
        self._waits = {
            (row.entity_id, row.repo_full_name, row.labels, row.pool): wait_of(row)
            for row in self.rows
        }

    def of(self, job: JobRow) -> Waiting:
        if job.job_id in self._covered:
            wait = A_RUNNER
        else:
            repository = job.repo_full_name if job.entity_type == "User" else ""
            wait = self._waits.get((job.entity_id, repository, job.labels, job.pool), NOT_PLANNED)
        return self.told(wait, job.entity_id, job.entity_name, job.pool)

    def told(self, wait: words.Wait, entity_id: int, entity: str, pool: str) -> Waiting:
        boards = self._boards.get(pool)
        return words.waiting(
            wait,
            words.Supply(
                pool=pool,
                slots=boards.slots if boards else None,
                usable=boards.usable if boards else 0,
                account=entity,
                account_workers=self._workers[entity_id],
            ),
        )


def wait_of(row: WaitRow) -> words.Wait:
    return words.Wait(row.waiting_for, row.wait_until, row.failures, row.reason)


NOTHING_WAITS = Waits((), frozenset(), (), ())
