"""The simulated GitHub, for the tests that are about it."""

from collections.abc import Iterator

import pytest

from tests.simulated import Client, Simulated


@pytest.fixture
def world() -> Iterator[Simulated]:
    with Simulated().started() as world:
        yield world


@pytest.fixture
def client(world: Simulated) -> Client:
    return world.as_installation()
