"""Tests as another project has them, in Python by pyverbs: nothing in them knows the software device.

`scripts/products` runs them by `pytest --softhca`.
"""

import pyverbs.enums as e
import pytest
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

RIGHTS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE


@pytest.fixture
def context():
    return Context(name=get_device_list()[0].name.decode())


def connect(context, pair, peer):
    port = context.query_port(1)
    route = GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0)
    attributes = QPAttr(port_num=1, path_mtu=port.active_mtu)
    attributes.dest_qp_num = peer.qp_num
    attributes.qp_access_flags = RIGHTS
    attributes.timeout, attributes.retry_cnt = 14, 7
    attributes.ah_attr = AHAttr(dlid=port.lid, port_num=1, is_global=1, gr=route)
    pair.to_rts(attributes)


def write(context, key):
    """Writes 5 bytes from the start of a buffer to its middle; the completion's status, and the bytes there."""
    domain = PD(context)
    memory = MR(domain, 64, RIGHTS)
    completions = CQ(context, 1)
    sizes = QPCap(max_send_wr=1, max_send_sge=1, max_recv_wr=0, max_recv_sge=0)
    pair, peer = (
        QP(domain, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=completions, rcq=completions, cap=sizes)) for _ in range(2)
    )
    connect(context, pair, peer)
    connect(context, peer, pair)
    memory.write("hello", 5)
    request = SendWR(num_sge=1, sg=[SGE(memory.buf, 5, memory.lkey)], opcode=e.IBV_WR_RDMA_WRITE)
    request.set_wr_rdma(key(memory.rkey), memory.buf + 32)
    pair.post_send(request)
    found = 0
    while found == 0:
        found, entries = completions.poll()
    return entries[0].status, memory.read(5, 32)


def test_a_write_arrives(context):
    assert write(context, lambda key: key) == (e.IBV_WC_SUCCESS, b"hello")


def test_a_wrong_key_is_refused(context):
    status, bytes_there = write(context, lambda key: key ^ 0xFF)
    assert status == e.IBV_WC_REM_ACCESS_ERR
    assert bytes_there == bytes(5)


@pytest.mark.parametrize("size", [1, 4096, 1 << 20])
def test_memory_is_registered(context, size):
    memory = MR(PD(context), size, e.IBV_ACCESS_LOCAL_WRITE)
    assert memory.length == size
