"""--stage-in: datasets are in $SCRATCH of each node before the job starts, and in the cache of the node."""

import contextlib
import os
import pwd
import re
import stat
import signal
import subprocess
import time

import pytest
import wire
from cluster import default_prefix, wait_for

CACHE = "DataCacheSize=1G"


def make_source(cluster, name="set", files=30):
    """A tree as users have them: directories, small and large files, links, holes, strange names."""
    top = cluster.dir / "work" / name
    (top / "a" / "b").mkdir(parents=True)
    (top / "empty").mkdir()
    for i in range(files):
        (top / "a" / f"{i}.bin").write_bytes(os.urandom(2000 + 37 * i))
    (top / "a" / "b" / "large").write_bytes(os.urandom(9 << 20) + b"end")
    (top / "none").touch()
    (top / "line\nbreak").write_text("1")
    (top / "ünï \N{SNOWMAN}").write_text("2")
    (top / "link").symlink_to("a/0.bin")
    (top / "up").symlink_to("a/b/../1.bin")
    program = top / "program"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    with open(top / "sparse", "wb") as file:
        file.truncate(200 << 20)
        file.seek(100 << 20)
        file.write(b"in the middle")
    return top


def same(source, name="set"):
    return f"diff -r --no-dereference {source} $SCRATCH/{name} && echo same on $SLURMD_NODENAME"


def cache_of(cluster, node="n1"):
    number = cluster.ports.numbers[1 + cluster.nodes.index(node)]
    return cluster.dir / "scratch" / f"cache_{node}_{number}"


def entries(cluster, node="n1"):
    return sorted(path.name for path in (cache_of(cluster, node) / "entries").glob("*"))


def left(cluster, node="n1"):
    """What is there that belongs to no whole copy."""
    cache = cache_of(cluster, node)
    paths = [path for folder in ("partial", "pins") for path in (cache / folder).glob("*")]
    return paths + [path for path in (cluster.dir / "scratch").glob("scratch_*/*") if path.name != "removed"]


def wait_clean(cluster, *nodes):
    for node in nodes or cluster.nodes:
        cluster.wait_for(lambda: not left(cluster, node), what=f"nothing left of the job: {left(cluster, node)}")


@pytest.fixture
def staging(make_cluster):
    return make_cluster(extra=CACHE)


def test_a_directory_is_on_each_node_before_the_script_starts(staging):
    source = make_source(staging)
    record, output = staging.run_job(f"srun -N2 bash -c '{same(source)}'; $SCRATCH/set/program; du -k $SCRATCH/set/sparse",
                                     "-N2", f"--stage-in={source}")
    assert record["JobState"] == "COMPLETED", output
    lines = output.splitlines()
    assert sorted(lines[:2]) == ["same on n1", "same on n2"]
    assert lines[2] == "ran"
    assert int(lines[3].split()[0]) < 1024  # holes stay holes
    assert record["StageIn"] == f"{source}:set"
    assert len(entries(staging, "n1")) == len(entries(staging, "n2")) == 1
    wait_clean(staging)


def test_files_and_names_of_ones_own(staging):
    source = make_source(staging)
    record, output = staging.run_job(
        f"cmp {source}/a/0.bin $SCRATCH/0.bin && cmp {source}/program $SCRATCH/mine && $SCRATCH/mine && {same(source, 'other')}",
        f"--stage-in={source}/a/0.bin", f"--stage-in={source}/program:mine", f"--stage-in={source}/:other")
    assert output.splitlines() == ["ran", "same on n1"]
    assert record["StageIn"] == f"{source}/a/0.bin:0.bin,{source}/program:mine,{source}:other"


def test_srun_and_salloc_wait_for_it_too(staging):
    source = make_source(staging)
    for tool in (["srun", "-N2", f"--stage-in={source}"], ["salloc", "-N2", f"--stage-in={source}", "srun"]):
        done = staging.run(*tool, "bash", "-c", same(source))
        assert sorted(done.stdout.split("\n")[:2]) == ["same on n1", "same on n2"], done.stderr


def test_the_second_job_on_a_node_is_served_by_the_cache(staging):
    source = make_source(staging)
    staging.run_job("true", "-wn1", f"--stage-in={source}")
    inode = (next((cache_of(staging) / "entries").iterdir()) / "data" / "none").stat().st_ino
    record, output = staging.run_job(f"{same(source)}; stat -c %i $SCRATCH/set/none", "-wn1", f"--stage-in={source}")
    assert output.splitlines() == ["same on n1", str(inode)]
    assert record["StageRead"] == "0" and int(record["StageBytes"]) == int(record["StageTotal"]) > 0
    assert len(entries(staging)) == 1


