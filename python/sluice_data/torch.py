"""A dataset of `sdata pack` for PyTorch.

    from sluice_data.torch import SampleStream, StreamLoader
    stream = SampleStream("/data/imagenet-packed", transform=decode, shuffle=10000, seed=1)
    loader = StreamLoader(stream, batch_size=64, num_workers=4)
    loader.load_state_dict(checkpoint["data"])       # go on within the epoch
    for epoch in range(loader.epoch, 90):
        for batch in loader:
            ...
            checkpoint = {"data": loader.state_dict(), ...}

Each sample is given once in an epoch, to one worker of one rank. The numbers of samples of two readers differ by at most one.
"""

import queue
import threading

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from .dataset import Dataset, task_of_step
from .order import EpochOrder, consumer_range

_END = object()


def _ahead(samples, count):
    """The same samples, read by a thread that is at most `count` ahead."""
    if not count:
        yield from samples
        return
    waiting, stopped = queue.Queue(count), threading.Event()

    def put(item):
        while not stopped.is_set():
            try:
                return waiting.put(item, timeout=0.1)
            except queue.Full:
                continue

    def run():
        try:
            for sample in samples:
                put((sample, None))
                if stopped.is_set():
                    return
            put((_END, None))
        except BaseException as error:  # raised where the samples are used
            put((_END, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while True:
            sample, error = waiting.get()
            if error is not None:
                raise error
            if sample is _END:
                return
            yield sample
    finally:
        stopped.set()
        thread.join()


class SampleStream(IterableDataset):
    """Yields transform(sample), by default (data, label - 1) as torchvision's ImageFolder numbers its classes.

    shuffle: size of the buffer out of which the next sample is picked; 0: in the order of the shards. prefetch: how many samples a
    thread reads ahead in each worker. rank, world: of srun's or torch's environment unless they are given.
    """

    def __init__(self, directory, transform=None, shuffle=0, seed=0, prefetch=16, rank=None, world=None, verify=True, wait=None):
        super().__init__()
        self.dataset = Dataset(directory, verify=verify, wait=wait)
        self.transform, self.shuffle, self.seed, self.prefetch = transform, shuffle, seed, prefetch
        self.rank, self.world = task_of_step(rank, world)
        self._epoch = torch.zeros(1, dtype=torch.int64).share_memory_()  # workers that persist see it too
        self._skip = (0, [])  # in this epoch: how many samples each worker has given before
        self._given = 0  # by this object itself, without workers

    @property
    def epoch(self):
        return int(self._epoch[0])

    def set_epoch(self, epoch):
        """The next iteration gives that epoch's order."""
        self._epoch[0] = epoch
        self._given = 0

    def worker_counts(self, workers):
        """How many samples each of this rank's workers gives in an epoch."""
        workers = max(workers, 1)
        return [len(consumer_range(len(self.dataset), self.rank * workers + each, self.world * workers)) for each in range(workers)]

    def skip(self, given):
        """In the current epoch, leave out that many samples of each worker."""
        self._skip = (self.epoch, list(given))

    def __iter__(self):
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        epoch, given = self._skip
        skip = given[worker] if epoch == self.epoch and given else 0
        order = EpochOrder(self.dataset.counts, self.rank * workers + worker, self.world * workers, self.seed, self.epoch, self.shuffle)
        self._given = skip
        for sample in _ahead(order.read(self.dataset.read, skip), self.prefetch):
            self._given += 1
            yield self.transform(sample) if self.transform else (sample.data, sample.label - 1)

    def state_dict(self):
        """Where this object is, used without workers; StreamLoader has that of a loader."""
        return {**self._identity(1), "given": [self._given]}

    def load_state_dict(self, state):
        self.check_state(state, 1)
        self.set_epoch(state["epoch"])
        self.skip(state["given"])
        self._given = state["given"][0]

    def _identity(self, workers):
        return {"dataset": self.dataset.checksum, "seed": self.seed, "shuffle": self.shuffle, "rank": self.rank, "world": self.world,
                "workers": workers, "epoch": self.epoch}

    def check_state(self, state, workers):
        """The order of samples depends on all of these: with other values it cannot be continued."""
        for name, value in self._identity(workers).items():
            if name != "epoch" and state.get(name) != value:
                raise ValueError(f"the state was saved with {name}={state.get(name)!r}, now it is {value!r}")


class StreamLoader(DataLoader):
    """A DataLoader of a SampleStream that can be resumed within an epoch, with any number of workers. After a complete epoch the
    next one begins."""

    def __init__(self, stream, batch_size=1, num_workers=0, **options):
        if batch_size is None:
            raise ValueError("StreamLoader: batch_size=None: samples must be in batches")
        super().__init__(stream, batch_size=batch_size, num_workers=num_workers, **options)
        self._batches = 0  # given in this epoch

    @property
    def epoch(self):
        return self.dataset.epoch

    def set_epoch(self, epoch):
        self.dataset.set_epoch(epoch)
        self._batches = 0

    def _given_by_workers(self):
        """Batches come from the workers in turn; one that has no more is left out."""
        counts = self.dataset.worker_counts(self.num_workers)
        size, given, left = self.batch_size, [0] * len(counts), self._batches
        while left:
            before = left
            for worker, count in enumerate(counts):
                rest = count - given[worker]
                if left and (rest >= size or (rest and not self.drop_last)):
                    given[worker] += min(size, rest)
                    left -= 1
            if left == before:
                raise ValueError(f"the state has {self._batches} batches, an epoch has {self._batches - left}")
        return given

    def __iter__(self):
        # Batches that an earlier, unfinished iteration of this epoch has given are given again, except after load_state_dict().
        epoch, skipped = self.dataset._skip
        self._batches = self._loaded if epoch == self.epoch and skipped else 0
        for batch in super().__iter__():
            self._batches += 1
            yield batch
        self.set_epoch(self.epoch + 1)

    _loaded = 0

    def state_dict(self):
        return {**self.dataset._identity(self.num_workers), "batch_size": self.batch_size, "drop_last": self.drop_last,
                "batches": self._batches}

    def load_state_dict(self, state):
        self.dataset.check_state(state, self.num_workers)
        for name in ("batch_size", "drop_last"):
            if state[name] != getattr(self, name):
                raise ValueError(f"the state was saved with {name}={state[name]}, now it is {getattr(self, name)}")
        self.set_epoch(state["epoch"])
        self._loaded = self._batches = state["batches"]
        self.dataset.skip(self._given_by_workers())
