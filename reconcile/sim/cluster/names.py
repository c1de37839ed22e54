"""What names, labels and annotations may look like, and what the server says when they do not."""

import re
from typing import Any

from .status import FieldError, forbidden_field, invalid_field, required, too_long

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
VALUE = rf"({QUALIFIED})?"
KEY = r"[-._a-zA-Z0-9]+"
LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253
ANNOTATIONS_LIMIT = 256 * 1024
# A generated name is the prefix, cut if need be, and five characters that spell no word.
GENERATED = "bcdfghjklmnpqrstvwxz2456789"
GENERATED_LENGTH = 5

BOTH_ENDS = "and must start and end with an alphanumeric character"
LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    + BOTH_ENDS
)
SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    f"'.', {BOTH_ENDS}"
)


def _unlike(text: str, pattern: str, *examples: str) -> str:
    # The comma before the "or" is the server's.
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{text} (e.g. {shown}regex used for validation is '{pattern}')"


def _too_long(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def label_faults(name: str) -> list[str]:
    """Of what must be a DNS label, a container's name for one."""
    faults = [_too_long(LABEL_LIMIT)] if len(name) > LABEL_LIMIT else []
    if not re.fullmatch(LABEL, name):
        faults.append(_unlike(LABEL_TEXT, LABEL, "my-name", "123-abc"))
    return faults


def subdomain_faults(name: str) -> list[str]:
    faults = [_too_long(SUBDOMAIN_LIMIT)] if len(name) > SUBDOMAIN_LIMIT else []
    if not re.fullmatch(SUBDOMAIN, name):
        faults.append(_unlike(SUBDOMAIN_TEXT, SUBDOMAIN, "example.com"))
    return faults


def label_key_faults(key: str) -> list[str]:
    prefix, slash, name = key.rpartition("/")
    faults = []
    if slash and not prefix:
        faults.append("prefix part must be non-empty")
    elif slash:
        faults += [f"prefix part {fault}" for fault in subdomain_faults(prefix)]
    if not name:
        return [*faults, "name part must be non-empty"]
    if len(name) > LABEL_LIMIT:
        faults.append(f"name part {_too_long(LABEL_LIMIT)}")
    if not re.fullmatch(QUALIFIED, name):
        text = f"name part must consist of alphanumeric characters, '-', '_' or '.', {BOTH_ENDS}"
        faults.append(_unlike(text, QUALIFIED, "MyName", "my.name", "123-abc"))
    return faults


def label_value_faults(value: str) -> list[str]:
    faults = [_too_long(LABEL_LIMIT)] if len(value) > LABEL_LIMIT else []
    if not re.fullmatch(VALUE, value):
        text = (
            "a valid label must be an empty string or consist of alphanumeric characters, '-', "
            f"'_' or '.', {BOTH_ENDS}"
        )
        faults.append(_unlike(text, VALUE, "MyValue", "my_value", "12345"))
    return faults


def check_labels(labels: dict[str, str], field: str) -> list[FieldError]:
    errors = []
    for key, value in labels.items():
        errors += [invalid_field(field, key, fault) for fault in label_key_faults(key)]
        errors += [invalid_field(field, value, fault) for fault in label_value_faults(value)]
    return errors


def check_metadata(metadata: dict[str, Any]) -> list[FieldError]:
    """Of a pod, a secret or a node: their names are DNS subdomains."""
    errors = []
    prefix = metadata.get("generateName", "")
    if prefix:
        # The end of a prefix is not the end of the name.
        tried = prefix[:-1] + "a" if prefix.endswith("-") else prefix
        errors += [
            invalid_field("metadata.generateName", prefix, fault)
            for fault in subdomain_faults(tried)
        ]
    name = metadata.get("name", "")
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
    else:
        errors += [invalid_field("metadata.name", name, fault) for fault in subdomain_faults(name)]
    errors += check_labels(metadata.get("labels", {}), "metadata.labels")
    errors += _check_annotations(metadata.get("annotations", {}))
    errors += _check_owners(metadata.get("ownerReferences", []))
    errors += _check_finalizers(metadata.get("finalizers", []))
    return errors


def _check_annotations(annotations: dict[str, str]) -> list[FieldError]:
    field = "metadata.annotations"
    errors = [
        invalid_field(field, key, fault)
        for key in annotations
        for fault in label_key_faults(key.lower())
    ]
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items())
    return errors + ([too_long(field, ANNOTATIONS_LIMIT)] if size > ANNOTATIONS_LIMIT else [])


def _check_owners(owners: list[dict[str, Any]]) -> list[FieldError]:
    errors = []
    for index, owner in enumerate(owners):
        field = f"metadata.ownerReferences[{index}]"
        for name, detail in (
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ):
            if not owner.get(name):
                errors.append(invalid_field(f"{field}.{name}", owner.get(name, ""), detail))
    if sum(bool(owner.get("controller")) for owner in owners) > 1:
        errors.append(
            forbidden_field(
                "metadata.ownerReferences",
                "Only one reference can have Controller set to true",
            )
        )
    return errors


def _check_finalizers(finalizers: list[str]) -> list[FieldError]:
    errors = []
    for index, finalizer in enumerate(finalizers):
        field = f"metadata.finalizers[{index}]"
        errors += [invalid_field(field, finalizer, fault) for fault in label_key_faults(finalizer)]
        if "/" not in finalizer and finalizer not in ("orphan", "foregroundDeletion", "kubernetes"):
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid_field(field, finalizer, detail))
    return errors
