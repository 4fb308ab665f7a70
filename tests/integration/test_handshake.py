"""Both sides of a connection prove who they are; what was proven on one connection is worth nothing on
another one. The tests play clients, relays and false servers (wire.py, false_server.py)."""

import os
import resource
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from wire import AGENT, CLIENT, STEP, Caller, field, frame, munge, parse, read_frame

pytestmark = pytest.mark.usefixtures("as_root")

NOBODY = 65534
PING = field(8, b"")  # Request.ping
CONTROLLER = f"slurmctld {socket.gethostname()}"


@pytest.fixture
def remote(munged, two_hosts, make_cluster):
    """A cluster with MUNGE, n2 on another host; `remote.munge` is the socket of munged."""
    munge_socket, _ = munged
    cluster = make_cluster(extra=f"AuthType=auth/munge\nAuthInfo=socket={munge_socket}", **two_hosts)
    cluster.munge = munge_socket
    cluster.controller = (cluster.address, cluster.ports.numbers[0])
    cluster.n2 = (cluster.hosts["n2"][1], cluster.ports.numbers[1])
    return cluster


def log_of(cluster, name):
    return (cluster.dir / "log" / f"{name}.log").read_text()


class FalseServer:
    """Runs as nobody, `on` a host. See false_server.py."""

    def __init__(self, cluster, port, *command, unix="", on=()):
        self.path = cluster.dir / "work" / "false.log"
        script = Path(__file__).parent / "false_server.py"
        self.process = subprocess.Popen(
            [*on, "setpriv", f"--reuid={NOBODY}", "--clear-groups", sys.executable, "-B", script,
             str(port), self.path, *command],
            env={"PATH": os.environ["PATH"], "SLUICE_UNIX": unix})
        cluster.wait_for(lambda: self.path.exists() and "listens" in self.lines(), what="the server")

    def lines(self):
        return self.path.read_text().splitlines()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.mark.parametrize("auth", ["munge", "slurm"])
def test_a_false_controller_is_refused(auth, munged, two_hosts, make_cluster):
    cluster = make_cluster(start=False, files={"slurm.key": os.urandom(64)}, **two_hosts)
    info = f"AuthInfo=socket={munged[0]}\n" if auth == "munge" else ""
    cluster.extra = f"AuthType=auth/{auth}\n{info}SlurmdPort={cluster.ports.numbers[1]}"
    cluster.write_config()
    cluster.start()
    key = cluster.dir / "spool" / "n2" / "controller_key"
    cluster.wait_for(key.exists, what="the key of the controller")
    pinned = key.read_bytes()
    cluster.kill("slurmctld")
    # nobody's own credential over the right digest, or no token at all
    command = ["munge", f"--socket={munged[0]}"] if auth == "munge" else ["echo", "token"]
    why = f"runs as uid {NOBODY}" if auth == "munge" else "no token of AuthType=auth/slurm"
    with FalseServer(cluster, cluster.ports.numbers[0], *command) as server:
        for node in ("n1", "n2"):
            cluster.wait_for(lambda: why in log_of(cluster, node), what=f"{node} to refuse")
        for command in (["squeue"], [*cluster.on_host("n2"), "squeue"],
                        [*cluster.on_host("n2"), "sbatch", "--wrap=true"]):
            result = cluster.run(*command, check=False)
            assert result.returncode != 0 and why in result.stderr
        assert not [line for line in server.lines() if line.startswith("message")]
        assert key.read_bytes() == pinned
    cluster.start_controller()
    cluster.wait_for(lambda: all(cluster.node_state(name) == "idle" for name in cluster.nodes))
    assert cluster.run_job("srun hostname", "-N2")[0]["JobState"] == "COMPLETED"


def test_a_false_unix_socket_is_refused_and_tcp_not_tried(cluster):
    port = cluster.ports.numbers[0]
    cluster.kill("slurmctld")
    with FalseServer(cluster, port, "true", unix=f"sluice.slurmctld.{port}") as server:
        cluster.wait_for(lambda: f"runs as uid {NOBODY}" in log_of(cluster, "n1"), what="n1 to refuse")
        result = cluster.run("squeue", check=False)
        assert result.returncode != 0 and f"runs as uid {NOBODY}" in result.stderr
        assert "connection unix" in server.lines() and "connection tcp" not in server.lines()
    cluster.start_controller()


def test_a_false_slurmd_gets_no_step(remote):
    job = remote.submit("sleep 300", "-w", "n2")
    remote.wait_state(job, "RUNNING")
    remote.kill("n2")
    with FalseServer(remote, remote.n2[1], "munge", f"--socket={remote.munge}",
                     on=remote.on_host("n2")) as server:
        result = remote.run("srun", f"--jobid={job}", "--overlap", "true", check=False)
        assert result.returncode != 0 and f"runs as uid {NOBODY}" in result.stderr
        assert not [line for line in server.lines() if line.startswith("message")]
    remote.start_node("n2")


