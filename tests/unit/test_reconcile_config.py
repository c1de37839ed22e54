"""The run's settings: every fault in one message, no secret in any, and whose runner is whose."""

import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from psycopg.conninfo import conninfo_to_dict

from reconcile.clock import SystemClock
from reconcile.config import Config, FileSite, S3Site, for_trace, from_environment
from reconcile.errors import ConfigError
from reconcile.settings import Scheduling, Settings
from tests.simulated import private_key, public_key

PEM = private_key()
KUBECONFIG = (
    "apiVersion: v1\ncurrent-context: a\ncontexts: [{name: a}]\nclusters: [{name: a}]\n"
    "users: [{token: hunter3}]\n"
)
NEEDED = {
    "POSTGRES_URL": "postgresql://reconcile:hunter2@db.example/runners",
    "RUNNERS_ENV": "prod",
    "GHAPP_ORG_ID": "1001",
    "GHAPP_ORG_PRIVATE_KEY": PEM,
    "GHAPP_PERSONAL_ID": "1002",
    "GHAPP_PERSONAL_PRIVATE_KEY": PEM,
    "K8S_KUBECONFIG": KUBECONFIG,
}
ROUTES = '[[route]]\nlabels = ["a"]\npool = "p"\nimage = "i"\n'


def refusal(environ: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as refused:
        from_environment(environ)
    return str(refused.value)


def config(**changes: str) -> Config:
    return from_environment(NEEDED | changes)


def traditional(key: rsa.RSAPrivateKey, passphrase: str = "") -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.BestAvailableEncryption(passphrase.encode())
        if passphrase
        else serialization.NoEncryption(),
    ).decode()


def rsa_key() -> rsa.RSAPrivateKey:
    key = serialization.load_pem_private_key(PEM.encode(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


def elliptic(form: serialization.PrivateFormat) -> str:
    return (
        ec.generate_private_key(ec.SECP256R1())
        .private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        .decode()
    )


def test_what_is_needed_is_enough() -> None:
    made = config()
    assert made.github_api_url == "https://api.github.com"
    assert made.namespace == "default"
    assert made.settings == Settings()
    assert (made.site, made.routes, made.aws_endpoint_url) == (None, None, None)
    assert isinstance(made.clock, SystemClock)
    assert (made.organization.id, made.personal.id) == (1001, 1002)
    assert made.organization.private_key == PEM
    assert (made.kubeconfig_text, made.kubeconfig_path) == (KUBECONFIG, None)


@pytest.mark.parametrize(
    ("environment", "prefix", "group"),
    [
        ("prod", "rise-riscv-runner-", "RISE RISC-V Runners"),
        ("staging", "rise-riscv-runner-staging-", "RISE RISC-V Runners (staging)"),
    ],
)
def test_names_follow_the_environment(environment: str, prefix: str, group: str) -> None:
    made = config(RUNNERS_ENV=environment)
    assert (made.schema, made.prefix, made.group_name) == (environment, prefix, group)


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("rise-riscv-runner-4f3a", "prod"),
        ("rise-riscv-runner-", "prod"),
        ("rise-riscv-runner-staging", "prod"),
        ("rise-riscv-runner-staging-4f3a", "staging"),
        ("rise-riscv-runner-staging-", "staging"),
        ("rise-riscv-runner-staging-staging-1", "staging"),
        ("rise-riscv-runner", None),
        ("someone-elses", None),
        ("xrise-riscv-runner-1", None),
        ("", None),
    ],
)
def test_prod_never_owns_what_is_stagings(name: str, owner: str | None) -> None:
    for environment in ("prod", "staging"):
        assert config(RUNNERS_ENV=environment).owns(name) == (environment == owner)


@pytest.mark.parametrize("name", NEEDED)
def test_each_missing_variable_is_named(name: str) -> None:
    assert f"{name} is not set" in refusal(NEEDED | {name: ""})


def test_all_missing_variables_are_named_at_once() -> None:
    said = refusal({})
    assert said.startswith("Cannot start: ")
    assert said.endswith(".")
    for name in NEEDED:
        assert f"{name} is not set" in said


