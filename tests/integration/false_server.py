"""A server that is not one of the cluster's: false_server.py port log [credential command...]

It listens on TCP and, with SLUICE_UNIX set to its name, on an abstract Unix socket. It answers every
Hello with a Welcome and a launch key of its own. The credential in it is what the command prints when it is
given the digest that a true server's would cover. Each connection and each further message is a line of
the log.
"""

import os
import select
import socket
import subprocess
import sys

import wire


def serve(peer, log, command):
    greeting = wire.read_frame(peer)
    welcome = wire.field(1, wire.VERSION) + wire.field(4, b"k" * 32) + wire.field(5, os.urandom(16))
    covered = wire.digest("server", greeting, welcome, b"k" * 32)
    credential = subprocess.run(command, input=covered, capture_output=True).stdout.strip()
    peer.sendall(wire.frame(welcome + wire.field(6, credential)))
    while True:
        log.write(f"message {len(wire.read_frame(peer))}\n")


def main():
    port, path, *command = sys.argv[1:]
    listeners = []
    if os.environ.get("SLUICE_UNIX"):  # first, as the daemons do
        listeners.append(socket.socket(socket.AF_UNIX))
        listeners[0].bind("\0" + os.environ["SLUICE_UNIX"])
        listeners[0].listen()
    listeners.append(socket.create_server(("", int(port))))
    with open(path, "a", buffering=1) as log:
        log.write("listens\n")
        while True:
            for listener in select.select(listeners, [], [])[0]:
                peer, _ = listener.accept()
                log.write(f"connection {'unix' if listener.family == socket.AF_UNIX else 'tcp'}\n")
                try:
                    with peer:
                        peer.settimeout(10)
                        serve(peer, log, command)
                except (EOFError, OSError):
                    pass


main()
