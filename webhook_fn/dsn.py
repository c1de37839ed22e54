"""How the database is reached: with TLS, unless it is on this very machine."""

import ipaddress
from collections.abc import Mapping

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Conninfo

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


def check(url: str) -> None:
    """What libpq would find only on connecting. Raises ValueError."""
    parameters = conninfo_to_dict(url)
    ports = [port for port in str(parameters.get("port") or "").split(",") if port]
    if not all(port.isascii() and port.isdigit() and 0 < int(port) < 65536 for port in ports):
        raise ValueError("must have a port from 1 to 65535")
    mode = parameters.get("sslmode")
    if mode is not None and mode not in TLS_MODES | {"disable", "allow", "prefer"}:
        raise ValueError("must have an sslmode that PostgreSQL knows")


def _is_local(parameters: Mapping[str, object]) -> bool:
    if "service" in parameters:
        return False  # It may lead anywhere.
    # What a URL leaves out, libpq takes from PGHOST and its like; with none of them it uses the
    # local socket. It takes lists, and prefers hostaddr.
    defaults = {
        option.keyword.decode(): option.val.decode()
        for option in Conninfo.get_defaults()
        if option.val
    }
    known = {name: value for name, value in parameters.items() if value}
    hosts = known.get("hostaddr") or known.get("host")
    hosts = hosts or defaults.get("hostaddr") or defaults.get("host") or "localhost"
    return all(_is_loopback(host) for host in str(hosts).split(","))


def _is_loopback(host: str) -> bool:
    if host in ("", "localhost") or host.startswith(("/", "@")):  # a Unix socket
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
