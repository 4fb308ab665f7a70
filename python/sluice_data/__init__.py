"""Reads datasets that `sdata pack` has written: a few large files (shards), an index beside each, and a manifest.

    import sluice_data
    dataset = sluice_data.Dataset("/data/imagenet-packed")
    for sample in dataset:                   # every sample once, in the order of the shards
        use(sample.data, sample.label)

PyTorch: sluice_data.torch (samples divided over ranks and workers, shuffled, resumed within an epoch).
TensorFlow: sluice_data.tfrecord_files(). Checksums are verified; a damaged sample raises DamagedError.
"""

from .checksum import crc32c
from .dataset import DamagedError, Dataset, Record, Sample, Shard, tfrecord_files
from .order import EpochOrder, consumer_range
from .staging import StagingError, wait_for

__all__ = ["DamagedError", "Dataset", "EpochOrder", "Record", "Sample", "Shard", "StagingError", "consumer_range", "crc32c",
           "tfrecord_files", "wait_for"]
