"""Why does it wait: swhy, scontrol show job -d, what --start shows, and refusals with advice."""

import json
import os
import pty

import pytest


def test_swhy_tells_who_holds_what_and_what_would_start_now(make_cluster):
    cluster = make_cluster(nodes=2, gpus={"a40": ["n1"], "h100": ["n2"]})
    first = cluster.submit("sleep 60", "--gres=gpu:a40:2", "--time=10", "--mem=100")
    cluster.wait_state(first, "RUNNING")
    second = cluster.submit("true", "--gres=gpu:a40:2", "--time=30", "--mem=100", "-J", "train")
    why = cluster.run("swhy", second).stdout
    assert why.startswith(f"Job {second} (train, ") and "Resources" in why
    assert "short of  2 GPUs (a40): best node n1 has 0 free" in why
    assert f"held by   job {first} " in why
    assert "--gres=gpu:h100:2" in why.splitlines()[-1]
    shown = cluster.run("scontrol", "show", "job", "-d", second).stdout
    assert "\n     short of  2 GPUs (a40)" in shown and "SchedNodeList=n1" in shown
    assert "short of" not in cluster.run("scontrol", "show", "job", second).stdout
    told = json.loads(cluster.run("swhy", "--json", second).stdout)["jobs"][0]
    assert told["places"][0]["short_of"][0] == {"tres": "gres/gpu:a40", "wanted": 2, "free": 0, "best_node": "n1"}
    assert cluster.run("squeue", "-h", "-O", "SchedNodes:.5", "-j", second).stdout.strip() == "n1"
    assert f"{second} (train) " in cluster.run("swhy").stdout
    assert cluster.run("sinfo", "-h", "-n", "n1", "-o", "%t").stdout.strip() == "mix-"


def test_swhy_of_jobs_that_do_not_wait_or_exist(cluster):
    job = cluster.submit("sleep 60")
    cluster.wait_state(job, "RUNNING")
    assert "does not wait: RUNNING on n1" in cluster.run("swhy", job).stdout
    assert cluster.run("swhy").stdout == "No job of yours waits.\n"
    for bad in ("999", "x", "--nonsense"):
        result = cluster.run("swhy", bad, check=False)
        assert result.returncode == 1 and "swhy: " in result.stderr


def test_a_refusal_says_what_would_be_possible(cluster):
    refused = cluster.run("sbatch", "-c", "99", "--wrap", "true", check=False)
    lines = refused.stderr.splitlines()
    assert lines[0] == "sbatch: error: CPU count per node can not be satisfied"
    assert lines[1] == ("sbatch: error: Batch job submission failed: "
                        "Requested node configuration is not available")
    assert lines[2].startswith("sbatch: nodes of partition ")


def read_until(terminal, text):
    """What a command has printed up to this text; it is an error if it ends before."""
    seen = ""
    while text not in seen:
        seen += os.read(terminal, 4096).decode()
    return seen


@pytest.mark.parametrize("tool", ["srun", "salloc"])
def test_who_waits_at_a_terminal_is_told_which_smaller_request_would_start_now(make_cluster, tool):
    cluster = make_cluster(nodes=1, gpus={"a40": ["n1"]})
    holder = cluster.submit("sleep 1000", "--gres=gpu:1", "--time=30", "--mem=100")
    cluster.wait_state(holder, "RUNNING")
    ours, theirs = pty.openpty()
    waiting = cluster.popen(tool, "--gres=gpu:2", "--mem=100", "--time=10", "true", stdin=theirs, stdout=theirs, stderr=theirs)
    seen = read_until(ours, "; now if --gres=gpu:1 (swhy 2)")
    assert f"{tool}: job 2 queued and waiting for resources" in seen and f"{tool}: job 2 starts about " in seen
    cluster.run("scancel", "2")
    waiting.wait(timeout=60)
    # In a script there is no reader for it.
    quiet = cluster.popen(tool, "--gres=gpu:2", "--mem=100", "--time=10", "true")
    cluster.wait_state("3", "PENDING")
    cluster.run("scancel", holder)
    assert "now if" not in quiet.communicate(timeout=60)[1]
    os.close(ours)
    os.close(theirs)
