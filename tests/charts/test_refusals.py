"""Values that cannot be used are refused, with the place and with what to do."""

from typing import Any

import pytest

from tests.charts.helm import needs_helm, refusal, render

pytestmark = needs_helm

Values = dict[str, Any]
CREATED = {
    "postgresUrl": "postgresql://db.example/runners",
    "organizationPrivateKey": "@/keys/organization.pem",
    "personalPrivateKey": "@/keys/personal.pem",
}


def test_all_that_is_missing_is_named_at_once() -> None:
    told = refusal()
    for line in (
        "(root): environment is required",
        "(root): secret is required",
        "image: repository is required",
        "github: organizationAppId is required",
        "github: personalAppId is required",
    ):
        assert f"- {line}\n" in told


WRONG: dict[str, tuple[Values, str]] = {
    "a typo at the top": ({"enviroment": "prod"}, "(root): Additional property enviroment"),
    "a typo inside": ({"site": {"ulr": "s3://b"}}, "site: Additional property ulr"),
    "a typo deep inside": (
        {"alerts": {"rules": {"queueDrainSlow": {"treshold": 1}}}},
        "alerts.rules.queueDrainSlow: Additional property treshold",
    ),
    "a typo in a list": ({"extraEnv": [{"nam": "A"}]}, "extraEnv.0: Additional property nam"),
    "an unknown environment": (
        {"environment": "dev"},
        'environment must be one of the following: "prod", "staging"',
    ),
    "a number for a text": ({"image": {"tag": 1.0}}, "image.tag: Invalid type. Expected: string"),
    "a text for a switch": (
        {"backstop": {"enabled": "yes"}},
        "backstop.enabled: Invalid type. Expected: boolean, given: string",
    ),
    "a map for TOML": (
        {"config": {"runners": {"scheduling": "fair"}}},
        "config.runners: Invalid type. Expected: string, given: object",
    ),
    "an App's name for its id": ({"github": {"personalAppId": "mine"}}, "github.personalAppId: "),
    "an id that is none": ({"github": {"personalAppId": 0}}, "github.personalAppId: "),
    "half an id": ({"github": {"personalAppId": 12.5}}, "github.personalAppId: "),
    "a site elsewhere": ({"site": {"url": "https://site.example"}}, "site.url: Does not match"),
    "a tag at the end of the repository": (
        {"image": {"repository": "registry.example/riscv-runners:1.0"}},
        "image.repository: Does not match",
    ),
    "a digest that is none": ({"image": {"digest": "latest"}}, "image.digest: Does not match"),
    "no namespace's name": ({"runnerNamespace": "My_Boards"}, "runnerNamespace: Does not match"),
    "no schedule": ({"backstop": {"schedule": "often"}}, "backstop.schedule: Does not match"),
    "no duration": (
        {"alerts": {"rules": {"demandParked": {"for": "5 minutes"}}}},
        "alerts.rules.demandParked.for: Does not match",
    ),
    "a comma too many": (
        {"alerts": {"enabled": True, "selector": 'job="a",'}},
        "alerts.selector: Does not match",
    ),
    "a selector in braces": (
        {"alerts": {"enabled": True, "selector": '{job="a"}'}},
        "alerts.selector: Does not match",
    ),
    "a second replica": ({"controller": {"replicas": 2}}, "controller: Additional property"),
    "a label that runners have": (
        {"podLabels": {"app": "rise-riscv-runner"}},
        "podLabels.app: Must not",
    ),
    "a Secret half made": (
        {"secret": {"existingName": None, "create": {"postgresUrl": "x"}}},
        "secret.create: organizationPrivateKey is required",
    ),
    "no Secret at all": (
        {"secret": {"existingName": ""}},
        "secret: neither way is used; set either secret.existingName, to the name of a Secret",
    ),
    "two Secrets": (
        {"secret": {"create": CREATED}},
        "secret: both ways are used; set either secret.existingName, to the name of a Secret",
    ),
    "a kubeconfig that is nowhere": (
        {"secret": {"existingName": "", "create": CREATED}, "kubeconfig": {"secretKey": "BOARDS"}},
        "secret.create.kubeconfig: kubeconfig.secretKey is BOARDS, but nothing",
    ),
    "a kubeconfig without a key": (
        {"secret": {"existingName": "", "create": {**CREATED, "kubeconfig": "clusters: []"}}},
        "kubeconfig.secretKey: secret.create.kubeconfig would not be used",
    ),
    "a kubeconfig under another's key": (
        {"kubeconfig": {"secretKey": "POSTGRES_URL"}},
        "kubeconfig.secretKey: POSTGRES_URL is the key of something else",
    ),
    "one App twice": (
        {"github": {"personalAppId": "1234567"}},
        "github.organizationAppId and github.personalAppId are the same App",
    ),
    "a setting past its value": (
        {"extraEnv": [{"name": "SITE_URL", "value": "s3://other"}]},
        "extraEnv: SITE_URL has a value of its own",
    ),
    "alerts on nothing": (
        {"alerts": {"enabled": True}},
        "alerts.selector: without podMonitor.enabled the alerts cannot know the metrics",
    ),
}


@pytest.mark.parametrize(("values", "place"), WRONG.values(), ids=WRONG)
def test_wrong_value_is_refused_with_its_place(values: Values, place: str) -> None:
    assert place in refusal("minimal", values=values)


def test_values_that_contradict_each_other_are_named_at_once() -> None:
    told = refusal(
        "minimal",
        values={"secret": {"existingName": ""}, "alerts": {"enabled": True}, "extraEnv": []},
    )
    assert "- secret: neither" in told
    assert "- alerts.selector: " in told


@pytest.mark.parametrize(
    "values",
    [
        {"secret": {"existingName": None, "create": CREATED}},
        {"podLabels": {"app": "something-else"}},
        {"alerts": {"enabled": True, "selector": 'job="a", namespace=~"b|c"'}},
        {"site": {"url": "s3://bucket"}},
        {"backstop": {"schedule": "@hourly"}},
        {"image": {"repository": "localhost:5000/team/riscv-runners"}},
        {"image": {"repository": "riscv-runners"}},
        {"image": {"repository": "123456789012.dkr.ecr.eu-west-3.amazonaws.com/a__b/c.d-e"}},
    ],
)
def test_unusual_but_right_values_are_taken(values: Values) -> None:
    assert render("minimal", values=values).objects
