"""Identity over TCP: MUNGE with a real munged, and auth/slurm with a shared key.

The second node lives in a network namespace: from there the Unix sockets of the controller's host
cannot be seen, as on another machine.
"""

import os
import signal
from socket import create_connection

import pytest

import wire
from cluster import process_state, wait_for

pytestmark = pytest.mark.usefixtures("as_root")


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


def test_a_munged_that_stands_still_does_not_stop_slurmd(munged, two_hosts, make_cluster):
    socket, daemon = munged
    cluster = make_cluster(extra=f"AuthType=auth/munge\nAuthInfo=socket={socket}\nSlurmdTimeout=3", **two_hosts)
    job = cluster.submit("while :; do date +%s%N >ticks; sleep 0.1; done", "-w", "n2")
    cluster.wait_file("ticks")
    daemon.send_signal(signal.SIGSTOP)
    wait_for(lambda: process_state(daemon.pid) == "T", what="munged to stop")
    address = (cluster.hosts["n2"][1], cluster.ports.numbers[1])
    with create_connection(address, timeout=0.1) as peer:
        peer.sendall(wire.frame(wire.hello("slurmd n2", wire.STEP)))
        began = int(cluster.wait_file("ticks"))
        # More than twice SlurmdTimeout, on the clock of the job; less than munged is waited for.
        cluster.wait_for(lambda: int(cluster.wait_file("ticks")) > began + 8e9, what="time to pass")
        assert cluster.node_state("n2") in ("mix", "alloc")
        cluster.run("scancel", job)
        assert cluster.wait_end(job, timeout=10)["JobState"] == "CANCELLED"
        with pytest.raises(TimeoutError):
            peer.recv(1)  # until then it waited for munged
        daemon.send_signal(signal.SIGCONT)
        peer.settimeout(60)
        assert 2 not in wire.parse(wire.read_frame(peer)), "welcome"
    assert cluster.run(*cluster.on_host("n2"), "srun", "-w", "n2", "echo", "ran").stdout == "ran\n"
    assert "Node n2 not responding" not in (cluster.dir / "log" / "slurmctld.log").read_text()
