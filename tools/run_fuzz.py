#!/usr/bin/env python3
"""run_fuzz.py BUILD SECONDS: each fuzz target over its kept corpus, then on new input.

What the fuzzer finds stays in the build directory; the name of a crashing input is printed.
"""

import os
import subprocess
import sys
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "fuzz" / "corpus"


def main():
    build, seconds = Path(sys.argv[1]), sys.argv[2]
    targets = sorted(path for path in build.rglob("fuzz_*")
                     if path.is_file() and os.access(path, os.X_OK))
    failed = []
    for target in targets:
        name = target.name.removeprefix("fuzz_")
        found = build / "corpus" / name
        found.mkdir(parents=True, exist_ok=True)
        kept = [CORPUS / name] if (CORPUS / name).is_dir() else []
        print(f"--> {name}", flush=True)
        result = subprocess.run(
            [target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048",
             f"-artifact_prefix={build}/crash-{name}-", found, *kept],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        lines = result.stdout.splitlines()
        print("\n".join(lines[-60:] if result.returncode else lines[-1:]), flush=True)
        if result.returncode:
            failed.append(name)
    print(f"{len(targets)} fuzz targets, {len(failed)} failed {' '.join(failed)}")
    return 1 if failed or not targets else 0


if __name__ == "__main__":
    sys.exit(main())
