//! The commands: which answer and which opcode each inbox has, and how it may be sent.

use super::*;
use crate::mailbox::commands;

commands! {
    // Protection domains, transport domains, XRC domains, and doorbell pages.
    AllocPdIn => AllocPdOut, ALLOC_PD, Creates;
    AllocTransportDomainIn => AllocTransportDomainOut, ALLOC_TRANSPORT_DOMAIN, Creates;
    AllocXrcdIn => AllocXrcdOut, ALLOC_XRCD, Creates;
    AllocUarIn => AllocUarOut, ALLOC_UAR, Creates;
    // Memory keys.
    CreateMkeyIn => CreateMkeyOut, CREATE_MKEY, Creates;
    QueryMkeyIn => QueryMkeyOut, QUERY_MKEY, Queries;
    // Completion queues.
    CreateCqIn => CreateCqOut, CREATE_CQ, Creates;
    ModifyCqIn => ModifyCqOut, MODIFY_CQ, Modifies;
    QueryCqIn => QueryCqOut, QUERY_CQ, Queries;
    // Queue pairs and their states.
    CreateQpIn => CreateQpOut, CREATE_QP, Creates;
    Rst2initQpIn => Rst2initQpOut, RST2INIT_QP, Modifies;
    Init2initQpIn => Init2initQpOut, INIT2INIT_QP, Modifies;
    Init2rtrQpIn => Init2rtrQpOut, INIT2RTR_QP, Modifies;
    Rtr2rtsQpIn => Rtr2rtsQpOut, RTR2RTS_QP, Modifies;
    Rts2rtsQpIn => Rts2rtsQpOut, RTS2RTS_QP, Modifies;
    Sqerr2rtsQpIn => Sqerr2rtsQpOut, SQERR2RTS_QP, Modifies;
    Rts2sqdQpIn => Rts2sqdQpOut, RTS2SQD_QP, Modifies;
    Sqd2rtsQpIn => Sqd2rtsQpOut, SQD_RTS_QP, Modifies;
    Qp2ErrIn => Qp2ErrOut, QP_2ERR, Modifies;
    Qp2RstIn => Qp2RstOut, QP_2RST, Modifies;
    QueryQpIn => QueryQpOut, QUERY_QP, Queries;
    // Shared receive queues: basic, XRC, memory pools, extended ones.
    CreateSrqIn => CreateSrqOut, CREATE_SRQ, Creates;
    QuerySrqIn => QuerySrqOut, QUERY_SRQ, Queries;
    ArmRqIn => ArmRqOut, ARM_RQ, Modifies;
    CreateXrcSrqIn => CreateXrcSrqOut, CREATE_XRC_SRQ, Creates;
    QueryXrcSrqIn => QueryXrcSrqOut, QUERY_XRC_SRQ, Queries;
    ArmXrcSrqIn => ArmXrcSrqOut, ARM_XRC_SRQ, Modifies;
    CreateRmpIn => CreateRmpOut, CREATE_RMP, Creates;
    ModifyRmpIn => ModifyRmpOut, MODIFY_RMP, Modifies;
    QueryRmpIn => QueryRmpOut, QUERY_RMP, Queries;
    CreateXrqIn => CreateXrqOut, CREATE_XRQ, Creates;
    QueryXrqIn => QueryXrqOut, QUERY_XRQ, Queries;
    ArmXrqIn => ArmXrqOut, ARM_XRQ, Modifies;
    // Targets of dynamically connected queue pairs.
    CreateDctIn => CreateDctOut, CREATE_DCT, Creates;
    QueryDctIn => QueryDctOut, QUERY_DCT, Queries;
    // Transport interfaces of sends (TIS) and of receives (TIR), and tables of receive queues (RQT).
    CreateTisIn => CreateTisOut, CREATE_TIS, Creates;
    ModifyTisIn => ModifyTisOut, MODIFY_TIS, Modifies;
    QueryTisIn => QueryTisOut, QUERY_TIS, Queries;
    CreateRqtIn => CreateRqtOut, CREATE_RQT, Creates;
    ModifyRqtIn => ModifyRqtOut, MODIFY_RQT, Modifies;
    QueryRqtIn => QueryRqtOut, QUERY_RQT, Queries;
    CreateTirIn => CreateTirOut, CREATE_TIR, Creates;
    ModifyTirIn => ModifyTirOut, MODIFY_TIR, Modifies;
    QueryTirIn => QueryTirOut, QUERY_TIR, Queries;
    // Send and receive queues outside of queue pairs.
    CreateSqIn => CreateSqOut, CREATE_SQ, Creates;
    ModifySqIn => ModifySqOut, MODIFY_SQ, Modifies;
    QuerySqIn => QuerySqOut, QUERY_SQ, Queries;
    CreateRqIn => CreateRqOut, CREATE_RQ, Creates;
    ModifyRqIn => ModifyRqOut, MODIFY_RQ, Modifies;
    QueryRqIn => QueryRqOut, QUERY_RQ, Queries;
    // Flow tables, groups and rules.
    CreateFlowTableIn => CreateFlowTableOut, CREATE_FLOW_TABLE, Creates;
    QueryFlowTableIn => QueryFlowTableOut, QUERY_FLOW_TABLE, Queries;
    ModifyFlowTableIn => ModifyFlowTableOut, MODIFY_FLOW_TABLE, Modifies;
    CreateFlowGroupIn => CreateFlowGroupOut, CREATE_FLOW_GROUP, Creates;
    QueryFlowGroupIn => QueryFlowGroupOut, QUERY_FLOW_GROUP, Queries;
    SetFteIn => SetFteOut, SET_FLOW_TABLE_ENTRY, CreatesOrModifies;
    QueryFteIn => QueryFteOut, QUERY_FLOW_TABLE_ENTRY, Queries;
    AllocModifyHeaderContextIn => AllocModifyHeaderContextOut, ALLOC_MODIFY_HEADER_CONTEXT, Creates;
    // Counters.
    AllocQCounterIn => AllocQCounterOut, ALLOC_Q_COUNTER, Creates;
    QueryQCounterIn => QueryQCounterOut, QUERY_Q_COUNTER, Queries;
    AllocFlowCounterIn => AllocFlowCounterOut, ALLOC_FLOW_COUNTER, Creates;
    QueryFlowCounterIn => QueryFlowCounterOut, QUERY_FLOW_COUNTER, Queries;
    // Protection signature values (PSV).
    CreatePsvIn => CreatePsvOut, CREATE_PSV, Creates;
    // General objects: one kind of command for many kinds of objects.
    CreateGeneralObjectIn => GeneralObjOutCmdHdr, CREATE_GENERAL_OBJECT, Creates;
    ModifyGeneralObjectIn => GeneralObjOutCmdHdr, MODIFY_GENERAL_OBJECT, Modifies;
    QueryGeneralObjectIn => GeneralObjOutCmdHdr, QUERY_GENERAL_OBJECT, Queries;
    // Identity of the adapter, keys with a special meaning, and the version of the command interface (ISSI).
    QueryAdapterIn => QueryAdapterOut, QUERY_ADAPTER, Executes;
    QuerySpecialContextsIn => QuerySpecialContextsOut, QUERY_SPECIAL_CONTEXTS, Executes;
    QueryIssiIn => QueryIssiOut, QUERY_ISSI, Executes;
    // Registers that programs read.
    AccessRegisterIn => AccessRegisterOut, ACCESS_REGISTER_USER, Controls;
    // The function's own Ethernet port.
    QueryNicVportContextIn => QueryNicVportContextOut, QUERY_NIC_VPORT_CONTEXT, Executes;
    // QUERY_HCA_CAP: the device's capabilities.
    QueryHcaCapIn => QueryHcaCapOut, QUERY_HCA_CAP, Executes;
}
