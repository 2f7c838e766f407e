//! QUERY_HCA_CAP, and the sets of capabilities that it reports.

pub(super) mod flow_tables;
pub(super) mod general;
pub(super) mod query;
pub(super) mod sets;
