"""Where jobs run: nothing is oversubscribed, demands about nodes are kept."""

import pytest

HOLD = "while [ ! -e {} ]; do sleep 0.05; done"


def nodes_of(cluster, job):
    return cluster.wait_state(job, "RUNNING", "COMPLETED")["NodeList"]


@pytest.mark.parametrize("options, expected", [
    (["-C", "first"], "n1"), (["-w", "n3"], "n3"), (["-x", "n[1-3]"], "n4"),
    (["-N", "2", "-w", "n[2,4]"], "n[2,4]"), (["-N", "4"], "n[1-4]"),
    (["-n", "8", "--ntasks-per-node=2"], "n[1-4]"), (["-C", "last"], "n4")])
def test_demands_about_nodes(shared, options, expected):
    record, _ = shared.run_job("true", *options)
    assert record["JobState"] == "COMPLETED" and record["NodeList"] == expected


@pytest.mark.parametrize("options, running", [
    (["-c", "2"], 2), (["-c", "4"], 1), (["-c", "3"], 1), (["--mem=2000"], 2), (["--mem=3000"], 1),
    (["--mem-per-cpu=1500", "-c", "2"], 1), (["--exclusive"], 1), (["-n", "4"], 1)])
def test_nothing_is_given_out_twice(make_cluster, options, running):
    cluster = make_cluster(nodes=1)
    jobs = [cluster.submit(HOLD.format("go"), *options) for _ in range(4)]
    cluster.wait_for(lambda: cluster.job(jobs[running])["Reason"] in ("Resources", "Priority"),
                     what="the first job that has to wait")
    listed = cluster.run("squeue", "-h", "-t", "R", "-o", "%A").stdout.split()
    assert sorted(listed) == sorted(jobs[:running])
    (cluster.dir / "work" / "go").touch()
    for job in jobs:
        assert cluster.wait_end(job)["JobState"] == "COMPLETED"


def test_an_exclusive_job_shares_with_nobody(make_cluster):
    cluster = make_cluster(nodes=1)
    small = cluster.submit(HOLD.format("first"))
    cluster.wait_state(small, "RUNNING")
    whole = cluster.submit("echo $SLURM_CPUS_ON_NODE", "--exclusive")
    cluster.wait_for(lambda: cluster.job(whole)["Reason"] == "Resources", what="it to wait")
    (cluster.dir / "work" / "first").touch()
    assert cluster.wait_end(whole)["JobState"] == "COMPLETED"
    assert cluster.output(whole) == "4\n"


@pytest.mark.parametrize("options, words", [
    (["-p", "nosuch"], "Invalid partition name specified"),
    (["-C", "nosuch"], "Invalid feature specification"),
    (["-c", "64"], "Requested node configuration is not available"),
    (["--mem=1T"], "Requested node configuration is not available"),
    (["-w", "nosuch"], "Invalid node name specified")])
def test_what_can_never_run_is_refused(shared, options, words):
    result = shared.run("sbatch", *options, "--wrap", "true", check=False)
    assert result.returncode == 1
    assert words in result.stderr


@pytest.mark.parametrize("options, words", [
    (["-c", "64"], "CPU count per node"), (["--mem=1T"], "Memory specification"),
    (["-n2", "--ntasks-per-node=5"], "CPU count per node"), (["--tmp=1T"], "Temporary disk specification"),
    (["--sockets-per-node=9"], "Socket, core and/or thread specification"),
    (["-C", "last", "--mem=1T"], "Memory specification"), (["-N1", "-n5"], "")])
def test_a_refusal_names_what_no_node_has(shared, options, words):
    for tool, failed in (("sbatch", "Batch job submission failed"), ("srun", "Unable to allocate resources"),
                         ("salloc", "Job submit/allocate failed")):
        result = shared.run(tool, *options, *(["--wrap"] if tool == "sbatch" else []), "true", check=False)
        lines = result.stderr.splitlines()
        assert result.returncode == 1
        if words:
            assert lines.pop(0) == f"{tool}: error: {words} can not be satisfied"
        assert lines[0] == f"{tool}: error: {failed}: Requested node configuration is not available"
        assert len(lines) == 2 and lines[1].startswith(f"{tool}: ")


def test_a_job_beyond_the_limits_of_its_partition_waits_or_is_refused(make_cluster):
    small = "PartitionName=small Nodes=ALL Default=YES MaxNodes=1 MaxMemPerNode=1000"
    cluster = make_cluster(partitions=small)
    jobs = {("-N1-2",): "PartitionNodeLimit", ("--mem=1001",): "MaxMemPerLimit", ("--mem=0",): "MaxMemPerLimit"}
    waiting = {cluster.submit("true", *options): reason for options, reason in jobs.items()}
    for job, reason in waiting.items():
        cluster.wait_for(lambda job=job, reason=reason: cluster.job(job)["Reason"] == reason, what=reason)
    cluster.run("scontrol", "update", "PartitionName=small", "MaxNodes=2", "MaxMemPerNode=UNLIMITED")
    for job in waiting:
        assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    strict = make_cluster(partitions=small, extra="EnforcePartLimits=ALL")
    for options, words in ((["-N1-2"], "Node count specification invalid"),
                           (["--mem=1001"], "Memory required by task is not available"),
                           (["-n99"], "More processors requested than permitted")):
        result = strict.run("sbatch", *options, "--wrap", "true", check=False)
        assert result.returncode == 1
        lines = result.stderr.splitlines()
        assert lines[0] == f"sbatch: error: Batch job submission failed: {words}"
        assert lines[1].startswith("sbatch: partition small ") and len(lines) == 2


