"""Jobs that change their size while they run."""

from pathlib import Path


def test_a_job_gives_nodes_up(make_cluster):
    cluster = make_cluster(nodes=3)
    job = cluster.submit(
        "srun -N3 -n3 sh -c 'echo $$ >pid.$SLURMD_NODENAME; exec sleep 1000' &\n"
        "while ! test -e go; do sleep 0.1; done\n"
        "scontrol update JobId=$SLURM_JOB_ID NumNodes=2 || exit 1\n"
        ". ./slurm_job_${SLURM_JOB_ID}_resize.sh\n"
        "echo $SLURM_NNODES $SLURM_JOB_NODELIST ${SLURM_NTASKS-none}\n"
        "srun --overlap sh -c 'echo on $SLURMD_NODENAME'\n"
        "echo yes >done\n"
        "wait", "-N3", "-n3", "-c4")
    pids = [cluster.wait_file(f"pid.n{number}").strip() for number in (1, 2, 3)]
    waiting = cluster.submit("sleep 1000", "-c4")
    (cluster.dir / "work" / "go").touch()
    assert cluster.wait_state(waiting, "RUNNING")["NodeList"] == "n3"
    assert [Path(f"/proc/{pid}").exists() for pid in pids] == [True, True, False]
    cluster.wait_file("done")
    output = cluster.output(job)
    assert "To reset Slurm environment variables, execute\n" in output
    assert "2 n[1-2] none\n" in output and "on n1\n" in output and "on n2\n" in output
    record = cluster.job(job)
    assert (record["NodeList"], record["NumNodes"], record["NumCPUs"]) == ("n[1-2]", "2", "8")
    result = cluster.run("srun", f"--jobid={job}", "--overlap", "-N3", "true", check=False)
    assert result.returncode != 0


def test_the_smaller_job_survives_kill_9(make_cluster):
    cluster = make_cluster(nodes=3)
    job = cluster.submit("sleep 1000", "-N3")
    cluster.wait_state(job, "RUNNING")
    for change, said in (("NumNodes=0", "Node count specification invalid"),
                         ("NumNodes=4", "Job is no longer pending execution"),
                         ("NodeList=n[2-3]", "Invalid node name specified")):
        result = cluster.run("scontrol", "update", f"JobId={job}", change, check=False)
        assert (result.returncode, result.stderr) == (1, f"{said} for job {job}\n")
    cluster.run("scontrol", "update", f"JobId={job}", "NodeList=n[1,3]")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.job(job)["NodeList"] == "n[1,3]"
    other = cluster.submit("true", "--exclusive", "-w", "n2")
    assert cluster.wait_end(other)["JobState"] == "COMPLETED"
    assert cluster.state(job) == "RUNNING"


def test_a_job_takes_over_the_nodes_of_another(make_cluster):
    cluster = make_cluster(nodes=3, extra="SchedulerParameters=permit_job_expansion")
    record, output = cluster.run_job(
        "salloc -N2 -n2 -c4 --dependency=expand:$SLURM_JOB_ID"
        " sh -c 'scontrol update JobId=$SLURM_JOB_ID NumNodes=0' || exit 1\n"
        "scontrol update JobId=$SLURM_JOB_ID NumNodes=ALL || exit 2\n"
        ". ./slurm_job_${SLURM_JOB_ID}_resize.sh\n"
        "echo $SLURM_NNODES $SLURM_JOB_NODELIST $SLURM_JOB_CPUS_PER_NODE\n"
        "srun -N3 -n3 sh -c 'echo on $SLURMD_NODENAME'", "-c4", "-w", "n1")
    assert record["JobState"] == "COMPLETED", output
    assert "3 n[1-3] 4(x3)\n" in output
    assert all(f"on {node}\n" in output for node in cluster.nodes)
    assert (record["NumNodes"], record["NumCPUs"]) == ("3", "12")
    cluster.wait_for(lambda: cluster.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout == "3\n",
                     what="idle nodes")


def test_without_the_setting_jobs_are_not_expanded(shared):
    job = shared.submit("sleep 1000")
    result = shared.run("salloc", f"--dependency=expand:{job}", "true", check=False)
    assert result.returncode != 0 and f"--dependency=expand:{job}" in result.stderr
    shared.run("scancel", job)
    shared.wait_end(job)
