"""What an API server says when it refuses: `Status` objects, and the field errors inside them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..http import Response, encode

JSON = {"Content-Type": "application/json"}


class ApiError(Exception):
    """A refusal. Without a reason it is an error the server itself did not expect."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        metadata: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.details = details
        self.metadata = metadata or {}
        self.headers = headers or {}

    def response(self) -> Response:
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.metadata,
            "status": "Failure",
            "message": str(self),
        }
        if self.reason:
            body["reason"] = self.reason
        if self.details is not None:
            body["details"] = self.details
        body["code"] = self.code
        return Response(self.code, encode(body), JSON | self.headers)


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field; `message` is what stands after the field's name."""

    type: str
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def quoted(value: object) -> str:
    """As Go's %q and %v print a value in an error."""
    return "null" if value is None else json.dumps(value, ensure_ascii=False)


def invalid_field(field: str, value: object, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", field, f"Invalid value: {quoted(value)}: {detail}")


def required(field: str, detail: str = "") -> FieldError:
    return FieldError("FieldValueRequired", field, _with_detail("Required value", detail))


def duplicate(field: str, value: object) -> FieldError:
    return FieldError("FieldValueDuplicate", field, f"Duplicate value: {quoted(value)}")


def forbidden_field(field: str, detail: str) -> FieldError:
    return FieldError("FieldValueForbidden", field, _with_detail("Forbidden", detail))


def unsupported(field: str, value: object, allowed: Sequence[str]) -> FieldError:
    detail = "supported values: " + ", ".join(quoted(one) for one in sorted(allowed))
    return FieldError(
        "FieldValueNotSupported", field, f"Unsupported value: {quoted(value)}: {detail}"
    )


def too_long(field: str, limit: int) -> FieldError:
    return FieldError("FieldValueTooLong", field, f"Too long: may not be more than {limit} bytes")


def _with_detail(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def not_found(resource: str, name: str) -> ApiError:
    details = {"name": name, "kind": resource}
    return ApiError(404, "NotFound", f'{resource} "{name}" not found', details)


def already_exists(resource: str, name: str) -> ApiError:
    details = {"name": name, "kind": resource}
    return ApiError(409, "AlreadyExists", f'{resource} "{name}" already exists', details)


def conflict(resource: str, name: str, why: str) -> ApiError:
    details = {"name": name, "kind": resource}
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return ApiError(409, "Conflict", message, details)


def stale(resource: str, name: str) -> ApiError:
    why = "the object has been modified; please apply your changes to the latest version"
    return conflict(resource, name, f"{why} and try again")


def invalid(kind: str, name: str, errors: Sequence[FieldError]) -> ApiError:
    # The same error on several paths is said once in the sentence, but stays in the causes.
    sentences = list(dict.fromkeys(str(error) for error in errors))
    what = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    causes = [
        {"reason": error.type, "message": error.message, "field": error.field} for error in errors
    ]
    details = {"name": name, "kind": kind, "causes": causes}
    return ApiError(422, "Invalid", f'{kind} "{name}" is invalid: {what}', details)


def unsupported_media_type(accepted: Sequence[str]) -> ApiError:
    message = "the body of the request was in an unknown format - accepted media types include: "
    return ApiError(415, "UnsupportedMediaType", message + ", ".join(accepted))


def method_not_allowed() -> ApiError:
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message, {})


REFUSALS = {
    429: (
        "TooManyRequests",
        "the server has received too many requests and has asked us to try again later",
    ),
    500: ("InternalError", "Internal error occurred: etcdserver: request timed out"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "Timeout: request did not complete within the allotted duration"),
}


def refusal(status: int, retry_after: int | None) -> Response:
    """An error that has nothing to do with the request, as the server or what stands before it
    words it."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    details: dict[str, Any] = {}
    if retry_after is not None:
        details["retryAfterSeconds"] = retry_after
    if status == 401:
        return unauthorized().response()
    if status == 502:
        page = (
            b"<html><body><h1>502 Bad Gateway</h1>\nThe server returned an invalid or incomplete "
        )
        html = {"Content-Type": "text/html"}
        return Response(502, page + b"response.\n</body></html>\n", html | headers)
    reason, message = REFUSALS.get(status, ("", f"the server responded with status {status}"))
    if status == 500:
        details["causes"] = [{"message": "etcdserver: request timed out"}]
    return ApiError(status, reason, message, details, headers=headers).response()
