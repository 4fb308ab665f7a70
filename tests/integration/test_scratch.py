"""$SCRATCH and $SLURM_TMPDIR: a private directory of each job on each of its nodes, gone after the job."""

import os
import pwd
import stat
from pathlib import Path

HOOK = """#!/bin/sh
[ -d "$SCRATCH" ] && ls -A "$SCRATCH" > {dir}/work/{name}.$SLURMD_NODENAME && touch "$SCRATCH/{name}"
[ "$SCRATCH" = "$SLURM_TMPDIR" ]
"""

SHOW = 'echo "$SLURMD_NODENAME $SCRATCH $SLURM_TMPDIR"; ls -A "$SCRATCH"; echo text > "$SCRATCH/$SLURM_STEP_ID.$SLURM_PROCID"'


def bases(cluster):
    return {name: cluster.dir / "scratch" / f"scratch_{name}_{port}"
            for name, port in zip(cluster.nodes, cluster.ports.numbers[1:])}


def left(cluster):
    return [str(path) for base in bases(cluster).values() if base.exists()
            for path in base.rglob("*") if path.name != "removed"]


def wait_removed(cluster):
    cluster.wait_for(lambda: not left(cluster), what="an empty scratch directory")


def test_every_node_of_a_job_has_one_around_its_programs(make_cluster):
    cluster = make_cluster(start=False)
    for name in ("prolog", "epilog"):
        path = cluster.dir / name
        path.write_text(HOOK.format(dir=cluster.dir, name=name))
        path.chmod(0o755)
    cluster.extra = f"Prolog={cluster.dir}/prolog\nEpilog={cluster.dir}/epilog"
    cluster.write_config()
    cluster.start()
    record, output = cluster.run_job(f"{SHOW}\nsrun -l sh -c '{SHOW}'\nsrun -l sh -c '{SHOW}'", "-N2",
                                     "--export=ALL,SCRATCH=/of/the/login/node")
    job = record["JobId"]
    assert record["JobState"] == "COMPLETED"
    paths = {name: base / f"{job}.0" for name, base in bases(cluster).items()}
    lines = output.splitlines()
    assert lines[:2] == [f"n1 {paths['n1']} {paths['n1']}", "prolog"]
    for task, name in ((0, "n1"), (1, "n2")):
        assert lines.count(f"{task}: {name} {paths[name]} {paths[name]}") == 2
        assert f"{task}: 0.{task}" in lines  # the second step finds what the first has left on its node
        assert f"{task}: 0.{1 - task}" not in lines
        found = cluster.wait_file(f"epilog.{name}").split()
        assert sorted(found) == sorted(["prolog", f"0.{task}", f"1.{task}"] + (["-5.0"] if name == "n1" else []))
    wait_removed(cluster)


def test_it_belongs_to_the_user_alone_and_all_that_is_in_it_goes(as_root, cluster):
    outside = cluster.dir / "work" / "outside"
    outside.mkdir()
    (outside / "kept").write_text("text")
    job = cluster.submit(f"""cd $SCRATCH
        stat -c '%U %a' .
        ln -s {outside} link; mkdir -p a/b/c; echo > a/b/c/x; chmod 500 a/b; chmod 0 a/b/c
        mkdir "$(printf 'a\\nb')" ./-rf; echo > "./$(printf '\\377')"
        until [ -e {cluster.dir}/work/go ]; do sleep 0.05; done""", user="nobody")
    cluster.wait_state(job, "RUNNING")
    path = bases(cluster)["n1"] / f"{job}.0"
    cluster.wait_for(lambda: (path / "-rf").exists(), what="the job's files")
    (path / "of root").write_text("text")
    status = path.stat()
    assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (pwd.getpwnam("nobody").pw_uid, 0o700)
    (cluster.dir / "work" / "go").touch()
    assert cluster.wait_end(job)["JobState"] == "COMPLETED"
    assert cluster.output(job) == "nobody 700\n"
    wait_removed(cluster)
    assert (outside / "kept").read_text() == "text"


def test_what_a_job_has_mounted_there_is_unmounted_and_kept(as_root, cluster):
    """Also on the directory itself. An ordinary user can do it by FUSE."""
    outside = cluster.dir / "work" / "outside"
    outside.mkdir()
    (outside / "kept").write_text("text")
    record, _ = cluster.run_job(f"""cd $SCRATCH && mkdir -p a/point bound && mount -t tmpfs none a/point
        echo > a/point/x; mount --bind {outside} bound && mount --bind $SCRATCH $SCRATCH""")
    assert record["JobState"] == "COMPLETED"
    wait_removed(cluster)
    assert str(cluster.dir) not in Path("/proc/self/mounts").read_text()
    assert (outside / "kept").read_text() == "text"


def test_an_allocation_keeps_it_between_its_steps_and_across_a_restart_of_slurmd(cluster):
    allocation = cluster.popen("salloc", "-w", "n1", "sh")

    def say(line):
        allocation.stdin.write(f"{line}; echo done\n")
        allocation.stdin.flush()
        return [text.strip() for text in iter(allocation.stdout.readline, "done\n")]

    say("srun sh -c 'echo text > $SCRATCH/file'")
    leftover = bases(cluster)["n1"] / "9999.0"
    leftover.mkdir()
    (leftover / "file").write_text("of a job that nobody knows")
    cluster.kill("n1")
    cluster.start_node("n1")
    assert say("srun sh -c 'cat $SCRATCH/file'") == ["text"]
    cluster.wait_for(lambda: not leftover.exists(), what="the leftover to go")
    allocation.stdin.close()
    assert allocation.wait(timeout=60) == 0
    wait_removed(cluster)


def test_a_job_that_ended_without_its_slurmd_leaves_nothing(cluster):
    job = cluster.submit("echo text > $SCRATCH/file; until [ -e go ]; do sleep 0.05; done", "-w", "n1")
    path = bases(cluster)["n1"] / f"{job}.0" / "file"
    cluster.wait_for(path.exists, what="the job's file")
    cluster.kill("n1")
    (cluster.dir / "work" / "go").touch()
    cluster.start_node("n1")
    cluster.wait_end(job)
    wait_removed(cluster)


def test_a_disk_without_room_for_it_drains_the_node(cluster):
    base = bases(cluster)["n1"]
    cluster.run_job("true", "-w", "n1")
    if base.exists():
        base.rename(base.with_suffix(".before"))
    base.write_text("in its place")
    job = cluster.submit("true", "-w", "n1")
    cluster.wait_for(lambda: cluster.node_state("n1") == "drain", what="n1 to be drained")
    assert str(base) in cluster.logs()
    cluster.run("scancel", job)
    base.unlink()
    assert cluster.run_job("echo $SCRATCH", "-w", "n2")[1].strip().startswith(str(bases(cluster)["n2"]))


def test_its_free_space_is_shown(cluster):
    def shown():
        words = cluster.run("scontrol", "show", "node", "n1").stdout.split()
        return int(dict(word.split("=", 1) for word in words if "=" in word).get("FreeScratch", 0))

    status = os.statvfs(cluster.dir)
    assert abs(shown() - (status.f_bavail * status.f_frsize >> 20)) < 10000