def test_a_credential_is_good_for_one_connection_to_one_daemon(remote):
    """Relayed from a node to the controller and back, and sent twice."""
    def controller():
        return Caller(remote.controller, CONTROLLER)

    def node():
        return Caller(remote.n2, "slurmd n2", STEP)

    good = controller()
    proof = munge(remote.munge, good.digest(PING))
    assert good.refusal(good.prove(proof, PING)) is None
    assert 7 in parse(read_frame(good.peer))  # the Pong

    for used_at, made_for in ((controller(), node()), (node(), controller()),
                              (controller(), controller()), (node(), node())):
        assert used_at.refusal() is None and made_for.refusal() is None
        credential = munge(remote.munge, made_for.digest(PING))
        assert "another connection or another daemon" in used_at.refusal(
            used_at.prove(credential, PING))
        assert used_at.is_closed()

    again = controller()
    assert "used before" in again.refusal(again.prove(proof, PING))
    for destination in ("slurmd n2", "slurmctld other"):
        assert f"'{destination}'" in Caller(remote.controller, destination).refusal()
    for destination in ("slurmd n1", CONTROLLER):
        assert f"'{destination}'" in Caller(remote.n2, destination, STEP).refusal()


def test_the_request_is_the_one_that_was_covered(remote):
    caller = Caller(remote.controller, CONTROLLER)
    shutdown = field(10, b"")
    with pytest.raises((EOFError, ConnectionResetError)):
        caller.prove(munge(remote.munge, caller.digest(PING)), shutdown, covered=PING)
    assert "not the one that the client's credential covers" in log_of(remote, "slurmctld")
    assert remote.alive("slurmctld")


def test_users_cannot_speak_for_nodes(remote):
    caller = Caller(remote.controller, CONTROLLER, AGENT)
    credential = munge(remote.munge, caller.digest(PING), user=NOBODY)
    assert "must run as root or SlurmUser" in caller.refusal(caller.prove(credential, PING))


def launch(credential, path, tasks=(0,)):
    """StepInput.launch of a step of one task on n2."""
    spec = (field(1, "/usr/bin/touch") + field(1, str(path)) + field(2, b"PATH=/usr/bin:/bin\0")
            + field(3, "/tmp") + field(4, "none") + field(5, "none") + field(6, "none"))
    ids = b"".join(field(5, task) for task in tasks)
    return field(1, field(1, credential) + field(2, spec) + field(3, "n2") + ids + field(6, 1))


def test_a_captured_step_credential_runs_nothing_else(remote):
    job = remote.submit("sleep 300", "-w", "n2")
    remote.wait_state(job, "RUNNING")
    caller = Caller(remote.controller, CONTROLLER)
    request = field(6, field(1, int(job)) + field(21, "k" * 15) + field(15, 1))  # CreateStep, overlap
    caller.prove(munge(remote.munge, caller.digest(request)), request)
    credential = parse(parse(read_frame(caller.peer))[5][0])[3][0]
    wanted, other = remote.dir / "work" / "wanted", remote.dir / "work" / "other"

    # Another user, with a credential of its own.
    thief = Caller(remote.n2, "slurmd n2", STEP)
    stolen = launch(credential, other)
    assert thief.refusal(thief.prove(munge(remote.munge, thief.digest(stolen), user=NOBODY), stolen)) is None
    output = parse(read_frame(thief.peer))
    assert b"the step belongs to uid 0" in output[1][0]

    # The owner's connection, with another program than the owner's credential covers.
    relay = Caller(remote.n2, "slurmd n2", STEP)
    proof = munge(remote.munge, relay.digest(launch(credential, wanted)))
    relay.prove(proof, stolen, covered=launch(credential, wanted))
    assert relay.is_closed()

    # More tasks, or others, than the controller has signed.
    for tasks in ((0, 1), (1,), ()):
        greedy = Caller(remote.n2, "slurmd n2", STEP)
        message = launch(credential, other, tasks)
        greedy.prove(munge(remote.munge, greedy.digest(message)), message)
        assert 1 in parse(read_frame(greedy.peer)), tasks

    # All of this has not used the credential up.
    owner = Caller(remote.n2, "slurmd n2", STEP)
    message = launch(credential, wanted)
    owner.prove(munge(remote.munge, owner.digest(message)), message)
    remote.wait_for(wanted.exists, what="the step's file")
    assert not other.exists()
    again = Caller(remote.n2, "slurmd n2", STEP)
    again.prove(munge(remote.munge, again.digest(message)), message)
    assert b"used before" in parse(read_frame(again.peer))[1][0]


