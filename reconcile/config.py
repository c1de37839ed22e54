"""The run's settings, read from the environment once."""

import base64
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from webhook_fn.config import app_id, environment_name, routes_table, secured_conninfo
from webhook_fn.routes import Routes

from . import clock, settings_file
from .clock import Clock
from .errors import ConfigError
from .settings import Settings

T = TypeVar("T")

CONNECT_TIMEOUT_SECONDS = 5
DEFAULT_GITHUB_API_URL = "https://api.github.com"
PREFIXES = {"prod": "rise-riscv-runner-", "staging": "rise-riscv-runner-staging-"}
GROUPS = {"prod": "RISE RISC-V Runners", "staging": "RISE RISC-V Runners (staging)"}

_HTTP_URL = re.compile(
    r"https?://(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]+\])"
    r"(?::\d{1,5})?(?:/[\w.~%/-]*)?",
    re.IGNORECASE | re.ASCII,
)
_DNS_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PEM = re.compile(
    r"\s*-----BEGIN ((?:\w+ )?PRIVATE KEY)-----\n(.+)\n-----END \1-----\s*", re.DOTALL
)
_RSA_OID = bytes.fromhex("06092a864886f70d010101")  # in a PKCS#8 key: what kind of key it is


@dataclass(frozen=True, slots=True)
class AppConfig:
    id: int
    private_key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class S3Site:
    bucket: str
    prefix: str  # without slashes at its ends; may be empty


@dataclass(frozen=True, slots=True)
class FileSite:
    directory: Path


@dataclass(frozen=True, slots=True)
class Config:
    environment: str
    conninfo: str = field(repr=False)
    github_api_url: str
    organization: AppConfig
    personal: AppConfig
    kubeconfig_text: str | None = field(repr=False)
    kubeconfig_path: str | None  # None, and no text either: in the cluster itself
    namespace: str
    settings: Settings
    site: S3Site | FileSite | None
    aws_endpoint_url: str | None
    routes: Routes | None
    clock: Clock = field(compare=False)
    sources: Mapping[str, str] = field(compare=False)  # where each variable's value is from

    @property
    def schema(self) -> str:
        return self.environment

    @property
    def prefix(self) -> str:
        """Of the names of this environment's runners, and of their pods."""
        return PREFIXES[self.environment]

    @property
    def group_name(self) -> str:
        return GROUPS[self.environment]

    def owns(self, name: str) -> bool:
        """Whether a runner of that name is this environment's. prod's prefix begins staging's
        too, so that the longest prefix that fits decides."""
        fitting = [prefix for prefix in PREFIXES.values() if name.startswith(prefix)]
        return max(fitting, key=len, default="") == self.prefix


@dataclass(frozen=True, slots=True)
class TraceConfig:
    """What it takes to ask the database, and nothing else: no key, and no way to the cluster."""

    environment: str
    conninfo: str = field(repr=False)
    organization_id: int
    personal_id: int
    routes: Routes | None
    clock: Clock = field(compare=False)


