"""Steps that srun reaches through other nodes (TreeWidth): output, input, signals, exit codes, and what happens when a
relay, a node or srun is lost."""

import os
import re
import signal
import socket
import subprocess
import time

import pytest
from wire import CLIENT, STEP, field, frame, hello, parse, read_frame

NODES = 7
RANK = "echo $SLURM_PROCID:$SLURMD_NODENAME"


@pytest.fixture(scope="module")
def tree():
    """srun reaches n1, n4 and n6 directly; n2 and n3 are below n1, n5 below n4, n7 below n6."""
    from cluster import Cluster
    cluster = Cluster(nodes=NODES, cpus=2, memory=1000, extra="TreeWidth=3\nDefMemPerCPU=10\n")
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def relays(cluster):
    """Pids of the relays of a cluster, by the node that they run on."""
    nodes = {daemon.pid: name for name, daemon in cluster.daemons.items()}
    return {nodes[parent_of(pid)]: pid for pid, line in cluster.processes().items()
            if line.startswith("sluice-relay: [")}


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rsplit(")", 1)[1].split()[1])


def start_step(cluster, *options, script="sleep 1000", **more):
    """srun, whose tasks have written the file up.<task>."""
    for file in (cluster.dir / "work").glob("up.*"):
        file.unlink()
    srun = cluster.popen("srun", "-N", NODES, *options, "sh", "-c", f"touch up.$SLURM_PROCID; {script}", **more)
    cluster.wait_for(lambda: len(list((cluster.dir / "work").glob("up.*"))) == NODES, what="the tasks to run")
    return srun


def nothing_is_left(cluster):
    cluster.wait_for(lambda: not cluster.run("squeue", "-h", "-a").stdout, what="an empty queue")
    cluster.wait_for(lambda: not [line for line in cluster.processes().values() if "sluice-relay" in line
                                  or "slurmstepd" in line or "sleep 1000" in line], what="the end of all processes")


# ---- the tree

@pytest.mark.parametrize("width, expected", [
    ((), ["n1", "n4", "n6"]), (("--treewidth=1",), ["n1", "n2", "n3", "n4", "n5", "n6"]),
    (("--treewidth=2",), ["n1", "n2", "n5"]), (("--treewidth=6",), ["n1"]), (("--treewidth=7",), []),
    (("--treewidth=off",), []), (("--no-kill",), [])])
def test_relays_are_where_the_width_says(tree, width, expected):
    srun = start_step(tree, *width)
    assert sorted(relays(tree)) == expected
    srun.send_signal(signal.SIGTERM)
    srun.communicate(timeout=60)
    nothing_is_left(tree)


def test_the_width_of_slurm_conf_is_read_again(make_cluster):
    cluster = make_cluster(nodes=3, extra="TreeWidth=3\n")
    for width, expected in ((3, []), (2, ["n1"])):
        cluster.extra = f"TreeWidth={width}\n"
        cluster.write_config()
        srun = cluster.popen("srun", "-N3", "sh", "-c", f"touch up.{width}.$SLURM_PROCID; sleep 1000")
        cluster.wait_for(lambda: len(list((cluster.dir / "work").glob(f"up.{width}.*"))) == 3, what="the tasks")
        assert sorted(relays(cluster)) == expected
        srun.send_signal(signal.SIGTERM)
        srun.communicate(timeout=60)


@pytest.mark.parametrize("width", [0, 65534])
def test_a_width_that_cannot_be_is_refused(make_cluster, width):
    cluster = make_cluster(nodes=1)
    cluster.conf.write_text(cluster.config_text() + f"TreeWidth={width}\n")
    result = cluster.run("scontrol", "reconfigure", check=False)
    assert result.returncode == 1 and f"TreeWidth={width}: expected 1 to 65533" in result.stderr
    cluster.write_config()
    for word in (str(width), "x", ""):
        result = cluster.run("srun", f"--treewidth={word}", "true", check=False)
        assert result.returncode != 0 and "--treewidth" in result.stderr


# ---- what passes through it