def test_a_source_that_has_changed_is_read_again(staging):
    source = make_source(staging)
    staging.run_job("true", "-wn1", f"--stage-in={source}")
    (source / "a" / "0.bin").write_bytes(b"new content")
    record, output = staging.run_job(same(source), "-wn1", f"--stage-in={source}")
    assert output == "same on n1\n"
    assert int(record["StageRead"]) > 0


def test_a_job_cannot_change_the_cache(as_root, staging):
    source = make_source(staging)
    staging.run_job("true", "-wn1", f"--stage-in={source}", user="nobody")
    record, output = staging.run_job(
        f"""cd $SCRATCH/set
        for file in a/0.bin a/b/large program; do chmod u+w $file; echo x >> $file; rm -f $file; done
        mkdir own; echo mine > own/file; ls {cache_of(staging)}""", "-wn1", f"--stage-in={source}", user="nobody")
    assert "Operation not permitted" in output and "Permission denied" in output
    assert staging.run_job(same(source), "-wn1", f"--stage-in={source}", user="nobody")[1] == "same on n1\n"
    assert stat.S_IMODE(cache_of(staging).stat().st_mode) == 0o700


def test_only_users_who_may_read_the_source_get_it(as_root, staging):
    source = make_source(staging)
    owner = pwd.getpwnam("games")
    subprocess.run(["chown", "-R", f"{owner.pw_uid}:{owner.pw_gid}", source], check=True)
    (source / "a" / "0.bin").chmod(0o600)
    assert staging.run_job(same(source), "-wn1", f"--stage-in={source}", user="games")[1] == "same on n1\n"
    assert len(entries(staging)) == 1
    record, output = staging.run_job("echo started", "-wn1", f"--stage-in={source}", user="nobody")
    assert record["JobState"] == "FAILED" and record["Reason"].startswith("StageInFailed,")
    assert f"{source}/a/0.bin: Permission denied" in output and "started" not in output


@pytest.mark.parametrize("what, why", [("missing", "No such file or directory"), ("pipe", "no file and no directory"),
                                       ("tree", "the symbolic link leads out of the tree"),
                                       ("tree2", "it is no file, directory or link")])
def test_a_source_that_cannot_be_staged_fails_the_job_with_its_name(staging, what, why):
    work = staging.dir / "work"
    os.mkfifo(work / "pipe")
    for name in ("tree", "tree2"):
        (work / name).mkdir()
    (work / "tree" / "out").symlink_to("../pipe")
    os.mkfifo(work / "tree2" / "pipe")
    record, output = staging.run_job("echo started", "-N2", f"--stage-in={work}/{what}")
    assert record["JobState"] == "FAILED"
    assert record["Reason"].startswith("StageInFailed,") and f"{work}/{what}" in record["Reason"]
    assert re.search(f"stage-in on node n[12]: {work}/{what}", output) and why in output and "started" not in output
    assert staging.node_states() == {"n1": "idle", "n2": "idle"}
    wait_clean(staging)


@pytest.mark.parametrize("value, why", [("", "a source is missing"), ("/", "root directory"), ("/a:b/c", "no name"),
                                        ("/a:..", "no name"), ("/a:b,steam", "only ,stream can follow"), (":name", "a source is missing")])
def test_values_that_are_refused(shared, value, why):
    done = shared.run("sbatch", f"--stage-in={value}", "--wrap=true", check=False)
    assert done.returncode != 0 and "--stage-in" in done.stderr and why in done.stderr


def test_the_same_name_twice_is_refused(shared):
    done = shared.run("sbatch", "--stage-in=/a/x", "--stage-in=/b/x", "--wrap=true", check=False)
    assert done.returncode != 0 and "$SCRATCH/x has a source already" in done.stderr


# ---- the cache

def test_the_cache_keeps_what_fits(make_cluster):
    cluster = make_cluster(extra="DataCacheSize=20M")
    sources = [make_source(cluster, f"set{i}") for i in range(3)]  # 9 MB each on the disk
    for source in (sources[0], sources[1], sources[0], sources[2]):
        cluster.run_job("true", "-wn1", f"--stage-in={source}")
    cluster.wait_for(lambda: len(entries(cluster)) == 2, what="the copy that was used longest ago to go")
    for source, is_kept in ((sources[0], True), (sources[2], True), (sources[1], False)):
        record, _ = cluster.run_job("true", "-wn1", f"--stage-in={source}")
        assert (record["StageRead"] == "0") == is_kept, source


