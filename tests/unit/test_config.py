"""Settings: every fault in one message, no secret in any, TLS off loopback."""

from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.function import environment
from webhook_fn import dsn
from webhook_fn.config import ConfigError, from_environment

GOOD = environment("postgresql://fn:hunter2@db.example/runners")


def test_good_settings() -> None:
    config = from_environment(GOOD)
    assert config.environment == "prod"
    assert config.proxying
    assert config.staging_url is None
    assert config.trace_secret is None


@pytest.mark.parametrize("name", GOOD)
def test_each_missing_variable_is_named(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is not set"):
        from_environment(GOOD | {name: ""})


def test_all_missing_variables_are_named_at_once() -> None:
    with pytest.raises(ConfigError) as refusal:
        from_environment({})
    for name in GOOD:
        assert name in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("RUNNERS_ENV", "production", "RUNNERS_ENV must be prod or staging"),
        ("GHAPP_ORG_ID", "riscv", "GHAPP_ORG_ID must be the number of a GitHub App"),
        ("GHAPP_ORG_ID", "²", "GHAPP_ORG_ID must be the number of a GitHub App"),
        ("GHAPP_PERSONAL_ID", "0", "GHAPP_PERSONAL_ID must be the number of a GitHub App"),
        ("GHAPP_PERSONAL_ID", GOOD["GHAPP_ORG_ID"], "are the same App"),
        ("POSTGRES_URL", "postgres//hunter2", "POSTGRES_URL is not a PostgreSQL connection string"),
        ("POSTGRES_URL", "host=x port", "POSTGRES_URL is not a PostgreSQL connection string"),
        ("POSTGRES_URL", "postgresql://u:hunter2@db:70000/x", "POSTGRES_URL must have a port from"),
        ("POSTGRES_URL", "host=db port=5432,hunter2", "POSTGRES_URL must have a port from 1 to"),
        ("POSTGRES_URL", "host=db port=0", "POSTGRES_URL must have a port from 1 to 65535"),
        ("POSTGRES_URL", "host=db sslmode=hunter2", "POSTGRES_URL must have an sslmode that"),
        ("TRACE_API_SECRET", "hunter2", "TRACE_API_SECRET must be 16 or more printable ASCII"),
        ("TRACE_API_SECRET", "hunter2 " + "x" * 16, "TRACE_API_SECRET must be 16 or more"),
        ("TRACE_API_SECRET", "hunter2" + "x" * 16 + "\n", "TRACE_API_SECRET must be 16 or more"),
        ("TRACE_API_SECRET", "hunter2" + "é" * 16, "TRACE_API_SECRET must be 16 or more"),
        ("TRACE_API_SECRET", "hunter2" + "\x7f" * 16, "TRACE_API_SECRET must be 16 or more"),
        ("ROUTES_FILE", "/nowhere.toml", "ROUTES_FILE /nowhere.toml cannot be read"),
        ("STAGING_URL", "staging.example", "STAGING_URL must be an http or https URL"),
        ("STAGING_URL", "ftp://staging.example", "STAGING_URL must be an http or https URL"),
        ("STAGING_URL", "http://sta ging.example", "STAGING_URL must be an http or https URL"),
        ("STAGING_URL", f"http://{'x' * 70}.example", "STAGING_URL must be an http or https URL"),
        ("STAGING_URL", "http://staging.example:99999/", "STAGING_URL must have a port below"),
        ("STAGING_URL", "http://staging.example/☃", "STAGING_URL must be an http or https URL"),
    ],
)
def test_each_malformed_variable_is_named(name: str, value: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        from_environment(GOOD | {name: value})
    assert sentence in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_trace_has_a_secret_if_it_is_given() -> None:
    secret = "0123456789abcde!"
    assert from_environment(GOOD | {"TRACE_API_SECRET": secret}).trace_secret == secret.encode()
    assert from_environment(GOOD | {"TRACE_API_SECRET": ""}).trace_secret is None


def test_fault_of_the_trace_is_told_with_the_others() -> None:
    with pytest.raises(ConfigError, match=r"GHAPP_ORG_ID .*; TRACE_API_SECRET must"):
        from_environment(GOOD | {"GHAPP_ORG_ID": "", "TRACE_API_SECRET": "short"})


def test_staging_entities_need_a_staging_url_in_prod_only(tmp_path: Path) -> None:
    routes = tmp_path / "routes.toml"
    routes.write_text(
        'staging_entities = [1]\n[[route]]\nlabels = ["a"]\npool = "p"\nimage = "i"\n'
    )
    settings = GOOD | {"ROUTES_FILE": str(routes)}
    with pytest.raises(ConfigError, match="STAGING_URL is not set"):
        from_environment(settings)
    assert from_environment(settings | {"STAGING_URL": "https://staging.example/x"}).staging_url
    assert not from_environment(settings | {"RUNNERS_ENV": "staging"}).proxying


@pytest.mark.parametrize(
    ("url", "sslmode"),
    [
        ("postgresql://u@db.example/d", "require"),
        ("postgresql://u@db.example/d?sslmode=disable", "require"),
        ("postgresql://u@db.example/d?sslmode=prefer", "require"),
        ("postgresql://u@db.example/d?sslmode=verify-full", "verify-full"),
        ("postgresql://u@db.example/d?sslmode=verify-ca", "verify-ca"),
        ("postgresql://u@10.0.0.1/d", "require"),
        ("host=127.0.0.1,db.example dbname=d", "require"),
        ("host=localhost hostaddr=192.0.2.1", "require"),
        ("postgresql://u@127.0.0.1/d", None),
        ("postgresql://u@127.8.8.8/d", None),
        ("postgresql://u@[::1]/d", None),
        ("postgresql://u@localhost/d", None),
        ("postgresql://u@localhost/d?sslmode=require", "require"),
        ("postgresql:///d", None),
        ("host=/var/run/postgresql dbname=d", None),
    ],
)
def test_database_off_loopback_is_reached_with_tls(url: str, sslmode: str | None) -> None:
    assert conninfo_to_dict(dsn.secured(url)).get("sslmode") == sslmode


@pytest.mark.parametrize("variable", ["PGHOST", "PGHOSTADDR"])
def test_host_that_libpq_takes_from_the_environment_counts(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, "192.0.2.7")
    assert conninfo_to_dict(dsn.secured("postgresql:///d")).get("sslmode") == "require"
    assert conninfo_to_dict(dsn.secured("postgresql://localhost/d")).get("sslmode") is None


def test_service_file_may_lead_anywhere() -> None:
    assert conninfo_to_dict(dsn.secured("service=prod"))["sslmode"] == "require"


@pytest.mark.parametrize("url", ["https://s.example", "http://[::1]:8000/x?y=1", "http://h:80/"])
def test_staging_url(url: str) -> None:
    assert from_environment(GOOD | {"STAGING_URL": url}).staging_url == url


def test_line_end_behind_the_connection_string_is_no_part_of_it() -> None:
    given = GOOD | {"POSTGRES_URL": "postgresql://db.example/runners\n"}
    assert conninfo_to_dict(from_environment(given).conninfo)["dbname"] == "runners"


def test_limits_are_in_the_connection_string() -> None:
    conninfo = conninfo_to_dict(from_environment(GOOD).conninfo)
    limits = {name: conninfo[name] for name in ("connect_timeout", "tcp_user_timeout")}
    assert limits == {"connect_timeout": "3", "tcp_user_timeout": "4000"}
    assert conninfo["application_name"] == "webhook_fn"
