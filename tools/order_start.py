#!/usr/bin/env python3
"""Writes src/os/start_order.txt: what the static tools call in an ordinary run, in that order.

    tools/order_start.py            # after a build; needs valgrind

The linker puts these functions next to each other (src/os/CMakeLists.txt), so that a tool touches
some ten places of its file instead of fifty: each costs a page fault at its start. A name that is no
longer there costs nothing, one that is missing a page fault: run this again when tools have
changed a lot.
"""

import re
import subprocess
import tempfile
from pathlib import Path

from cluster import ROOT, Cluster

RUNS = [
    ["sbatch", "-J", "name", "-o", "/dev/null", "--hold", "--wrap", "true"],
    ["squeue"],
    ["squeue", "-h", "-j", "1"],
    ["sinfo"],
    ["scontrol", "show", "job", "1"],
    ["scontrol", "ping"],
    ["scancel", "1"],
]


def functions_called(cluster, command):
    """The linker's names, in the order of their first call."""
    with tempfile.NamedTemporaryFile() as profile:
        tool = cluster.prefix / "bin" / command[0]
        subprocess.run(["valgrind", "--quiet", "--tool=callgrind", "--demangle=no", "--compress-strings=yes",
                        f"--callgrind-out-file={profile.name}", tool, *command[1:]],
                       env=cluster.environment(), check=True, stdout=subprocess.DEVNULL)
        numbered = re.findall(r"^c?fn=\((\d+)\) ([^\s'(]+)", Path(profile.name).read_text(), re.MULTILINE)
    return [name for _, name in sorted({int(number): name for number, name in numbered}.items())
            if not name.startswith("0x")]


def main():
    cluster = Cluster(nodes=2)
    try:
        cluster.start()
        names = [name for command in RUNS for name in functions_called(cluster, command)]
    finally:
        cluster.stop()
    order = list(dict.fromkeys(names))
    (ROOT / "src/os/start_order.txt").write_text("\n".join(order) + "\n")
    print(f"{len(order)} functions")


if __name__ == "__main__":
    main()
