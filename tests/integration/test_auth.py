"""Identity over TCP: MUNGE with a real munged, and auth/slurm with a shared key.

The second node lives in a network namespace: from there the Unix sockets of the controller's host
cannot be seen, as on another machine.
"""

import os
import string
import subprocess
import tempfile
from pathlib import Path

import pytest
from cluster import wait_for

pytestmark = pytest.mark.usefixtures("as_root")


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


@pytest.fixture
def munged():
    """The socket of a munged that all users can reach, and its process."""
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


def check_cluster(cluster):
    for user in ("root", "nobody"):
        record, output = cluster.run_job("srun sh -c 'echo $(id -un) $SLURM_PROCID'", "-N2", user=user)
        assert record["JobState"] == "COMPLETED", output
        assert sorted(output.splitlines()) == [f"{user} 0", f"{user} 1"]
    listed = cluster.run(*cluster.on_host("n2"), "squeue", "-h", "-t", "all", "-o", "%u").stdout
    assert listed.split() and set(listed.split()) == {"root", "nobody"}
    far = cluster.run(*cluster.on_host("n2"), "srun", "-w", "n1", "id", "-un").stdout
    assert far == "root\n"


def test_munge(munged, two_hosts, make_cluster):
    socket, daemon = munged
    cluster = make_cluster(extra=f"AuthType=auth/munge\nAuthInfo=socket={socket}", **two_hosts)
    check_cluster(cluster)
    daemon.terminate()
    daemon.wait()
    result = cluster.run(*cluster.on_host("n2"), "squeue", check=False)
    assert result.returncode != 0 and str(socket) in result.stderr
    assert cluster.run("squeue").returncode == 0  # on the controller's host nothing is needed


def test_shared_key(two_hosts, make_cluster):
    cluster = make_cluster(start=False, files={"slurm.key": os.urandom(64)}, **two_hosts)
    cluster.extra = f"AuthType=auth/slurm\nSlurmdPort={cluster.ports.numbers[1]}"
    cluster.write_config()
    check_cluster(cluster.start())


def test_without_a_credential_nothing_is_answered(munged, two_hosts, make_cluster):
    socket, _ = munged
    cluster = make_cluster(extra=f"AuthType=auth/munge\nAuthInfo=socket={socket}", **two_hosts)
    other = cluster.dir / "etc" / "elsewhere.conf"
    other.write_text(cluster.conf.read_text().replace(str(socket), "/no/such/socket"))
    result = cluster.run(*cluster.on_host("n2"), "squeue", env={"SLURM_CONF": other}, check=False)
    assert result.returncode != 0 and "/no/such/socket" in result.stderr


def test_a_key_that_everybody_can_read_is_refused(make_cluster):
    cluster = make_cluster(start=False, extra="AuthType=auth/slurm",
                           files={"slurm.key": os.urandom(64)})
    cluster.checked = False
    (cluster.dir / "etc" / "slurm.key").chmod(0o644)
    result = cluster.run("timeout", "30", "slurmctld", "-D", check=False)
    log = cluster.dir / "log" / "slurmctld.log"
    said = result.stderr + (log.read_text() if log.exists() else "")
    assert result.returncode not in (0, 124) and "slurm.key" in said
