"""A dataset of `sdata pack`: manifest, indexes and samples."""

import json
import os
import re
from dataclasses import dataclass, field

from .checksum import crc32c
from .order import EpochOrder
from .staging import wait_for
from .tfrecord import frame_content, parse_example

_HEADING = b"# sluice index 1: offset length size crc32c label path"
_BLOCK = 512


class DamagedError(ValueError):
    """The dataset is not as it was written. The message names the file and the sample."""


@dataclass(frozen=True)
class Shard:
    name: str
    records: int
    bytes: int
    crc32c: int
    index_crc32c: int


@dataclass(frozen=True)
class Record:
    """Where a sample is: a line of an index."""

    path: str  # below the source
    label: int  # 0: it is in no class
    offset: int
    length: int
    size: int
    crc32c: int


@dataclass(frozen=True)
class Sample:
    path: str
    label: int
    data: bytes
    features: dict = field(default_factory=dict, repr=False)  # of a TFRecord: {"image/height": [224], ...}


def _unescape(text):
    return re.sub(rb"%([0-9A-F]{2})", lambda match: bytes([int(match[1], 16)]), text)


def parse_index(text, name="index"):
    """[Record] of the text of an index."""
    body, _, end = text.rpartition(b"# end ")
    if not body.startswith(_HEADING + b"\n") or end != b"%08x\n" % crc32c(body):
        raise DamagedError(f"{name}: its checksum does not match")
    records = []
    for line in body.split(b"\n")[1:-1]:
        offset, length, size, crc, label, path = line.split(b" ", 5)
        records.append(Record(os.fsdecode(_unescape(path)), int(label), int(offset), int(length), int(size), int(crc, 16)))
    return records


def _manifest_checksum(manifest):
    content = {key: value for key, value in manifest.items() if key != "crc32c"}
    return crc32c(json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode())


class Dataset:
    """The samples of a dataset: by iteration, by number (`dataset[7]`) or by range of an EpochOrder.

    verify: check the checksum of every sample that is read. wait: how many seconds to wait for a shard that is still being staged
    (None: as long as it takes).
    """

    def __init__(self, directory, verify=True, wait=None):
        self.directory, self.verify, self._wait = os.fspath(directory), verify, wait
        path = wait_for(self.directory, "manifest.json", wait)
        with open(path, encoding="utf-8") as file:
            try:
                manifest = json.load(file)
                if manifest["crc32c"] != f"{_manifest_checksum(manifest):08x}":
                    raise DamagedError(f"{path}: its checksum does not match")
                if manifest["sluice_dataset"] > 1:
                    raise DamagedError(f"{path}: it was written by a newer version")
                self.shards = [Shard(each["name"], each["records"], each["bytes"], int(each["crc32c"], 16),
                                     int(each["index_crc32c"], 16)) for each in manifest["shards"]]
            except (KeyError, TypeError, json.JSONDecodeError) as error:
                raise DamagedError(f"{path}: it is damaged: {error}") from error
        self.format, self.checksum = manifest["format"], manifest["crc32c"]
        self.classes = [os.fsdecode(_unescape(each.encode())) for each in manifest["classes"]]  # label 1 is the first
        self.counts = [shard.records for shard in self.shards]
        self._indexes, self._files = {}, {}

    def __len__(self):
        return sum(self.counts)

    def __getstate__(self):  # for the workers of a loader that is not forked
        return {**self.__dict__, "_files": {}}

    def index(self, number):
        """The records of a shard."""
        if number not in self._indexes:
            shard = self.shards[number]
            path = wait_for(self.directory, shard.name + ".idx", self._wait)
            with open(path, "rb") as file:
                text = file.read()
            if crc32c(text) != shard.index_crc32c:
                raise DamagedError(f"{path}: its checksum is not that of the manifest")
            self._indexes[number] = parse_index(text, path)
        return self._indexes[number]

    def _file(self, number):
        process = os.getpid()  # a forked worker has its own files
        if (process, number) not in self._files:
            for key in [key for key in self._files if key[0] == process][:-7]:  # a reader is in one or two shards
                self._files.pop(key).close()
            path = wait_for(self.directory, self.shards[number].name, self._wait)
            self._files[process, number] = open(path, "rb", buffering=0)
        return self._files[process, number]

    def read(self, shard, record):
        """The sample with that number in the shard with that number."""
        entry = self.index(shard)[record]
        file = self._file(shard)
        try:
            raw = os.pread(file.fileno(), entry.length, entry.offset)
            if len(raw) != entry.length:
                raise ValueError("the shard ends early")
            if self.format == "tfrecord":
                return self._sample_of_frame(entry, raw)
            data = raw[len(raw) - (entry.size + _BLOCK - 1) // _BLOCK * _BLOCK:][:entry.size]
            if self.verify and crc32c(data) != entry.crc32c:
                raise ValueError("the checksum of the file does not match")
            return Sample(entry.path, entry.label, data)
        except ValueError as error:
            raise DamagedError(f"{file.name}: {entry.path} at {entry.offset}: {error}") from error

    def _sample_of_frame(self, entry, raw):
        features = parse_example(frame_content(raw, self.verify))
        data = features.pop("image/encoded", [None])[0]
        if data is None or len(data) != entry.size or os.fsdecode(features.get("sluice/path", [b""])[0]) != entry.path:
            raise ValueError("it is another file than the index says")
        return Sample(entry.path, entry.label, data, features)

    def __getitem__(self, number):
        if not 0 <= number < len(self):
            raise IndexError(f"sample {number} of {len(self)}")
        shard = 0
        while number >= self.counts[shard]:
            number -= self.counts[shard]
            shard += 1
        return self.read(shard, number)

    def __iter__(self):
        return EpochOrder(self.counts).read(self.read)


def tfrecord_files(directory, rank=None, world=None, wait=None):
    """The paths of a rank's shards, for tf.data.TFRecordDataset; ranks from the step's environment unless they are given.

    Whole files: with fewer shards than ranks some get none, which is refused. All are complete when this returns."""
    dataset = Dataset(directory, wait=wait)
    rank, world = task_of_step(rank, world)
    if dataset.format != "tfrecord":
        raise ValueError(f"{directory} has the format {dataset.format}: tf.data reads tfrecord")
    if len(dataset.shards) < world:
        raise ValueError(f"{directory} has {len(dataset.shards)} shards, too few for {world} ranks: pack it with a smaller --shard-size")
    return [wait_for(dataset.directory, shard.name, wait) for shard in dataset.shards[rank::world]]


def task_of_step(rank=None, world=None):
    """(rank, number of ranks): as given, else of torch.distributed's launcher, else of srun, else alone."""
    for names in (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")):
        if rank is None and world is None and all(name in os.environ for name in names):
            rank, world = (int(os.environ[name]) for name in names)
    rank, world = rank or 0, 1 if world is None else world
    if not 0 <= rank < world:
        raise ValueError(f"rank {rank} of {world}")
    return rank, world
