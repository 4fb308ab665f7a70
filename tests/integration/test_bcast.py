"""sbcast, srun --bcast and sgather: files between the nodes of a job and the user."""

import os
import signal
import stat
from pathlib import Path

import pytest


@pytest.fixture
def place():
    """A directory that every user can write to, as /tmp of the nodes."""
    path = Path("/tmp") / f"sluice-bcast-{os.getpid()}-{os.urandom(4).hex()}"
    path.mkdir(mode=0o777)
    path.chmod(0o777)
    yield path
    for each in sorted(path.rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() and not each.is_symlink() else each.unlink()
    path.rmdir()


# The nodes of the test cluster share a host: each task moves the copy it finds to a name of its node.
CHECK = "srun -N2 -n2 sh -c 'sha256sum < {0}; stat -c %a {0}; id -u'\n"


def names(place):
    return sorted(each.name for each in place.iterdir())


@pytest.mark.parametrize("options", ["", "-C", "--compress=none -s 64k", "-C -s 4k -t 60 -v", "-F 1 -f"])
def test_a_file_reaches_all_nodes(shared, place, options):
    source = place / "source"
    source.write_bytes(os.urandom(300_000) + b"abc" * 200_000)
    source.chmod(0o640)
    # Both nodes write the same path here: the second link of a name that exists would be refused.
    record, output = shared.run_job(f"sbcast {options} -w n1 {source} {place}/one && sbcast {options} -w n2 {source} "
                                    f"{place}/two && sha256sum {place}/* | cut -c1-64 | uniq | wc -l", "-N2", "-w", "n[1-2]")
    assert record["JobState"] == "COMPLETED" and output.splitlines()[-1] == "1", output
    assert stat.S_IMODE((place / "two").stat().st_mode) == 0o640
    assert names(place) == ["one", "source", "two"]


def test_to_both_nodes_at_once(shared, place):
    """They share the directory: with -f the one replaces the copy of the other."""
    source = place / "source"
    source.write_bytes(os.urandom(2_000_000))
    record, output = shared.run_job(f"sbcast -f {source} {place}/copy && cmp {source} {place}/copy && echo same",
                                    "-N2")
    assert record["JobState"] == "COMPLETED" and output == "same\n"
    assert names(place) == ["copy", "source"]


def test_preserve_keeps_mode_and_times(shared, place):
    source = place / "source"
    source.write_text("x")
    source.chmod(0o751)
    os.utime(source, (1_000_000_000, 1_100_000_000))
    shared.run_job(f"umask 077; sbcast -p -w n1 {source} {place}/kept; sbcast -w n1 {source} {place}/plain", "-wn1")
    kept, plain = (place / "kept").stat(), (place / "plain").stat()
    assert (stat.S_IMODE(kept.st_mode), kept.st_mtime, kept.st_atime) == (0o751, 1_100_000_000, 1_000_000_000)
    assert stat.S_IMODE(plain.st_mode) == 0o700 and plain.st_mtime > 1_200_000_000


def test_what_is_there_stays_without_force(shared, place):
    (place / "source").write_text("new")
    (place / "copy").write_text("old")
    record, output = shared.run_job(f"sbcast {place}/source {place}/copy; echo $?; cat {place}/copy; "
                                    f"sbcast -f {place}/source {place}/copy; echo $?; cat {place}/copy", "-N1")
    assert "REQUEST_FILE_BCAST(" in output and "File exists" in output
    assert [line for line in output.splitlines() if "error" not in line] == ["1", "old0", "new"] or \
        "1\nold" in output and "0\nnew" in output
    assert names(place) == ["copy", "source"]


def test_nothing_is_left_when_a_node_fails(shared, place):
    """The second node finds a directory in the place of the file: nothing appears on the first one either."""
    (place / "source").write_bytes(b"x" * 3_000_000)
    (place / "dir").mkdir()
    _, output = shared.run_job(f"sbcast -f {place}/source {place}/dir; echo $?; sbcast {place}/source {place}/none/x; "
                               "echo $?", "-N2")
    assert "Is a directory" in output and "No such file or directory" in output
    assert names(place) == ["dir", "source"] and names(place / "dir") == []


def test_nothing_is_left_when_it_is_killed(shared, place):
    os.mkfifo(place / "endless")
    (place / "source").write_bytes(b"")
    os.truncate(place / "source", 40_000_000_000)  # takes longer than the test
    job = shared.submit("sleep 1000", "-N2")
    shared.wait_state(job, "RUNNING")
    cast = shared.popen("sbcast", "-j", job, place / "source", place / "copy")
    shared.wait_for(lambda: f"{job}.0" in shared.run("squeue", "-h", "-s", "-o", "%i").stdout, what="the step")
    cast.send_signal(signal.SIGTERM)
    cast.communicate(timeout=60)
    assert cast.returncode != 0
    shared.wait_for(lambda: f"{job}.0" not in shared.run("squeue", "-h", "-s", "-o", "%i").stdout, what="its end")
    shared.run("scancel", job)
    assert names(place) == ["endless", "source"]


def test_it_has_only_the_users_rights(make_cluster, as_root, place):
    cluster = make_cluster()
    (place / "source").write_text("secret")
    (place / "closed").mkdir(mode=0o700)
    (place / "link").symlink_to(place / "closed" / "target")
    _, output = cluster.run_job(f"sbcast {place}/source {place}/closed/x; echo $?; sbcast -f {place}/source {place}/link; "
                                "echo $?", "-N1", "-D", "/tmp", "-o", cluster.dir / "work" / "slurm-%j.out", user="nobody")
    assert "Permission denied" in output
    assert names(place / "closed") == []
    assert not (place / "link").is_symlink() and (place / "link").read_text() == "secret"
    assert (place / "link").stat().st_uid != 0


def test_the_nodes_of_a_step_and_names_that_are_not_absolute(make_cluster, place):
    cluster = make_cluster(extra=f"BcastParameters=DestDir={place},Compression=lz4,send_libs\nBcastExclude=/lib,/usr,/lib64")
    (place / "source").write_text("x")
    job = cluster.submit("srun -N1 -n1 sleep 1000", "-N2")
    cluster.wait_for(lambda: f"{job}.0" in cluster.run("squeue", "-h", "-s", "-o", "%i").stdout, what="the step")
    cluster.run("sbcast", "-j", f"{job}.0", place / "source", "copy")
    assert names(place) == ["copy", "source"]
    missing = cluster.run("sbcast", "-j", f"{job}.7", place / "source", "copy2", check=False)
    assert missing.returncode == 1 and "Invalid job step id" in missing.stderr


def test_a_program_is_sent_and_run(make_cluster, place):
    cluster = make_cluster(extra=f"BcastParameters=DestDir={place}")
    result = cluster.run("srun", "-N2", "-n2", "--bcast", "--compress", "/bin/sh", "-c", "readlink /proc/$$/exe; exit 5", check=False)
    job = result.stdout.split("slurm_bcast_")[1].split(".")[0]
    assert sorted(result.stdout.split()) == [f"{place}/slurm_bcast_{job}.0_n{i}" for i in (1, 2)]
    assert result.returncode == 5
    result = cluster.run("srun", "-N1", f"--bcast={place}/mine", "--send-libs", "--bcast-exclude=NONE", "/bin/sh", "-c",
                         "echo $LD_LIBRARY_PATH; readlink /proc/$$/exe")
    assert result.stdout.splitlines() == [f"{place}/mine_libs", f"{place}/mine"]
    assert any(name.startswith("libc.so") for name in names(place / "mine_libs"))
    result = cluster.run("srun", "-N1", f"--bcast={place}/none/mine", "/bin/sh", "-c", "true", check=False)
    assert result.returncode == 1 and "--bcast: /bin/sh could not be sent" in result.stderr


def test_shared_objects_are_sent_unless_they_are_excluded(make_cluster, place):
    cluster = make_cluster(extra=f"BcastParameters=DestDir={place},send_libs\nBcastExclude=none")
    _, output = cluster.run_job("sbcast /bin/sh with && sbcast --exclude=/lib,/usr/lib,/lib64,/usr/lib64 /bin/sh without && "
                                "sbcast --send-libs=no /bin/sh plain && echo done", "-wn1")
    assert output == "done\n"
    assert any(name.startswith("libc.so") for name in names(place / "with_libs"))
    assert names(place) == ["plain", "with", "with_libs", "without"]


def test_files_come_back_from_each_node(shared, place):
    script = (f"srun -N2 -n2 sh -c 'yes $SLURMD_NODENAME | head -n 200000 > {place}/part.$SLURMD_NODENAME'\n"
              f"sgather -k -C {place}/part.n1 {place}/kept -w n1\nls {place}/part.n1\n"
              f"sgather -w n2 {place}/part.n2 {place}/moved\nls {place}/part.n2\n"
              f"sgather {place}/nothing {place}/x; echo code $?\n")
    _, output = shared.run_job(script, "-N2", "-w", "n[1-2]")
    assert (place / "kept.n1").read_text() == "n1\n" * 200000
    assert (place / "moved.n2").read_text() == "n2\n" * 200000
    assert names(place) == ["kept.n1", "moved.n2", "part.n1"]
    assert "code 1" in output and "No such file or directory" in output


@pytest.mark.parametrize("words, text", [
    (["a"], "Need two file names, have 1 names"), (["a", "b"], "Command only valid from within a Slurm job"),
    (["-j", "x", "a", "b"], "--jobid=x: expected JOB or JOB.STEP"), (["-s", "x", "a", "b"], "--size=x: expected"),
    (["-F", "65", "a", "b"], "--treewidth=65: expected"), (["-t", "0", "a", "b"], "--timeout=0: expected"),
    (["--compress=zip", "a", "b"], "--compress=zip: expected lz4 or none"),
    (["-Z", "a", "b"], "--no-allocation is not supported by Sluice"), (["--send-libs=maybe", "a", "b"], "--send-libs=maybe"),
    (["-j", "999999", "a", "b"], "Invalid job id"),
])
def test_what_it_refuses(shared, words, text):
    result = shared.run("sbcast", *words, check=False)
    assert result.returncode == 1 and text in result.stderr
