#!/usr/bin/python3
"""Converts ImageNet-C (SOURCE/corruption/severity/class/image) into one dataset for each corruption and severity.

    convert_dataset_2_data.py /data/imagenet-c /data/imagenet-c-packed

writes /data/imagenet-c-packed/gaussian_noise/1, ..., so that an evaluation reads only what it needs. All of them number the
classes in the same way; a tree where they would differ is refused. Complete datasets are left as they are when it is called again.
"""

import argparse
import subprocess
import sys
from pathlib import Path


def settings(source):
    """The directories (corruption, severity), sorted."""
    found = [(corruption.name, severity.name) for corruption in source.iterdir() if corruption.is_dir()
             for severity in corruption.iterdir() if severity.is_dir()]
    return sorted(found)


def classes(directory):
    return sorted(each.name for each in directory.iterdir() if each.is_dir())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="ImageNet-C: corruption/severity/class/image")
    parser.add_argument("target", type=Path, help="directory for the datasets")
    parser.add_argument("--shard-size", default="256M", help="bytes of each file (default: %(default)s)")
    options = parser.parse_args()
    found = settings(options.source)
    if not found:
        return f"{options.source} has no directories corruption/severity"
    expected = classes(options.source.joinpath(*found[0]))
    for setting in found:  # before anything is written
        if classes(options.source.joinpath(*setting)) != expected:
            return f"{'/'.join(setting)} has other classes than {'/'.join(found[0])}: their labels would differ"
    for setting in found:
        target = options.target.joinpath(*setting)
        if (target / "manifest.json").exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["sdata", "pack", f"--shard-size={options.shard_size}", "--prefix=val", options.source.joinpath(*setting), target])
        if done.returncode != 0:
            return f"{'/'.join(setting)}: sdata pack failed"
    print(f"{len(found)} datasets with {len(expected)} classes in {options.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
