#!/usr/bin/python3
"""Reads a dataset of `sdata pack` with tf.data: the records are tf.train.Example with the names of TensorFlow's ImageNet converter.

    srun --ntasks=8 read_in_tensorflow.py $SCRATCH/imagenet-packed
"""

import argparse

import sluice_data


def records(directory, batch_size):
    """A tf.data.Dataset of (encoded images, labels) of this rank's shards. tf.data verifies the checksums of the records."""
    import tensorflow as tf

    features = {"image/encoded": tf.io.FixedLenFeature([], tf.string), "image/class/label": tf.io.FixedLenFeature([], tf.int64, -1)}
    files = tf.data.Dataset.from_tensor_slices(sluice_data.tfrecord_files(directory)).shuffle(1024, seed=1)
    found = files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
    found = found.shuffle(10_000, seed=1).batch(batch_size).map(lambda batch: tf.io.parse_example(batch, features))
    return found.map(lambda batch: (batch["image/encoded"], batch["image/class/label"])).prefetch(tf.data.AUTOTUNE)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", help="the dataset")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--list", action="store_true", help="print the files of this rank; needs no TensorFlow")
    options = parser.parse_args()
    if options.list:
        print("\n".join(sluice_data.tfrecord_files(options.directory)))
        return
    samples = sum(len(labels) for _, labels in records(options.directory, options.batch_size))
    print(f"{samples} samples")


if __name__ == "__main__":
    main()