def test_a_new_launch_key_is_taken_from_the_true_controller(remote):
    key = remote.dir / "spool" / "n2" / "controller_key"
    old = key.read_bytes()
    remote.kill("slurmctld")
    (remote.dir / "state" / "launch.key").unlink()
    remote.start_controller()
    remote.wait_for(lambda: key.read_bytes() != old, what="n2 to learn the new key")
    assert "new key for launch credentials" in log_of(remote, "n2")
    remote.wait_for(lambda: remote.node_state("n2") == "idle", what="n2 to be idle")
    assert remote.run_job("srun true", "-w", "n2")[0]["JobState"] == "COMPLETED"


def test_the_launch_key_is_in_the_welcome_that_the_controllers_credential_covers(remote):
    greeting = Caller(remote.controller, CONTROLLER, AGENT)
    assert parse(greeting.welcome)[4] == [(remote.dir / "spool" / "n2" / "controller_key").read_bytes()]
    assert 4 not in parse(Caller(remote.controller, CONTROLLER, CLIENT).welcome)
    assert "controller's key" not in log_of(remote, "n2")


def test_versions(remote):
    old = b"\x08\x01\x1a\x07MUNGE:A\x22\x06squeue"  # the Hello of a squeue of protocol version 1
    for address, daemon in ((remote.controller, "slurmctld"), (remote.n2, "slurmd")):
        with socket.create_connection(address, timeout=20) as peer:
            peer.sendall(frame(old))
            refusal = parse(read_frame(peer))[2][0].decode(errors="replace")
            assert "squeue speaks version 1" in refusal and f"this {daemon} speaks version 2" in refusal
        destination = CONTROLLER if daemon == "slurmctld" else "slurmd n2"
        channel = CLIENT if daemon == "slurmctld" else STEP
        newer = Caller(address, destination, channel, least=3, most=5).refusal()
        assert "speaks versions 3 to 5" in newer and f"this {daemon} speaks version 2" in newer
        both = Caller(address, destination, channel, least=1, most=9)
        assert both.refusal() is None and parse(both.welcome)[1] == [2]


def test_a_peer_that_vanishes_is_noticed(remote):
    """No packet passes any more, and nobody says so."""
    namespace = remote.hosts["n2"][0]
    subprocess.run(["ip", "-n", namespace, "link", "set", "uplink", "down"], check=True)
    remote.wait_for(lambda: "connection lost" in log_of(remote, "n2"), 90, "n2 to notice")
    remote.wait_for(lambda: "Node n2 not responding" in log_of(remote, "slurmctld"), 90,
                    "slurmctld to notice")
    subprocess.run(["ip", "-n", namespace, "link", "set", "uplink", "up"], check=True)
    remote.wait_for(lambda: remote.run_job("true", "-w", "n2")[0]["JobState"] == "COMPLETED",
                    what="n2 to be back")


def is_open(address, port):
    try:
        socket.create_connection((address, port), timeout=10).close()
        return True
    except ConnectionRefusedError:
        return False


def test_daemons_listen_on_all_addresses_unless_told_otherwise(make_cluster):
    for extra, everywhere in (("", True),
                              ("CommunicationParameters=NoCtldInAddrAny,NoInAddrAny", False)):
        cluster = make_cluster(extra=extra)
        for port in cluster.ports.numbers:
            assert is_open("127.0.0.1", port)
            assert is_open("127.0.0.2", port) == everywhere


def test_silent_connections_keep_nobody_away_from_a_node(cluster):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(4200, hard - 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted + 500, hard))
    port, idle = cluster.ports.numbers[1], []
    try:
        for number in range(wanted):
            if number % 2:
                idle.append(socket.create_connection(("127.0.0.1", port), timeout=10))
            else:
                idle.append(socket.socket(socket.AF_UNIX))
                idle[-1].settimeout(10)
                idle[-1].connect(f"\0sluice.slurmd.{port}")
                idle[-1].send(struct.pack("<I", 10))  # begins a message and goes no further
        assert cluster.run("srun", "-w", "n1", "echo", "here").stdout == "here\n"
    finally:
        for peer in idle:
            peer.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_tls_is_refused_by_name(make_cluster):
    cluster = make_cluster(start=False, extra="TLSType=tls/s2n")
    cluster.checked = False
    for daemon in (["slurmctld", "-D"], ["slurmd", "-D", "-N", "n1"]):
        result = cluster.run("timeout", "30", *daemon, check=False)
        assert result.returncode not in (0, 124)
        assert "TLSType=tls/s2n: TLS is not supported" in result.stderr
