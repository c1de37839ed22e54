"""`reconcile check`: whether a run could do its work from here, and if not, what to do about it.

Nothing is changed but a marker at the site's place, which is taken away again. Every check runs
whatever became of the others; what cannot be judged for want of another is skipped, and says so.
"""

import dataclasses
import os
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from .clock import Deadline
from .config import AppConfig, Config, FileSite, S3Site, from_environment
from .errors import ConfigError, PermanentError, RateLimitedError, TransientError
from .exit_codes import DONE, FAILED, UNUSABLE
from .model import Node

if TYPE_CHECKING:
    from .kube import ClusterClient

SECONDS = 30.0  # for one system to answer all that it is asked
REQUEST_SECONDS = 10.0
MARKER = ".reconcile-check"
DETAIL_WIDTH = 90
WORDS = {True: "ok", False: "FAILED", None: "skipped"}


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool | None  # None: skipped, and the detail says why
    detail: str  # what was found, and what to do next; may have several lines


def main(environ: Mapping[str, str], json: bool = False) -> int:
    """Prints a table, or JSON, to standard output. The exit code."""
    try:
        config = from_environment(environ)
    except ConfigError as error:
        _show([Check("configuration", False, str(error))], as_json=json)
        return UNUSABLE
    checks = run_checks(config)
    _show(checks, as_json=json)
    return FAILED if any(check.ok is False for check in checks) else DONE


def run_checks(config: Config, sleep: Callable[[float], None] = time.sleep) -> list[Check]:
    return [
        _configuration(config),
        *_database(config),
        _app(config, "organization App", config.organization, "GHAPP_ORG", sleep),
        _app(config, "personal App", config.personal, "GHAPP_PERSONAL", sleep),
        *_cluster(config, sleep),
        _site(config),
    ]


def table(checks: list[Check]) -> str:
    width = max(len(check.name) for check in checks)
    mark = max(len(word) for word in WORDS.values())
    margin = "\n" + " " * (mark + 2 + width + 2)
    return "".join(
        f"{WORDS[check.ok]:{mark}}  {check.name:{width}}  {margin.join(_lines(check.detail))}\n"
        for check in checks
    )


def _lines(detail: str) -> list[str]:
    """No longer than they need be; paths and commands stay whole."""
    return [
        part
        for line in detail.splitlines()
        for part in textwrap.wrap(
            line, DETAIL_WIDTH, break_long_words=False, break_on_hyphens=False
        )
    ]


def _show(checks: list[Check], *, as_json: bool) -> None:
    if as_json:
        ok = all(check.ok is not False for check in checks)
        listed = [dataclasses.asdict(check) for check in checks]
        sys.stdout.write(dumps({"ok": ok, "checks": listed}, indent=1) + "\n")
    else:
        sys.stdout.write(table(checks))


def _configuration(config: Config) -> Check:
    """Where the settings are from; what they are may be a secret."""
    lines = [f"{config.environment}, at {config.github_api_url}, namespace {config.namespace}"]
    files: list[str] = []
    named: dict[str, list[str]] = {"environment": [], "default": [], "not set": []}
    for variable, source in sorted(config.sources.items()):
        if source in named:
            named[source].append(variable)
        else:
            files.append(f"{variable} from {source}")
    lines += files
    lines += [f"{source}: {', '.join(names)}" for source, names in named.items() if names]
    return Check("configuration", True, "\n".join(lines))


# The database ----------------------------------------------------------------------------------