@pytest.mark.parametrize("width", [1, 2, 3])
def test_output_comes_from_every_task_once(tree, width):
    for _ in range(2):
        result = tree.run("srun", f"--treewidth={width}", "-N", NODES, "-n", 2 * NODES, "--ntasks-per-node=2", "sh",
                          "-c", RANK)
        assert sorted(result.stdout.split()) == sorted(f"{task}:n{task // 2 + 1}" for task in range(2 * NODES))
        assert result.stderr == ""


@pytest.mark.parametrize("width", ["1", "3", "off"])
def test_input_reaches_every_task_unchanged(tree, width):
    data = os.urandom(3_000_000)
    source = tree.dir / "work" / "input"
    source.write_bytes(data)
    with open(source, "rb") as stdin:
        result = tree.run("srun", f"--treewidth={width}", "-N", NODES, "md5sum", stdin=stdin)
    expected = subprocess.run(["md5sum"], input=data, capture_output=True, check=True).stdout.decode()
    assert result.stdout == expected * NODES


def test_input_for_one_task_and_programs_of_single_nodes(tree):
    result = tree.run("srun", "-N", NODES, "-i", "5", "sh", "-c", "read x; echo $SLURM_PROCID:$x", input="word\n")
    assert sorted(result.stdout.split()) == sorted([f"{task}:" for task in range(NODES) if task != 5] + ["5:word"])
    (tree.dir / "work" / "programs").write_text("0-2 echo low %t\n* echo high %t\n")
    result = tree.run("srun", "-N", NODES, "--multi-prog", "programs")
    assert sorted(result.stdout.splitlines()) == sorted(
        [f"low {task}" for task in range(3)] + [f"high {task}" for task in range(3, NODES)])


def test_output_waits_for_a_reader_and_is_complete(tree):
    size = 20_000_000
    srun = tree.popen("srun", "-N", NODES, "sh", "-c", f"head -c {size} /dev/zero | tr '\\0' x; exit 3")
    os.kill(srun.pid, signal.SIGSTOP)
    os.kill(srun.pid, signal.SIGCONT)
    out, err = srun.communicate(timeout=120)
    assert out.count("x") == NODES * size
    assert srun.returncode == 3 and "lost" not in err


def test_exit_codes_of_all_nodes_count(tree):
    result = tree.run("srun", "-N", NODES, "sh", "-c", f"exit $((SLURM_NODEID == {NODES - 1} ? 9 : 0))", check=False)
    assert result.returncode == 9
    assert result.stderr == f"srun: error: n{NODES}: task {NODES - 1}: Exited with exit code 9\n"


def test_a_node_that_does_not_read_its_input_keeps_no_signal_from_the_others(tree):
    """Task 2 is below a relay and reads nothing; srun stops sending input, and signals go on."""
    script = ("exec 3<&0; [ $SLURM_PROCID = 2 ] || cat <&3 >/dev/null & trap 'touch got.$SLURM_PROCID; exit' USR1;"
              " while :; do sleep 0.05; done")
    srun = start_step(tree, script=script)
    feeder = subprocess.Popen(["yes"], stdout=srun.stdin)
    try:
        tree.wait_for(lambda: is_stuck(feeder.pid), what="srun to take no more input")
        srun.send_signal(signal.SIGUSR1)
        tree.wait_for(lambda: len(list((tree.dir / "work").glob("got.*"))) == NODES - 1, what="the signal to arrive")
        tree.run("scancel", "-u", "root")
        srun.communicate(timeout=60)
    finally:
        feeder.kill()
        feeder.wait()
    nothing_is_left(tree)


def is_stuck(pid):
    """Whether it has written no more for some time: what it writes to is full."""
    def written():
        with open(f"/proc/{pid}/io") as file:
            return file.read()
    first = written()
    time.sleep(0.3)
    return first == written()


def test_a_program_is_sent_by_the_tree(tree):
    """Each node gets a copy of its own: the environment and the program of the nodes differ."""
    place = tree.dir / "work" / "copies"
    place.mkdir(mode=0o777, exist_ok=True)
    place.chmod(0o777)
    result = tree.run("srun", "-N", NODES, f"--bcast={place}/", "--treewidth=2", "/bin/sh", "-c", "readlink /proc/$$/exe")
    names = [line.rsplit("_", 1)[1] for line in result.stdout.split()]
    assert sorted(names) == sorted(tree.nodes)


