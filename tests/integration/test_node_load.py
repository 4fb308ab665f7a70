"""slurmctld and the virtual nodes of tools/node_load.cc: many nodes register, run jobs, and are there again after a restart."""

import os
import signal
import subprocess
import threading

import pytest
from cluster import ROOT, Cluster

PROGRAM = ROOT / "build" / "tools" / "sluice-node-load"
NODES = 400


class Load:
    """The program, and the lines it has printed."""

    def __init__(self, cluster):
        self.process = subprocess.Popen([PROGRAM, "-f", cluster.conf, "-t", "1"], stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.STDOUT, env=cluster.environment())
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")))
        self.reader.start()

    def complete(self):
        """How often all nodes have been registered."""
        return len([line for line in self.lines if line.startswith(f"all {NODES} nodes registered after ")])

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.reader.join()


@pytest.fixture
def loaded():
    if not PROGRAM.exists():
        pytest.skip("needs the programs for developers: cmake --build build --target sluice-node-load")
    cluster = Cluster(nodes=1, extra="AuthType=auth/slurm\n", files={"slurm.key": os.urandom(64)})
    cluster.conf.write_text(cluster.config_text().replace(
        "NodeName=n1 ", f"NodeName=v[1-{NODES}] Port={cluster.ports.numbers[1]} CPUs=4 RealMemory=4000\n#"))
    cluster.checked = False
    cluster.nodes = []
    load = None
    try:
        cluster.start_controller()
        load = Load(cluster)
        yield cluster, load
    finally:
        if load:
            load.stop()
        cluster.stop()


def states(cluster):
    return dict(line.split() for line in cluster.run("sinfo", "-h", "-o", "%t %D").stdout.splitlines())


def test_virtual_nodes_register_run_jobs_and_come_back(loaded):
    cluster, load = loaded
    cluster.wait_for(lambda: load.complete() == 1, what="all nodes")
    cluster.wait_for(lambda: states(cluster) == {"idle": str(NODES)}, what="idle nodes")
    assert cluster.wait_end(cluster.submit("true", "-N", NODES))["JobState"] == "COMPLETED"
    array = cluster.submit("true", "-n1", "-a", "1-50")
    cluster.wait_for(lambda: not cluster.run("squeue", "-h").stdout, what="the end of the tasks")
    assert {job["JobState"] for job in cluster.jobs(array)} == {"COMPLETED"}

    running = cluster.submit("true", "-N", NODES)
    cluster.wait_state(running, "RUNNING")
    cluster.kill("slurmctld")
    cluster.start_controller()
    cluster.wait_for(lambda: load.complete() == 2, what="all nodes again")
    record = cluster.wait_end(running)
    assert (record["JobState"], record["Restarts"]) == ("COMPLETED", "0")
    load.stop()
    cluster.wait_for(lambda: "idle" not in states(cluster), what="nodes that do not respond")
    assert f"launches {2 + 50}, ends {2 + 50}, lost {NODES}, refused 0" in load.lines[-1]


def test_its_words_are_checked(loaded):
    for words, text in ((["-t", "x"], "-t SECONDS"), ([], "which slurm.conf"), (["-f", "/none"], "/none")):
        result = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=60)
        assert result.returncode == 1 and text in result.stderr