def _database(config: Config) -> Iterator[Check]:
    from .store import fingerprint

    try:
        found = fingerprint.inspect(config.conninfo, config.schema)
    except (TransientError, PermanentError) as error:
        yield Check("database", False, f"{error}\nLook at POSTGRES_URL, and at the way there.")
        yield Check("schema", None, "the database cannot be asked")
        yield Check("privileges", None, "the database cannot be asked")
        return
    way = found.tls or "without TLS, which only loopback may do"
    reached = f"PostgreSQL {found.version} as {found.role}, {way}"
    if found.outdated:
        yield Check("database", False, f"{reached}\nPostgreSQL 14 or newer is needed.")
    else:
        yield Check("database", True, reached)
    yield _schema(config, fingerprint.differences(fingerprint.expected(), found.fingerprint))
    if not found.fingerprint.tables:
        yield Check("privileges", None, f"there is no table in schema {config.schema}")
        return
    missing = fingerprint.missing_privileges(fingerprint.expected(), found.fingerprint)
    role = f"{config.schema}_reconcile"
    if missing:
        advice = (
            f'Give the user the role: GRANT {role} TO "{found.role}"; or apply schema.sql again.'
        )
        yield Check("privileges", False, "\n".join([f"no {one}" for one in missing] + [advice]))
    else:
        yield Check("privileges", True, f"{found.role} may do all that {role} may")


def _schema(config: Config, differences: list[str]) -> Check:
    if not differences:
        return Check("schema", True, f"{config.schema} is as schema.sql makes it")
    advice = f'Apply it: psql "$POSTGRES_URL" -v schema={config.schema} -f schema.sql'
    if any(one.startswith("column") or " is another one: " in one for one in differences):
        advice += (
            "\nIt leaves columns and indexes that are other than its own to be changed by hand."
        )
    return Check("schema", False, "\n".join([*differences, advice]))


# GitHub ----------------------------------------------------------------------------------------


def _app(
    config: Config, name: str, app: AppConfig, variables: str, sleep: Callable[[float], None]
) -> Check:
    from .github import App, Apps, GitHubClient

    try:
        parsed = App(app.id, app.private_key)
    except ValueError as error:
        return Check(name, False, f"{error}\nLook at {variables}_PRIVATE_KEY.")
    client = GitHubClient(
        config.github_api_url,
        Apps(organization=parsed, personal=parsed),
        config.settings.github,
        config.clock,
        Deadline(SECONDS),
        REQUEST_SECONDS,
        sleep=sleep,
    )
    try:
        with client:
            slug = client.app_slug(parsed)
    except RateLimitedError as error:
        return Check(name, None, f"GitHub's limit is reached until {error.until.isoformat()}")
    except TransientError as error:
        return Check(name, False, f"{error}\nLook at GITHUB_API_URL, and at the way there.")
    except PermanentError as error:
        advice = (
            f"Compare {variables}_ID with the App's page at GitHub, and make a new private key "
            f"there if {variables}_PRIVATE_KEY is not one of the App's."
        )
        return Check(name, False, f"{error}\n{advice}")
    return Check(name, True, f"App {app.id} is {slug}, and the key is its own")


# The cluster -----------------------------------------------------------------------------------


def _cluster(config: Config, sleep: Callable[[float], None]) -> Iterator[Check]:
    from .kube import connect
    from .kube.access import missing_permissions

    nodes: list[Node] | str = "the cluster cannot be asked"  # or why there is no list of them
    source = _cluster_source(config)
    try:
        with connect(
            config.kubeconfig_text,
            config.kubeconfig_path,
            config.namespace,
            deadline=Deadline(SECONDS),
            request_timeout=REQUEST_SECONDS,
            parallel=1,
            sleep=sleep,
        ) as client:
            missing = missing_permissions(client)
            nodes = _nodes(client)
    except (ConfigError, TransientError, PermanentError) as error:
        yield Check("cluster", False, f"{error}\nLook at {source}, and at the way to the cluster.")
        yield Check("permissions", None, "the cluster cannot be asked")
    else:
        yield Check("cluster", True, f"reached through {source}")
        yield _permissions(config, [str(permission) for permission in missing])
    yield _boards(nodes)
    yield _routes(config, nodes)


def _nodes(client: "ClusterClient") -> list[Node] | str:
    try:
        return client.nodes()
    except (TransientError, PermanentError) as error:
        return f"the nodes cannot be listed: {error}"


def _permissions(config: Config, missing: list[str]) -> Check:
    if not missing:
        return Check("permissions", True, f"all that a run needs in {config.namespace}")
    lines = [f"may not {permission}" for permission in missing]
    lines.append("Give them to the run's service account; the chart's role has them all.")
    return Check("permissions", False, "\n".join(lines))


