"""What the suites of this folder are run against."""

from collections.abc import Iterator

import pytest

from tests.contract import cluster


@pytest.fixture(scope="module")
def _kube() -> Iterator[cluster.Kube]:
    with cluster.kube() as made:
        yield made


@pytest.fixture
def kube(_kube: cluster.Kube) -> cluster.Kube:
    """A cluster, simulated or real. What tests make there have names of their own."""
    return _kube


@pytest.fixture
def board(kube: cluster.Kube) -> cluster.Kube:
    """A cluster with a board that pods can run on."""
    if kube.board is None:
        pytest.skip(f"no ready node of this cluster is labelled {cluster.BOARD_LABEL}")
    return kube