def test_without_a_size_nothing_is_kept_but_jobs_share(cluster):
    source = make_source(cluster)
    go = cluster.dir / "work" / "go"
    first = cluster.submit(f"until [ -e {go} ]; do sleep 0.05; done", "-wn1", f"--stage-in={source}")
    cluster.wait_state(first, "RUNNING")
    record, output = cluster.run_job(same(source), "-wn1", f"--stage-in={source}")
    assert output == "same on n1\n" and record["StageRead"] == "0"
    assert len(entries(cluster)) == 1  # the first job still has it
    go.touch()
    cluster.wait_end(first)
    cluster.wait_for(lambda: not entries(cluster), what="the copy to go with its last job")


def test_a_cache_elsewhere(make_cluster):
    cluster = make_cluster(start=False)
    place = cluster.dir / "cache" / "%n"
    cluster.extra = f"{CACHE}\nDataCacheDir={place}"
    cluster.write_config()
    cluster.start()
    source = make_source(cluster)
    assert cluster.run_job(same(source), "-wn2", f"--stage-in={source}")[1] == "same on n2\n"
    assert len(list((cluster.dir / "cache" / "n2" / "entries").iterdir())) == 1


def test_a_cache_on_another_file_system(as_root, make_cluster):
    """The job gets copies, which are its user's, also of a stream."""
    cluster = make_cluster(start=False)
    disk = cluster.dir / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200m", "none", disk], check=True)
    try:
        cluster.extra = f"{CACHE}\nDataCacheDir={disk}/%n"
        cluster.write_config()
        cluster.start()
        source = make_source(cluster)
        shards = cluster.dir / "work" / "shards"
        shards.mkdir()
        (shards / "small").write_text("small")
        for i in range(3):
            (shards / str(i)).write_bytes(os.urandom(9 << 20))
        wait = "while [ -e $SCRATCH/shards/.sluice-staging ]; do sleep 0.05; done"
        body = f"{wait}; {same(source)}; {same(shards, 'shards')}; stat -c '%U %a %h' $SCRATCH/shards/1 $SCRATCH/set/a/0.bin"
        for _ in range(2):  # copied, and from the cache
            record, output = cluster.run_job(body, "-wn2", f"--stage-in={source}", f"--stage-in={shards},stream", user="nobody")
            assert output == "same on n2\nsame on n2\n" + 2 * "nobody 444 1\n", output
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.mark.parametrize("damage", ["content", "size", "missing", "index", "pieces"])
def test_a_damaged_copy_is_made_again(staging, damage):
    source = make_source(staging)
    staging.run_job("true", "-wn1", f"--stage-in={source}")
    copy = next((cache_of(staging) / "entries").iterdir())
    path = {"index": copy / "index", "pieces": copy / "pieces"}.get(damage, copy / "data" / "a" / "b" / "large")
    os.chmod(path, 0o600)
    if damage == "missing":
        path.unlink()
    else:
        with open(path, "r+b") as file:
            if damage == "size":
                file.truncate(1000)
            elif damage == "pieces":
                file.truncate(8)
            else:
                file.seek(100)
                byte = file.read(1)
                file.seek(100)
                file.write(bytes([byte[0] ^ 1]))
    record, output = staging.run_job(same(source), "-wn1", f"--stage-in={source}")
    assert output == "same on n1\n" and int(record["StageRead"]) > 0
    assert len(entries(staging)) == 1


def test_after_a_restart_of_the_machine_all_checksums_are_compared(staging):
    """A byte that has changed without a trace in the inode: only the checksum tells."""
    source = make_source(staging)
    staging.run_job("true", "-wn1", f"--stage-in={source}")
    copy = next((cache_of(staging) / "entries").iterdir())
    large = copy / "data" / "a" / "b" / "large"
    times = large.stat()
    os.chmod(large, 0o600)
    with open(large, "r+b") as file:
        file.write(b"wrong")
    os.utime(large, ns=(times.st_atime_ns, times.st_mtime_ns))
    forget_boot(copy)
    record, output = staging.run_job(same(source), "-wn1", f"--stage-in={source}")
    assert output == "same on n1\n" and int(record["StageRead"]) > 0
    forget_boot(next((cache_of(staging) / "entries").iterdir()))  # a good copy stays
    record, output = staging.run_job(same(source), "-wn1", f"--stage-in={source}")
    assert output == "same on n1\n" and record["StageRead"] == "0"


