"""Prolog and Epilog: what they are told of the job, and what becomes of a node where they fail."""

import pytest

HOOK = """#!/bin/sh
env > {dir}/work/{name}.$SLURM_JOB_ID
[ ! -e {dir}/work/{broken}.$SLURMD_NODENAME ]
"""


@pytest.fixture
def hooked(make_cluster):
    """Two nodes with a prolog, which fails where there is a file broken.NODE, and an epilog (dirty.NODE)."""
    cluster = make_cluster(start=False, gpus={"a40": ["n1"]})
    for name, broken in (("prolog", "broken"), ("epilog", "dirty")):
        path = cluster.dir / name
        path.write_text(HOOK.format(dir=cluster.dir, name=name, broken=broken))
        path.chmod(0o755)
    cluster.extra = f"Prolog={cluster.dir}/prolog\nEpilog={cluster.dir}/epilog"
    cluster.write_config()
    return cluster.start()


def told(cluster, name, job):
    lines = cluster.wait_file(f"{name}.{job}").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def shown(cluster, job):
    return cluster.run("squeue", "-h", "-j", job, "-o", "%T %r").stdout.strip()


def is_drained(cluster, node, reason="Prolog error"):
    shows = cluster.run("sinfo", "-h", "-n", node, "-o", "%t %E").stdout.strip()
    return shows == f"drain {reason}"


def test_the_programs_are_told_of_the_job(hooked):
    array = hooked.submit("true", "-a", "5", "--gres=gpu:2")
    task = hooked.wait_end(f"{array}_5")["JobId"]
    for name in ("prolog", "epilog"):
        variables = told(hooked, name, task)
        wanted = {"SLURM_JOB_ID": task, "SLURM_ARRAY_JOB_ID": array, "SLURM_ARRAY_TASK_ID": "5",
                  "SLURM_JOB_GPUS": "0,1", "CUDA_VISIBLE_DEVICES": "0,1",
                  "SLURM_JOB_PARTITION": "debug", "SLURM_JOB_NODELIST": "n1",
                  "SLURM_JOB_USER": hooked.user, "SLURM_CLUSTER_NAME": "test",
                  "SLURMD_NODENAME": "n1", "SLURM_SCRIPT_CONTEXT": f"{name}_slurmd"}
        assert {key: variables.get(key) for key in wanted} == wanted


@pytest.mark.parametrize("command", [["srun", "-w", "n1"], ["salloc", "-w", "n1", "srun"]])
def test_they_know_as_much_of_an_interactive_job(hooked, command):
    job = hooked.run(*command, "sh", "-c", "echo $SLURM_JOB_ID").stdout.strip()
    for name in ("prolog", "epilog"):
        variables = told(hooked, name, job)
        assert (variables["SLURM_JOB_PARTITION"], variables["SLURM_JOB_NODELIST"]) == ("debug", "n1")
        assert int(variables["SLURM_JOB_START_TIME"]) > 0


def test_an_epilog_after_a_restart_of_slurmd_knows_as_much(hooked):
    job = hooked.submit("until [ -e go ]; do sleep 0.1; done", "--gres=gpu:1")
    hooked.wait_state(job, "RUNNING")
    hooked.wait_for(lambda: (hooked.dir / "work" / f"slurm-{job}.out").exists(), what="the script")
    hooked.kill("n1")
    hooked.start_node("n1")
    (hooked.dir / "work" / "go").touch()
    assert hooked.wait_end(job)["JobState"] == "COMPLETED"
    variables = told(hooked, "epilog", job)
    assert variables["CUDA_VISIBLE_DEVICES"] == told(hooked, "prolog", job)["CUDA_VISIBLE_DEVICES"]
    assert variables["SLURM_JOB_PARTITION"] == "debug"


def test_a_failed_prolog_drains_the_node_and_holds_the_job(hooked):
    broken = hooked.dir / "work" / "broken.n1"
    broken.touch()
    job = hooked.submit("echo ran", "-w", "n1")
    hooked.wait_for(lambda: shown(hooked, job) == "PENDING launch failed requeued held",
                    what="the job to be held")
    hooked.wait_for(lambda: is_drained(hooked, "n1"), what="n1 to be drained")
    assert hooked.node_state("n2") == "idle"
    assert told(hooked, "epilog", job)["SLURMD_NODENAME"] == "n1"
    broken.unlink()
    hooked.run("scontrol", "update", "NodeName=n1", "State=RESUME")
    hooked.run("scontrol", "release", job)
    ended = hooked.wait_end(job)
    assert ended["JobState"] == "COMPLETED" and ended["Restarts"] == "1"
    assert hooked.output(job) == "ran\n"


