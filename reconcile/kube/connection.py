"""A client from a kubeconfig: its text, its path, or the one that a pod of the cluster has.

What cannot be used is said without quoting it: a kubeconfig is a credential, and the causes,
which do quote it, are not chained either.
"""

import base64
import binascii
import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from kubernetes import config as kubeconfig
from kubernetes.client import ApiClient, Configuration
from urllib3 import Retry

from ..clock import Deadline
from ..errors import ConfigError
from .client import PAGE_SIZE, ClusterClient

# What the library raises over a kubeconfig that is not as it expects.
UNUSABLE = (
    kubeconfig.ConfigException,
    yaml.YAMLError,
    OSError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
)
EMBEDDED = ("certificate-authority", "client-certificate", "client-key")


def connect(
    kubeconfig_text: str | None,
    kubeconfig_path: str | None,
    namespace: str,
    *,
    deadline: Deadline,
    request_timeout: float,
    parallel: int,
    sleep: Callable[[float], None],
    page_size: int = PAGE_SIZE,
) -> ClusterClient:
    """Raises ConfigError. Asks the cluster nothing yet."""
    configuration = Configuration()
    # Which call bears being repeated, and how often, is decided in `calls`. A redirect is an
    # answer like any other, and no good one.
    configuration.retries = Retry(total=0, raise_on_redirect=False)
    configuration.connection_pool_maxsize = parallel
    with contextlib.ExitStack() as files:
        if kubeconfig_text:
            directory = files.enter_context(tempfile.TemporaryDirectory(prefix="kubeconfig-"))
            _load_text(kubeconfig_text, configuration, Path(directory))
        elif kubeconfig_path:
            _load_path(kubeconfig_path, configuration)
        else:
            _load_in_cluster(configuration)
        if configuration.host == Configuration().host:
            raise ConfigError("The kubeconfig cannot be used: its cluster has no server.")
        api = ApiClient(configuration)
        kept = files.pop_all()
    return ClusterClient(
        api,
        namespace,
        deadline,
        request_timeout,
        sleep,
        page_size=page_size,
        on_close=kept.close,
    )


def _load_text(text: str, configuration: Configuration, directory: Path) -> None:
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        raise ConfigError(f"K8S_KUBECONFIG is no YAML{where}.") from None
    if not isinstance(given, dict) or not given.get("clusters"):
        raise ConfigError("K8S_KUBECONFIG is no kubeconfig: it names no clusters.")
    try:
        _unpack(given, directory)
        kubeconfig.load_kube_config_from_dict(
            given, client_configuration=configuration, persist_config=False
        )
    except UNUSABLE as error:
        raise _unusable("K8S_KUBECONFIG", error) from None


def _unpack(given: dict[str, Any], directory: Path) -> None:
    """Certificates and keys into files. The library does that too, but leaves them behind when a
    process ends without its last rites, as a forked one may."""
    for section, inner in (("clusters", "cluster"), ("users", "user")):
        for number, entry in enumerate(given.get(section) or []):
            for name in EMBEDDED:
                data = (entry.get(inner) or {}).pop(f"{name}-data", None)
                if data:
                    path = directory / f"{section}-{number}-{name}"
                    path.write_bytes(base64.b64decode(data))
                    entry[inner][name] = str(path)


def _load_path(path: str, configuration: Configuration) -> None:
    try:
        kubeconfig.load_kube_config(path, client_configuration=configuration, persist_config=False)
    except UNUSABLE as error:
        raise _unusable(f"KUBECONFIG ({path})", error) from None


def _load_in_cluster(configuration: Configuration) -> None:
    try:
        kubeconfig.load_incluster_config(configuration)
    except UNUSABLE:
        raise ConfigError(
            "There is no cluster to speak to: neither K8S_KUBECONFIG nor KUBECONFIG is set, and "
            "this is no pod with a service account."
        ) from None


def _unusable(source: str, error: Exception) -> ConfigError:
    if isinstance(error, binascii.Error):
        why = "a certificate or key in it is no base64"
    elif isinstance(error, OSError):
        why = f"a file cannot be read ({error.strerror})"
    elif isinstance(error, yaml.YAMLError):
        why = "it is no YAML"
    else:
        why = "its current context, that context's cluster or user is missing or incomplete"
    return ConfigError(f"{source} cannot be used: {why}.")
