#!/usr/bin/python3
"""How long staging takes, beside cp, rsync and dd, and sdata pack beside tar: medians for docs/benchmarks.md.

    tools/stage_bench.py DIRECTORY [--files 20000] [--shards 4] [--rounds 3] [--only folder,pack,shards,warm] [--keep]

DIRECTORY is on the disk to measure. sluice-stage is started as slurmd starts it. Before each measurement the caches of the
system are dropped if that is possible (root); all ends with a sync, whose time counts. With --keep the sources stay, and
the next call with the same numbers uses them."""

import argparse
import os
import random
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "integration"))
from wire import field, frame, parse, receive  # noqa: E402

PREFIX = Path(os.environ.get("SLUICE_PREFIX", Path(__file__).resolve().parents[1] / "build" / "prefix"))


def order(top, source, job):
    scratch = top / "scratch" / f"{job}.0"
    scratch.mkdir(parents=True)
    stage = (field(1, field(1, job)) + field(2, os.getuid()) + field(3, os.getgid()) + field(4, f"{source}:{source.name}")
             + field(5, "n1") + field(6, str(top / "cache")) + field(7, 1 << 50) + field(8, str(top / "scratch"))
             + field(9, str(scratch)))
    return frame(field(1, stage))


def stage(top, source, job):
    ours, theirs = socket.socketpair()
    line = theirs.fileno()

    def prepare():
        os.setsid()
        os.dup2(line, 3)
    program = subprocess.Popen([PREFIX / "libexec" / "sluice" / "sluice-stage"], preexec_fn=prepare, close_fds=False)
    theirs.close()
    ours.sendall(order(top, source, job))
    while True:
        report = parse(receive(ours, struct.unpack("<I", receive(ours, 4))[0]))
        if 2 in report:
            raise SystemExit(report[2][0].decode())
        if 3 in report:
            break
    program.wait()


def make_files(top, count):
    if top.exists():
        return
    generator = random.Random(1)
    for i in range(count):
        folder = top / f"{i % 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.jpg").write_bytes(generator.randbytes(generator.randint(10_000, 200_000)))


def make_shards(top, count):
    if top.exists():
        return
    top.mkdir()
    generator = random.Random(2)
    for i in range(count):
        with open(top / f"data-{i:05}", "wb") as file:
            for _ in range(16):
                file.write(generator.randbytes(16 << 20))


def make_sparse(top, count=16, size=4 << 30):
    top.mkdir(exist_ok=True)
    for i in range(count):
        with open(top / f"data-{i:05}", "wb") as file:
            file.truncate(size)


def timed(work):
    subprocess.run(["sync"], check=True)
    if os.getuid() == 0:
        Path("/proc/sys/vm/drop_caches").write_text("3")
    began = time.monotonic()
    work()
    subprocess.run(["sync"], check=True)
    return time.monotonic() - began


def run(*argv):
    subprocess.run(argv, check=True)


def measure(top, name, source, ways, rounds):
    """Each run has a new directory, and nothing is deleted before the end: ext4 makes new files more slowly where others were
    deleted a few minutes ago."""
    times = {way: [] for way in ways}
    for number in range(rounds):
        for way, work in ways.items():
            place = top / "runs" / f"{name} {way} {number}".replace("/", "")
            place.mkdir(parents=True)
            times[way].append(timed(lambda: work(source, place)))
    for way, taken in times.items():
        print(f"{name:<28} {way:<10} {statistics.median(taken):8.2f} s   ({', '.join(f'{each:.2f}' for each in taken)})", flush=True)


def dd(source, target):
    target.mkdir()
    for shard in source.iterdir():
        run("dd", f"if={shard}", f"of={target / shard.name}", "bs=1M", "status=none")


def measure_warm(top):
    """The second job on a node: nothing is copied, whatever the size."""
    make_sparse(top / "sparse")
    stage(top, top / "sparse", 1000)
    warm = []
    for job in range(1001, 1008):
        began = time.monotonic()
        stage(top, top / "sparse", job)
        warm.append((time.monotonic() - began) * 1000)
    print(f"64 GB, warm cache            stage      {statistics.median(warm):8.1f} ms  ({', '.join(f'{each:.1f}' for each in warm)})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="folder,pack,shards,warm")
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    only = given.only.split(",")
    top = given.directory / "stage_bench"
    files, shards = top / f"files{given.files}", top / f"shards{given.shards}"
    top.mkdir(parents=True, exist_ok=True)
    staging = {"stage": lambda source, place: stage(place, source, 1)}
    rsync = {"rsync -a": lambda source, place: run("rsync", "-a", f"{source}/", place / "target")} if shutil.which("rsync") else {}
    if "folder" in only:
        make_files(files, given.files)
        ways = {"cp -r": lambda source, place: run("cp", "-r", source, place / "target"), **rsync, **staging}
        measure(top, f"{given.files} files", files, ways, given.rounds)
    if "pack" in only:
        make_files(files, given.files)
        sdata = PREFIX / "bin" / "sdata"
        ways = {"tar": lambda source, place: run("tar", "-cf", place / "target", "-C", source, "."),
                "pack": lambda source, place: run(sdata, "pack", source, place / "target"),
                "pack -f w": lambda source, place: run(sdata, "pack", "-f", "webdataset", source, place / "target")}
        measure(top, f"{given.files} files", files, ways, given.rounds)
    if "shards" in only:
        make_shards(shards, given.shards)
        measure(top, f"{given.shards} shards of 256 MB", shards, {"dd": lambda source, place: dd(source, place / "target"), **staging}, given.rounds)
    if "warm" in only:
        measure_warm(top)
    for path in (top.iterdir() if given.keep else [top]):
        if path not in (files, shards):
            shutil.rmtree(path)


if __name__ == "__main__":
    main()