class _Environment:
    """Reads variables, and keeps what is wrong with them and where they are from."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.faults: list[str] = []
        self.sources: dict[str, str] = {}

    def read(self, name: str, convert: Callable[[str], T], default: str = "") -> T | None:
        """None, and a fault, if it is missing or malformed."""
        given = self._environ.get(name)
        value = given or default
        self.sources[name] = "environment" if given else "default"
        if not value:
            self.faults.append(f"{name} is not set")
            return None
        try:
            return convert(value)
        except (ValueError, ConfigError) as error:
            self.faults.append(f"{name} {error}")
            return None

    def read_optional(self, name: str, convert: Callable[[str], T]) -> T | None:
        """None if it is not set; malformed is a fault all the same."""
        if self._environ.get(name):
            return self.read(name, convert)
        self.sources[name] = "not set"
        return None

    def read_file(self, name: str, convert: Callable[[str], T]) -> T | None:
        """Optional; the value is the path of a file, or what would be in it."""
        value = self._environ.get(name, "")
        result = self.read_optional(name, convert)
        if value and "\n" not in value and "=" not in value:
            self.sources[name] = value
        return result

    def read_app(self, number: str, key: str) -> AppConfig | None:
        found = self.read(number, app_id)
        private_key = self.read(key, _private_key)
        if self._environ.get(key, "").startswith("@"):
            self.sources[key] = self._environ[key][1:]
        if found is None or private_key is None:
            return None
        return AppConfig(found, private_key)

    def check_apps(self, organization: int | None, personal: int | None) -> None:
        if organization is not None and organization == personal:
            self.faults.append("GHAPP_ORG_ID and GHAPP_PERSONAL_ID are the same App")

    @property
    def in_cluster(self) -> bool:
        """Kubernetes tells its pods where its API is."""
        return bool(self._environ.get("KUBERNETES_SERVICE_HOST"))


def from_environment(environ: Mapping[str, str]) -> Config:
    """Raises ConfigError, naming every variable at fault."""
    env = _Environment(environ)
    environment = env.read("RUNNERS_ENV", environment_name)
    conninfo = env.read("POSTGRES_URL", _conninfo)
    github_api_url = env.read("GITHUB_API_URL", _http_url, default=DEFAULT_GITHUB_API_URL)
    organization = env.read_app("GHAPP_ORG_ID", "GHAPP_ORG_PRIVATE_KEY")
    personal = env.read_app("GHAPP_PERSONAL_ID", "GHAPP_PERSONAL_PRIVATE_KEY")
    if organization is not None and personal is not None:
        env.check_apps(organization.id, personal.id)
    kubeconfig_text = env.read_optional("K8S_KUBECONFIG", _kubeconfig_text)
    kubeconfig_path = None
    if env.sources["K8S_KUBECONFIG"] == "not set":
        kubeconfig_path = env.read_file("KUBECONFIG", _kubeconfig_path)
        if env.sources["KUBECONFIG"] == "not set" and not env.in_cluster:
            env.faults.append(
                "K8S_KUBECONFIG is not set, nor is KUBECONFIG, and this is no pod of a cluster"
            )
    namespace = env.read("K8S_NAMESPACE", _namespace, default="default")
    settings = env.read_file("RUNNERS_CONFIG", settings_file.load)
    site = env.read_optional("SITE_URL", _site)
    aws_endpoint_url = env.read_optional("AWS_ENDPOINT_URL", _http_url)
    table = env.read_file("ROUTES_FILE", routes_table)
    simulated = env.read_optional("RUNNERS_CLOCK", _clock)
    if (
        env.faults
        or environment is None
        or conninfo is None
        or github_api_url is None
        or organization is None
        or personal is None
        or namespace is None
    ):
        raise ConfigError("Cannot start: " + "; ".join(env.faults) + ".")
    return Config(
        environment=environment,
        conninfo=conninfo,
        github_api_url=github_api_url,
        organization=organization,
        personal=personal,
        kubeconfig_text=kubeconfig_text,
        kubeconfig_path=kubeconfig_path,
        namespace=namespace,
        settings=settings or Settings(),
        site=site,
        aws_endpoint_url=aws_endpoint_url,
        routes=table,
        clock=simulated or clock.SystemClock(),
        sources=env.sources,
    )


def for_trace(environ: Mapping[str, str]) -> TraceConfig:
    """Raises ConfigError, naming every variable at fault."""
    env = _Environment(environ)
    environment = env.read("RUNNERS_ENV", environment_name)
    conninfo = env.read("POSTGRES_URL", _conninfo)
    organization = env.read("GHAPP_ORG_ID", app_id)
    personal = env.read("GHAPP_PERSONAL_ID", app_id)
    env.check_apps(organization, personal)
    table = env.read_file("ROUTES_FILE", routes_table)
    simulated = env.read_optional("RUNNERS_CLOCK", _clock)
    if (
        env.faults
        or environment is None
        or conninfo is None
        or organization is None
        or personal is None
    ):
        raise ConfigError("Cannot start: " + "; ".join(env.faults) + ".")
    return TraceConfig(
        environment, conninfo, organization, personal, table, simulated or clock.SystemClock()
    )


def _conninfo(value: str) -> str:
    return secured_conninfo(value, "reconcile", CONNECT_TIMEOUT_SECONDS)


def _private_key(value: str) -> str:
    """A look at the outside only: what it holds is found out by whoever uses it."""
    text = _key_file(Path(value[1:])) if value.startswith("@") else value
    text = text.replace("\\n", "\n").replace("\r\n", "\n")
    found = _PEM.fullmatch(text)
    if found is None:
        raise ValueError("must be an RSA private key in PEM form, or @ and the path of one")
    label, body = found.groups()
    if label == "ENCRYPTED PRIVATE KEY" or "Proc-Type:" in body:
        raise ValueError("must be a private key without a passphrase")
    try:
        content = base64.b64decode("".join(body.split()), validate=True)
    except ValueError:
        raise ValueError("is damaged: what is between its first and last line is no key") from None
    if label != "RSA PRIVATE KEY" and not (label == "PRIVATE KEY" and _RSA_OID in content[:40]):
        raise ValueError("must be an RSA private key; this is one of another kind")
    return text.strip() + "\n"


def _key_file(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise ValueError(f"@{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ValueError(f"@{path} must be in PEM form, which is text") from None


def _kubeconfig_text(value: str) -> str:
    """Its structure; whether it leads anywhere is found out by whoever uses it. Its text is never
    quoted, nor is YAML's message, which quotes it."""
    import yaml  # The cluster's client needs it in any case; other commands do not.

    try:
        given = yaml.safe_load(value)
    except yaml.YAMLError:
        raise ValueError("is no YAML") from None
    if not isinstance(given, dict) or not given.get("clusters"):
        raise ValueError("must be the text of a kubeconfig (KUBECONFIG takes a path)")
    contexts = given.get("contexts")
    names = [each.get("name") for each in contexts or () if isinstance(each, dict)]
    if not isinstance(contexts, list) or given.get("current-context") not in names:
        raise ValueError("has a current-context that is none of its contexts")
    return value


