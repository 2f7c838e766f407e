"""Memory whose every byte is compared, for programs of this folder."""

import ctypes
import sys

GUARD = b"\xa5" * 64


def pattern(length, seed):
    return bytes((seed + 7 * i + (i >> 8)) & 0xFF for i in range(length))


class Memory:
    """Bytes between two guards. `address` is that of the bytes, `all` the address and length of the guards, too."""

    def __init__(self, length):
        self.length, whole = length, length + 2 * len(GUARD)
        self.buffer = ctypes.create_string_buffer(bytes(whole), whole)
        self.all = (ctypes.addressof(self.buffer), whole)
        self.address = self.all[0] + len(GUARD)
        self.fill(bytes(length))

    def fill(self, data):
        ctypes.memmove(self.all[0], GUARD + data + GUARD, self.all[1])

    def check(self, data, what):
        if self.buffer.raw != GUARD + data + GUARD:
            sys.exit(f"{what}: wrong data")
