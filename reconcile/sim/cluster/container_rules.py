"""Which containers the server takes."""

import re

from . import quantity
from .environment import FIELD_PATHS
from .names import KEY, label_faults, label_key_faults
from .status import FieldError, duplicate, invalid_field, required, unsupported
from .store import Object

NATIVE = ("cpu", "memory", "ephemeral-storage")
ENV_NAME = r"[ -<>-~]+"


def check_containers(containers: list[Object]) -> list[FieldError]:
    if not containers:
        return [required("spec.containers")]
    errors = []
    names: set[str] = set()
    for index, container in enumerate(containers):
        field = f"spec.containers[{index}]"
        name = container.get("name", "")
        if not name:
            errors.append(required(f"{field}.name"))
        elif name in names:
            errors.append(duplicate(f"{field}.name", name))
        else:
            errors += [invalid_field(f"{field}.name", name, fault) for fault in label_faults(name)]
        names.add(name)
        image = container.get("image", "")
        if not image:
            errors.append(required(f"{field}.image"))
        elif image != image.strip():
            detail = "must not have leading or trailing whitespace"
            errors.append(invalid_field(f"{field}.image", image, detail))
        policies = ("Always", "IfNotPresent", "Never")
        if container["imagePullPolicy"] not in policies:
            policy = container["imagePullPolicy"]
            errors.append(unsupported(f"{field}.imagePullPolicy", policy, policies))
        errors += _check_environment(container.get("env", []), f"{field}.env")
        errors += _check_resources(container["resources"], f"{field}.resources")
    return errors


def _check_environment(variables: list[Object], field: str) -> list[FieldError]:
    errors = []
    for index, variable in enumerate(variables):
        place = f"{field}[{index}]"
        name = variable.get("name", "")
        if not name:
            errors.append(required(f"{place}.name"))
        elif not re.fullmatch(ENV_NAME, name):
            detail = (
                "a valid environment variable name must consist only of printable ASCII "
                "characters other than '='"
            )
            errors.append(invalid_field(f"{place}.name", name, detail))
        if "valueFrom" in variable:
            errors += _check_source(variable, f"{place}.valueFrom")
    return errors


def _check_source(variable: Object, field: str) -> list[FieldError]:
    source = variable["valueFrom"]
    if not source:
        detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
        return [invalid_field(field, "", detail + "`secretKeyRef`")]
    errors = []
    if variable.get("value"):
        errors.append(invalid_field(field, "", "may not be specified when `value` is not empty"))
    if len(source) > 1:
        detail = "may not have more than one field specified at a time"
        errors.append(invalid_field(field, "", detail))
    if "fieldRef" in source:
        path = source["fieldRef"].get("fieldPath", "")
        if not path:
            errors.append(required(f"{field}.fieldRef.fieldPath"))
        elif path not in FIELD_PATHS:
            errors.append(unsupported(f"{field}.fieldRef.fieldPath", path, FIELD_PATHS))
    for kind in ("secretKeyRef", "configMapKeyRef"):
        if kind in source:
            errors += _check_reference(source[kind], f"{field}.{kind}")
    return errors


def _check_reference(reference: Object, field: str) -> list[FieldError]:
    errors = []
    if not reference.get("name"):
        errors.append(required(f"{field}.name"))
    if not reference.get("key"):
        errors.append(required(f"{field}.key"))
    elif not re.fullmatch(KEY, reference["key"]):
        detail = (
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
            f"(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
            f"'{KEY}')"
        )
        errors.append(invalid_field(f"{field}.key", reference["key"], detail))
    return errors


def _check_resources(resources: Object, field: str) -> list[FieldError]:
    errors = []
    limits = resources.get("limits", {})
    requests = resources.get("requests", {})
    for part, amounts in (("limits", limits), ("requests", requests)):
        for name, text in amounts.items():
            errors += _check_amount(name, text, f"{field}.{part}")
    for name, text in requests.items():
        most = limits.get(name)
        place = f"{field}.requests"
        if name in NATIVE:
            if most is not None and quantity.parse(text).value > quantity.parse(most).value:
                detail = f"must be less than or equal to {name} limit of {most}"
                errors.append(invalid_field(place, text, detail))
        elif most is None:
            errors.append(
                required(f"{field}.limits", "Limit must be set for non overcommitable resources")
            )
        elif quantity.parse(text).value != quantity.parse(most).value:
            detail = f"must be equal to {name} limit of {most}"
            errors.append(invalid_field(place, text, detail))
    return errors


def _check_amount(name: str, text: str, field: str) -> list[FieldError]:
    place = f"{field}[{name}]"
    value = quantity.parse(text).value
    errors = [invalid_field(place, name, fault) for fault in label_key_faults(name)]
    if "/" not in name and name not in NATIVE and not name.startswith("hugepages-"):
        errors.append(
            invalid_field(place, name, "must be a standard resource type or fully qualified")
        )
    if value < 0:
        errors.append(invalid_field(place, text, "must be greater than or equal to 0"))
    if "/" in name and value.denominator != 1:
        errors.append(invalid_field(place, text, "must be an integer"))
    return errors
