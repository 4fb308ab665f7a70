"""Options of steps: ports that are kept for them, the frequency of their CPUs."""

import os
import signal

import pytest


@pytest.fixture
def ports(make_cluster):
    return make_cluster(extra="MpiParams=ports=12000-12009")


def step_ports(*options):
    return f"srun {' '.join(options)} sh -c 'echo $SLURM_STEP_RESV_PORTS'\n"


def test_ports_are_kept_for_a_step_on_its_nodes(ports, tmp_path):
    """Two steps of different jobs on the same node have different ports; ports are free again afterwards."""
    first = ports.submit("srun -n2 --resv-ports sh -c 'echo $SLURM_STEP_RESV_PORTS; sleep 1000'", "-n2", "-w", "n1")
    ports.wait_for(lambda: ports.wait_file(f"slurm-{first}.out") == "12000-12001\n12000-12001\n", what="the first step")
    _, output = ports.run_job(step_ports("--resv-ports=3") + step_ports("--resv-ports=1") + step_ports("--resv-ports=0")
                              + step_ports("--resv-ports=9") + step_ports(), "-n1", "-w", "n1")
    said = output.splitlines()
    assert said[:3] == ["12002-12004", "12002", ""]
    assert "steps of other jobs have the ports that --resv-ports=9 needs" in said[3] and said[-1] == ""
    _, elsewhere = ports.run_job(step_ports("--resv-ports=9"), "-n1", "-w", "n2")
    assert elsewhere == "12000-12008\n"
    ports.run("scancel", first)
    ports.wait_end(first)
    assert ports.run_job(step_ports("--resv-ports=10"), "-n1", "-w", "n1")[1] == "12000-12009\n"


def test_a_step_waits_for_ports_of_its_own_job(ports):
    body = ("srun -n1 --exact --resv-ports=8 sh -c 'echo $SLURM_STEP_RESV_PORTS; touch one; while [ ! -e two ]; do sleep 0.05; done' &\n"
            "while [ ! -e one ]; do sleep 0.05; done\n"
            "srun -n1 --exact --immediate --resv-ports=4 true || touch two\n"
            "srun -n1 --exact --resv-ports=4 sh -c 'echo $SLURM_STEP_RESV_PORTS'; wait\n")
    _, output = ports.run_job(body, "-n2", "-N1")
    assert [line for line in output.splitlines() if "srun" not in line] == ["12000-12007", "12000-12003"]


def test_ports_that_there_are_not(ports, shared):
    refused = shared.run("srun", "--resv-ports", "true", check=False)
    assert refused.returncode == 1 and "--resv-ports needs MpiParams=ports=FIRST-LAST in slurm.conf" in refused.stderr
    refused = ports.run("srun", "--resv-ports=11", "true", check=False)
    assert refused.returncode == 1 and "--resv-ports=11: slurm.conf names 10 ports" in refused.stderr
    refused = ports.run("sbatch", "--resv-ports=1", "--wrap", "true", check=False)
    assert refused.returncode == 1 and "--resv-ports=1 is not supported by Sluice" in refused.stderr


def test_a_frequency_that_cannot_be_set_is_told(shared):
    """These nodes have no cpufreq, or tasks are not confined: the step runs all the same."""
    result = shared.run("srun", "-N2", "-w", "n[1-2]", "--cpu-freq=high", "sh", "-c", "echo $SLURM_CPU_FREQ_REQ")
    assert result.stdout == "high\nhigh\n"
    for node in ("n1", "n2"):
        assert f"error: --cpu-freq=high has no effect on node {node}: " in result.stderr
    _, output = shared.run_job("echo $SLURM_CPU_FREQ_REQ; srun true", "--cpu-freq=low-high:Performance")
    assert output.startswith("low-high:Performance\n") and "--cpu-freq=low-high:Performance has no effect" in output


def test_governors_are_those_that_the_site_allows(make_cluster):
    cluster = make_cluster(nodes=1, extra="CpuFreqGovernors=PowerSave\nCpuFreqDef=PowerSave")
    assert cluster.run("srun", "--cpu-freq=powersave", "echo", "x").stdout == "x\n"
    for tool in (["srun"], ["salloc"], ["sbatch", "--wrap"]):
        refused = cluster.run(tool[0], "--cpu-freq=low-high:performance", *tool[1:], "true", check=False)
        assert refused.returncode == 1
        assert "--cpu-freq=low-high:performance: the governor Performance is not allowed (CpuFreqGovernors=PowerSave)" in refused.stderr
    # Of the default of slurm.conf nobody complains.
    assert "cpu-freq" not in cluster.run("srun", "true").stderr
    bad = cluster.run("srun", "--cpu-freq=fast", "true", check=False)
    assert bad.returncode != 0 and "Invalid --cpu-freq specification" in bad.stderr


@pytest.mark.parametrize("option", ["--ntasks-per-core=1", "--ntasks-per-socket=1"])
def test_tasks_per_core_and_socket_of_a_step(make_cluster, option):
    """Two cores of two threads on each node, each in a socket of its own."""
    cluster = make_cluster(node_extra="Sockets=2 CoresPerSocket=1 ThreadsPerCore=2")
    body = ("srun -n4 sh -c 'echo $SLURMD_NODENAME' | sort | uniq -c\n"
            f"srun {option} -n4 sh -c 'echo $SLURMD_NODENAME' | sort | uniq -c\n"
            f"srun {option} -n5 true; echo $?")
    _, output = cluster.run_job(body, "-N2", "--exclusive")
    lines = [line.split() for line in output.splitlines()]
    assert lines[:4] == [["3", "n1"], ["1", "n2"], ["2", "n1"], ["2", "n2"]]
    assert lines[-1] == ["1"] and "More processors requested than permitted" in output


def test_cyclic_overcommit_is_as_in_slurm(make_cluster):
    cluster = make_cluster(cpus=8)
    _, output = cluster.run_job("for n in 12 13 14; do srun --overlap -O -N2 -n $n -m cyclic sh -c 'echo $SLURMD_NODENAME' | sort | "
                                "uniq -c; done", "-N2", "-n9", "-m", "plane=8")
    counts = [int(line.split()[0]) for line in output.splitlines()]
    assert counts == [9, 3, 10, 3, 10, 4]


@pytest.mark.parametrize("option,goes_on", [("--no-kill=off", False), ("--no-kill", True)])
def test_a_lost_node_ends_the_step_unless_it_shall_go_on(shared, option, goes_on):
    """The supervisor of one node is killed, and with it its task."""
    file = shared.dir / "work" / "go"
    body = "echo $SLURMD_NODENAME $PPID; until [ -e go ]; do sleep 0.1; done; echo over"
    step = shared.popen("srun", option, "-w", "n1,n2", "-N2", "-n2", "sh", "-c", body)
    supervisors = dict(step.stdout.readline().split() for _ in range(2))
    os.kill(int(supervisors["n2"]), signal.SIGKILL)
    assert step.stderr.readline() == "srun: error: n2: connection to the step lost\n"
    if goes_on:
        file.touch()
    out, _ = step.communicate(timeout=60)
    file.unlink(missing_ok=True)
    assert out == ("over\n" if goes_on else "") and step.returncode != 0
