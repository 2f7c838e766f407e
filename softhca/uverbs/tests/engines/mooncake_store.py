"""Mooncake's store: a master, a client that has memory and puts objects there, and a client in another process that
gets them and puts its own. By RDMA on mlx5_0.

    mooncake_store.py

Every byte is compared.
"""

import multiprocessing
import socket
import subprocess
import sys
import time

from mooncake.store import MooncakeDistributedStore

from memory import pattern

LENGTHS = [1, 1000, 65536, 1 << 20, 5 << 20]
MIB = 1 << 20


def check(code, what):
    if code != 0:
        sys.exit(f"{what}: code {code}")


def free_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def client_of(port, segment):
    store = MooncakeDistributedStore()
    master = f"127.0.0.1:{port}"
    check(store.setup("127.0.0.1", "P2PHANDSHAKE", segment, 64 * MIB, "rdma", "mlx5_0", master), "setup")
    return store


def put(store, name, seed):
    for length in LENGTHS:
        check(store.put(f"{name}{length}", pattern(length, seed)), f"put of {length} bytes")


def get(store, name, seed):
    for length in LENGTHS:
        if store.get(f"{name}{length}") != pattern(length, seed):
            sys.exit(f"get of {length} bytes: wrong data")


def without_memory(port, pipe):
    store = client_of(port, 0)
    pipe.recv()
    get(store, "owner", 1)
    put(store, "guest", 2)
    pipe.send("put")
    pipe.recv()
    check(store.close(), "close")


def main():
    port = free_port()
    words = ["--rpc_port", str(port), "--metrics_port", str(free_port())]
    master = subprocess.Popen(["mooncake_master", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        # A fork would share the driver's queues.
        spawn = multiprocessing.get_context("spawn")
        pipe, theirs = spawn.Pipe()
        child = spawn.Process(target=without_memory, args=(port, theirs), daemon=True)
        child.start()
        theirs.close()
        store = client_of(port, 64 * MIB)
        put(store, "owner", 1)
        pipe.send("put")
        pipe.recv()
        get(store, "guest", 2)
        pipe.send("done")
        child.join()
        check(store.close(), "close")
    finally:
        master.terminate()
        master.wait()
    if child.exitcode != 0:
        sys.exit(f"the other client's code: {child.exitcode}")
    print(f"{len(LENGTHS)} objects each way, {sum(LENGTHS)} bytes")


if __name__ == "__main__":
    main()