def _kubeconfig_path(value: str) -> str:
    """Like kubectl's, it may be a list; those that are not there are passed over."""
    paths = [Path(path) for path in value.split(os.pathsep) if path]
    if not any(path.is_file() and os.access(path, os.R_OK) for path in paths):
        raise ValueError(f"{value} cannot be read: there is no such file for us")
    return value


def _namespace(value: str) -> str:
    if not _DNS_LABEL.fullmatch(value):
        raise ValueError("must be the name of a Kubernetes namespace")
    return value


def _http_url(value: str) -> str:
    if not _HTTP_URL.fullmatch(value):
        raise ValueError("must be an http or https URL without credentials or parameters")
    try:
        urlsplit(value).port  # noqa: B018 it is checked when it is read
    except ValueError:
        raise ValueError("must have a port below 65536") from None
    return value.rstrip("/")


def _site(value: str) -> S3Site | FileSite:
    try:
        parts = urlsplit(value)
    except ValueError:
        raise ValueError("is not a URL") from None
    if parts.query or parts.fragment:
        raise ValueError("must have neither ? nor #")
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and len(parts.path) > 1:
        return FileSite(Path(unquote(parts.path)))
    if parts.scheme == "s3" and _BUCKET.fullmatch(parts.netloc):
        return S3Site(parts.netloc, parts.path.strip("/"))
    raise ValueError("must be s3://bucket/prefix or file:///directory")


def _clock(value: str) -> Clock:
    try:
        parsed = clock.parse(value)
        parsed.now()
    except (ValueError, OverflowError) as error:
        raise ValueError("must be a time with its zone, or TIME,ORIGIN,SPEED") from error
    return parsed
