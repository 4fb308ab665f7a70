"""Rules of partitions about jobs that leave their GPUs idle, and about jobs that hang. NVML is a stand-in."""

import re

import pytest

from cluster import wait_for
from test_gpu_usage import courses, gpu_cluster, hold, let_go  # noqa: F401

WARN = "GpuIdleWarn=0:02"


def rules(cluster, words):
    """Keys of the partition that all nodes are in."""
    name = cluster.run("sinfo", "-h", "-o", "%R").stdout.split()[0]
    cluster.run("scontrol", "update", f"PartitionName={name}", *words.split())
    return name


def shown(cluster, job):
    return cluster.run("squeue", "-h", "-j", str(job), "-O", "GpuState:8").stdout.strip()


def wait_output(cluster, job, words):
    cluster.wait_file(f"slurm-{job}.out")
    return wait_for(lambda: (lambda text: text if words in text else None)(cluster.output(job)), what=words)


def with_mail(cluster):
    """Mails are written to a file, in place of a mail program."""
    program = cluster.dir / "mail"
    program.write_text(f"#!/bin/sh\necho \"$@\" >>{cluster.dir}/work/mails\n")
    program.chmod(0o755)
    cluster.conf.write_text(cluster.conf.read_text() + f"MailProg={program}\n")
    return cluster.dir / "work" / "mails"


def test_the_user_of_idle_gpus_is_warned_and_nothing_else_happens(gpu_cluster):  # noqa: F811
    cluster = gpu_cluster(start=False)
    mails = with_mail(cluster)
    cluster.start()
    name = rules(cluster, WARN)
    assert "GpuPolicy=GpuIdleWarn=00:00:02,GpuIdlePercent=5,GpuIdleGrace=00:00:00,GpuIdleAction=REPORT" in \
        cluster.run("scontrol", "show", "partition", name).stdout
    cluster.gpus_now.set("n1", 0, percent=90)
    cluster.gpus_now.set("n2", 0, percent=4)
    busy = hold(cluster, "busy", "--gres=gpu:1", "-wn1")
    idle = hold(cluster, "idle", "--gres=gpu:1", "-wn2")
    text = wait_output(cluster, idle, "sluice: warning: its GPUs have been used less than 5 % for ")
    wait_for(lambda: shown(cluster, idle) == "IDLE", what="the flag")
    assert "GpuState=IDLE" in cluster.run("scontrol", "show", "job", str(idle)).stdout and "GpusIdleSince" in cluster.job(idle)
    assert shown(cluster, busy) == "N/A" and "GpusIdleSince" not in cluster.job(busy)
    wait_for(lambda: mails.exists() and f"Job_id={idle} " in mails.read_text(), what="the mail")
    assert f"Job_id={busy} " not in mails.read_text()
    # Used again, the job is as it was; idle again, it is warned again.
    cluster.gpus_now.set("n2", 0, percent=5)
    wait_for(lambda: shown(cluster, idle) == "N/A", what="the end of the warning")
    cluster.gpus_now.set("n2", 0, percent=0)
    wait_for(lambda: cluster.output(idle).count("sluice: warning") == 2, what="the second warning")
    assert text.count("sluice: warning") == 1 and cluster.state(idle) == "RUNNING"
    wait_for(lambda: mails.read_text().count(f"Job_id={idle} ") == 2, what="the second mail")
    let_go(cluster, "busy", busy)
    let_go(cluster, "idle", idle)


@pytest.mark.parametrize("action, state", [("CANCEL", "CANCELLED"), ("REQUEUE", "RUNNING")])
def test_a_job_that_leaves_its_gpus_idle_is_ended(gpu_cluster, action, state):  # noqa: F811
    cluster = gpu_cluster()
    rules(cluster, f"{WARN} GpuIdleGrace=0:01 GpuIdleAction={action}")
    job = hold(cluster, "never", "--gres=gpu:1", "--requeue", before="touch run-$SLURM_RESTART_COUNT\n")
    if action == "CANCEL":
        assert cluster.wait_end(job)["JobState"] == state
        assert f"sluice: job {job} is cancelled: its GPUs have been used less than 5 %" in cluster.output(job)
    else:
        wait_for(lambda: cluster.job(job)["Restarts"] != "0", what="the requeue")
        cluster.run("scancel", str(job))
        cluster.wait_end(job)



def test_an_allocation_without_a_step_is_idle(gpu_cluster):  # noqa: F811
    cluster = gpu_cluster()
    rules(cluster, f"{WARN} GpuIdleGrace=0:01 GpuIdleAction=CANCEL")

    def allocate(*options):
        return re.search(r"Granted job allocation (\d+)", cluster.run("salloc", "--no-shell", "-wn1", *options).stderr)[1]

    job, without = allocate("--gres=gpu:1"), allocate()
    assert cluster.wait_end(job)["JobState"] == "CANCELLED"
    assert cluster.state(without) == "RUNNING"
    cluster.run("scancel", without)


def test_jobs_of_an_exempt_qos_are_left_alone(gpu_cluster):  # noqa: F811
    cluster = gpu_cluster(extra="QOS=long\n")
    rules(cluster, f"{WARN} GpuIdleExemptQos=long")
    exempt = hold(cluster, "exempt", "--gres=gpu:1", "--qos=long", "-wn1")
    idle = hold(cluster, "idle", "--gres=gpu:1", "-wn1")
    wait_for(lambda: shown(cluster, idle) == "IDLE", what="the flag")
    assert shown(cluster, exempt) == "N/A" and "sluice: warning" not in cluster.output(exempt)
    let_go(cluster, "exempt", exempt)
    let_go(cluster, "idle", idle)


@pytest.mark.parametrize("words", ["GpuIdlePercent=101", "GpuIdleAction=STOP", "GpuIdleWarn=soon"])
def test_bad_rules_are_refused(shared, words):
    name = shared.run("sinfo", "-h", "-o", "%R").stdout.split()[0]
    refused = shared.run("scontrol", "update", f"PartitionName={name}", words, check=False)
    assert refused.returncode != 0 and words.split("=")[0] in refused.stderr


def test_a_job_that_hangs_is_reported_with_its_stacks(gpu_cluster):  # noqa: F811
    cluster = gpu_cluster(start=False)
    spy = cluster.dir / "spy"
    spy.write_text("#!/bin/sh\n[ \"$1 $2\" = 'dump --pid' ] && echo \"stack of $3: $(id -u)\" && cat /proc/$3/comm\n")
    spy.chmod(0o755)
    cluster.conf.write_text(cluster.conf.read_text() + f"StackDumpProgram={spy}\n")
    cluster.start()
    rules(cluster, "GpuHungWarn=0:03")
    for gpu in (0, 1):
        cluster.gpus_now.set("n1", gpu, percent=100)
    quiet = cluster.submit("sleep 1000", "--gres=gpu:1", "-wn1")
    works = hold(cluster, "works", "--gres=gpu:1", "-wn1")  # its shell looks for a file all the time
    text = wait_output(cluster, quiet, "stack of ")
    assert "sluice: warning: it seems to hang: its GPUs have been equally busy for " in text and "sleep" in text
    wait_for(lambda: shown(cluster, quiet) == "HUNG", what="the flag")
    assert cluster.state(quiet) == "RUNNING" and "hang" not in cluster.output(works)
    # It goes on: nothing is wrong any more.
    cluster.gpus_now.set("n1", 0, percent=50)
    wait_for(lambda: shown(cluster, quiet) == "N/A", what="the end of the warning")
    cluster.run("scancel", str(quiet))
    let_go(cluster, "works", works)
