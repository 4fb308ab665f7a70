"""CRC-32C: by the library that is installed beside this file, else in Python, which is a thousand times slower."""

import ctypes
from pathlib import Path


def _make_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


_TABLE = _make_table()


def crc32c_in_python(data, before=0):
    crc = before ^ 0xFFFFFFFF
    table = _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _load():
    try:
        library = ctypes.CDLL(str(Path(__file__).resolve().parent / "libsluice_data.so"))
    except OSError:
        return None
    function = library.sluice_crc32c
    function.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32)
    function.restype = ctypes.c_uint32
    return function


_FUNCTION = _load()


def crc32c(data, before=0):
    """Of `data`, which follows bytes whose checksum is `before`."""
    if _FUNCTION is None:
        return crc32c_in_python(data, before)
    data = bytes(data)  # costs nothing if it is one
    return _FUNCTION(data, len(data), before)


def masked(crc):
    """As TFRecord files have it."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
