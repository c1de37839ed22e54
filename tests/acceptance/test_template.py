"""template.yaml: what cfn-lint says of it, and what it must not lose."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from static_site import headers
from tools import bundle
from webhook_fn.receiver import ROUTES

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


def loaded(part: str) -> dict[str, Any]:
    document: dict[str, dict[str, Any]] = yaml.load(TEMPLATE.read_text(), _Loader)  # noqa: S506 is safe
    return document[part]


@pytest.fixture(scope="module")
def resources() -> dict[str, Any]:
    return loaded("Resources")


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


def test_trace_is_deployed_only_on_request(resources: dict[str, Any]) -> None:
    """Without it the secret need not have the key: CloudFormation resolves what it deploys."""
    [function] = of_type(resources, "AWS::Serverless::Function")
    condition, reference, otherwise = function["Environment"]["Variables"]["TRACE_API_SECRET"][
        "!If"
    ]
    assert loaded("Conditions")[condition] == {"!Equals": [{"!Ref": "TraceApi"}, "true"]}
    assert loaded("Parameters")["TraceApi"]["Default"] == "false"
    assert reference["!Sub"].endswith(":SecretString:TRACE_API_SECRET}}")
    assert otherwise == "", "as good as not set"


def test_setup_urls_are_paths_of_the_function() -> None:
    outputs = loaded("Outputs")
    for name, path in (("OrgSetupUrl", "/setup/org"), ("PersonalSetupUrl", "/setup/personal")):
        assert path in ROUTES
        # The function's URL ends with a slash.
        url = "${WebhookFunctionUrl.FunctionUrl}" + path.removeprefix("/")
        assert outputs[name]["Value"] == {"!Sub": url}


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


# The site --------------------------------------------------------------------------------------


def distribution(resources: dict[str, Any]) -> dict[str, Any]:
    [only] = of_type(resources, "AWS::CloudFront::Distribution")
    config: dict[str, Any] = only["DistributionConfig"]
    return config


def test_cdn_sends_the_headers_that_the_local_server_sends(resources: dict[str, Any]) -> None:
    [policy] = of_type(resources, "AWS::CloudFront::ResponseHeadersPolicy")
    said = policy["ResponseHeadersPolicyConfig"]["SecurityHeadersConfig"]
    assert all(each["Override"] is True for each in said.values())
    sent = {
        "Content-Security-Policy": said["ContentSecurityPolicy"]["ContentSecurityPolicy"],
        "X-Content-Type-Options": "nosniff" if "ContentTypeOptions" in said else None,
        "X-Frame-Options": said["FrameOptions"]["FrameOption"],
        "Referrer-Policy": said["ReferrerPolicy"]["ReferrerPolicy"],
    }
    assert sent == headers.SECURITY
    assert said["StrictTransportSecurity"]["AccessControlMaxAgeSec"] >= 31536000
    behaviour = distribution(resources)["DefaultCacheBehavior"]
    assert behaviour["ResponseHeadersPolicyId"] == {"!Ref": "SiteHeaders"}


def test_policy_of_pages_lacks_only_what_a_page_cannot_say() -> None:
    whole = headers.CONTENT_SECURITY_POLICY.split("; ")
    assert headers.META_CONTENT_SECURITY_POLICY.split("; ") == whole[:-1]
    assert whole[-1] == "frame-ancestors 'none'"


def test_nobody_else_may_read_the_site_in_a_browser(resources: dict[str, Any]) -> None:
    [policy] = of_type(resources, "AWS::CloudFront::ResponseHeadersPolicy")
    assert "CorsConfig" not in policy["ResponseHeadersPolicyConfig"]


def test_one_function_sees_requests_and_responses(resources: dict[str, Any]) -> None:
    [function] = of_type(resources, "AWS::CloudFront::Function")
    assert function["AutoPublish"] is True
    assert function["FunctionConfig"]["Runtime"] == "cloudfront-js-2.0"
    behaviour = distribution(resources)["DefaultCacheBehavior"]
    assert {each["EventType"] for each in behaviour["FunctionAssociations"]} == {
        "viewer-request",
        "viewer-response",
    }
    arns = [each["FunctionARN"] for each in behaviour["FunctionAssociations"]]
    assert arns == [{"!GetAtt": "SiteFunction.FunctionARN"}] * 2


def test_cache_control_of_the_objects_decides(resources: dict[str, Any]) -> None:
    """CachingOptimized keeps nothing for less than 1 s, and the live pages say 5."""
    behaviour = distribution(resources)["DefaultCacheBehavior"]
    assert behaviour["CachePolicyId"] == "658327ea-f89d-4fab-a63d-7e88639e58f6"
    assert int(headers.LIVE.rpartition("=")[2]) >= 1


def test_missing_object_is_a_page_and_soon_asked_for_again(resources: dict[str, Any]) -> None:
    """403 is what the bucket says of what it does not have."""
    answers = distribution(resources)["CustomErrorResponses"]
    assert {each["ErrorCode"] for each in answers} == {403, 404}
    for each in answers:
        assert (each["ResponseCode"], each["ResponsePagePath"]) == (404, "/404.html")
        assert each["ErrorCachingMinTTL"] <= 10


def test_site_may_be_anywhere_in_its_bucket(resources: dict[str, Any]) -> None:
    assert loaded("Parameters")["SitePrefix"]["Default"] == ""
    pattern = loaded("Parameters")["SitePrefix"]["AllowedPattern"]
    for prefix, fits in (
        ("", True),
        ("status", True),
        ("a/b-c", True),
        ("/a", False),
        ("a/", False),
    ):
        assert bool(re.search(pattern, prefix)) == fits, prefix
    [origin] = distribution(resources)["Origins"]
    assert origin["OriginPath"] == {"!If": ["HasSitePrefix", {"!Sub": "/${SitePrefix}"}, ""]}
    assert distribution(resources)["DefaultRootObject"] == "index.html"


def test_publisher_may_do_what_it_needs_and_nothing_else(resources: dict[str, Any]) -> None:
    [policy] = of_type(resources, "AWS::IAM::ManagedPolicy")
    objects, bucket = policy["PolicyDocument"]["Statement"]
    assert sorted(objects["Action"]) == ["s3:DeleteObject", "s3:GetObject", "s3:PutObject"]
    assert objects["Resource"] == {
        "!If": [
            "HasSitePrefix",
            {"!Sub": "${SiteBucket.Arn}/${SitePrefix}/*"},
            {"!Sub": "${SiteBucket.Arn}/*"},
        ]
    }
    assert bucket["Action"] == "s3:ListBucket"
    assert bucket["Resource"] == {"!GetAtt": "SiteBucket.Arn"}
    assert {each["Effect"] for each in (objects, bucket)} == {"Allow"}
    assert loaded("Outputs")["SiteWriterPolicyArn"]["Value"] == {"!Ref": "SiteWriterPolicy"}
