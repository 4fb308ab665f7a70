"""What reaches the first node must reach the others: signals, limits, files, environment."""

import signal

import pytest

TRAP = """trap 'echo $SLURMD_NODENAME {signal} >> heard' {signal}
touch up.$SLURM_PROCID
while :; do sleep 0.05; done
"""


@pytest.fixture
def work(shared):
    """The jobs' directory, empty."""
    directory = shared.dir / "work"
    for path in directory.iterdir():
        path.unlink()
    return directory


def start_on_two_nodes(shared, work, task, *options):
    """A batch job whose step runs `task` on two nodes; returns once both tasks run."""
    (work / "task.sh").write_text(f"#!/bin/bash\n{task}")
    (work / "task.sh").chmod(0o755)
    job = shared.submit("srun ./task.sh", "-N", "2", "-w", "n1,n2", *options)
    for rank in range(2):
        shared.wait_for(lambda: (work / f"up.{rank}").exists(), what=f"task {rank} to run")
    return job


def lines(path):
    return sorted(path.read_text().splitlines()) if path.exists() else []


def test_scancel_signal_reaches_the_tasks_of_both_nodes_once(shared, work):
    job = start_on_two_nodes(shared, work, TRAP.format(signal="USR1"))
    shared.run("scancel", "-s", "USR1", job)
    shared.wait_for(lambda: len(lines(work / "heard")) >= 2, what="both tasks to hear it")
    assert shared.state(job) == "RUNNING"
    shared.run("scancel", job)
    assert shared.wait_end(job)["JobState"] == "CANCELLED"
    assert lines(work / "heard") == ["n1 USR1", "n2 USR1"]


def test_scancel_reaches_the_tasks_of_both_nodes_once(shared, work):
    job = start_on_two_nodes(shared, work, TRAP.format(signal="TERM"))
    shared.run("scancel", job)
    record = shared.wait_end(job)
    assert record["JobState"] == "CANCELLED"
    assert lines(work / "heard") == ["n1 TERM", "n2 TERM"]


def test_suspended_tasks_stand_still_on_both_nodes(shared, work):
    job = start_on_two_nodes(
        shared, work, "touch up.$SLURM_PROCID\nwhile :; do echo >> beat.$SLURM_PROCID; sleep 0.02; done\n")

    def beats():
        return [(work / f"beat.{rank}").stat().st_size for rank in range(2)]

    shared.run("scontrol", "suspend", job)
    shared.wait_state(job, "SUSPENDED")
    seen = []

    def stands_still():
        seen.append(beats())
        return len(seen) > 15 and all(each == seen[-1] for each in seen[-15:])

    shared.wait_for(stands_still, what="the tasks to stand still")
    shared.run("scontrol", "resume", job)
    shared.wait_for(lambda: all(now > then for now, then in zip(beats(), seen[-1])),
                    what="the tasks of both nodes to go on")
    shared.run("scancel", job)
    shared.wait_end(job)


def test_the_warning_before_the_time_limit_reaches_both_nodes(shared, work):
    job = start_on_two_nodes(shared, work, TRAP.format(signal="USR2"), "--signal=USR2@60", "-t", "9")
    shared.run("scontrol", "update", f"JobId={job}", "TimeLimit=1")
    shared.wait_for(lambda: len(lines(work / "heard")) >= 2, what="both tasks to be warned")
    assert lines(work / "heard") == ["n1 USR2", "n2 USR2"]
    shared.run("scancel", job)
    shared.wait_end(job)


@pytest.mark.parametrize("bad", [0, 1])
def test_the_exit_code_of_either_node_is_the_steps_and_the_jobs(shared, work, bad):
    body = f"srun -N2 -w n1,n2 sh -c 'exit $((SLURM_NODEID == {bad} ? 7 : 0))'; echo rc $?"
    record, output = shared.run_job(body, "-N", "2", "-w", "n1,n2")
    assert "rc 7" in output
    assert record["JobState"] == "COMPLETED"
    assert shared.job(record["JobId"], "-d").get("DerivedExitCode") == "7:0"


