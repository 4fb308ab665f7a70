#!/usr/bin/python3
"""Reads a dataset of `sdata pack` in PyTorch, on any number of ranks and workers, and goes on where an interrupted run has stopped.

    srun --ntasks=8 read_in_pytorch.py $SCRATCH/imagenet-packed --state=state

Replace size_of() with a decoder of images (for example torchvision.io.decode_image) and the loop with a training step.
"""

import argparse
import os

import torch
from sluice_data.torch import SampleStream, StreamLoader


def size_of(sample):
    """What becomes of a sample in a worker."""
    return len(sample.data), sample.label


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", help="the dataset")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shuffle", type=int, default=1000, help="samples in the buffer of each worker")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", help="file to go on from, and to save to (the rank is appended)")
    parser.add_argument("--stop-after", type=int, default=0, help="batches, to try --state")
    options = parser.parse_args()
    torch.set_num_threads(1)
    stream = SampleStream(options.directory, transform=size_of, shuffle=options.shuffle, seed=options.seed)
    loader = StreamLoader(stream, batch_size=options.batch_size, num_workers=options.workers)
    state = f"{options.state}.{stream.rank}" if options.state else None
    if state and os.path.exists(state):
        loader.load_state_dict(torch.load(state))
    samples = total = 0
    for number, (sizes, _) in enumerate(loader, 1):
        samples += len(sizes)
        total += int(sizes.sum())
        if number == options.stop_after:
            break
    if state:
        torch.save(loader.state_dict(), state + ".new")
        os.rename(state + ".new", state)
    print(f"rank {stream.rank} of {stream.world}: {samples} samples, {total} bytes, epoch {loader.epoch}", flush=True)


if __name__ == "__main__":
    main()