def forget_boot(copy):
    """Writes another boot id of the same length into the index, with the checksum at its end."""
    boot = open("/proc/sys/kernel/random/boot_id", "rb").read().strip()
    text = (copy / "index").read_bytes()[:-4]
    assert boot in text
    text = text.replace(boot, b"0" * len(boot))
    (copy / "index").write_bytes(text + crc32c(text).to_bytes(4, "little"))


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


# ---- peers

def test_two_nodes_read_a_source_once(staging):
    source = make_source(staging, files=400)
    record, output = staging.run_job(f"srun -N2 bash -c '{same(source)}'", "-N2", f"--stage-in={source}")
    assert sorted(output.split("\n")[:2]) == ["same on n1", "same on n2"]
    size = int(record["StageTotal"]) // 2
    assert int(record["StageBytes"]) == 2 * size
    assert size <= int(record["StageRead"]) <= 1.5 * size


def test_a_node_gets_data_from_the_cache_of_another_one(staging):
    source = make_source(staging)
    staging.run_job("true", "-wn1", f"--stage-in={source}")
    record, output = staging.run_job(same(source), "-wn2", f"--stage-in={source}")
    assert output == "same on n2\n" and record["StageRead"] == "0"


def test_swhy_says_where_the_data_is(staging):
    source = make_source(staging)
    staging.run_job("true", "-wn2", f"--stage-in={source}")
    blocker = staging.submit("sleep 60", "-N2", "--exclusive")
    staging.wait_state(blocker, "RUNNING")
    job = staging.submit("true", f"--stage-in={source}", f"--stage-in={source}/none")
    lines = [line.strip() for line in staging.run("swhy", job).stdout.splitlines()]
    assert "data      1 of 2 datasets on n2, which is preferred" in lines, lines
    staging.cancel_all()


def test_wrong_bytes_of_a_peer_are_noticed(staging):
    source = make_source(staging)
    staging.run_job("true", "-wn1", f"--stage-in={source}")
    copy = next((cache_of(staging) / "entries").iterdir())
    for path in (copy / "data" / "a").glob("*.bin"):
        os.chmod(path, 0o600)
        path.write_bytes(bytes(path.stat().st_size))
    record, output = staging.run_job(same(source), "-wn2", f"--stage-in={source}")
    assert output == "same on n2\n"
    assert 0 < int(record["StageRead"]) < int(record["StageTotal"])  # the rest came from n1


def test_only_daemons_get_pieces(as_root, staging):
    """A user connects as srun does, and names a node; root too, but without what the controller has signed."""
    question = wire.field(330, wire.field(1, b"forged") + wire.field(2, "n2"))
    for user, expected in (("nobody", "only other nodes"), ("root", "no launch credential")):
        done = staging.run("/usr/bin/python3", "-c", ASK, str(staging.ports.numbers[1]), question.hex(), user=user)
        assert expected in done.stdout, done.stdout + done.stderr


ASK = """import socket, sys
peer = socket.socket(socket.AF_UNIX)
peer.connect(chr(0) + "sluice.slurmd." + sys.argv[1])
for message in ("08021002", sys.argv[2]):  # Hello: version 2, channel Step
    peer.sendall((len(message) // 2).to_bytes(4, "little") + bytes.fromhex(message))
peer.shutdown(socket.SHUT_WR)
print(peer.makefile("rb").read())
"""


def test_a_job_goes_to_the_node_that_has_its_data(staging):
    source = make_source(staging)
    staging.run_job("true", "-wn2", f"--stage-in={source}")
    for expected, option in (("n2", [f"--stage-in={source}"]), ("n1", [])):
        assert staging.run_job("true", *option)[0]["NodeList"] == expected


# ---- shards that arrive while the job runs

