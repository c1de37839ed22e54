"""How the database is reached: with TLS, unless it is on this very machine."""

import ipaddress
from collections.abc import Mapping

from psycopg.conninfo import conninfo_to_dict, make_conninfo

TLS_MODES = frozenset({"require", "verify-ca", "verify-full"})


def secured(url: str, **settings: str | int) -> str:
    """The connection string with the settings added and TLS required off loopback.

    A URL may ask for more than `require`, never for less. Raises psycopg.ProgrammingError for
    what is no connection string.
    """
    parameters = conninfo_to_dict(url)
    if not _is_local(parameters) and parameters.get("sslmode") not in TLS_MODES:
        settings["sslmode"] = "require"
    return make_conninfo(url, **settings)


def _is_local(parameters: Mapping[str, object]) -> bool:
    # libpq takes lists, prefers hostaddr, and reads no host at all as the local socket.
    hosts = str(parameters.get("hostaddr") or parameters.get("host") or "localhost")
    return all(_is_loopback(host) for host in hosts.split(","))


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost") or host.startswith(("/", "@")):  # a Unix socket
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
