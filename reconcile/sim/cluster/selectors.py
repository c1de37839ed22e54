"""Label and field selectors, compiled into tests of an object."""

import re
from collections.abc import Callable, Iterator, Mapping

from .names import label_key_faults, label_value_faults

Test = Callable[[Mapping[str, str]], bool]

KEY = r"[^\s,()!=<>]+"
SET_BASED = re.compile(rf"({KEY})\s+(in|notin)\s*\(([^()]*)\)")
EQUALITY = re.compile(rf"({KEY})\s*(==|=|!=|<|>)\s*([^\s,()!=<>]*)")
EXISTS = re.compile(rf"(!?)\s*({KEY})")


class SelectorError(ValueError):
    """No selector, in the server's words as far as they help."""


def everything(_values: Mapping[str, str]) -> bool:
    return True


def label_selector(text: str) -> Test:
    tests = [_requirement(part.strip()) for part in _split(text)] if text.strip() else []
    if not tests:
        return everything
    return lambda labels: all(test(labels) for test in tests)


def _split(text: str) -> Iterator[str]:
    """At the commas that do not stand between parentheses."""
    depth = start = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    yield text[start:]


def _requirement(text: str) -> Test:
    if found := SET_BASED.fullmatch(text):
        key, operator, values = found.groups()
        return _membership(key, operator, {_value(one.strip()) for one in values.split(",")})
    if found := EQUALITY.fullmatch(text):
        key, operator, value = found.groups()
        if operator in "<>":
            return _comparison(key, operator, value)
        return _membership(key, "notin" if operator == "!=" else "in", {_value(value)})
    if found := EXISTS.fullmatch(text):
        absent, key = found[1] == "!", _key(found[2])
        return lambda labels: (key in labels) != absent
    raise SelectorError(f"unable to parse requirement: found '{text}', expected: identifier")


def _membership(key: str, operator: str, values: set[str]) -> Test:
    _key(key)
    if operator == "in":
        return lambda labels: labels.get(key) in values
    # A label that is not there is in no set: `notin` and `!=` match it.
    return lambda labels: labels.get(key) not in values


def _comparison(key: str, operator: str, value: str) -> Test:
    _key(key)
    if not re.fullmatch(r"-?[0-9]+", value):
        raise SelectorError(
            f"unable to parse requirement: values[0][{key}]: Invalid value: "
            f"\"{value}\": for 'Gt', 'Lt' operators, the value must be an integer"
        )
    bound = int(value)

    def compare(labels: Mapping[str, str]) -> bool:
        found = labels.get(key, "")
        if not re.fullmatch(r"-?[0-9]+", found):
            return False
        return int(found) > bound if operator == ">" else int(found) < bound

    return compare


def _key(key: str) -> str:
    if faults := label_key_faults(key):
        raise SelectorError(
            f'unable to parse requirement: <nil>: Invalid value: "{key}": {"; ".join(faults)}'
        )
    return key


def _value(value: str) -> str:
    if faults := label_value_faults(value):
        raise SelectorError(
            f'unable to parse requirement: values[0]: Invalid value: "{value}": {"; ".join(faults)}'
        )
    return value


def field_selector(text: str, supported: frozenset[str]) -> Test:
    terms: list[tuple[str, bool, str]] = []
    for term in filter(None, re.split(r"(?<!\\),", text)):
        found = re.fullmatch(r"((?:\\.|[^=!\\])*)(!=|==|=)(.*)", term, re.DOTALL)
        if not found:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
        name, operator, value = found.groups()
        if name not in supported:
            raise SelectorError(f"field label not supported: {name}")
        terms.append((name, operator != "!=", re.sub(r"\\([\\,=])", r"\1", value)))
    if not terms:
        return everything
    return lambda fields: all(
        (fields.get(name, "") == value) == wanted for name, wanted, value in terms
    )