@pytest.mark.parametrize("options", [["-N", "100"], ["-n", "1000"]])
def test_more_than_the_partition_has_is_refused_or_waits_with_a_reason(shared, options):
    result = shared.run("sbatch", "--parsable", *options, "--wrap", "true", check=False)
    if result.returncode == 0:
        job = result.stdout.strip()
        shared.wait_for(lambda: shared.job(job)["Reason"] not in ("None", "Resources"),
                        what="a reason that says why")
        shared.run("scancel", job)
    else:
        assert result.stderr.startswith("sbatch: error: Batch job submission failed: ")


def test_a_job_that_waits_says_for_what(shared):
    job = shared.submit(HOLD.format("placed"), "-N", "4", "--exclusive")
    shared.wait_state(job, "RUNNING")
    next_job = shared.submit("true")
    last_job = shared.submit("true")
    shared.wait_for(lambda: shared.job(next_job)["Reason"] == "Resources", what="its reason")
    shared.wait_for(lambda: shared.job(last_job)["Reason"] == "Priority", what="its reason")
    (shared.dir / "work" / "placed").touch()
    for job in (next_job, last_job):
        shared.wait_end(job)


@pytest.mark.parametrize("counts, nodes", [("1,3,7", 3), ("2-16:2", 4), ("1,2-16:5", 2), ("4,2", 4)])
def test_a_list_of_node_counts_gives_the_largest_that_there_is(shared, counts, nodes):
    result = shared.run("sbatch", "-N", counts, "--test-only", "--wrap", "true")
    assert f"using {nodes} processors" in result.stderr
    record, output = shared.run_job("echo $SLURM_NNODES; srun -l hostname | wc -l", "-N", counts)
    assert record["NumNodes"] == str(nodes) and output.split() == [str(nodes)] * 2


def test_a_list_of_node_counts_can_be_seen_and_changed(make_cluster):
    cluster = make_cluster()
    job = cluster.submit("srun -N 1,3 true", "-N", "1,5,9", "--hold")
    cluster.kill("slurmctld")
    cluster.start_controller()
    assert cluster.job(job)["NumNodes"] == "1,5,9"
    assert cluster.run("squeue", "-h", "-j", job, "-o", "%D").stdout.strip() == "1"
    cluster.run("scontrol", "update", f"JobId={job}", "NumNodes=2-8:3")
    assert cluster.job(job)["NumNodes"] == "2-8:3"
    for bad in ("2-8:", "x", "0,4", "8-2:2"):
        result = cluster.run("scontrol", "update", f"JobId={job}", f"NumNodes={bad}", check=False)
        assert result.returncode != 0, bad
    cluster.run("scontrol", "release", job)
    record = cluster.wait_end(job)
    assert record["JobState"] == "COMPLETED" and record["NumNodes"] == "2"


@pytest.mark.parametrize("counts", ["1,,2", "2-8:0", "x,1", "9-1:2", ","])
def test_bad_node_counts_are_named(shared, counts):
    result = shared.run("sbatch", "-N", counts, "--wrap", "true", check=False)
    assert result.returncode == 255 and f'"{counts}" is not a valid node count' in result.stderr


def test_threads_can_be_left_to_the_system(make_cluster):
    cluster = make_cluster(extra="AllowSpecResourcesUsage=yes")
    job = cluster.submit("echo $SLURM_CPUS_ON_NODE", "--thread-spec=1")
    assert cluster.wait_end(job)["ThreadSpec"] == "1" and cluster.output(job) == "3\n"
    assert cluster.run("squeue", "-h", "-t", "all", "-j", job, "-o", "%X").stdout.strip() == "1 Threads"
    result = cluster.run("sbatch", "--thread-spec=1", "-S1", "--wrap", "true", check=False)
    assert result.returncode == 1 and "mutually exclusive" in result.stderr
    waiting = cluster.submit("true", "--hold", "-S", "1")
    cluster.run("scontrol", "update", f"JobId={waiting}", "ThreadSpec=2")
    assert cluster.job(waiting)["ThreadSpec"] == "2"


def test_threads_are_not_left_to_the_system_unless_allowed(shared):
    result = shared.run("sbatch", "--thread-spec=1", "-o", "/dev/null", "--wrap", "true")
    assert "Ignoring --thread-spec since it's not allowed" in result.stderr


def test_a_file_names_the_nodes(shared, tmp_path):
    file = tmp_path / "nodes"
    file.write_text("n[2-3]\nn4,\n")
    record, _ = shared.run_job("true", "--nodefile", file)
    assert record["NodeList"] == "n[2-4]"
    file.write_text("\n")
    for option in (f"--nodefile={file}", f"--nodelist={file}", f"--exclude={file}"):
        refused = shared.run("sbatch", option, "--wrap", "true", check=False)
        assert refused.returncode != 0
        assert refused.stderr == f"sbatch: error: Hostlist is empty!\nsbatch: error: {file} names no node\n"
    missing = shared.run("sbatch", "--nodefile=/nonexistent/list", "--wrap", "true", check=False)
    assert missing.returncode != 0 and "/nonexistent/list" in missing.stderr
