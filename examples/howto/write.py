#!/usr/bin/python3
"""An RDMA WRITE of five bytes, from a queue pair to itself, by rdma-core's pyverbs. It runs on any mlx5 device."""
# ANCHOR: write
try:
    import pyverbs.libibverbs_enums as e
except ModuleNotFoundError:  # rdma-core 44
    import pyverbs.enums as e
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

RIGHTS = e.ibv_access_flags.IBV_ACCESS_LOCAL_WRITE | e.ibv_access_flags.IBV_ACCESS_REMOTE_WRITE

context = Context(name="mlx5_0")
domain = PD(context)
memory = MR(domain, 64, RIGHTS)
completions = CQ(context, 1)
sizes = QPCap(max_send_wr=1, max_send_sge=1, max_recv_wr=0, max_recv_sge=0)
pair = QP(domain, QPInitAttr(qp_type=e.ibv_qp_type.IBV_QPT_RC, scq=completions, rcq=completions, cap=sizes))

port = context.query_port(1)
route = GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0)
attributes = QPAttr(port_num=1, path_mtu=port.active_mtu)
attributes.dest_qp_num = pair.qp_num
attributes.qp_access_flags = RIGHTS
attributes.timeout = 14
attributes.retry_cnt = 7
attributes.ah_attr = AHAttr(dlid=port.lid, port_num=1, is_global=1, gr=route)
pair.to_rts(attributes)

memory.write("hello", 5)
request = SendWR(num_sge=1, sg=[SGE(memory.buf, 5, memory.lkey)], opcode=e.ibv_wr_opcode.IBV_WR_RDMA_WRITE)
request.set_wr_rdma(memory.rkey, memory.buf + 32)
pair.post_send(request)
found = 0
while found == 0:
    found, entries = completions.poll()
assert entries[0].status == e.ibv_wc_status.IBV_WC_SUCCESS, entries[0]
assert memory.read(5, 32) == b"hello"
print("a WRITE of 5 bytes has arrived")
# ANCHOR_END: write
