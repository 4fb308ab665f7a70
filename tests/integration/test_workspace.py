"""sluice notebook and sluice code, with stand-ins for the servers; sbash; programs of containers."""

import os
import stat


def with_program(cluster, name, body):
    """A program in the PATH of jobs, and the variables for that."""
    tools = cluster.dir / "tools"
    tools.mkdir(exist_ok=True)
    (tools / name).write_text(f"#!/bin/sh\n{body}\n")
    (tools / name).chmod(0o755)
    home = cluster.dir / "work" / "home"
    home.mkdir(exist_ok=True)
    os.chmod(home, 0o777)
    return {"HOME": home, "PATH": f"{tools}:{cluster.environment()['PATH']}"}


def test_a_notebook_is_submitted_once_and_found_again(cluster):
    env = with_program(cluster, "jupyter", 'echo "$JUPYTER_TOKEN $*" > $HOME/jupyter.said; exec sleep 1000')
    first = cluster.run("sluice", "notebook", "-w", "n2", env=env).stdout
    tunnel, url = first.splitlines()
    assert tunnel.startswith("ssh -N -L ") and ":n2:" in tunnel
    job = cluster.run("squeue", "-h", "-o", "%i %j %N").stdout.split()
    assert job[1:] == ["sluice-notebook", "n2"]
    said = cluster.wait_for(lambda: (cluster.dir / "work/home/jupyter.said").exists() and
                            (cluster.dir / "work/home/jupyter.said").read_text().split(), what="jupyter")
    assert url.endswith(f"token={said[0]}")
    address = cluster.dir / "work" / "home" / ".sluice" / f"notebook.{job[0]}"
    assert stat.S_IMODE(address.stat().st_mode) == 0o600
    assert cluster.run("sluice", "notebook", env=env).stdout == first
    cluster.run("sluice", "notebook", "--stop", env=env)
    cluster.wait_end(job[0])
    assert cluster.run("sluice", "notebook", "--stop", env=env, check=False).returncode == 1


def test_code_without_a_server_is_reached_by_ssh(cluster):
    env = with_program(cluster, "other", "true")
    line = cluster.run("sluice", "code", "-w", "n1", env=env).stdout
    assert line.startswith("ssh -J ") and line.endswith("@n1\n")
    cluster.run("sluice", "code", "--stop", env=env)


def test_a_server_that_does_not_start_is_said(cluster):
    """With what it has said itself, and where its output is."""
    env = with_program(cluster, "python3", "echo no python here >&2; kill -9 $SLURM_TASK_PID")
    failed = cluster.run("sluice", "notebook", env=env, check=False)
    log = cluster.dir / "work" / "home" / ".sluice" / "notebook-1.log"
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == f"sluice: error: job 1 has ended: no python here; see {log}"


def test_options_of_sbatch_that_submit_nothing(cluster):
    env = with_program(cluster, "jupyter", "exec sleep 1000")
    assert cluster.run("sluice", "notebook", "--help", env=env).stdout.startswith("Usage: sbatch")
    test_only = cluster.run("sluice", "notebook", "--test-only", env=env)
    assert "to start at" in test_only.stderr and test_only.stdout == ""
    refused = cluster.run("sluice", "notebook", "--gpus=9", env=env, check=False)
    assert refused.returncode == 1 and "Batch job submission failed" in refused.stderr
    assert cluster.run("squeue", "-h").stdout == ""


def test_sbash_gives_a_shell_with_a_gpu(make_cluster):
    cluster = make_cluster(gpus={"a40": ["n1"]})
    run = cluster.run("sbash", "-g", "a40", "-p", "debug", input="echo $SLURM_GPUS_ON_NODE $SLURM_CPUS_PER_TASK\n")
    assert run.stdout.split() == ["1", "2"]
    assert cluster.run("sbash", "-g", "h100", check=False).returncode == 1


def test_a_program_of_containers_runs_in_a_step(make_cluster):
    cluster = make_cluster(gpus={"a40": ["n1"]})
    env = with_program(cluster, "singularity", 'while [ "$1" != docker://ubuntu ]; do shift; done; shift; exec "$@"')
    run = cluster.run("srun", "--gres=gpu:1", "--partition=debug", "singularity", "exec", "--nv", "-B", "/scratch_local",
                      "docker://ubuntu", "echo", "Hello world!", env=env)
    assert run.stdout == "Hello world!\n"
