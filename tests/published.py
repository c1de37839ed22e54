"""GitHub's published description of itself, where it is at hand.

`GITHUB_OPENAPI` names its OpenAPI file and `GITHUB_WEBHOOK_SCHEMAS` the JSON Schemas of its
webhooks. Every test on the simulated GitHub checks all that goes over the wire against them.
"""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft7Validator
from openapi_core import Config, OpenAPI
from openapi_core.exceptions import OpenAPIError
from openapi_core.templating.paths.exceptions import PathError
from openapi_core.templating.responses.exceptions import ResponseFinderError
from openapi_core.testing import MockRequest, MockResponse

from reconcile.sim.http import Request, Response

OPENAPI = os.environ.get("GITHUB_OPENAPI")
WEBHOOK_SCHEMAS = os.environ.get("GITHUB_WEBHOOK_SCHEMAS")
HOST = "https://api.github.com"


@cache
def _api() -> OpenAPI:
    assert OPENAPI is not None
    description = json.loads(Path(OPENAPI).read_text(), object_hook=_with_null_in_enums)
    return OpenAPI.from_dict(description, config=Config(spec_validator_cls=cast("Any", None)))


def _with_null_in_enums(schema: dict[str, Any]) -> dict[str, Any]:
    """GitHub means null by `nullable`; OpenAPI 3.0 wants it in the enumeration as well."""
    if schema.get("nullable") is True and "enum" in schema:
        return {**schema, "enum": [*schema["enum"], None]}
    return schema


@cache
def _webhook(name: str) -> Draft7Validator:
    assert WEBHOOK_SCHEMAS is not None
    schemas = json.loads(Path(WEBHOOK_SCHEMAS).read_text())
    assert name in schemas["definitions"], f"GitHub sends no {name}"
    return Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": schemas["definitions"]})


def api_problems(request: Request, response: Response, *, odd_requests: bool = False) -> list[str]:
    """What of this exchange GitHub's description does not allow; nothing without the file.

    Errors that the description does not list for a path (401, say) must be GitHub's plain error.
    A request that was refused may have been wrong in itself, and odd ones (a page called "one")
    are overlooked where that is what the test sends.
    """
    place = f"{request.method} {request.path} → {response.status}"
    if response.status == 304:
        whole = not response.body and "ETag" in response.headers
        return [] if whole else [f"{place}: a 304 has a tag and no body"]
    if OPENAPI is None:
        return []
    asked, answered = _as_openapi(request, response)
    try:
        if response.status < 400 and not odd_requests:
            _api().validate_request(asked)
        _api().validate_response(asked, answered)
    except (ResponseFinderError, PathError):
        return _plain_error_problems(place, response)
    except OpenAPIError as error:
        return [f"{place}: {complaint}"[:300] for complaint in _complaints(error)]
    return []


def _complaints(error: BaseException) -> list[str]:
    """The places at fault, where the error knows them."""
    below = error.__cause__
    if below is None:
        found = getattr(error, "schema_errors", None) or []
        return [f"{each.json_path}: {each.message}" for each in found] or [str(error)]
    return _complaints(below)


def webhook_problems(event: str, payload: dict[str, Any]) -> list[str]:
    """What GitHub's schemas say against this payload; nothing without the file."""
    if WEBHOOK_SCHEMAS is None:
        return []
    name = f"{event}${payload['action']}"
    return [
        f"{name} {error.json_path}: {error.message}"[:300]
        for error in _webhook(name).iter_errors(payload)
    ]


def _plain_error_problems(place: str, response: Response) -> list[str]:
    body = json.loads(response.body)
    known = response.status in (301, 307) or response.status >= 400
    if not known or not isinstance(body.get("message"), str):
        return [f"{place}: not an answer that GitHub gives"]
    return []


def _as_openapi(request: Request, response: Response) -> tuple[MockRequest, MockResponse]:
    asked = MockRequest(
        HOST,
        request.method.lower(),
        # A moved repository is found by its number, which the description does not mention.
        re.sub(r"^/repositories/\d+/", "/repos/owner/repo/", request.path),
        args=cast("Any", request.query),
        data=request.body or None,
        headers=dict(request.headers),
        content_type="application/json",
    )
    headers = {name.lower(): value for name, value in response.headers.items()}
    content_type = headers.get("content-type", "application/json").partition(";")[0]
    return asked, MockResponse(response.body, response.status, headers, content_type)
