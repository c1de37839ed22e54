"""RUNNERS_CONFIG: every key is read, and every place at fault is named, all at once."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from reconcile.errors import ConfigError
from reconcile.settings import EphemeralStorage, Pool, Retention, Scheduling, Settings
from reconcile.settings_file import RANGES, allowed_keys, load, size

SECTIONS = {
    field.name: field.default
    for field in dataclasses.fields(Settings)
    if dataclasses.is_dataclass(field.default)
}
KEYS = [
    (section, field)
    for section, default in SECTIONS.items()
    for field in dataclasses.fields(default)
]

FILE = """
scheduling = "fair"
default_max_workers = 7

[entities.21003710]
max_workers = 40
[entities.666]
max_workers = 0

[pools."scw-em-rv1"]
ephemeral_storage = { request = "10Gi", limit = "20Gi" }
[pools."scw-em-rv2"]
[pools.jupiter]
ephemeral_storage = { limit = "50e9", request = "1.5k" }

[timeouts]
runner_registration = 90
pod_pending = 0.5

[back_off]
jitter = 0
park_after = 3

[github]
points_per_minute = 0
parallel = 100

[run]
deadline = 60

[retention]
events_days = 7
history_days = 0
batch = 100000

[runner_group]
allows_public_repositories = true
"""


def faults(text: str) -> list[str]:
    with pytest.raises(ConfigError) as refusal:
        load(text)
    return str(refusal.value).split("; ")


def test_nothing_said_is_the_defaults() -> None:
    assert load("\n") == Settings()


def test_every_section_is_read() -> None:
    settings = load(FILE)
    assert settings.scheduling is Scheduling.FAIR
    assert [settings.cap(entity) for entity in (21003710, 666, 1)] == [40, 0, 7]
    assert settings.storage("scw-em-rv1") == EphemeralStorage("10Gi", "20Gi")
    assert settings.pools["scw-em-rv2"] == Pool(None)
    assert settings.storage("scw-em-rv2") is None, "an empty table takes it away"
    assert settings.storage("scw-em-rv3") == EphemeralStorage()
    assert settings.storage("jupiter") == EphemeralStorage("1.5k", "50e9")
    assert settings.timeouts.runner_registration == 90
    assert settings.timeouts.pod_pending == 0.5
    assert settings.timeouts.runner_pending == 600
    assert (settings.back_off.jitter, settings.back_off.park_after) == (0, 3)
    assert (settings.github.points_per_minute, settings.github.parallel) == (0, 100)
    assert settings.run.deadline == 60
    assert settings.retention == Retention(
        events_days=7, history_days=0, runs_days=30, batch=100_000
    )
    assert settings.runner_group.allows_public_repositories is True


def test_file_and_its_text_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "runners.toml"
    path.write_text(FILE)
    assert load(str(path)) == load(FILE)


@pytest.mark.parametrize(("section", "field"), KEYS)
def test_every_key_of_every_section_can_be_set(
    section: str, field: "dataclasses.Field[Any]"
) -> None:
    value = True if field.default is None else field.default
    written = str(value).lower()
    settings = load(f"[{section}]\n{field.name} = {written}\n")
    assert getattr(getattr(settings, section), field.name) == value


@pytest.mark.parametrize(("section", "field"), KEYS)
@pytest.mark.parametrize(
    "value", ["-1", "-0.5", "nan", "inf", "1e30", "'1'", "[]", "{}", "1979-05-27"]
)
def test_every_key_refuses_what_makes_no_sense(
    section: str, field: "dataclasses.Field[Any]", value: str
) -> None:
    [fault] = faults(f"[{section}]\n{field.name} = {value}\n")
    assert fault.startswith(f"{section}.{field.name} must be ")


@pytest.mark.parametrize(("section", "field"), KEYS)
def test_a_number_is_not_a_truth_and_a_truth_is_no_number(
    section: str, field: "dataclasses.Field[Any]"
) -> None:
    value = "1" if field.default is None else "true"
    [fault] = faults(f"[{section}]\n{field.name} = {value}\n")
    assert fault.startswith(f"{section}.{field.name} must be ")


def test_every_range_is_of_a_key_that_exists() -> None:
    known = {f"{section}.{field.name}" for section, field in KEYS} | allowed_keys()
    assert set(RANGES) <= known


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("schedulling = 'fair'\n", "unknown key schedulling"),
        ("max_workers = 3\n", "unknown key max_workers"),
        ("[timeouts]\npod_pendig = 3\n", "unknown key timeouts.pod_pendig"),
        ("[entities.1]\nmax_workers = 1\nmin = 1\n", "unknown key entities.1.min"),
        ("[pools.a]\nstorage = 1\n", "unknown key pools.a.storage"),
        (
            "[pools.a]\nephemeral_storage = { max = '1Gi' }\n",
            "unknown key pools.a.ephemeral_storage.max",
        ),
        ("scheduling = 'lifo'\n", "scheduling must be fifo or fair"),
        ("scheduling = 1\n", "scheduling must be fifo or fair"),
        ("default_max_workers = -1\n", "default_max_workers must be a whole number from 0 to"),
        ("default_max_workers = 2.5\n", "default_max_workers must be a whole number from 0 to"),
        ("timeouts = 3\n", "timeouts must be a table"),
        ("[[timeouts]]\npod_pending = 3\n", "timeouts must be a table"),
        ("[timeouts]\npod_pending = 0\n", "timeouts.pod_pending must be a positive number"),
        ("[timeouts]\npod_active_deadline = 1\n", "timeouts.pod_active_deadline must be a number"),
        ("[back_off]\njitter = 1\n", "back_off.jitter must be a number from 0 to below 1"),
        ("[back_off]\nfirst = 4000\n", "back_off.first must not be above back_off.longest"),
        ("[github]\npoints_share = 1.5\n", "github.points_share must be a number above 0"),
        ("[github]\npolling_points_share = 0.95\n", "must not be above github.points_share"),
        ("[github]\nparallel = 101\n", "github.parallel must be a whole number from 1 to 100"),
        (
            "[github]\npoints_share = 0.005\npolling_points_share = 0.005\n",
            "github.points_share of github.points_per_minute must leave room for a write",
        ),
        ("[github]\npoints_per_minute = 5\n", "must leave room for a write, which is 5 points"),
        ("[run]\nprovision_parallel = 0\n", "run.provision_parallel must be a whole number"),
        ("[run]\nstatement_timeout = 2592000\n", "run.statement_timeout must be a positive number"),
        ("[run]\nlock_timeout = 86401\n", "run.lock_timeout must be a positive number of seconds"),
        ("[run]\ndeadline = 86401\n", "run.deadline must be a positive number of seconds, at most"),
        *(
            (
                f"[retention]\n{key} = {value}\n",
                f"retention.{key} must be a whole number of days from 7 to 36500, or 0 (for ever)",
            )
            for key in ("events_days", "history_days", "runs_days")
            for value in ("1", "6", "36501", "7.5")
        ),
        ("[retention]\nbatch = 0\n", "retention.batch must be a whole number from 1 to 100000"),
        ("[retention]\nbatch = 100001\n", "retention.batch must be a whole number from 1 to"),
        ("entities = []\n", "entities must be a table"),
        ("[entities]\n1 = 20\n", "entities.1 must be a table"),
        ("[entities.rise]\nmax_workers = 1\n", "entities.rise must be named by an account's id"),
        ("[entities.007]\nmax_workers = 1\n", "entities.007 must be named by an account's id"),
        ("[entities.-1]\nmax_workers = 1\n", "entities.-1 must be named by an account's id"),
        ("[entities.'²']\nmax_workers = 1\n", "entities.² must be named by an account's id"),
        ("[entities.1]\n", "entities.1.max_workers is missing"),
        ("[entities.1]\nmax_workers = true\n", "entities.1.max_workers must be a whole number"),
        ("[entities.1]\nmax_workers = -3\n", "entities.1.max_workers must be a whole number"),
        ("pools = 'a'\n", "pools must be a table"),
        ("[pools]\na = 1\n", "pools.a must be a table"),
        ("[pools.'a b']\n", "pools.'a b' must be named by a board's label"),
        ("[pools.a]\nephemeral_storage = '40Gi'\n", "pools.a.ephemeral_storage must be a table"),
        (
            "[pools.a]\nephemeral_storage = { request = 40 }\n",
            "pools.a.ephemeral_storage.request must be a text",
        ),
        (
            "[pools.a]\nephemeral_storage = { limit = '40GB' }\n",
            "pools.a.ephemeral_storage.limit must be a quantity of bytes",
        ),
        (
            "[pools.a]\nephemeral_storage = { request = '91Gi' }\n",
            "pools.a.ephemeral_storage.request must not be above its limit (90Gi)",
        ),
    ],
)
def test_each_fault_is_named_with_its_place(text: str, fault: str) -> None:
    [found] = faults(text)
    assert fault in found


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "runners.toml"
    path.write_text(
        "scheduling = 1\nextra = 1\n[entities.x]\n[timeouts]\npod_pending = 0\n[run]\nlimit = 3\n"
        "[pools.a]\nephemeral_storage = { request = 'much', limit = 'more' }\n"
    )
    found = faults(str(path))
    assert len(found) == 7
    assert found[0].startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("/nowhere/runners.toml", "/nowhere/runners.toml cannot be read: No such file"),
        ("/", "/ cannot be read: Is a directory"),
        ("scheduling = \n", "is not TOML: Invalid value (at line 1, column 14)"),
        ("a = " + "[" * 100_000, "is not TOML: "),
    ],
)
def test_what_is_no_file_and_no_toml_is_refused(source: str, sentence: str) -> None:
    assert faults(source) == [sentence] or sentence in faults(source)[0]


@pytest.mark.parametrize(
    ("content", "sentence"), [(b"\xff", "is not UTF-8"), (b"[", "is not TOML")]
)
def test_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "runners.toml"
    path.write_bytes(content)
    assert f"{path} {sentence}" in faults(str(path))[0]


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        ("1", 1),
        ("40Gi", 40 * 1024**3),
        ("1.5Ki", 1536),
        ("1k", 1000),
        ("5e9", 5_000_000_000),
        ("5E9", 5_000_000_000),
        ("1E", 10**18),
        ("1Ei", 2**60),
        ("", None),
        ("0", None),
        ("-1Gi", None),
        ("40GB", None),
        ("40 Gi", None),
        ("40gi", None),
        ("1K", None),
        ("40m", None),
        ("Gi", None),
        ("1e99", None),
        ("99Ei", None),
        ("٤Gi", None),
    ],
)
def test_quantities(quantity: str, expected: int | None) -> None:
    assert size(quantity) == expected