@pytest.mark.parametrize("pattern, expected", [
    ("out.%N", {"out.n1": "n1 0\n", "out.n2": "n2 1\n"}),
    ("out.%n", {"out.0": "n1 0\n", "out.1": "n2 1\n"}),
    ("out.%t", {"out.0": "n1 0\n", "out.1": "n2 1\n"}),
    ("out.%2t", {"out.00": "n1 0\n", "out.01": "n2 1\n"}),
])
def test_output_files_of_a_step_on_two_nodes(shared, work, pattern, expected):
    shared.run("srun", "-N2", "-w", "n1,n2", "-o", pattern, "sh", "-c",
               "echo $SLURMD_NODENAME $SLURM_PROCID")
    assert {path.name: path.read_text() for path in work.glob("out.*")} == expected


def test_a_file_that_both_nodes_share_has_the_lines_of_both(shared, work):
    (work / "joint").write_text("from before\n")
    shared.run("srun", "-N2", "-w", "n1,n2", "-o", "joint", "sh", "-c", "echo $SLURMD_NODENAME")
    assert lines(work / "joint") == ["n1", "n2"]


@pytest.mark.parametrize("late", ["n1", "n2"])
def test_a_late_node_does_not_empty_what_the_other_has_written(cluster, late):
    joint = cluster.dir / "work" / "joint"
    joint.write_text("from before\n" * 1000)
    early = {"n1": "n2", "n2": "n1"}[late]
    cluster.daemons[late].send_signal(signal.SIGSTOP)
    step = cluster.popen("srun", "-N2", "-w", "n1,n2", "-o", "joint", "sh", "-c", "echo $SLURMD_NODENAME")
    try:
        cluster.wait_for(lambda: joint.read_text() == f"{early}\n", what=f"{early} to write")
    finally:
        cluster.daemons[late].send_signal(signal.SIGCONT)
    assert step.wait(timeout=60) == 0, step.communicate()
    assert joint.read_text() == f"{early}\n{late}\n"


def test_each_node_has_its_own_environment(shared, work):
    names = ["SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURMD_NODENAME", "SLURM_NNODES",
             "SLURM_NTASKS", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE",
             "SLURM_TASKS_PER_NODE", "SLURM_GTIDS", "SLURM_CPUS_ON_NODE"]
    script = "echo " + " ".join(f"${name}" for name in names)
    result = shared.run("srun", "-N2", "-n3", "-w", "n1,n2", "--ntasks-per-node=2", "sh", "-c", script)
    assert sorted(result.stdout.splitlines()) == [
        "0 0 0 n1 2 3 n[1-2] 2,1 2,1 0,1 2",
        "0 1 1 n1 2 3 n[1-2] 2,1 2,1 0,1 2",
        "1 2 0 n2 2 3 n[1-2] 2,1 2,1 2 1",
    ]


def test_nothing_is_left_on_either_node_after_the_script_has_ended(shared, work):
    """The script ends and leaves a step behind on two nodes: it ends with the job."""
    body = """srun sh -c 'echo $$ > pid.$SLURM_PROCID; exec sleep 1000' &
    until [ -s pid.0 ] && [ -s pid.1 ]; do sleep 0.05; done"""
    record, _ = shared.run_job(body, "-N", "2", "-w", "n1,n2")
    assert record["JobState"] == "COMPLETED"
    shared.wait_for(lambda: not any("sleep 1000" in line for line in shared.processes().values()),
                    what="the tasks to be gone")


def test_a_death_by_signal_on_one_node_ends_the_tasks_of_the_other(shared, work):
    step = shared.run("srun", "-N2", "-n2", "-K", "sh", "-c",
                      "[ $SLURM_NODEID = 0 ] || kill -9 $$; exec sleep 1000", check=False)
    assert step.returncode == 143  # the higher one: the other task was ended by SIGTERM


def test_several_tasks_a_node_do_not_empty_the_file_they_share(shared, work):
    (work / "joint").write_text("from before\n" * 1000)
    for mode, expected in (("truncate", "012345"), ("append", "001122334455")):
        shared.run("srun", "-N2", "-n6", "-o", "joint", f"--open-mode={mode}", "sh", "-c", "echo $SLURM_PROCID")
        assert lines(work / "joint") == list(expected)
