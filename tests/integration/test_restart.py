"""Daemons that die and come back: jobs go on, their ends are reported."""

import contextlib
import os
import signal
import subprocess

import pytest
from cluster import PATIENCE, process_state

UNTIL = "echo run >>runs.$SLURM_JOB_ID; echo up; while [ ! -e {} ]; do sleep 0.05; done; echo finished"


def running_job(cluster, flag, *options):
    job = cluster.submit(UNTIL.format(flag), *options)
    cluster.wait_file(f"slurm-{job}.out")
    cluster.wait_state(job, "RUNNING")
    return job


def finish(cluster, flag):
    (cluster.dir / "work" / flag).touch()


def finished(cluster, job):
    return cluster.output(job).endswith("finished\n")


def check_ran_once(cluster, job):
    assert cluster.job(job)["Restarts"] == "0"
    assert (cluster.dir / "work" / f"runs.{job}").read_text() == "run\n"


def test_a_job_survives_the_death_of_its_slurmd(cluster):
    job = running_job(cluster, "go", "-w", "n1")
    cluster.kill("n1")
    cluster.start_node("n1")
    assert cluster.state(job) == "RUNNING"
    finish(cluster, "go")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert cluster.output(job) == "up\nfinished\n"
    check_ran_once(cluster, job)


def test_a_job_that_ends_while_slurmd_is_down_is_reported_when_it_is_back(cluster):
    job = running_job(cluster, "go", "-w", "n1")
    cluster.kill("n1")
    finish(cluster, "go")
    cluster.wait_for(lambda: finished(cluster, job), what="the script to finish")
    cluster.start_node("n1")
    record = cluster.wait_end(job)
    assert (record["JobState"], record["ExitCode"]) == ("COMPLETED", "0:0")
    check_ran_once(cluster, job)


@pytest.fixture
def small_spool(as_root, make_cluster):
    """A cluster of one node, whose spool is a disk of its own."""
    cluster = make_cluster(start=False, nodes=1)
    spool = cluster.dir / "spool" / "n1"
    spool.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", spool], check=True)
    yield cluster.start()
    cluster.cancel_all()
    for name in list(cluster.daemons):
        cluster.kill(name, signal.SIGTERM)
    subprocess.run(["umount", "-l", spool], check=True)
    cluster.checked = False


