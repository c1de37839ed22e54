"""Labels to pool and image, bans and the staging list: the file that ROUTES_FILE names."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGED = Path(__file__).with_name("routes.toml")

Account = int | str  # an id, which survives a rename, or a login
ACCOUNT_LISTS = ("banned_entities", "banned_senders", "staging_entities")


class RoutesError(Exception):
    """The file cannot be used; the message names every place at fault."""


def normalised_labels(labels: Iterable[str]) -> tuple[str, ...]:
    """GitHub matches labels without regard to case, order or repetition; so must our books."""
    return tuple(sorted({label.lower() for label in labels}))


@dataclass(frozen=True, slots=True)
class Accounts:
    """A list of accounts, by id or by login (without regard to case)."""

    members: frozenset[Account] = frozenset()

    def include(self, account_id: int | None, login: str | None) -> bool:
        return account_id in self.members or (login is not None and login.lower() in self.members)


@dataclass(frozen=True, slots=True)
class Route:
    labels: tuple[str, ...]  # normalised
    pool: str
    image: str
    entities: Accounts = Accounts()
    repositories: frozenset[str] = frozenset()  # lower case, `owner/name`

    @property
    def is_limited(self) -> bool:
        return bool(self.entities.members or self.repositories)

    def serves(self, entity_id: int, entity_name: str | None, repository: str) -> bool:
        """A limited route serves a job of a listed entity or of a listed repository."""
        if not self.is_limited:
            return True
        return (
            self.entities.include(entity_id, entity_name) or repository.lower() in self.repositories
        )


@dataclass(frozen=True, slots=True)
class Routes:
    routes: tuple[Route, ...]
    banned_entities: Accounts = Accounts()
    banned_senders: Accounts = Accounts()
    staging_entities: Accounts = Accounts()

    def find(
        self, labels: tuple[str, ...], entity_id: int, entity_name: str | None, repository: str
    ) -> Route | None:
        for route in self.routes:
            if route.labels == labels and route.serves(entity_id, entity_name, repository):
                return route
        return None


def load(path: Path = PACKAGED) -> Routes:
    import tomllib  # Only a cold start reads the file.

    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise RoutesError(f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RoutesError(f"{path} is not TOML: {error}") from error
    faults: list[str] = []
    routes = _read_document(document, faults)
    if faults:
        raise RoutesError(f"{path}: " + "; ".join(faults))
    return routes


def _read_document(document: dict[str, Any], faults: list[str]) -> Routes:
    _refuse_unknown(document, {"route", *ACCOUNT_LISTS}, "", faults)
    tables = document.get("route", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        faults.append("route must be a list of tables ([[route]])")
        tables = []
    if not tables and not faults:
        faults.append("there is no [[route]]")
    return Routes(
        routes=tuple(
            _read_route(table, f"route {number}: ", faults)
            for number, table in enumerate(tables, start=1)
        ),
        **{name: _accounts(document, name, "", faults) for name in ACCOUNT_LISTS},
    )


def _read_route(table: dict[str, Any], place: str, faults: list[str]) -> Route:
    _refuse_unknown(table, {"labels", "pool", "image", "entities", "repositories"}, place, faults)
    labels = _texts(table, "labels", place, faults)
    if not labels:
        faults.append(f"{place}labels must name at least one label")
    return Route(
        labels=normalised_labels(labels),
        pool=_text(table, "pool", place, faults),
        image=_text(table, "image", place, faults),
        entities=_accounts(table, "entities", place, faults),
        repositories=frozenset(
            name.lower() for name in _texts(table, "repositories", place, faults)
        ),
    )


def _refuse_unknown(table: dict[str, Any], known: set[str], place: str, faults: list[str]) -> None:
    faults.extend(f"{place}unknown key {key}" for key in table if key not in known)


def _text(table: dict[str, Any], key: str, place: str, faults: list[str]) -> str:
    value = table.get(key)
    if isinstance(value, str) and value:
        return value
    faults.append(f"{place}{key} must be a text" if key in table else f"{place}{key} is missing")
    return ""


def _texts(table: dict[str, Any], key: str, place: str, faults: list[str]) -> list[str]:
    value = table.get(key, [])
    if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
        return value
    faults.append(f"{place}{key} must be a list of texts")
    return []


def _accounts(table: dict[str, Any], key: str, place: str, faults: list[str]) -> Accounts:
    value = table.get(key, [])
    if isinstance(value, list) and all(type(item) in (int, str) and item for item in value):
        return Accounts(
            frozenset(item.lower() if isinstance(item, str) else item for item in value)
        )
    faults.append(f"{place}{key} must be a list of account ids or names")
    return Accounts()
