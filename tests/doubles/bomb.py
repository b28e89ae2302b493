"""A helper that answers with a pickle that runs code when it is read, instead of a message."""

import os
import pickle
import struct

from harness.workers import wire


class Bomb:
    """Reading its pickle makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def bombs(path):
    """The pickle, as multiprocessing frames it, and in the frame of our own messages."""
    content = pickle.dumps(Bomb(path))
    return [
        struct.pack("!i", len(content)) + content,
        wire.framed(content),
    ]


def main(arguments, held=None):
    """Answer the one request as a helper would be expected not to."""
    with os.fdopen(int(arguments[1]), "rb") as requests:
        _, (path, framed) = wire.read_request(requests.read)
        os.write(int(arguments[2]), bombs(path)[framed])
        requests.read()
