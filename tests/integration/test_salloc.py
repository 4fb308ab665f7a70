"""salloc: an allocation around a command."""

import os
import re
import signal


def test_runs_a_command_inside_and_gives_the_nodes_back(shared):
    result = shared.run("salloc", "-N2", "sh", "-c",
                        "echo $SLURM_JOB_ID $SLURM_NNODES; srun -l sh -c 'echo $SLURM_NODEID'")
    lines = result.stdout.splitlines()
    job, nodes = lines[0].split()
    assert nodes == "2" and sorted(lines[1:]) == ["0: 0", "1: 1"]
    assert re.search(rf"salloc: Granted job allocation {job}\n"
                     rf"(salloc: .*\n)*salloc: Nodes n\S+ are ready for job\n", result.stderr)
    assert f"salloc: Relinquishing job allocation {job}" in result.stderr
    shared.wait_for(lambda: shared.state(job) == "COMPLETED", what="its end")


def test_exit_code_is_the_commands(shared):
    assert shared.run("salloc", "sh", "-c", "exit 9", check=False).returncode == 9


def test_the_job_ends_as_the_command_does(shared):
    result = shared.run("salloc", "sh", "-c", "echo $SLURM_JOB_ID; exit 3", check=False)
    record = shared.wait_end(result.stdout.strip())
    assert (record["JobState"], record["Reason"], record["ExitCode"]) == \
        ("FAILED", "NonZeroExitCode", "3:0")
    result = shared.run("salloc", "sh", "-c", "echo $SLURM_JOB_ID; kill -9 $$", check=False)
    record = shared.wait_end(result.stdout.strip())
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", "0:9")


def test_no_shell_keeps_the_allocation(shared):
    said = shared.run("salloc", "--no-shell", "-J", "kept").stderr
    job = re.search(r"Granted job allocation (\d+)", said).group(1)
    assert shared.state(job) == "RUNNING"
    assert shared.run("srun", f"--jobid={job}", "echo", "inside").stdout == "inside\n"
    shared.run("scancel", job)
    shared.wait_end(job)


def test_when_its_terminal_goes_away_so_does_the_allocation(shared):
    process = shared.popen("salloc", "-J", "killed", "sleep", "1000", start_new_session=True)
    shared.wait_for(lambda: shared.run("squeue", "-h", "-t", "R", "-n", "killed").stdout,
                    what="the allocation")
    os.killpg(process.pid, signal.SIGHUP)
    process.communicate(timeout=30)
    shared.wait_for(lambda: not shared.run("squeue", "-h", "-n", "killed").stdout, what="its end")


def test_a_killed_salloc_leaves_no_job_behind_and_a_living_one_keeps_its_own(make_cluster):
    """Killed with the controller there and with it away; the others see it restarted."""
    cluster = make_cluster(nodes=1)

    def is_listed(name):
        return cluster.run("squeue", "-h", "-t", "R", "-n", name, "-o", "%A").stdout.strip()

    def start(name, *command):
        process = cluster.popen("salloc", "-J", name, *command, start_new_session=True)
        cluster.wait_for(lambda: is_listed(name), what="the allocation")
        return process

    cluster.run("salloc", "--no-shell", "-J", "kept")
    early, late = start("early", "sleep", "1000"), start("late", "sleep", "1000")
    living = start("living", "sh", "-c", "while [ ! -e go ]; do sleep 0.05; done")
    job = is_listed("living")
    os.killpg(early.pid, signal.SIGKILL)
    early.communicate()
    cluster.kill("slurmctld")
    os.killpg(late.pid, signal.SIGKILL)
    late.communicate()
    cluster.start_controller()
    assert is_listed("late")  # it might come back
    cluster.wait_for(lambda: not is_listed("early") and not is_listed("late"), timeout=150, what="their end")
    assert is_listed("kept") and is_listed("living") == job
    (cluster.dir / "work" / "go").touch()
    living.communicate(timeout=30)
    assert living.returncode == 0
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    cluster.run("scancel", "--name=kept")