NOT_A_URL = "must be an http or https URL without credentials or parameters"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("RUNNERS_ENV", "production", "must be prod or staging"),
        ("POSTGRES_URL", "postgres//hunter2", "is not a PostgreSQL connection string"),
        ("POSTGRES_URL", "postgresql://me:hunter2@db:70000/x", "must have a port from 1 to 65535"),
        ("POSTGRES_URL", "postgresql://db/x?sslmode=hunter2", "must have an sslmode that"),
        ("GITHUB_API_URL", "api.github.com", NOT_A_URL),
        ("GITHUB_API_URL", "ftp://api.github.com", NOT_A_URL),
        ("GITHUB_API_URL", "https://me:hunter2@api.github.com", NOT_A_URL),
        ("GITHUB_API_URL", "https://github.example/api/v3?x=hunter2", NOT_A_URL),
        ("GITHUB_API_URL", "https://[::1", NOT_A_URL),
        ("GITHUB_API_URL", "https://github.example:99999", "must have a port below 65536"),
        ("AWS_ENDPOINT_URL", "minio:9000", NOT_A_URL),
        ("GHAPP_ORG_ID", "riscv", "must be the number of a GitHub App"),
        ("GHAPP_PERSONAL_ID", "0", "must be the number of a GitHub App"),
        ("GHAPP_PERSONAL_ID", "1001", "are the same App"),
        ("GHAPP_ORG_PRIVATE_KEY", "hunter2", "must be an RSA private key in PEM form, or @ and"),
        ("GHAPP_ORG_PRIVATE_KEY", "@/nowhere.pem", "@/nowhere.pem cannot be read: No such file"),
        ("GHAPP_ORG_PRIVATE_KEY", public_key(), "must be an RSA private key in PEM form"),
        ("GHAPP_ORG_PRIVATE_KEY", PEM[:-300], "must be an RSA private key in PEM form"),
        ("GHAPP_ORG_PRIVATE_KEY", PEM.replace("\nM", "\n*hunter2*M"), "is damaged"),
        ("GHAPP_ORG_PRIVATE_KEY", PEM.replace("\nM", "\n☃M"), "is damaged"),
        (
            "GHAPP_ORG_PRIVATE_KEY",
            elliptic(serialization.PrivateFormat.PKCS8),
            "must be an RSA private key; this is one of another kind",
        ),
        (
            "GHAPP_PERSONAL_PRIVATE_KEY",
            elliptic(serialization.PrivateFormat.TraditionalOpenSSL),
            "must be an RSA private key; this is one of another kind",
        ),
        (
            "GHAPP_PERSONAL_PRIVATE_KEY",
            traditional(rsa_key(), "hunter2"),
            "must be a private key without a passphrase",
        ),
        ("K8S_KUBECONFIG", "/home/me/.kube/config", "must be the text of a kubeconfig"),
        ("K8S_KUBECONFIG", "clusters: [}", "is no YAML"),
        ("K8S_KUBECONFIG", "clusters: []", "must be the text of a kubeconfig"),
        ("K8S_KUBECONFIG", "clusters: [{name: a}]", "none of its contexts"),
        ("K8S_NAMESPACE", "Default", "must be the name of a Kubernetes namespace"),
        ("K8S_NAMESPACE", "a" * 64, "must be the name of a Kubernetes namespace"),
        ("K8S_NAMESPACE", "a.b", "must be the name of a Kubernetes namespace"),
        ("RUNNERS_CONFIG", "/nowhere.toml", "/nowhere.toml cannot be read: No such file"),
        ("RUNNERS_CONFIG", "a = 1", "unknown key a"),
        ("ROUTES_FILE", "/nowhere.toml", "/nowhere.toml cannot be read: No such file"),
        ("SITE_URL", "https://site.example", "must be s3://bucket/prefix or file:///directory"),
        ("SITE_URL", "s3://Bucket", "must be s3://bucket/prefix or file:///directory"),
        ("SITE_URL", "s3:///prefix", "must be s3://bucket/prefix or file:///directory"),
        ("SITE_URL", "file://", "must be s3://bucket/prefix or file:///directory"),
        ("SITE_URL", "file://host/dir", "must be s3://bucket/prefix or file:///directory"),
        ("SITE_URL", "s3://bucket/p?versionId=1", "must have neither ? nor #"),
        ("SITE_URL", "s3://[bucket/p", "is not a URL"),
        ("RUNNERS_CLOCK", "yesterday", "must be a time with its zone, or TIME,ORIGIN,SPEED"),
        ("RUNNERS_CLOCK", "2026-03-02T09:00:00", "must be a time with its zone"),
        ("RUNNERS_CLOCK", "2026-03-02T09:00:00Z,1", "must be a time with its zone"),
        ("RUNNERS_CLOCK", "2026-03-02T09:00:00Z,1,nan", "must be a time with its zone"),
        ("RUNNERS_CLOCK", "2026-03-02T09:00:00Z,1,1e300", "must be a time with its zone"),
    ],
)
def test_each_malformed_variable_is_named_and_no_secret_told(
    name: str, value: str, sentence: str
) -> None:
    said = refusal(NEEDED | {name: value})
    assert name in said
    assert sentence in said
    assert said.count(";") == said.count("; this is one"), "and nothing else is at fault"
    assert "hunter" not in said
    assert PEM.splitlines()[1] not in said


