"""template.yaml: what cfn-lint says of it, and what it must not lose."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import bundle

TEMPLATE = Path(__file__).parent.parent.parent / "template.yaml"


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's !Tags as plain {tag: value}."""


def _tagged(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    tag = f"!{suffix}"
    if isinstance(node, yaml.ScalarNode):
        return {tag: loader.construct_scalar(node)}
    if isinstance(node, yaml.SequenceNode):
        return {tag: loader.construct_sequence(node, deep=True)}
    assert isinstance(node, yaml.MappingNode)
    return {tag: loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _tagged)


@pytest.fixture(scope="module")
def resources() -> dict[str, Any]:
    document = yaml.load(TEMPLATE.read_text(), _Loader)  # noqa: S506 a SafeLoader
    loaded: dict[str, Any] = document["Resources"]
    return loaded


def test_cfn_lint_is_clean() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("cfn-lint"), TEMPLATE],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def of_type(resources: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [item["Properties"] for item in resources.values() if item["Type"] == kind]


def test_function_runs_what_make_bundle_builds(resources: dict[str, Any]) -> None:
    [function] = of_type(resources, "AWS::Serverless::Function")
    assert function["Runtime"] == f"python{bundle.LAMBDA_PYTHON}"
    assert function["Architectures"] == [bundle.LAMBDA_PLATFORM.partition("-manylinux")[0]]
    assert function["CodeUri"] == "dist/webhook_fn.zip"
    assert function["Handler"] == "webhook_fn.app.handler"


def test_secrets_are_references(resources: dict[str, Any]) -> None:
    [function] = of_type(resources, "AWS::Serverless::Function")
    variables = function["Environment"]["Variables"]
    for name in ("POSTGRES_URL", "GHAPP_WEBHOOK_SECRET"):
        [reference] = variables[name].values()
        assert reference.startswith("{{resolve:secretsmanager:")
    assert all(isinstance(value, dict) for value in variables.values()), "nothing literal"


def test_lesson_22_function_holds_no_github_key_and_no_kubeconfig(
    resources: dict[str, Any],
) -> None:
    [function] = of_type(resources, "AWS::Serverless::Function")
    variables = set(function["Environment"]["Variables"])
    assert not [name for name in variables if "PRIVATE_KEY" in name or "KUBE" in name]


def test_errors_and_throttles_raise_alarms(resources: dict[str, Any]) -> None:
    alarms = of_type(resources, "AWS::CloudWatch::Alarm")
    assert {alarm["MetricName"] for alarm in alarms} == {"Errors", "Throttles", "Url5xxCount"}


def test_log_is_not_kept_for_ever(resources: dict[str, Any]) -> None:
    [group] = of_type(resources, "AWS::Logs::LogGroup")
    assert group["RetentionInDays"] == {"!Ref": "LogRetentionDays"}


def test_only_the_cdn_reads_the_bucket(resources: dict[str, Any]) -> None:
    [bucket] = of_type(resources, "AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    [policy] = of_type(resources, "AWS::S3::BucketPolicy")
    allowed = [s for s in policy["PolicyDocument"]["Statement"] if s["Effect"] == "Allow"]
    assert [s["Principal"] for s in allowed] == [{"Service": "cloudfront.amazonaws.com"}]
    assert "AWS:SourceArn" in allowed[0]["Condition"]["StringEquals"]
    [distribution] = of_type(resources, "AWS::CloudFront::Distribution")
    [origin] = distribution["DistributionConfig"]["Origins"]
    assert origin["OriginAccessControlId"] == {"!GetAtt": "SiteAccessControl.Id"}
