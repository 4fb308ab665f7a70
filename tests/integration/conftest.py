"""Fixtures: real clusters on loopback. Run with `pytest -n 2 tests/integration`; SLUICE_PREFIX names
the installation under test, SLUICE_KEEP=1 keeps the directories of the clusters."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from cluster import Cluster  # noqa: E402


@pytest.fixture
def make_cluster():
    """Builds clusters of any shape; they are stopped, and checked for survivors, at the end."""
    made = []

    def make(start=True, **options):
        cluster = Cluster(**options)
        made.append(cluster)
        return cluster.start() if start else cluster

    yield make
    for cluster in made:
        cluster.stop()


@pytest.fixture
def cluster(make_cluster):
    """Two nodes of four CPUs, for tests that break or fill something."""
    return make_cluster()


@pytest.fixture(scope="module")
def shared():
    """Four nodes of four CPUs, shared by the tests of a module: each leaves it as it was."""
    gpus = {"a40": ["n1", "n2"], "h100": ["n3"]}
    features = {"n1": "Feature=common,first", "n2": "Feature=common", "n4": "Feature=last"}
    cluster = Cluster(nodes=4, gpus=gpus, node_extra=features)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def as_root():
    if os.getuid() != 0:
        pytest.skip("needs root: it runs jobs of several users")