def test_a_job_starts_with_the_first_shard_and_gets_the_others(staging):
    source = staging.dir / "work" / "shards"
    source.mkdir()
    (source / "manifest").write_text("small")
    for i in range(40):
        (source / f"{i:02}").write_bytes(bytes([i + 1]) * (10 << 20))
    job = staging.submit(f"ls -A $SCRATCH/shards; while [ -e $SCRATCH/shards/.sluice-staging ]; do sleep 0.05; done; {same(source, 'shards')}",
                         "-wn1", f"--stage-in={source},stream")
    title = f"sluice-stage: [{job}]"
    tree = staging.dir / "scratch" / f"scratch_n1_{staging.ports.numbers[1]}" / f"{job}.0" / "shards"

    def tell(number):
        for pid in processes(title):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def pulse():  # it works in short pulses, so that it does not get far between two looks
        tell(signal.SIGCONT)
        time.sleep(0.003)
        tell(signal.SIGSTOP)

    def has_first():
        pulse()
        return tree.exists() and any(tree.glob("[0-9]*"))

    staging.wait_for(has_first, what="the first shard")
    assert (tree / ".sluice-staging").exists() and len(list(tree.glob("[0-9]*"))) < 40

    printed = staging.dir / "work" / f"slurm-{job}.out"

    def has_looked():
        pulse()
        return printed.exists() and printed.read_text()

    # Few pulses: the report of the first shard takes some, the start of the job only time.
    wait_for(has_looked, what="the job to look", interval=0.2)
    assert staging.state(job) == "RUNNING"
    tell(signal.SIGCONT)
    assert staging.wait_end(job)["JobState"] == "COMPLETED"
    lines = staging.output(job).splitlines()
    assert ".sluice-staging" in lines and "manifest" in lines and lines[-1] == "same on n1"
    wait_clean(staging)


def test_a_restarted_slurmd_goes_on_with_a_stream(staging):
    source = staging.dir / "work" / "shards"
    source.mkdir()
    for i in range(60):
        (source / f"{i:02}").write_bytes(bytes([i + 1]) * (10 << 20))
    job = staging.submit(f"echo > {staging.dir}/work/runs; while [ -e $SCRATCH/shards/.sluice-staging ]; do sleep 0.05; done; {same(source, 'shards')}",
                         "-wn1", f"--stage-in={source},stream")
    staging.wait_file("runs")
    staging.kill("n1")
    staging.start_node("n1")
    assert staging.wait_end(job)["JobState"] == "COMPLETED"
    assert staging.output(job) == "same on n1\n"
    wait_clean(staging)


READ = """import sys
from sluice_data import Dataset
dataset = Dataset(sys.argv[1], wait=60)
print(sum(1 for sample in dataset), "samples")
"""


def test_a_job_reads_shards_as_they_arrive(staging):
    folder = staging.dir / "work" / "images"
    for label in ("a", "b"):
        (folder / label).mkdir(parents=True)
        for i in range(30):
            (folder / label / f"{i}.jpg").write_bytes(os.urandom(1 << 20))
    packed = staging.dir / "work" / "packed"
    staging.run("sdata", "pack", "--shard-size=12M", str(folder), str(packed))
    shards = sorted(packed.glob("*.tfrecord"))
    assert len(shards) > 3
    program = staging.dir / "work" / "read.py"
    program.write_text(READ)
    path = default_prefix() / "lib" / "python3" / "dist-packages"
    record, output = staging.run_job(f"PYTHONPATH={path} /usr/bin/python3 {program} $SCRATCH/packed; ls -A $SCRATCH/packed | wc -l",
                                     f"--stage-in={packed},stream")
    assert output.splitlines()[0] == "60 samples", output
    assert staging.run_job("ls -A $SCRATCH/packed", f"--stage-in={packed},stream")[1].split() == sorted(
        path.name for path in packed.iterdir())  # from the cache: nothing is to come


def test_a_stream_needs_files_only(staging):
    source = make_source(staging)
    record, output = staging.run_job("true", f"--stage-in={source},stream")
    assert record["Reason"].startswith("StageInFailed,") and "stream needs a directory of files" in output


# ---- faults

def processes(name="sluice-stage"):
    found = []
    for path in os.listdir("/proc"):
        try:
            if path.isdigit() and open(f"/proc/{path}/cmdline", "rb").read().startswith(name.encode()):
                found.append(int(path))
        except OSError:
            continue
    return found


def slow_source(cluster):
    """A source that takes a while: many files."""
    top = cluster.dir / "work" / "slow"
    for folder in range(60):
        (top / str(folder)).mkdir(parents=True)
        for i in range(100):
            (top / str(folder) / str(i)).write_bytes(b"x" * (20000 + i))
    return top


def wait_staging(cluster, job):
    cluster.wait_for(lambda: cluster.job(job).get("StageState") in ("LISTING", "STAGING")
                     or any((cache_of(cluster) / "partial").glob("*")), what="the job to stage")