def test_a_failed_epilog_drains_the_node_and_the_job_ends_as_it_would(hooked):
    for node in ("n1", "n2"):
        (hooked.dir / "work" / f"dirty.{node}").touch()
    job = hooked.submit("srun true", "-N2", "-n2")
    assert hooked.wait_end(job)["JobState"] == "COMPLETED"
    for node in ("n1", "n2"):
        hooked.wait_for(lambda: is_drained(hooked, node, "Epilog error"), what=f"{node} to be drained")


def test_the_epilog_runs_on_every_node_of_a_job_without_steps(make_cluster):
    cluster = make_cluster(start=False, gpus={"a40": ["n1", "n2"]})
    epilog = cluster.dir / "epilog"
    epilog.write_text(f"#!/bin/sh\nenv > {cluster.dir}/work/epilog.$SLURMD_NODENAME.$SLURM_JOB_ID\n")
    epilog.chmod(0o755)
    cluster.extra = f"Epilog={epilog}"
    cluster.write_config()
    cluster.start()
    job = cluster.submit("true", "-N2", "--gres=gpu:1")
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    for node in ("n1", "n2"):
        variables = told(cluster, f"epilog.{node}", job)
        wanted = {"SLURM_JOB_ID": job, "SLURM_JOB_PARTITION": "debug", "SLURM_JOB_NODELIST": "n[1-2]",
                  "SLURM_JOB_GPUS": "0", "SLURM_JOB_USER": cluster.user, "SLURMD_NODENAME": node}
        assert {key: variables.get(key) for key in wanted} == wanted


def test_with_nohold_a_job_whose_prolog_failed_runs_elsewhere(hooked):
    hooked.extra += "\nSchedulerParameters=nohold_on_prolog_fail"
    hooked.write_config()
    hooked.run("scontrol", "reconfigure")
    (hooked.dir / "work" / "broken.n1").touch()
    hooked.run("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
    job = hooked.submit("true")
    hooked.wait_for(lambda: is_drained(hooked, "n1"), what="n1 to be drained")
    hooked.run("scontrol", "update", "NodeName=n2", "State=RESUME")
    ended = hooked.wait_end(job)
    assert (ended["JobState"], ended["BatchHost"], ended["Restarts"]) == ("COMPLETED", "n2", "1")


def test_jobs_that_cannot_run_again_fail_with_their_prolog(hooked):
    (hooked.dir / "work" / "broken.n1").touch()
    job = hooked.submit("echo ran", "-w", "n1", "--no-requeue")
    ended = hooked.wait_end(job)
    assert ended["JobState"] == "FAILED" and ended["Reason"].startswith("JobLaunchFailure")
    hooked.wait_for(lambda: is_drained(hooked, "n1"), what="n1 to be drained")
    hooked.run("scontrol", "update", "NodeName=n1", "State=RESUME")
    failed = hooked.run("srun", "-w", "n1", "true", check=False)
    assert failed.returncode != 0 and "Job prolog failed" in failed.stderr
    hooked.wait_for(lambda: is_drained(hooked, "n1"), what="n1 to be drained once more")


def test_the_prolog_is_not_run_again_by_a_restarted_slurmd(hooked):
    job = hooked.submit("while [ ! -e prolog-go ]; do sleep 0.05; done; srun echo stepped", "-w", "n1")
    told(hooked, "prolog", job)
    hooked.wait_file(f"prolog.{job}")
    hooked.wait_state(job, "RUNNING")
    hooked.kill("n1")
    (hooked.dir / "work" / f"prolog.{job}").unlink()
    hooked.start_node("n1")
    (hooked.dir / "work" / "prolog-go").touch()
    assert hooked.wait_end(job)["JobState"] == "COMPLETED"
    assert hooked.output(job) == "stepped\n"
    assert not (hooked.dir / "work" / f"prolog.{job}").exists()
