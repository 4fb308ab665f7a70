"""The disk of a node: ScratchQuota ends jobs that use too much of it, --tmp chooses nodes that have enough."""

import subprocess


def record_of(cluster, job):
    return cluster.run("scontrol", "show", "job", job).stdout


FILL = "head -c {}000000 /dev/zero > $SCRATCH/big; echo x > written.$SLURM_PROCID; sleep 600"


def test_a_job_that_fills_the_disk_is_ended_with_a_reason(make_cluster):
    cluster = make_cluster(extra="ScratchQuota=10\nKillWait=2", nodes=1)
    small = cluster.submit(FILL.format(8).replace("written", "small"), "-n1")
    job = cluster.submit(FILL.format(12), "-n1")
    record = cluster.wait_end(job, timeout=90)
    assert record["JobState"] == "FAILED"
    assert "DataProblem=12 MB in $SCRATCH on n1, ScratchQuota is 10 MB" in record_of(cluster, job)
    assert "ScratchQuota is 10 MB" in cluster.output(job)
    assert cluster.state(small) == "RUNNING" and "DataProblem" not in record_of(cluster, small)
    cluster.run("scancel", small)
    cluster.wait_end(small)


def test_on_a_node_without_the_script_the_step_is_ended(make_cluster):
    cluster = make_cluster(extra="ScratchQuota=10M\nKillWait=2")
    job = cluster.submit(f"srun -n1 -N1 -w n2 sh -c '{FILL.format(12)}'; echo step gave $?; exit 7", "-N2")
    record = cluster.wait_end(job, timeout=90)
    assert record["ExitCode"] == "7:0" and "step gave 143" in cluster.output(job), cluster.output(job)
    assert "12 MB in $SCRATCH on n2" in record_of(cluster, job)


def test_the_quota_follows_slurm_conf(make_cluster):
    cluster = make_cluster(nodes=1)
    job = cluster.submit(FILL.format(12), "-n1")
    cluster.wait_file("written.0")
    cluster.extra = "ScratchQuota=10\nKillWait=2"
    cluster.write_config()
    cluster.run("scontrol", "reconfigure")
    assert cluster.wait_end(job, timeout=90)["JobState"] == "FAILED"
    assert "ScratchQuota" in record_of(cluster, job)


def test_staged_files_are_the_nodes_own(as_root, make_cluster):
    """They are shared with the cache, so they do not count for the job; what it writes does."""
    cluster = make_cluster(extra="ScratchQuota=10\nKillWait=2", nodes=1)
    source = cluster.dir / "work" / "data"
    source.write_bytes(b"x" * 12_000_000)
    staged = cluster.submit("cmp data $SCRATCH/data && echo x > same; sleep 600", "-n1", f"--stage-in={source}", user="nobody")
    cluster.wait_file("same")
    job = cluster.submit(FILL.format(12), "-n1", user="nobody")  # measured after the first one
    assert cluster.wait_end(job, timeout=90)["JobState"] == "FAILED" and "ScratchQuota" in record_of(cluster, job)
    assert cluster.state(staged) == "RUNNING" and "DataProblem" not in record_of(cluster, staged)
    cluster.run("scancel", staged)
    cluster.wait_end(staged)


def test_tmp_chooses_a_node_with_enough_disk(make_cluster):
    cluster = make_cluster(node_extra={"n1": "", "n2": "TmpDisk=100"})
    shown = cluster.run("scontrol", "show", "node", "n2").stdout
    assert "TmpDisk=100" in shown and "FreeScratch=" in shown
    for demand, node in (("100", "n2"), ("99M", "n2")):
        record, _ = cluster.run_job("true", f"--tmp={demand}")
        assert record["NodeList"] == node
    refused = cluster.run("sbatch", "--tmp=101", "--wrap=true", check=False)
    assert refused.returncode != 0


def test_the_disk_of_scratch_directories_is_compared_with_slurm_conf(as_root, make_cluster):
    """Not that of TmpFS, which is another one here."""
    cluster = make_cluster(start=False, cpus=1, node_extra={"n1": "TmpDisk=60", "n2": "TmpDisk=40"})
    disk = cluster.dir / "scratch"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=50m", "none", disk], check=True)
    try:
        cluster.conf.write_text(cluster.conf.read_text().replace("SlurmdParameters=config_overrides\n", ""))
        cluster.start_controller()
        cluster.start_node("n2")
        assert cluster.run_job("echo $SLURMD_NODENAME", "--tmp=40")[1] == "n2\n"
        cluster.start_node("n1", wait=False)
        cluster.wait_for(lambda: "Low TmpDisk" in cluster.run("scontrol", "show", "node", "n1").stdout, what="the reason")
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
