#!/usr/bin/env python3
"""Writes src/os/start_order.txt: what the static programs call in an ordinary run, in that order.

    tools/order_start.py            # after a build; needs valgrind

The linker puts these functions next to each other (src/os/CMakeLists.txt), so that a tool touches
some ten places of its file instead of fifty: each costs a page fault at its start. A name that is no
longer there costs nothing, one that is missing a page fault: run this again when tools have
changed a lot.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from cluster import ROOT, Cluster, default_prefix

RUNS = [
    ["sbatch", "-J", "name", "-o", "/dev/null", "--hold", "--wrap", "true"],
    ["squeue"],
    ["squeue", "-h", "-j", "1"],
    ["sinfo"],
    ["scontrol", "show", "job", "1"],
    ["scontrol", "ping"],
    ["scancel", "1"],
]


VALGRIND = ["valgrind", "--quiet", "--tool=callgrind", "--demangle=no", "--compress-strings=yes"]


def functions_in(profile):
    """The linker's names, in the order of their first call."""
    numbered = re.findall(r"^c?fn=\((\d+)\) ([^\s'(]+)", Path(profile).read_text(), re.MULTILINE)
    return [name for _, name in sorted({int(number): name for number, name in numbered}.items())
            if not name.startswith("0x")]


def functions_of_tool(cluster, command):
    with tempfile.NamedTemporaryFile() as profile:
        tool = cluster.prefix / "bin" / command[0]
        subprocess.run([*VALGRIND, f"--callgrind-out-file={profile.name}", tool, *command[1:]],
                       env=cluster.environment(), check=True, stdout=subprocess.DEVNULL)
        return functions_in(profile.name)


def functions_of_supervisor(folder):
    """Of the second job's: the first one asks the system who the user is, and is dynamic."""
    prefix = Path(shutil.copytree(default_prefix(), folder / "prefix", symlinks=True))
    program = prefix / "sbin" / "slurmstepd"
    profiled = program.rename(folder / "slurmstepd")
    command = " ".join([*VALGRIND, f"--callgrind-out-file={folder}/profile.%p", str(profiled)])
    program.write_text(f"#!/bin/sh\nexec {command}\n")
    program.chmod(0o755)
    cluster = Cluster(nodes=1, prefix=prefix)
    try:
        cluster.start()
        for _ in range(2):
            cluster.run_job("true")
        cluster.wait_for(lambda: list(folder.glob("profile.*")), what="the supervisor's profile")
    finally:
        cluster.stop()
    return max((functions_in(profile) for profile in folder.glob("profile.*")), key=len)


def main():
    cluster = Cluster(nodes=2)
    try:
        cluster.start()
        names = [name for command in RUNS for name in functions_of_tool(cluster, command)]
    finally:
        cluster.stop()
    with tempfile.TemporaryDirectory() as folder:
        names += functions_of_supervisor(Path(folder))
    order = list(dict.fromkeys(names))
    (ROOT / "src/os/start_order.txt").write_text("\n".join(order) + "\n")
    print(f"{len(order)} functions")


if __name__ == "__main__":
    main()
