"""The registrations at GitHub, scope by scope, listed where somebody needs to know."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from ... import store
from ...errors import AccessError, RateLimitedError
from ...model import Listing, Pages, Runner, Scope
from ...policy.health import RunnerView, Unseen
from ...store.github import KnownScope
from ..context import Context
from ..outcome import Outcome

# GitHub removes a registration that was not used for a day: older scopes have none left over.
KEPT_BY_GITHUB = timedelta(hours=25)
POD_LIFE = timedelta(days=8)  # longer than a pod's deadline

Key = tuple[int, str]  # of a scope, whatever its account is called now


class Runners:
    def __init__(self, known: Iterable[KnownScope]) -> None:
        self._known = {each.scope.key: each for each in known}
        self._asked: set[Key] = set()
        self._listed: dict[Key, dict[str, Runner]] = {}
        self._pages: dict[Scope, Pages] = {}
        self._swept: dict[Key, datetime] = {}
        self._gone: set[Key] = set()  # the installation is; so are its registrations to us

    @classmethod
    def load(cls, context: Context, now: datetime) -> "Runners":
        return cls(store.github.load_scopes(context.database, now - POD_LIFE))

    def scopes(self) -> list[Scope]:
        return [each.scope for each in self._known.values()]

    def due(self, now: datetime, interval: timedelta) -> list[Scope]:
        """Those not looked through for a while."""
        return [
            each.scope
            for each in self._known.values()
            if now - each.used_at < KEPT_BY_GITHUB
            and (each.swept_at is None or now - each.swept_at >= interval)
        ]

    def look(self, context: Context, scopes: Iterable[Scope], outcome: Outcome) -> None:
        """List those that were not asked yet. What fails is unknown, and stays so for this run."""
        wanted = {each.key: each for each in scopes if each.key not in self._asked}
        self._asked |= wanted.keys()
        for scope, answer in context.at_once(
            lambda each: self._list(context, each), wanted.values()
        ):
            if isinstance(answer, Listing):
                self._listed[scope.key] = {runner.name: runner for runner in answer.items}
                if answer.changed:
                    self._pages[scope] = answer.pages
            elif isinstance(answer, AccessError) and answer.gone:
                self._gone.add(scope.key)
            elif not isinstance(answer, RateLimitedError):
                outcome.problem(f"runners of {scope.entity_name} are unknown: {answer}")

    def view(self, scope: Scope, name: str) -> RunnerView:
        if scope.key in self._gone:
            # Nobody can ask any more, and no job of theirs is ours to run: as good as gone.
            return Unseen.ABSENT
        listed = self._listed.get(scope.key)
        if listed is None:
            return Unseen.UNKNOWN
        return listed.get(name, Unseen.ABSENT)

    def look_again(self, context: Context, scope: Scope, name: str) -> Runner | None:
        """Just before a kill: one that was not listed may have been missed between two pages."""
        view = self.view(scope, name)
        if isinstance(view, Runner):
            return view
        return None if scope.key in self._gone else context.github.find_runner(scope, name)

    def view_anywhere(self, name: str) -> RunnerView:
        views = [self.view(scope, name) for scope in self.scopes()]
        found = [view for view in views if isinstance(view, Runner)]
        if found:
            return found[0]
        # Where no scope is known, nobody was asked.
        return Unseen.ABSENT if views and Unseen.UNKNOWN not in views else Unseen.UNKNOWN

    def busy_for_long(self) -> set[str]:
        """Busy now, and busy when an earlier run listed them."""
        before = {
            item["name"]
            for key in self._listed
            if key in self._known
            for page in self._known[key].pages
            for item in page["items"]
            if item["busy"]
        }
        return {
            runner.name
            for listed in self._listed.values()
            for runner in listed.values()
            if runner.busy and runner.name in before
        }

    def listed(self, scope: Scope) -> list[Runner] | None:
        """What is there, as far as it is known to still be; None if it is not known."""
        listed = self._listed.get(scope.key)
        return None if listed is None else list(listed.values())

    def removed(self, scope: Scope, name: str) -> None:
        if scope.key in self._listed:
            self._listed[scope.key].pop(name, None)

    def swept(self, scope: Scope, now: datetime) -> None:
        self._swept[scope.key] = now

    def save(self, context: Context) -> None:
        changed = {
            scope: (pages, self._swept.pop(scope.key, None)) for scope, pages in self._pages.items()
        }
        for key, swept_at in self._swept.items():
            known = self._known[key]
            changed[known.scope] = known.pages, swept_at
        if changed:
            store.github.save_listings(context.database, changed)

    def _list(self, context: Context, scope: Scope) -> Listing[Runner]:
        known = self._known.get(scope.key)
        group_id = known.group_id if known else None
        return context.github.runners(scope, group_id, known.pages if known else [])