@pytest.mark.parametrize("width", ["1", "2", "off"])
def test_a_file_goes_by_the_tree(tree, width):
    place = tree.dir / "work"
    data = os.urandom(2_000_000) + b"abc" * 100_000
    (place / "source").write_bytes(data)
    _, output = tree.run_job(f"sbcast -C -f -F {width} $PWD/source $PWD/copy && cmp source copy && echo same", "-N", NODES)
    assert output == "same\n"


# ---- what is lost

def test_a_lost_relay_is_reported_with_the_nodes_below_it(tree):
    srun = start_step(tree)
    os.kill(relays(tree)["n1"], signal.SIGKILL)
    assert srun.stderr.readline() == "srun: error: n[1-3]: connection to the step lost\n"
    srun.send_signal(signal.SIGTERM)
    srun.communicate(timeout=60)
    assert srun.returncode != 0
    nothing_is_left(tree)


def test_a_relay_that_is_lost_below_another_one_is_reported_with_the_nodes_below_it(tree, tmp_path):
    said = tmp_path / "said"
    with said.open("w") as errors:
        srun = start_step(tree, "--treewidth=1", stderr=errors)
    os.kill(relays(tree)["n3"], signal.SIGKILL)

    def lost():
        lists = re.findall(r"^srun: error: (\S+): connection to the step lost$", said.read_text(), re.M)
        return [name for each in lists for name in tree.run("scontrol", "show", "hostnames", each).stdout.split()]
    tree.wait_for(lambda: sorted(lost()) == ["n3", "n4", "n5", "n6", "n7"], what="all nodes to be reported, each once")
    srun.send_signal(signal.SIGTERM)
    srun.communicate(timeout=60)
    assert srun.returncode != 0
    nothing_is_left(tree)


def test_a_lost_supervisor_below_a_relay_is_reported_by_name(tree):
    srun = start_step(tree)
    victim = next(pid for pid, line in tree.processes().items()
                  if line.startswith("slurmstepd: [") and parent_of(pid) == tree.daemons["n3"].pid)
    os.kill(victim, signal.SIGKILL)
    assert srun.stderr.readline() == "srun: error: n3: connection to the step lost\n"
    assert srun.stderr.readline().startswith("srun: Terminating StepId=")
    srun.communicate(timeout=60)
    assert srun.returncode != 0
    nothing_is_left(tree)


def test_the_end_of_srun_is_the_end_of_the_step_on_all_nodes(tree):
    srun = start_step(tree)
    srun.kill()
    srun.communicate()
    nothing_is_left(tree)


def test_a_node_that_cannot_be_reached_is_named_and_nothing_runs(make_cluster):
    """n2 is below n1, n3 is not: srun itself connects to it."""
    cluster = make_cluster(nodes=4, extra="TreeWidth=2\nSlurmdTimeout=300\n")
    job = cluster.submit("sleep 1000", "-N4")
    cluster.wait_state(job, "RUNNING")
    for lost in ("n2", "n3"):
        cluster.kill(lost)
        result = cluster.run("srun", "--jobid", job, "--overlap", "-N4", "-n4", "sleep", "4321", check=False)
        assert result.returncode != 0
        way = "failed on node n2: " if lost == "n2" else "launch failed: Job launch failure: n3: "
        assert way in result.stderr and "Connection refused" in result.stderr, result.stderr
        cluster.wait_for(lambda: "sleep 4321" not in cluster.processes().values(), what="the end of the other tasks")
        cluster.start_node(lost)
    cluster.run("scancel", job)
    nothing_is_left(cluster)