def test_a_full_disk_does_not_make_a_success_look_like_a_kill(small_spool):
    """The supervisor cannot write the end down while slurmd is away: it stays until it is heard."""
    cluster = small_spool
    job = running_job(cluster, "go")
    cluster.kill("n1")
    with open(cluster.dir / "spool" / "n1" / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(bytes(4096))
    finish(cluster, "go")
    cluster.wait_for(lambda: finished(cluster, job), what="the script to finish")
    cluster.start_node("n1", wait=False)
    record = cluster.wait_end(job)
    assert (record["JobState"], record["ExitCode"]) == ("COMPLETED", "0:0")
    check_ran_once(cluster, job)
    (cluster.dir / "spool" / "n1" / "ballast").unlink()


def test_a_script_that_ended_while_slurmd_was_down_ends_the_steps_of_others(cluster):
    job = running_job(cluster, "go", "-w", "n1", "-n", "2")
    srun = cluster.popen("srun", f"--jobid={job}", "--overlap", "-n", "1", "sh", "-c", "echo up >step; exec sleep 1000")
    cluster.wait_file("step")
    cluster.kill("n1")
    finish(cluster, "go")
    cluster.wait_for(lambda: finished(cluster, job), what="the script to finish")
    cluster.start_node("n1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert srun.wait(timeout=PATIENCE) != 0


def test_a_job_whose_daemons_were_all_killed_ends_and_leaves_nothing(cluster):
    job = running_job(cluster, "go", "-w", "n1", "--no-requeue")
    cluster.kill("n1")
    for pid, line in cluster.processes().items():
        if "slurmstepd" in line:
            os.kill(pid, signal.SIGKILL)
    cluster.start_node("n1", wait=False)
    record = cluster.wait_end(job)
    assert (record["JobState"], record["ExitCode"]) == ("FAILED", "0:9")


def test_a_stopped_slurmd_keeps_its_jobs(cluster):
    job = running_job(cluster, "go", "-w", "n1")
    assert cluster.kill("n1", signal.SIGTERM) == 0
    cluster.start_node("n1")
    finish(cluster, "go")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_a_job_that_ends_while_the_controller_is_down_is_reported_when_it_is_back(cluster):
    job = running_job(cluster, "go")
    waiting = cluster.submit("true", "--hold")
    cluster.kill("slurmctld")
    finish(cluster, "go")
    cluster.wait_for(lambda: finished(cluster, job), what="the script to finish")
    cluster.start_controller()
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    check_ran_once(cluster, job)
    assert cluster.state(waiting) == "PENDING"


def test_an_orderly_restart_of_the_controller_keeps_everything(cluster):
    job = running_job(cluster, "go")
    array = cluster.submit("true", "--array=1-9%3", "--hold")
    before = cluster.run("squeue", "-h", "-o", "%i %j %t %u %P %C").stdout
    assert cluster.kill("slurmctld", signal.SIGTERM) == 0
    cluster.start_controller()
    assert cluster.run("squeue", "-h", "-o", "%i %j %t %u %P %C").stdout == before
    finish(cluster, "go")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    check_ran_once(cluster, job)
    assert cluster.state(array) == "PENDING"


def test_a_job_cancelled_while_its_node_is_away_ends_when_it_is_back(cluster):
    job = running_job(cluster, "never", "-w", "n1")
    cluster.kill("n1")
    cluster.run("scancel", job)
    cluster.start_node("n1", wait=False)
    assert cluster.wait_end(job)["JobState"] == "CANCELLED"
    cluster.wait_for(lambda: cluster.node_state("n1") == "idle", what="a free node")


def scripts(cluster):
    return [line for line in cluster.processes().values() if "slurm_script" in line]


def lost_node(make_cluster, *options):
    cluster = make_cluster(extra="SlurmdTimeout=3\nSchedulerParameters=requeue_delay=1")
    job = running_job(cluster, "go", "-w", "n1", *options)
    cluster.kill("n1")
    cluster.wait_for(lambda: cluster.node_state("n1").startswith("down"), 60, "n1 to be down")
    return cluster, job


def test_a_lost_node_fails_the_job_that_may_not_run_again(make_cluster):
    cluster, job = lost_node(make_cluster, "--no-requeue")
    assert cluster.wait_end(job)["JobState"] == "NODE_FAIL"
    other = cluster.submit("echo elsewhere")
    assert cluster.wait_end(other)["NodeList"] == "n2"
    cluster.start_node("n1", wait=False)
    cluster.wait_for(lambda: not scripts(cluster), what="n1 to end what it should not run")


def test_a_lost_node_requeues_the_others(make_cluster):
    cluster, job = lost_node(make_cluster, "--requeue")
    cluster.wait_for(lambda: cluster.job(job)["Restarts"] == "1", what="the requeue")
    cluster.start_node("n1")
    cluster.wait_for(lambda: len(scripts(cluster)) <= 1, what="the first run to be gone")
    finish(cluster, "go")
    assert cluster.wait_end(job, timeout=60)["JobState"] == "COMPLETED"


def test_jobs_that_name_a_lost_node_start_there_once_it_is_back_and_clean(make_cluster):
    cluster, _ = lost_node(make_cluster, "--no-requeue")
    waiting = cluster.submit("true", "-w", "n1", "--exclusive")
    cluster.wait_for(lambda: cluster.job(waiting)["Reason"].startswith("ReqNodeNotAvail"), what="the reason")
    cluster.start_node("n1", wait=False)
    assert cluster.wait_end(waiting)["JobState"] == "COMPLETED"


def steps(cluster, job):
    return cluster.run("squeue", "-h", "-s", "-j", job, "-o", "%i").stdout.split()


def freeze(cluster, process, number):
    os.kill(process.pid, number)
    if number == signal.SIGSTOP:
        cluster.wait_for(lambda: process_state(process.pid) == "T", what="it to stop")


def test_a_step_that_comes_to_a_node_after_its_job_was_given_up_there_ends(make_cluster):
    """srun has its credential; n2 is given up by a controller that cannot tell it so, and is back."""
    cluster = make_cluster(extra="SlurmdTimeout=3\nMessageTimeout=90")
    job = running_job(cluster, "never", "-N2", "--no-requeue")
    slurmd = cluster.daemons["n2"]
    freeze(cluster, slurmd, signal.SIGSTOP)
    srun = cluster.popen("srun", f"--jobid={job}", "-N1", "-n1", "-w", "n2", "sleep", "1000")
    cluster.wait_for(lambda: f"{job}.0" in steps(cluster, job), what="the step")
    freeze(cluster, srun, signal.SIGSTOP)
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.wait_end(job)["JobState"] == "NODE_FAIL"
    freeze(cluster, slurmd, signal.SIGCONT)
    cluster.wait_for(lambda: cluster.node_state("n2") == "idle", what="n2 to be back")
    freeze(cluster, srun, signal.SIGCONT)
    _, errors = srun.communicate(timeout=120)
    assert srun.returncode != 0 and "has ended" not in errors, errors  # n2 did not know
    cluster.wait_for(lambda: not any("sleep 1000" in line for line in cluster.processes().values()),
                     what="the end of the step")
    assert cluster.run_job("true", "-w", "n2")[0]["JobState"] == "COMPLETED"


def test_srun_goes_on_while_the_controller_restarts(cluster):
    step = cluster.popen("srun", "sh", "-c", "echo up; while [ ! -e go ]; do sleep 0.05; done; echo end")
    assert step.stdout.readline() == "up\n"
    cluster.kill("slurmctld")
    cluster.start_controller()
    finish(cluster, "go")
    output, _ = step.communicate(timeout=60)
    assert output == "end\n" and step.returncode == 0


def test_sbatch_waits_for_a_controller_that_is_restarting(cluster):
    cluster.kill("slurmctld")
    sbatch = cluster.popen("sbatch", "--parsable", "--wrap", "true")
    cluster.start_controller()
    output, errors = sbatch.communicate(timeout=60)
    assert sbatch.returncode == 0, errors
    assert cluster.wait_end(output.strip())["JobState"] == "COMPLETED"


def test_without_a_controller_the_commands_say_so(cluster):
    cluster.kill("slurmctld")
    result = cluster.run("squeue", check=False)
    assert result.returncode == 1
    assert "slurm_load_jobs error: Unable to contact slurm controller" in result.stderr
    assert "DOWN" in cluster.run("scontrol", "ping", check=False).stdout


def test_daemons_in_the_background(cluster):
    for name in ("n2", "slurmctld"):
        cluster.kill(name, signal.SIGTERM)
    for argv in (["slurmctld"], ["slurmd", "-N", "n2"]):
        assert cluster.run(*argv, cwd="/").returncode == 0
    assert cluster.run("scontrol", "ping").returncode == 0
    cluster.wait_for(lambda: cluster.node_state("n2") == "idle", what="n2 to register")
    for name in ("slurmctld.pid", "slurmd-n2.pid"):
        pid = int((cluster.dir / name).read_text())
        assert pid in cluster.processes()
        cluster.run("kill", pid)
        cluster.wait_for(lambda: pid not in cluster.processes(), what=f"the end of {name}")


def test_a_second_controller_on_the_same_state_is_refused(cluster):
    result = cluster.run("slurmctld", "-D", check=False, timeout=30)
    assert result.returncode != 0 and result.stderr
    assert cluster.run("scontrol", "ping").returncode == 0


def test_scontrol_shutdown_ends_every_daemon_and_no_job(cluster):
    job = running_job(cluster, "go", "-w", "n1")
    daemons = [cluster.daemons.pop(name) for name in (*cluster.nodes, "slurmctld")]
    cluster.run("scontrol", "shutdown")
    assert [daemon.wait(timeout=60) for daemon in daemons] == [0] * len(daemons)
    cluster.start_controller()
    for name in cluster.nodes:
        cluster.start_node(name)
    assert cluster.state(job) == "RUNNING"
    finish(cluster, "go")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED" and finished(cluster, job)


def test_scontrol_shutdown_slurmctld_leaves_the_nodes(cluster):
    controller = cluster.daemons.pop("slurmctld")
    cluster.run("scontrol", "shutdown", "slurmctld")
    assert controller.wait(timeout=60) == 0
    cluster.start_controller()
    cluster.wait_for(lambda: all(cluster.node_state(name) == "idle" for name in cluster.nodes),
                     what="the nodes to register again")
    assert all(cluster.alive(name) for name in cluster.nodes)