def _cluster_source(config: Config) -> str:
    if config.kubeconfig_text is not None:
        return "K8S_KUBECONFIG"
    return "KUBECONFIG" if config.kubeconfig_path is not None else "the pod's service account"


def _boards(nodes: list[Node] | str) -> Check:
    if isinstance(nodes, str):
        return Check("boards", None, nodes)
    boards = [node for node in nodes if node.pool is not None]
    if not boards:
        return Check("boards", True, "none: no node has the label riseproject.dev/board")
    slots: Counter[str] = Counter()
    usable: Counter[str] = Counter()
    for node in boards:
        slots[str(node.pool)] += node.slots
        usable[str(node.pool)] += node.slots if node.schedulable else 0
    return Check(
        "boards",
        True,
        "\n".join(f"{pool}: {usable[pool]} of {slots[pool]} usable" for pool in sorted(slots)),
    )


def _routes(config: Config, nodes: list[Node] | str) -> Check:
    if config.routes is None:
        return Check("routes", None, "ROUTES_FILE is not set")
    if isinstance(nodes, str):
        return Check("routes", None, nodes)
    pools = {route.pool for route in config.routes.routes}
    empty = sorted(pools - {node.pool for node in nodes})
    if empty:
        return Check(
            "routes", True, f"no board for {', '.join(empty)}: jobs routed there will wait"
        )
    return Check("routes", True, f"{len(pools)} pools, all with boards")


# The site --------------------------------------------------------------------------------------


def _site(config: Config) -> Check:
    if config.site is None:
        return Check("site", None, "SITE_URL is not set: nothing is published")
    if isinstance(config.site, FileSite):
        return _directory(config.site.directory)
    return _bucket(config.site, config.aws_endpoint_url)


def _directory(directory: Path) -> Check:
    """Not made here: that is for the first publishing to do."""
    try:
        if directory.exists():
            with tempfile.NamedTemporaryFile(prefix=MARKER, dir=directory):
                return Check("site", True, f"{directory} is writable")
        above = next(parent for parent in directory.parents if parent.exists())
        if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
            return Check("site", True, f"{directory} can be made")
        fault = f"{directory} is not there and cannot be made in {above}"
    except OSError as error:
        fault = f"{directory} cannot be written: {error.strerror}"
    return Check("site", False, f"{fault}\nLook at SITE_URL and at the directory's owner.")


def _bucket(site: S3Site, endpoint_url: str | None) -> Check:
    import boto3  # type: ignore[import-untyped]
    from botocore.config import Config as ClientConfig  # type: ignore[import-untyped]
    from botocore.exceptions import (  # type: ignore[import-untyped]
        BotoCoreError,
        ClientError,
    )

    limits = ClientConfig(
        connect_timeout=5, read_timeout=REQUEST_SECONDS, retries={"total_max_attempts": 2}
    )
    key = "/".join(filter(None, [site.prefix, MARKER]))
    doing = "be made use of"
    try:
        with closing(boto3.client("s3", endpoint_url=endpoint_url, config=limits)) as client:
            doing = "be found"
            client.head_bucket(Bucket=site.bucket)
            doing = "be listed"
            client.list_objects_v2(Bucket=site.bucket, Prefix=site.prefix, MaxKeys=1)
            doing = "be written to"
            client.put_object(Bucket=site.bucket, Key=key, Body=b"reconcile check\n")
            doing = "be read from"
            client.get_object(Bucket=site.bucket, Key=key)["Body"].read()
            doing = "be deleted from"
            client.delete_object(Bucket=site.bucket, Key=key)
    except (BotoCoreError, ClientError) as error:
        advice = "Look at SITE_URL, AWS_ENDPOINT_URL and the credentials' policy for the bucket."
        return Check("site", False, f"bucket {site.bucket} cannot {doing}: {error}\n{advice}")
    return Check("site", True, f"bucket {site.bucket} takes and gives up {key}")
