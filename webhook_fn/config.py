"""The function's settings, read from the environment once."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import psycopg

from . import dsn, routes
from .events import Apps

T = TypeVar("T")

ENVIRONMENTS = ("prod", "staging")
# GitHub hangs up after 10 s: connecting and two statements must end well before that.
CONNECT_TIMEOUT_SECONDS = 3
STATEMENT_TIMEOUT_SECONDS = 3
TCP_SETTINGS = {  # how long a peer may be silent that the kernel should hear from
    "tcp_user_timeout": 4000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
}

# The host is a name of labels of at most 63 characters, or an IPv6 address.
_HTTP_URL = re.compile(
    r"https?://(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]+\])"
    r"(?::\d{1,5})?(?:[/?][!-~]*)?",
    re.IGNORECASE,
)


class ConfigError(Exception):
    """The function cannot start; the message names every variable at fault."""


@dataclass(frozen=True, slots=True)
class Config:
    environment: str  # also the name of the database schema
    conninfo: str
    webhook_secret: bytes
    apps: Apps
    routes: routes.Routes
    staging_url: str | None
    trace_secret: bytes | None  # without it there is no trace to ask for

    @property
    def proxying(self) -> bool:
        """Only prod hands on: staging would hand its deliveries to itself."""
        return self.environment == "prod"


def from_environment(environ: Mapping[str, str]) -> Config:
    faults: list[str] = []

    def read(name: str, convert: Callable[[str], T], default: str = "") -> T | None:
        value = environ.get(name) or default
        if not value:
            faults.append(f"{name} is not set")
            return None
        try:
            return convert(value)
        except ValueError as error:
            faults.append(f"{name} {error}")
            return None

    environment = read("RUNNERS_ENV", environment_name)
    conninfo = read("POSTGRES_URL", _conninfo)
    secret = read("GHAPP_WEBHOOK_SECRET", str.encode)
    organization = read("GHAPP_ORG_ID", app_id)
    personal = read("GHAPP_PERSONAL_ID", app_id)
    table = read("ROUTES_FILE", routes_table, default=str(routes.PACKAGED))
    staging_url = None
    if environ.get("STAGING_URL"):
        staging_url = read("STAGING_URL", _http_url)
    elif environment == "prod" and table is not None and table.staging_entities.members:
        faults.append("STAGING_URL is not set, but ROUTES_FILE lists staging_entities")
    trace = None
    if environ.get("TRACE_API_SECRET"):
        trace = read("TRACE_API_SECRET", _trace_secret)
    if organization is not None and organization == personal:
        faults.append("GHAPP_ORG_ID and GHAPP_PERSONAL_ID are the same App")
    if (
        faults
        or environment is None
        or conninfo is None
        or secret is None
        or organization is None
        or personal is None
        or table is None
    ):
        raise ConfigError("Cannot start: " + "; ".join(faults) + ".")
    apps = Apps(organization, personal)
    return Config(environment, conninfo, secret, apps, table, staging_url, trace)


def _conninfo(value: str) -> str:
    return secured_conninfo(value, "webhook_fn", CONNECT_TIMEOUT_SECONDS)


# The run reads these settings too. Each raises ValueError with what must be.


def environment_name(value: str) -> str:
    if value not in ENVIRONMENTS:
        raise ValueError("must be prod or staging")
    return value


def secured_conninfo(value: str, application_name: str, connect_timeout: int) -> str:
    value = value.strip()  # A line end, as a file's text has, would become part of the last word.
    try:
        dsn.check(value)
        return dsn.secured(
            value,
            connect_timeout=connect_timeout,
            application_name=application_name,
            **TCP_SETTINGS,
        )
    except psycopg.ProgrammingError:
        # The value holds a password, and libpq's message quotes the value.
        raise ValueError("is not a PostgreSQL connection string") from None


def app_id(value: str) -> int:
    if not (value.isascii() and value.isdigit() and 0 < int(value) < 2**63):
        raise ValueError("must be the number of a GitHub App")
    return int(value)


def routes_table(value: str) -> routes.Routes:
    try:
        return routes.load(Path(value))
    except routes.RoutesError as error:
        raise ValueError(str(error)) from error


def _trace_secret(value: str) -> bytes:
    """As a header can carry it; an end of line, as a file's text has, never could be sent."""
    if not re.fullmatch(r"[!-~]{16,}", value):
        raise ValueError("must be 16 or more printable ASCII characters without white space")
    return value.encode()


def _http_url(value: str) -> str:
    if not _HTTP_URL.fullmatch(value):
        raise ValueError("must be an http or https URL")
    try:
        urlsplit(value).port  # noqa: B018 it is checked when it is read
    except ValueError:
        raise ValueError("must have a port below 65536") from None
    return value
