"""The content of TFRecord files: frames with checksums around tf.train.Example messages."""

import struct

from .checksum import crc32c, masked

HEAD, TAIL = 12, 4


def frame_content(frame, verify=True):
    """The bytes in a frame; ValueError if they are not as they were written."""
    if len(frame) < HEAD + TAIL:
        raise ValueError("the record ends early")
    length, check = struct.unpack_from("<QI", frame)
    if length != len(frame) - HEAD - TAIL or (verify and check != masked(crc32c(frame[:8]))):
        raise ValueError("the length of the record is damaged")
    content = frame[HEAD:HEAD + length]
    if verify and struct.unpack_from("<I", frame, HEAD + length)[0] != masked(crc32c(content)):
        raise ValueError("the checksum of the record does not match")
    return content


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data):
    """(number, value) of a protobuf message: numbers, floats as bytes, nested messages as bytes."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError("the record is no tf.train.Example")
        yield key >> 3, value


def _signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


def _numbers(values):
    for _, value in _fields(values):
        if isinstance(value, int):
            yield _signed(value)
            continue
        at = 0
        while at < len(value):
            number, at = _varint(value, at)
            yield _signed(number)


def _floats(values):
    for _, value in _fields(values):
        yield from struct.unpack(f"<{len(value) // 4}f", value)


_KINDS = {1: lambda values: [value for _, value in _fields(values)], 2: lambda values: list(_floats(values)),
          3: lambda values: list(_numbers(values))}


def parse_example(content):
    """{name: list of bytes, floats or numbers} of a tf.train.Example."""
    found = {}
    try:
        for _, features in _fields(content):
            for _, entry in _fields(features):
                parts = dict(_fields(entry))
                for kind, values in _fields(parts.get(2, b"")):
                    found[bytes(parts[1]).decode()] = _KINDS[kind](values)
    except (IndexError, KeyError, struct.error, UnicodeDecodeError) as error:
        raise ValueError("the record is no tf.train.Example") from error
    return found
