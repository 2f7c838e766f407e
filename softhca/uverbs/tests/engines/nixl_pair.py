"""Two NIXL agents in two processes. One writes into the other's memory and reads it back, by NIXL's UCX backend.

    nixl_pair.py [BYTES...]

Every byte is compared, the bytes around the transfer, too.
"""

import multiprocessing
import os
import sys
import time

import nixl_cu12 as nixl

from memory import Memory, pattern

SECONDS = 60


def leave():
    """Ends without destructors: in the wheel of NIXL 1.5.1, that of the bundled libnl-route crashes, on TCP, too."""
    sys.stdout.flush()
    os._exit(0)


def registered(agent, length):
    memory = Memory(length)
    agent.register_memory([(*memory.all, 0, "")], "DRAM")
    return memory


def agent_of(name):
    return nixl.nixl_agent(name, nixl.nixl_agent_config(backends=["UCX"]))


def wait(done, what):
    """Calls `done` until it returns something."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        result = done()
        if result:
            return result
        time.sleep(0.001)
    sys.exit(f"{what}: nothing in {SECONDS} s")


def target(pipe, lengths):
    agent = agent_of("target")
    memories = [registered(agent, length) for length in lengths]
    pipe.send((agent.get_agent_metadata(), [memory.address for memory in memories]))
    for length, memory in zip(lengths, memories):
        wait(lambda: b"written" in agent.get_new_notifs().get("initiator", []), "notification")
        memory.check(pattern(length, 1), f"WRITE of {length} bytes")
        memory.fill(pattern(length, 2))
        pipe.send("changed")
        pipe.recv()
    pipe.send("done")
    leave()


def transfer(agent, operation, memory, remote, message=b""):
    here = agent.get_xfer_descs([(memory.address, memory.length, 0)], "DRAM")
    there = agent.get_xfer_descs([(remote, memory.length, 0)], "DRAM")
    handle = agent.initialize_xfer(operation, here, there, "target", message)

    def done():
        state = agent.check_xfer_state(handle)
        if state == "ERR":
            sys.exit(f"{operation} of {memory.length} bytes failed")
        return state == "DONE"

    if agent.transfer(handle) == "ERR":
        sys.exit(f"{operation} of {memory.length} bytes was refused")
    wait(done, operation)
    agent.release_xfer_handle(handle)


def main():
    lengths = [int(word) for word in sys.argv[1:]] or [1, 8, 4096, 65537, 4 << 20]
    # A fork would share the driver's queues.
    spawn = multiprocessing.get_context("spawn")
    pipe, theirs = spawn.Pipe()
    child = spawn.Process(target=target, args=(theirs, lengths), daemon=True)
    child.start()
    theirs.close()
    agent = agent_of("initiator")
    memories = [registered(agent, length) for length in lengths]
    metadata, remotes = pipe.recv()
    agent.add_remote_agent(metadata)
    for length, memory, remote in zip(lengths, memories, remotes):
        memory.fill(pattern(length, 1))
        transfer(agent, "WRITE", memory, remote, b"written")
        memory.check(pattern(length, 1), "the source of a WRITE")
        pipe.recv()
        transfer(agent, "READ", memory, remote)
        memory.check(pattern(length, 2), f"READ of {length} bytes")
        pipe.send("read")
    pipe.recv()
    child.join()
    if child.exitcode != 0:
        sys.exit(f"the target's code: {child.exitcode}")
    print(f"{len(lengths)} WRITEs and READs of {sum(lengths)} bytes")
    leave()


if __name__ == "__main__":
    main()
