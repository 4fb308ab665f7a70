#!/usr/bin/python3
"""How long staging takes, beside cp, rsync and dd: medians for docs/benchmarks.md.

    tools/stage_bench.py DIRECTORY [--files 20000] [--shards 4] [--rounds 3]

DIRECTORY is on the disk to measure. sluice-stage is started as slurmd starts it. Before each measurement the caches of the
system are dropped if that is possible (root); all ends with a sync, whose time counts."""

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
    generator = random.Random(1)
    for i in range(count):
        folder = top / f"{i % 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}.jpg").write_bytes(generator.randbytes(generator.randint(10_000, 200_000)))


def make_shards(top, count):
    top.mkdir()
    generator = random.Random(2)
    for i in range(count):
        (top / f"data-{i:05}").write_bytes(generator.randbytes(256 << 20))


def make_sparse(top, count=16, size=4 << 30):
    top.mkdir()
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
    times = {way: [] for way in ways}
    job = 0
    for _ in range(rounds):
        for way, work in ways.items():
            shutil.rmtree(top / "target", ignore_errors=True)
            shutil.rmtree(top / "cache", ignore_errors=True)
            shutil.rmtree(top / "scratch", ignore_errors=True)
            job += 1
            times[way].append(timed(lambda: work(source, job)))
    for way, taken in times.items():
        print(f"{name:<28} {way:<10} {statistics.median(taken):8.2f} s   ({', '.join(f'{each:.2f}' for each in taken)})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=20000)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    top = given.directory / "stage_bench"
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir(parents=True)
    target = top / "target"
    make_files(top / "files", given.files)
    make_shards(top / "shards", given.shards)
    make_sparse(top / "sparse")
    ways = {"cp -r": lambda source, job: run("cp", "-r", source, target),
            "rsync -a": lambda source, job: run("rsync", "-a", f"{source}/", target),
            "stage": lambda source, job: stage(top, source, job)}
    measure(top, f"{given.files} files", top / "files", ways if shutil.which("rsync") else {k: v for k, v in ways.items() if k != "rsync -a"}, given.rounds)

    def dd(source, job):
        target.mkdir()
        for shard in source.iterdir():
            run("dd", f"if={shard}", f"of={target / shard.name}", "bs=1M", "status=none")
    measure(top, f"{given.shards} shards of 256 MB", top / "shards", {"dd": dd, "stage": ways["stage"]}, given.rounds)
    stage(top, top / "sparse", 1000)
    warm = []
    for job in range(1001, 1008):
        began = time.monotonic()
        stage(top, top / "sparse", job)
        warm.append(time.monotonic() - began)
    print(f"64 GB, warm cache            stage      {statistics.median(warm) * 1000:8.1f} ms")
    shutil.rmtree(top)


if __name__ == "__main__":
    main()
