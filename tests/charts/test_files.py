"""Files and secrets get into the pods as they were given, and a change of one is noticed."""

import tomllib
from typing import Any

import pytest

from tests.charts.given_secrets import secrets, with_keys
from tests.charts.helm import EVERY_FILE, example, needs_helm, render
from tests.simulated import private_key

pytestmark = needs_helm

ODD_TEXTS = {
    "plain": "a = 1\n",
    "without an end of line": "a = 1",
    "indented": "    a = 1\n  b = 2\n",
    "indented by a tab": "\ta = 1\n\t\tb = 2\n",
    "beginning with nothing": "\n\n  a = 1\n",
    "ending in blanks": "a = 1  \n   \nb = 2   \n  ",
    "of several lines": "a = '''\n  one\n\n\ttwo\n'''\n",
    "of another machine": "a = 1\r\nb = 2\r\n",
    "like YAML": "# a: {b\na = '''\n---\n- x: |2\n...\n'''\n",
    "like a template": "a = '{{ .Values.secret }}'\n# {{ end }}\n",
    "of all the world": 'a = "für 龍 \u2028 🐉"\n',
    "large numbers": "[entities.21003710]\nmax_workers = 1000000\n",
}


@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
def test_file_arrives_as_it_was_given(text: str) -> None:
    rendered = render("minimal", values={"config": {"runners": text, "routes": text}})
    data = rendered.one("ConfigMap")["data"]
    assert data == {"runners.toml": text, "routes.toml": text}
    assert tomllib.loads(data["runners.toml"]) == tomllib.loads(text)


@pytest.mark.parametrize("file", ["runners", "routes"])
def test_file_that_is_not_given_is_not_there(file: str) -> None:
    rendered = render("minimal", values={"config": {file: "a = 1\n"}})
    assert list(rendered.one("ConfigMap")["data"]) == [f"{file}.toml"]
    paths = {value for value in rendered.pods["controller"].env.values() if "/etc/" in str(value)}
    assert paths == {f"/etc/riscv-runners/{file}.toml"}


# The secrets.


def test_secret_arrives_as_it_was_given() -> None:
    created = {
        "postgresUrl": "postgresql://ü:%20@db/x?options=-c%20a",
        "organizationPrivateKey": private_key(),
        "personalPrivateKey": "  @/keys/personal.pem\n\n",
        "kubeconfig": "clusters:\n- {name: '{{ no }}'}\n",
    }
    values = {
        "secret": {"existingName": None, "create": created},
        "kubeconfig": {"secretKey": "BOARDS"},
    }
    held = {key: text for (_, key), text in secrets(render("minimal", values=values)).items()}
    assert held == {
        "POSTGRES_URL": created["postgresUrl"],
        "GHAPP_ORG_PRIVATE_KEY": created["organizationPrivateKey"],
        "GHAPP_PERSONAL_PRIVATE_KEY": created["personalPrivateKey"],
        "BOARDS": created["kubeconfig"],
    }


@pytest.mark.parametrize("name", EVERY_FILE)
def test_secrets_are_references_everywhere(name: str) -> None:
    rendered = with_keys(name)
    for pod in rendered.pods.values():
        for variable in ("POSTGRES_URL", "GHAPP_ORG_PRIVATE_KEY", "GHAPP_PERSONAL_PRIVATE_KEY"):
            assert set(pod.env[variable]) == {"secretKeyRef"}
    others = [each for each in rendered.objects if each["kind"] != "Secret"]
    assert "PRIVATE KEY-----" not in str(others)
    assert "p%40ss" not in str(others)


def test_secret_of_somebody_else_is_used_and_not_made() -> None:
    rendered = example("minimal")
    assert rendered.of("Secret") == []
    names = {
        value["secretKeyRef"]["name"]
        for value in rendered.pods["controller"].env.values()
        if isinstance(value, dict)
    }
    assert names == {"reconciler-secrets"}


# What starts the controller anew.


@pytest.mark.parametrize(
    "values",
    [
        {"config": {"runners": "default_max_workers = 3\n"}},
        {"config": {"routes": "banned_entities = [666]\n"}},
        {"secret": {"create": {"postgresUrl": "postgresql://db.example/other"}}},
        {"secret": {"create": {"personalPrivateKey": "@/keys/another.pem"}}},
    ],
)
def test_change_of_a_file_or_a_secret_starts_the_controller_anew(values: dict[str, Any]) -> None:
    before = example("staging").pods["controller"].annotations
    assert render("staging", values=values).pods["controller"].annotations != before