def test_nothing_is_left_of_a_job_that_is_cancelled_while_it_stages(staging):
    source = slow_source(staging)
    job = staging.submit("true", "-N2", f"--stage-in={source}")
    wait_staging(staging, job)
    staging.run("scancel", job)
    assert staging.wait_end(job)["JobState"] in ("CANCELLED", "COMPLETED")
    wait_clean(staging)
    assert staging.run_job(f"srun -N2 bash -c '{same(source, 'slow')}'", "-N2", f"--stage-in={source}")[0]["JobState"] == "COMPLETED"


def test_a_killed_slurmd_begins_again(staging):
    source = slow_source(staging)
    job = staging.submit(same(source, "slow"), "-wn1", f"--stage-in={source}")
    wait_staging(staging, job)
    staging.kill("n1")
    staging.start_node("n1")
    assert staging.wait_end(job)["JobState"] == "COMPLETED"
    assert staging.output(job) == "same on n1\n"
    wait_clean(staging, "n1")


def test_a_killed_program_fails_the_job(staging):
    source = slow_source(staging)
    job = staging.submit("true", "-wn1", f"--stage-in={source}")
    title = f"sluice-stage: [{job}]"
    staging.wait_for(lambda: processes(title), what="sluice-stage")
    for pid in processes(title):
        os.kill(pid, 9)
    record = staging.wait_end(job)
    assert record["JobState"] == "FAILED" and record["Reason"].startswith("StageInFailed,")
    wait_clean(staging)


def test_a_source_that_changes_fails_the_job(staging):
    """The file grows all the time: whenever it is read, it is not as it was listed. On a busy machine the program that
    writes it may not run in between: then there is another job."""
    source = make_source(staging)
    with subprocess.Popen(["sh", "-c", f"while :; do echo x >> {source}/a/grows; done"]) as writer:
        staging.wait_for((source / "a" / "grows").exists, what="the file")
        for _ in range(10):
            record, output = staging.run_job("echo started", "-wn1", f"--stage-in={source}")
            if record["Reason"].startswith("StageInFailed,"):
                break
            assert record["JobState"] == "COMPLETED"
        writer.kill()
    assert record["Reason"].startswith("StageInFailed,") and "started" not in output
    assert f"{source}/a/grows: it has changed during the copy" in output
    wait_clean(staging)


def test_a_disk_that_is_too_small(as_root, make_cluster):
    cluster = make_cluster(start=False)
    disk = cluster.dir / "small"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", disk], check=True)
    try:
        cluster.extra = f"DataCacheDir={disk}/cache"
        cluster.write_config()
        cluster.start()
        source = make_source(cluster)  # 9 MB without its hole
        record, output = cluster.run_job("echo started", "-wn1", f"--stage-in={source}")
        assert record["Reason"].startswith("StageInFailed,") and "started" not in output
        assert "do not fit" in output and f"{disk}/cache" in output
        cluster.wait_for(lambda: not list((disk / "cache" / "partial").iterdir()), what="the partial copy to go")
        assert cluster.run_job("echo started", "-wn1", f"--stage-in={source}/a/0.bin")[1] == "started\n"
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


# ---- sdata stage

def test_a_job_asks_for_data_itself(staging):
    source = make_source(staging)
    record, output = staging.run_job(f"srun -N2 sdata stage {source}; srun -N2 bash -c '{same(source)}'; sdata stage {source}; cd {source}; sdata stage a/0.bin:own; cmp a/0.bin $SCRATCH/own",
                                     "-N2")
    lines = output.splitlines()
    assert sorted(lines[:2]) == ["same on n1", "same on n2"]
    assert lines[2:] == [f"sdata: error: {source}: $SCRATCH/set: File exists"]
    wait_clean(staging)


@pytest.mark.parametrize("variables, why", [({}, "works in a job only"),
                                            ({"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n1"}, "no job 7 on this node"),
                                            ({"SLURM_JOB_ID": "x", "SLURMD_NODENAME": "n1"}, "not understood"),
                                            ({"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n7"}, "Connection refused")])
def test_sdata_stage_outside_of_a_job(shared, variables, why):
    done = shared.run("sdata", "stage", "/etc/passwd", check=False,
                      env=variables and {**variables, "SCRATCH": f"{shared.dir}/scratch/scratch_n1_{shared.ports.numbers[1]}/7.0"})
    assert done.returncode == 1 and why in done.stderr
