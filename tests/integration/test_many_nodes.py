"""Steps over many nodes, some of which have finished before srun has reached the others."""

import os
import signal

import pytest

# ./test --long: SLUICE_MANY_NODES=500.
NODES = int(os.environ.get("SLUICE_MANY_NODES", "150"))


@pytest.fixture(scope="module")
def wide():
    from cluster import Cluster
    cluster = Cluster(nodes=NODES, cpus=1, memory=100, extra="DefMemPerCPU=10\n")
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def test_the_output_and_the_end_of_short_tasks_on_all_nodes_arrive(wide):
    for _ in range(3):
        result = wide.run("srun", "-N", NODES, "sh", "-c", "echo $SLURMD_NODENAME")
        assert sorted(result.stdout.split()) == sorted(wide.nodes)
        assert result.stderr == ""


def test_an_allocation_runs_one_short_step_after_the_other(wide):
    script = "for i in 1 2 3; do srun sh -c 'echo $SLURM_STEP_ID'; done"
    result = wide.run("salloc", "-Q", "-N", NODES, "sh", "-c", script)
    assert result.stdout.split() == ["0"] * NODES + ["1"] * NODES + ["2"] * NODES
    assert result.stderr == ""


def test_exit_codes_of_all_nodes_count(wide):
    result = wide.run("srun", "-N", NODES, "sh", "-c", f"exit $((SLURM_NODEID == {NODES - 1} ? 9 : 0))",
                      check=False)
    assert result.returncode == 9
    assert result.stderr == f"srun: error: n{NODES}: task {NODES - 1}: Exited with exit code 9\n"


def test_the_step_of_a_batch_job_ends_on_all_nodes(wide):
    record, output = wide.run_job("srun sh -c 'echo $SLURMD_NODENAME'; echo rc $?",
                                  "-N", NODES, "-n", NODES)
    assert sorted(output.split()) == sorted([*wide.nodes, "rc", "0"])
    assert record["JobState"] == "COMPLETED"
    assert record["NumNodes"] == str(NODES)
    assert wide.run("squeue", "-h", "-s").stdout == ""


def test_a_job_on_all_nodes_starts_and_is_cancelled(wide):
    """Its script and a step on each node end, and the nodes are free."""
    job = wide.submit("srun sleep 1234 &\nwait", "-N", NODES, "-n", NODES)

    def tasks():
        return [line for line in wide.processes().values() if line == "sleep 1234"]
    wide.wait_for(lambda: len(tasks()) == NODES, what="a task on each node")
    wide.run("scancel", job)
    assert wide.wait_end(job)["JobState"] == "CANCELLED"
    wide.wait_for(lambda: wide.node_states() == dict.fromkeys(wide.nodes, "idle"), what="idle nodes")
    assert tasks() == []


def test_output_is_complete_if_srun_has_input_to_send_after_the_tasks_have_ended(shared):
    """The tasks end while srun is stopped; when it goes on, its first act is to send input."""
    work = shared.dir / "work"
    size = 120_000  # more than one read, less than the socket holds
    srun = shared.popen("srun", "-N", "2", "sh", "-c",
                        f"touch up.$SLURM_PROCID; until [ -e go ]; do sleep 0.02; done;"
                        f" head -c {size} /dev/zero | tr '\\0' x; exit 3")
    for number in range(2):
        shared.wait_for(lambda: (work / f"up.{number}").exists(), what="the tasks to run")
    os.kill(srun.pid, signal.SIGSTOP)
    srun.stdin.write("for nobody\n")
    srun.stdin.flush()
    (work / "go").touch()
    shared.wait_for(lambda: not shared.run("squeue", "-h", "-s").stdout, what="the step's end")
    os.kill(srun.pid, signal.SIGCONT)
    out, err = srun.communicate(timeout=60)
    assert out == "x" * (2 * size)
    assert srun.returncode == 3
    assert "lost" not in err
