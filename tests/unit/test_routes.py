"""Labels to pool and image: first match wins, exactly; and what a bad file is told."""

from pathlib import Path

import pytest

from webhook_fn.routes import PACKAGED, Routes, RoutesError, load, normalised_labels

FILE = """
banned_entities = [666, "Mallory"]
staging_entities = ["early-adopter"]

[[route]]
labels = ["ubuntu-24.04-riscv"]
pool = "jupiter"
image = "registry.example/special:prod"
entities = [134263123]
repositories = ["riseproject/llama.cpp"]

[[route]]
labels = ["ubuntu-24.04-riscv"]
pool = "scw-em-rv1"
image = "registry.example/ubuntu-24.04:prod"

[[route]]
labels = ["Big", "ubuntu-24.04-riscv"]
pool = "scw-em-rv2"
image = "registry.example/ubuntu-24.04:prod"
entities = ["riseproject"]
"""


def routes_from(tmp_path: Path, text: str) -> Routes:
    path = tmp_path / "routes.toml"
    path.write_text(text)
    return load(path)


@pytest.mark.parametrize(
    ("labels", "entity_id", "entity", "repository", "pool"),
    [
        (["ubuntu-24.04-riscv"], 1, "anyone", "anyone/x", "scw-em-rv1"),
        (["Ubuntu-24.04-RISCV"], 1, "anyone", "anyone/x", "scw-em-rv1"),
        (["ubuntu-24.04-riscv"], 134263123, "renamed", "renamed/x", "jupiter"),
        (["ubuntu-24.04-riscv"], 1, "riseproject", "RISEproject/llama.cpp", "jupiter"),
        (["ubuntu-24.04-riscv"], 1, "riseproject", "riseproject/other", "scw-em-rv1"),
        (["ubuntu-24.04-riscv", "big"], 1, "riseproject", "riseproject/x", "scw-em-rv2"),
        (["big", "ubuntu-24.04-riscv"], 1, "RiseProject", "riseproject/x", "scw-em-rv2"),
        (["big", "ubuntu-24.04-riscv"], 1, "anyone", "anyone/x", None),
        (["big"], 1, "riseproject", "riseproject/x", None),
        (["ubuntu-24.04-riscv", "gpu"], 1, "anyone", "anyone/x", None),
        ([], 1, "anyone", "anyone/x", None),
    ],
)
def test_first_route_with_exactly_these_labels_wins(
    tmp_path: Path,
    labels: list[str],
    entity_id: int,
    entity: str,
    repository: str,
    pool: str | None,
) -> None:
    routes = routes_from(tmp_path, FILE)
    found = routes.find(normalised_labels(labels), entity_id, entity, repository)
    assert (found.pool if found else None) == pool


def test_accounts_are_listed_by_id_or_by_name(tmp_path: Path) -> None:
    banned = routes_from(tmp_path, FILE).banned_entities
    assert banned.include(666, "whatever they call themselves now")
    assert banned.include(1, "MALLORY")
    assert not banned.include(1, "alice")
    assert not banned.include(None, None)


def test_packaged_routes_serve_the_boards_of_the_fleet() -> None:
    routes = load(PACKAGED)
    for labels in (["ubuntu-24.04-riscv"], ["self-hosted", "ubuntu-24.04-riscv"]):
        found = routes.find(normalised_labels(labels), 1, "anyone", "anyone/x")
        assert found is not None
        assert found.pool == "scw-em-rv1"


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", ["there is no [[route]]"]),
        ("route = 1", ["route must be a list of tables"]),
        ("[route]\npool = 'p'", ["route must be a list of tables"]),
        ("[[route]", ["is not TOML", "line 1"]),
        ("a = " + "[" * 100_000, ["is not TOML"]),
        ("banned_entitys = []\n" + FILE, ["unknown key banned_entitys"]),
        (
            FILE.replace("pool =", "pools ="),
            ["route 1: unknown key pools", "route 3: pool is missing"],
        ),
        (FILE.replace('"jupiter"', "7"), ["route 1: pool must be a text"]),
        (
            FILE.replace('["Big", "ubuntu-24.04-riscv"]', "[]"),
            ["route 3: labels must name at least"],
        ),
        (
            FILE.replace('["Big", "ubuntu-24.04-riscv"]', '"big"'),
            ["route 3: labels must be a list"],
        ),
        (FILE.replace("134263123", "true"), ["route 1: entities must be a list of account ids"]),
        (FILE.replace("666", "6.6"), ["banned_entities must be a list of account ids"]),
        (FILE.replace('["riseproject/llama.cpp"]', "[1]"), ["route 1: repositories must be"]),
    ],
)
def test_bad_file_is_refused_with_every_place_at_fault(
    tmp_path: Path, text: str, places: list[str]
) -> None:
    with pytest.raises(RoutesError) as refusal:
        routes_from(tmp_path, text)
    assert str(tmp_path / "routes.toml") in str(refusal.value)
    for place in places:
        assert place in str(refusal.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RoutesError, match=r"nowhere\.toml cannot be read: No such file"):
        load(tmp_path / "nowhere.toml")


def test_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "routes.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RoutesError, match="is not TOML"):
        load(path)
