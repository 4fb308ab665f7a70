#!/usr/bin/python3
"""Converts a tree of images (a directory for each class, as ImageNet has it) into a few large TFRecord files.

    convert_dataset_1_data.py /data/imagenet/train /data/imagenet-packed

An interrupted conversion continues when it is called again. The result is read by read_in_pytorch.py and read_in_tensorflow.py,
and is what `#SBATCH --stage-in=/data/imagenet-packed` copies to the nodes of a job.
"""

import argparse
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="directory with one directory for each class")
    parser.add_argument("target", help="new directory for the shards")
    parser.add_argument("--shard-size", default="256M", help="bytes of each file (default: %(default)s)")
    options = parser.parse_args()
    done = subprocess.run(["sdata", "pack", f"--shard-size={options.shard_size}", "--prefix=train", options.source, options.target])
    if done.returncode != 0:
        return done.returncode
    return subprocess.run(["sdata", "verify", options.target]).returncode


if __name__ == "__main__":
    sys.exit(main())