def test_behind_a_node_that_cannot_be_reached_the_others_are(make_cluster):
    """n2 is to reach n3 and n4: n3 takes its place, so srun hears of the end of all and ends."""
    cluster = make_cluster(nodes=4, extra="TreeWidth=1\nSlurmdTimeout=300\n")
    job = cluster.submit("sleep 1000", "-N4")
    cluster.wait_state(job, "RUNNING")
    cluster.kill("n2")
    result = cluster.run("srun", "--jobid", job, "--overlap", "-N4", "-n4", "sleep", "4321", check=False, timeout=120)
    assert result.returncode != 0 and "failed on node n2: " in result.stderr, result.stderr
    for name in ("n3", "n4"):
        log = (cluster.dir / "log" / f"{name}.log").read_text()
        assert f"launch task StepId={job}.0 request" in log, log
    cluster.wait_for(lambda: "sleep 4321" not in cluster.processes().values(), what="the end of the other tasks")
    cluster.start_node("n2")
    cluster.run("scancel", job)
    nothing_is_left(cluster)


def test_slurmd_may_be_restarted_while_its_relay_works(tree):
    srun = start_step(tree, script="until [ -e go ]; do sleep 0.05; done; echo end")
    tree.kill("n1", signal.SIGTERM)
    tree.start_node("n1")
    (tree.dir / "work" / "go").touch()
    out, err = srun.communicate(timeout=60)
    (tree.dir / "work" / "go").unlink()
    assert out.split() == ["end"] * NODES and srun.returncode == 0, err
    nothing_is_left(tree)


# ---- who may ask for it

def tree_of(credential, nodes, width=2):
    """StepInput.tree of a step with one task on each node."""
    spec = (field(1, "/bin/true") + field(2, b"PATH=/usr/bin:/bin\0") + field(3, "/tmp") + field(4, "none")
            + field(5, "none") + field(6, "none"))
    entries = b"".join(field(3, field(1, field(1, name) + field(2, "127.0.0.1") + field(3, port)) +
                             field(2, field(3, name) + field(5, rank) + field(7, rank)))
                       for rank, (name, port) in enumerate(nodes))
    return field(600, field(1, width) + field(2, field(1, credential) + field(2, spec) + field(6, len(nodes))) + entries)


def ask(daemon, port, channel, message, user=None):
    """The first answer after the Welcome over the Unix socket of a daemon, as root or another user."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        if user is not None:
            os.setgid(user)
            os.setuid(user)
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(f"\0sluice.{daemon}.{port}".encode())
        peer.sendall(frame(hello("", channel)) + frame(message))
        read_frame(peer)
        os.write(writable, read_frame(peer))
        os._exit(0)
    os.close(writable)
    os.waitpid(child, 0)
    with os.fdopen(readable, "rb") as file:
        return parse(file.read())


def test_only_the_user_of_a_step_may_launch_it_and_once(tree, as_root):
    ports = tree.ports.numbers
    job = tree.submit("sleep 1000", "-N3", "-w", "n[1-3]")
    tree.wait_state(job, "RUNNING")
    request = field(6, field(1, int(job)) + field(21, "k" * 15) + field(15, 1))  # CreateStep, overlap
    reply = ask("slurmctld", ports[0], CLIENT, request)
    credential = parse(reply[5][0])[3][0]
    nodes = [(f"n{number}", ports[number]) for number in (1, 2, 3)]

    def refusal(credential, nodes, user=None, **more):
        answer = ask("slurmd", ports[1], STEP, tree_of(credential, nodes, **more), user)
        return answer[1][0].decode(errors="replace")

    assert "the step belongs to uid 0" in refusal(credential, nodes, user=65534)
    assert "must be the one that gets it" in refusal(credential, nodes[1:])
    assert "no node 'n4' for the tree" in refusal(credential, [*nodes, ("n4", ports[4])])
    assert "no node 'n2' for the tree" in refusal(credential, [*nodes, nodes[1]])
    assert "cannot be 0 wide" in refusal(credential, nodes, width=0)
    assert "altered" in refusal(credential[:-1] + bytes([credential[-1] ^ 1]), nodes)
    # None of this has used the credential up.
    assert 1 not in ask("slurmd", ports[1], STEP, tree_of(credential, nodes))
    assert "used before" in refusal(credential, nodes)
    tree.run("scancel", job)
    nothing_is_left(tree)
