"""Which samples a reader gets, and in which order. It depends only on its arguments, so that all ranks and workers agree without
talking to each other, and so that an interrupted epoch is resumed without reading what was used before."""

import random


def consumer_range(count, consumer, consumers):
    """The part of `count` samples that one of `consumers` gets: all parts together are everything, and differ by at most 1."""
    if not 0 <= consumer < consumers:
        raise ValueError(f"reader {consumer} of {consumers}")
    return range(count * consumer // consumers, count * (consumer + 1) // consumers)


class EpochOrder:
    """The (shard, record) pairs of one reader in one epoch.

    The shards are shuffled, then all records are divided into equal contiguous parts, so that each reader reads a few shards from
    beginning to end. Within its part a reader picks the next sample at random out of a buffer of `shuffle` samples.
    """

    def __init__(self, counts, consumer=0, consumers=1, seed=0, epoch=0, shuffle=0):
        self._counts, self._shuffle = counts, shuffle
        self._part = consumer_range(sum(counts), consumer, consumers)
        self._shards = list(range(len(counts)))
        if shuffle:
            random.Random(f"shards {seed} {epoch}").shuffle(self._shards)
        self._random = random.Random(f"samples {seed} {epoch} {consumer} {consumers}")

    def __len__(self):
        return len(self._part)

    def _in_sequence(self):
        first = 0
        for shard in self._shards:
            count = self._counts[shard]
            for record in range(max(self._part.start - first, 0), min(self._part.stop - first, count)):
                yield shard, record
            first += count

    def read(self, read, skip=0):
        """Yields read(shard, record) in the order of the epoch, without the first `skip`. Samples are read when they enter the
        buffer, that is from beginning to end; after a resume, those that were in the buffer are read when they leave it."""
        if not self._shuffle:
            for number, place in enumerate(self._in_sequence()):
                if number >= skip:
                    yield read(*place)
            return
        buffer, given = [], 0

        def leave(entry):
            place, value = entry
            return read(*place) if value is None else value

        for place in self._in_sequence():
            entry = (place, None if given < skip else read(*place))
            if len(buffer) < self._shuffle:
                buffer.append(entry)
                continue
            chosen = self._random.randrange(len(buffer))
            entry, buffer[chosen] = buffer[chosen], entry
            given += 1
            if given > skip:
                yield leave(entry)
        self._random.shuffle(buffer)
        while buffer:
            entry = buffer.pop()
            given += 1
            if given > skip:
                yield leave(entry)
