"""Which pods the server takes, and which changes to a pod."""

from typing import Any

from .container_rules import check_containers
from .names import (
    check_labels,
    check_metadata,
    label_key_faults,
    subdomain_faults,
)
from .status import (
    FieldError,
    forbidden_field,
    invalid_field,
    unsupported,
)
from .store import Object

MAX_INT32 = 2**31 - 1
# What a real cluster takes and the simulated one cannot act on. Better refused than ignored.
NOT_SIMULATED = (
    "affinity",
    "ephemeralContainers",
    "initContainers",
    "priorityClassName",
    "resourceClaims",
    "runtimeClassName",
    "schedulingGates",
    "topologySpreadConstraints",
    "volumes",
)
UPDATABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        (
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
            "negative)"
        ),
    )
)


def check_pod(pod: Object) -> list[FieldError]:
    spec = pod["spec"]
    errors = check_metadata(pod["metadata"])
    errors += check_containers(spec["containers"])
    errors += _check_policies(spec)
    errors += check_labels(spec.get("nodeSelector", {}), "spec.nodeSelector")
    errors += _check_tolerations(spec["tolerations"])
    errors += _check_deadline(spec)
    if "nodeName" in spec:
        errors += [
            invalid_field("spec.nodeName", spec["nodeName"], fault)
            for fault in subdomain_faults(spec["nodeName"])
        ]
    errors += [
        forbidden_field(f"spec.{field}", "not supported by the simulated cluster")
        for field in NOT_SIMULATED
        if spec.get(field)
    ]
    return errors


def _check_policies(spec: Object) -> list[FieldError]:
    field = "spec.restartPolicy"
    policy = spec["restartPolicy"]
    errors = []
    if policy not in ("Always", "OnFailure", "Never"):
        errors.append(unsupported(field, policy, ("Always", "OnFailure", "Never")))
    elif policy != "Never":
        detail = "the simulated kubelet restarts nothing: only Never is supported"
        errors.append(forbidden_field(field, f"{detail}, and the default is Always"))
    allowed = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
    if spec["dnsPolicy"] not in allowed:
        errors.append(unsupported("spec.dnsPolicy", spec["dnsPolicy"], allowed))
    return errors


def _check_deadline(spec: Object) -> list[FieldError]:
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is None or 1 <= deadline <= MAX_INT32:
        return []
    detail = f"must be between 1 and {MAX_INT32}, inclusive"
    return [invalid_field("spec.activeDeadlineSeconds", deadline, detail)]


def _check_tolerations(tolerations: list[Object]) -> list[FieldError]:
    errors = []
    for index, toleration in enumerate(tolerations):
        field = f"spec.tolerations[{index}]"
        key, effect = toleration.get("key", ""), toleration.get("effect", "")
        operator = toleration.get("operator") or "Equal"
        if key:
            errors += [invalid_field(f"{field}.key", key, fault) for fault in label_key_faults(key)]
        elif operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values '
            errors.append(invalid_field(f"{field}.operator", operator, f'{detail}and all keys"'))
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid_field(f"{field}.effect", effect, detail))
        if operator not in ("Equal", "Exists"):
            errors.append(unsupported(f"{field}.operator", operator, ("Equal", "Exists")))
        elif operator == "Exists" and toleration.get("value"):
            detail = "value must be empty when `operator` is 'Exists'"
            errors.append(invalid_field(f"{field}.operator", toleration["value"], detail))
        effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")
        if effect and effect not in effects:
            errors.append(unsupported(f"{field}.effect", effect, effects))
    return errors


def check_update(old: Object, new: Object) -> list[FieldError]:
    """What may change of a pod's spec, once it exists, is little."""
    before, after = old["spec"], new["spec"]
    if len(before["containers"]) != len(after["containers"]):
        detail = "pod updates may not add or remove containers"
        return [forbidden_field("spec.containers", detail)]
    errors = _check_new_deadline(
        before.get("activeDeadlineSeconds"), after.get("activeDeadlineSeconds")
    )
    kept = [_without_seconds(one) for one in after["tolerations"]]
    if any(_without_seconds(one) not in kept for one in before["tolerations"]):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        errors.append(forbidden_field("spec.tolerations", detail))
    if not errors and _fixed(before) != _fixed(after):
        fields = sorted(
            name
            for name in _fixed(before).keys() | _fixed(after).keys()
            if _fixed(before).get(name) != _fixed(after).get(name)
        )
        if fields != ["terminationGracePeriodSeconds"] or not _becomes_one(before, after):
            detail = f"pod updates may not change fields other than {UPDATABLE}\n"
            changed = "".join(f"  {name} differs\n" for name in fields)
            errors.append(forbidden_field("spec", detail + changed))
    return errors


def _check_new_deadline(before: int | None, after: int | None) -> list[FieldError]:
    field = "spec.activeDeadlineSeconds"
    if after is None:
        if before is None:
            return []
        return [invalid_field(field, None, "must not update from a positive integer to nil value")]
    if before is not None and after > before:
        return [invalid_field(field, after, "must be less than or equal to previous value")]
    return []


def _without_seconds(toleration: Object) -> Object:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds"}


def _fixed(spec: Object) -> dict[str, Any]:
    rest = {
        name: value
        for name, value in spec.items()
        if name not in ("activeDeadlineSeconds", "tolerations")
    }
    rest["containers"] = [
        {name: value for name, value in container.items() if name != "image"}
        for container in spec["containers"]
    ]
    return rest


def _becomes_one(before: Object, after: Object) -> bool:
    field = "terminationGracePeriodSeconds"
    return bool(before[field] < 0 and after[field] == 1)
