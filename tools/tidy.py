#!/usr/bin/env python3
"""Runs clang-tidy with .clang-tidy's checks. Every finding is an error.

    tools/tidy.py BUILD             lines that differ from origin/main, or from the last commit where that is main itself
    tools/tidy.py BUILD --all       the whole tree
    tools/tidy.py BUILD src/core    all files below that folder

BUILD is a directory that was configured without unity builds and precompiled headers (cmake --preset plain) and has
the generated headers (cmake --build BUILD --target generated).
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLANG_TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-16")
FILES_MAX = 30  # of a change: each takes some ten seconds. All files of a larger change are for --all.


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def compared_with():
    """The commit that the working tree is compared with; nothing where there is no history."""
    head = git("rev-parse", "HEAD")
    base = git("merge-base", "HEAD", "origin/main") or git("rev-parse", "HEAD~1")
    return git("rev-parse", "HEAD~1") or head if base == head else base


def changed_lines(base):
    """{file: [[first, last], ...]} of the working tree, with files that git does not know yet."""
    changed, name = {}, None
    for line in (git("diff", "-U0", "--diff-filter=d", base, "--", "*.cc", "*.h") or "").splitlines():
        if line.startswith("+++ b/"):
            name = line[6:]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(match.group(1)), int(match.group(2) or 1)
            if count:
                changed.setdefault(name, []).append([first, first + count - 1])
    for new in (git("ls-files", "--others", "--exclude-standard", "--", "*.cc", "*.h") or "").splitlines():
        changed[new] = [[1, len((ROOT / new).read_text().splitlines())]]
    return changed


def compiled(build):
    """The files of the tree that the build compiles."""
    commands = json.loads((build / "compile_commands.json").read_text())
    inside = {Path(each["file"]).resolve() for each in commands}
    return sorted(path for path in inside if path.is_relative_to(ROOT) and not path.is_relative_to(build))


def units_for(changed, sources):
    """What to compile so that all changed lines are seen, with the number of these lines: a header by the file beside
    it, or by one that includes it."""
    units = {}
    for name, ranges in changed.items():
        path = ROOT / name
        if path in sources:
            found = [path]
        elif path.with_suffix(".cc") in sources:
            found = [path.with_suffix(".cc")]
        else:
            include = f'#include "{path.relative_to(ROOT / "src")}"' if path.is_relative_to(ROOT / "src") else name
            found = [source for source in sources if include in source.read_text()][:1]
        for unit in found:
            units[unit] = units.get(unit, 0) + sum(last - first + 1 for first, last in ranges)
    return units


def most_changed(units, most):
    """The files with the most changed lines, and the others."""
    order = sorted(units, key=lambda unit: (-units[unit], unit))
    return order[:most], order[most:]


def check(build, path, options):
    done = subprocess.run([CLANG_TIDY, "--quiet", "--warnings-as-errors=*", "-p", build, *options, path], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode == 0:
        return True
    print(done.stdout.replace(f"{build}/rooms/", ""), flush=True)
    if "error:" not in done.stdout:
        print(done.stderr, flush=True)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: Path(text).resolve())
    parser.add_argument("folders", nargs="*", type=lambda text: Path(text).resolve())
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    units, options = compiled(arguments.build), []
    if arguments.folders:
        units = [path for path in units if any(path.is_relative_to(folder) for folder in arguments.folders)]
    elif not arguments.all:
        base = compared_with()
        changed = changed_lines(base) if base else {}
        units, left_out = most_changed(units_for(changed, units), FILES_MAX)
        if left_out:
            names = " ".join(str(path.relative_to(ROOT)) for path in left_out)
            print(f"clang-tidy: the change is large; not checked, as with --all: {names}")
        # Headers are found through the links of cmake/rooms.cmake: the end of the name decides.
        lines = [{"name": name.removeprefix("src/"), "lines": ranges} for name, ranges in changed.items()]
        options = [f"--line-filter={json.dumps(lines)}"]
    print(f"clang-tidy: {len(units)} files", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: check(arguments.build, path, options), units))
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
