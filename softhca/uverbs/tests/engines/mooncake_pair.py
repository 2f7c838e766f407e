"""Two of Mooncake's transfer engines in two processes. One writes into the other's memory and reads it back, by its RDMA
transport on mlx5_0.

    mooncake_pair.py [BYTES...]

Every byte is compared, the bytes around the transfer, too.
"""

import multiprocessing
import sys

from mooncake.engine import TransferEngine

from memory import Memory, pattern


def check(code, what):
    if code != 0:
        sys.exit(f"{what}: code {code}")


def registered(engine, length):
    memory = Memory(length)
    check(engine.register_memory(*memory.all), "registration")
    return memory


def new_engine():
    engine = TransferEngine()
    check(engine.initialize("127.0.0.1", "P2PHANDSHAKE", "rdma", "mlx5_0"), "initialization")
    return engine, f"127.0.0.1:{engine.get_rpc_port()}"


def target(pipe, lengths):
    engine, name = new_engine()
    memories = [registered(engine, length) for length in lengths]
    pipe.send((name, [memory.address for memory in memories]))
    for memory in memories:
        pipe.recv()
        memory.check(pattern(memory.length, 1), f"WRITE of {memory.length} bytes")
        memory.fill(pattern(memory.length, 2))
        pipe.send("changed")
    pipe.recv()


def main():
    lengths = [int(word) for word in sys.argv[1:]] or [1, 8, 4096, 65537, 4 << 20]
    # A fork would share the driver's queues.
    spawn = multiprocessing.get_context("spawn")
    pipe, theirs = spawn.Pipe()
    child = spawn.Process(target=target, args=(theirs, lengths), daemon=True)
    child.start()
    theirs.close()
    engine, _ = new_engine()
    name, remotes = pipe.recv()
    memories = [registered(engine, length) for length in lengths]
    for length, memory, remote in zip(lengths, memories, remotes):
        memory.fill(pattern(length, 1))
        check(engine.transfer_sync_write(name, memory.address, remote, length), f"WRITE of {length} bytes")
        memory.check(pattern(length, 1), "the source of a WRITE")
        pipe.send("written")
        pipe.recv()
        check(engine.transfer_sync_read(name, memory.address, remote, length), f"READ of {length} bytes")
        memory.check(pattern(length, 2), f"READ of {length} bytes")
    pipe.send("done")
    child.join()
    if child.exitcode != 0:
        sys.exit(f"the target's code: {child.exitcode}")
    print(f"{len(lengths)} WRITEs and READs of {sum(lengths)} bytes")


if __name__ == "__main__":
    main()
