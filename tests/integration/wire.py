"""The protocol of docs/protocol.md in Python, as far as tests need it to play a client or a server.

Messages are bytes built by field(); what was received is parsed into {field number: [values]}.
"""

import hashlib
import os
import socket
import struct
import subprocess

VERSION = 2
CLIENT, AGENT, STEP = 0, 1, 2


def varint(number):
    out = b""
    while number > 0x7f:
        out, number = out + bytes([number & 0x7f | 0x80]), number >> 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def parse(data):
    fields, at = {}, 0

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        elif key & 7 == 2:
            size = number()
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def frame(message):
    return struct.pack("<I", len(message)) + message


def receive(peer, size):
    data = b""
    while len(data) < size:
        more = peer.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def read_frame(peer):
    return receive(peer, struct.unpack("<I", receive(peer, 4))[0])


def hello(destination, channel, nonce=None, least=VERSION, most=VERSION):
    return (field(1, most) + field(2, channel) + field(4, "test") + field(5, least)
            + field(6, destination) + field(7, os.urandom(16) if nonce is None else nonce))


def digest(side, greeting, welcome, last):
    """What a credential covers; both messages as received."""
    greeting, welcome = parse(greeting), parse(welcome)
    texts = [greeting[6][0], greeting[7][0], welcome[5][0], last]
    numbers = [greeting[5][0], greeting[1][0], welcome[1][0], greeting.get(2, [0])[0]]
    name = f"sluice {side}".encode()
    data = struct.pack("<I", len(name)) + name + struct.pack("<4I", *numbers)
    for text in texts:
        data += struct.pack("<I", len(text)) + text
    return hashlib.sha256(data).digest()


def munge(munge_socket, payload, user=None):
    switch = ["setpriv", f"--reuid={user}", "--clear-groups"] if user else []
    result = subprocess.run([*switch, "munge", f"--socket={munge_socket}"], input=payload,
                            capture_output=True, check=True)
    return result.stdout.strip()




class Caller:
    """A client on a TCP connection, up to the server's first Welcome."""

    def __init__(self, address, destination, channel=CLIENT, **options):
        self.peer = socket.create_connection(address, timeout=20)
        self.hello = hello(destination, channel, **options)
        self.peer.sendall(frame(self.hello))
        self.welcome = read_frame(self.peer)

    def refusal(self, message=None):
        fields = parse(self.welcome if message is None else message)
        return parse(fields[2][0]).get(2, [b""])[0].decode() if 2 in fields else None

    def digest(self, request):
        return digest("client", self.hello, self.welcome, hashlib.sha256(request).digest())

    def prove(self, credential, request, covered=None):
        """Sends the Proof and the request; the server's second Welcome."""
        proof = field(1, credential) + field(2, hashlib.sha256(covered or request).digest())
        self.peer.sendall(frame(proof) + frame(request))
        return read_frame(self.peer)

    def is_closed(self):
        try:
            return not self.peer.recv(1)
        except ConnectionResetError:
            return True
