"""Fixtures: real clusters on loopback. Run with `pytest -n 2 tests/integration`; SLUICE_PREFIX names
the installation under test, SLUICE_KEEP=1 keeps the directories of the clusters."""

import contextlib
import os
import string
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from cluster import Cluster, wait_for  # noqa: E402
from fault_load import start_cluster  # noqa: E402
from shared_state import StateServer  # noqa: E402


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


letters = iter(string.ascii_lowercase)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


@pytest.fixture
def two_hosts():
    """Options for a cluster of n1 on this host and n2 on another one."""
    number = os.getpid() % 250 + 1
    # The kernel takes its time to forget the last one.
    link = f"sl{os.getpid()}{next(letters)}"
    name, near, far = f"sluice-{link}", f"10.97.{number}.1", f"10.97.{number}.2"
    ip("netns", "add", name)
    ip("link", "add", link, "type", "veth", "peer", "name", "uplink", "netns", name)
    ip("addr", "add", f"{near}/24", "dev", link)
    ip("link", "set", link, "up")
    for words in (["addr", "add", f"{far}/24", "dev", "uplink"], ["link", "set", "uplink", "up"],
                  ["link", "set", "lo", "up"]):
        ip("-n", name, *words)
    yield {"address": near, "hosts": {"n2": (name, far)}}
    ip("link", "del", link)
    ip("netns", "del", name)


class Hosts:
    """Hosts on one network: this one has the addresses .1 and .2 there, the others have namespaces."""

    def __init__(self, names):
        number = os.getpid() % 250 + 1
        self.link = f"sb{os.getpid()}{next(letters)}"
        self.net, self.address, self.database = f"10.98.{number}", f"10.98.{number}.1", f"10.98.{number}.2"
        self.by_name = {name: (f"sluice-{self.link}{name}", f"{self.net}.{place}") for place, name in enumerate(names, 10)}
        ip("link", "add", self.link, "type", "bridge")
        for address in (self.address, self.database):
            ip("addr", "add", f"{address}/24", "dev", self.link)
        ip("link", "set", self.link, "up")
        for name, (space, address) in self.by_name.items():
            near = f"{self.link}{name}"
            ip("netns", "add", space)
            ip("link", "add", near, "type", "veth", "peer", "name", "uplink", "netns", space)
            ip("link", "set", near, "master", self.link, "up")
            ip("-n", space, "addr", "add", f"{address}/24", "dev", "uplink")
            for device in ("uplink", "lo"):
                ip("-n", space, "link", "set", device, "up")

    def remove(self):
        for space, _ in self.by_name.values():
            ip("netns", "del", space)
        ip("link", "del", self.link)


@pytest.fixture(scope="module")
def module_hosts():
    """Hosts for two controllers and two nodes."""
    if os.getuid() != 0:
        pytest.skip("needs root: it makes network namespaces")
    hosts = Hosts(["c1", "c2", "n1", "n2"])
    yield hosts
    hosts.remove()


@contextlib.contextmanager
def running_munged():
    with tempfile.TemporaryDirectory(prefix="sluice-munge-") as name:
        base = Path(name)
        base.chmod(0o755)
        key, socket = base / "key", base / "socket"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        daemon = subprocess.Popen(["munged", "--foreground", "--force", f"--key-file={key}",
                                   f"--socket={socket}", f"--pid-file={base}/pid",
                                   f"--log-file={base}/log", f"--seed-file={base}/seed"],
                                  stderr=subprocess.DEVNULL)
        wait_for(socket.exists, what="munged to listen")
        yield socket, daemon
        daemon.kill()
        daemon.wait()


@pytest.fixture
def munged():
    """The socket of a munged that all users can reach, and its process."""
    with running_munged() as found:
        yield found


@pytest.fixture(scope="module")
def module_munged():
    with running_munged() as found:
        yield found


@pytest.fixture(scope="module")
def database(module_hosts):
    server = StateServer(module_hosts.database).make_database()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def pair(module_hosts, module_munged, database):
    """Two controllers and two nodes, each on a host of its own, and a state in PostgreSQL."""
    cluster = start_cluster(module_hosts, module_munged, database)
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def pytest_terminal_summary(terminalreporter):
    """What tests have measured (record_property), also those of other worker processes."""
    for report in terminalreporter.getreports(""):
        for name, value in report.user_properties if report.when == "teardown" else []:
            terminalreporter.write_line(f"{name}: {report.location[2]}: {value}")