def test_every_fault_is_named_at_once() -> None:
    said = refusal(
        NEEDED
        | {
            "RUNNERS_ENV": "x",
            "GHAPP_ORG_PRIVATE_KEY": "x",
            "K8S_NAMESPACE": "X",
            "SITE_URL": "x",
            "RUNNERS_CONFIG": "scheduling = 1\n[timeouts]\npod_pending = 0\n",
        }
    )
    for name in ("RUNNERS_ENV", "GHAPP_ORG_PRIVATE_KEY", "K8S_NAMESPACE", "SITE_URL"):
        assert f"{name} must be" in said
    assert "RUNNERS_CONFIG scheduling must be fifo or fair; timeouts.pod_pending must be" in said


def test_key_may_be_in_a_file_or_have_its_lines_joined(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_text(traditional(rsa_key()).replace("\n", "\r\n"))
    made = config(
        GHAPP_ORG_PRIVATE_KEY=f"@{path}", GHAPP_PERSONAL_PRIVATE_KEY=PEM.replace("\n", "\\n")
    )
    assert made.organization.private_key == traditional(rsa_key())
    assert made.personal.private_key == PEM
    assert made.sources["GHAPP_ORG_PRIVATE_KEY"] == str(path)


def test_key_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.der"
    path.write_bytes(b"\x30\x82\xff")
    assert f"@{path} must be in PEM form" in refusal(NEEDED | {"GHAPP_ORG_PRIVATE_KEY": f"@{path}"})


def test_no_secret_shows_in_a_configuration() -> None:
    shown = repr(config())
    assert "hunter" not in shown
    assert "PRIVATE KEY" not in shown
    assert PEM.splitlines()[1] not in shown


def test_kubeconfig_text_comes_before_a_path_and_a_path_before_the_cluster_itself(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG)
    bare = {name: value for name, value in NEEDED.items() if name != "K8S_KUBECONFIG"}
    both = from_environment(NEEDED | {"KUBECONFIG": "/nowhere"})
    assert (both.kubeconfig_text, both.kubeconfig_path) == (KUBECONFIG, None)
    several = f"/nowhere:{path}"
    assert from_environment(bare | {"KUBECONFIG": several}).kubeconfig_path == several
    inside = from_environment(bare | {"KUBERNETES_SERVICE_HOST": "10.0.0.1"})
    assert (inside.kubeconfig_text, inside.kubeconfig_path) == (None, None)
    assert "KUBECONFIG /nowhere cannot be read" in refusal(bare | {"KUBECONFIG": "/nowhere"})


def test_settings_and_routes_come_from_their_files(tmp_path: Path) -> None:
    runners, routes = tmp_path / "runners.toml", tmp_path / "routes.toml"
    runners.write_text('scheduling = "fair"\n')
    routes.write_text(ROUTES)
    made = config(RUNNERS_CONFIG=str(runners), ROUTES_FILE=str(routes))
    assert made.settings.scheduling is Scheduling.FAIR
    assert made.routes is not None
    assert made.routes.routes[0].pool == "p"
    assert made.sources["RUNNERS_CONFIG"] == str(runners)
    assert config(RUNNERS_CONFIG='scheduling = "fair"').settings == made.settings


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("s3://site-bucket/a/b/", S3Site("site-bucket", "a/b")),
        ("s3://site-bucket", S3Site("site-bucket", "")),
        ("file:///srv/the%20site", FileSite(Path("/srv/the site"))),
        ("file://localhost/srv", FileSite(Path("/srv"))),
    ],
)
def test_site(url: str, site: S3Site | FileSite) -> None:
    assert config(SITE_URL=url).site == site


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://github.example/api/v3/", "https://github.example/api/v3"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_github_may_be_elsewhere(given: str, kept: str) -> None:
    assert config(GITHUB_API_URL=given).github_api_url == kept


def test_clock_of_a_simulation() -> None:
    made = config(RUNNERS_CLOCK="2026-03-02T09:00:00Z")
    assert made.clock.now().isoformat() == "2026-03-02T09:00:00+00:00"


def test_limits_and_tls_are_in_the_connection_string() -> None:
    conninfo = conninfo_to_dict(config().conninfo)
    wanted = {
        "connect_timeout": "5",
        "application_name": "reconcile",
        "sslmode": "require",
        "keepalives_idle": "5",
        "tcp_user_timeout": "4000",
    }
    assert {name: conninfo[name] for name in wanted} == wanted


def test_reading_the_settings_loads_no_heavy_library() -> None:
    program = "import sys, reconcile.config; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"cryptography", "jwt", "kubernetes", "requests", "boto3", "yaml"} & set(loaded)


def test_a_trace_too_must_tell_the_two_apps_apart() -> None:
    given = {
        "POSTGRES_URL": "postgresql://127.0.0.1/none",
        "RUNNERS_ENV": "prod",
        "GHAPP_ORG_ID": "1001",
        "GHAPP_PERSONAL_ID": "1001",
    }
    with pytest.raises(ConfigError, match="are the same App"):
        for_trace(given)
    assert for_trace({**given, "GHAPP_PERSONAL_ID": "1002"}).personal_id == 1002
