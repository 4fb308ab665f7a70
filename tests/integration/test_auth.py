"""Identity over TCP: MUNGE with a real munged, and auth/slurm with a shared key.

The second node lives in a network namespace: from there the Unix sockets of the controller's host
cannot be seen, as on another machine.
"""

import os
import re
import signal
from pathlib import Path
from socket import AF_INET, AF_UNIX, SOCK_DGRAM, create_connection, socket

import pytest

import wire
from cluster import PATIENCE, process_state, wait_for

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
    munge_socket, daemon = munged
    cluster = make_cluster(extra=f"AuthType=auth/munge\nAuthInfo=socket={munge_socket}\nSlurmdTimeout=3", **two_hosts)
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


def test_a_name_server_that_does_not_answer_does_not_stop_slurmd(make_cluster, as_root):
    """n1 has to look up the host of its controller, and the test is its name server."""
    cluster = make_cluster(nodes=1, start=False)
    there = cluster.dir / "look-up"
    there.mkdir()
    (there / "resolv.conf").write_text("nameserver 127.0.0.77\noptions timeout:60 attempts:1\n")
    (there / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: dns\n")
    (there / "slurm.conf").write_text(re.sub("(?m)^SlurmctldHost=.*", "SlurmctldHost=controller.test.invalid",
                                             cluster.config_text()))
    mounts = "".join(f"mount --bind {there}/{path.name} {path} && "
                     for path in (Path("/etc/resolv.conf"), Path("/etc/nsswitch.conf"), cluster.conf))
    cluster.under["n1"] = ["unshare", "--mount", "--propagation", "private", "sh", "-c", f'{mounts}exec "$@"', "sh"]
    with socket(AF_INET, SOCK_DGRAM) as server, socket(AF_UNIX) as peer:
        server.bind(("127.0.0.77", 53))
        server.settimeout(PATIENCE)
        cluster.start_node("n1", wait=False)
        assert b"controller" in server.recv(512)
        wait_for(lambda: f"@sluice.slurmd.{cluster.ports.numbers[1]}\n" in Path("/proc/net/unix").read_text(),
                 what="slurmd to listen")
        peer.settimeout(30)  # half of the time that the look-up takes
        peer.connect(f"\0sluice.slurmd.{cluster.ports.numbers[1]}")
        peer.sendall(wire.frame(wire.hello("slurmd n1", wire.STEP)))
        assert 2 not in wire.parse(wire.read_frame(peer)), "welcome"
        assert cluster.kill("n1", signal.SIGTERM) == 0
    assert "registered" not in (cluster.dir / "log" / "n1.log").read_text()
