//! The statuses of completions by name and by text.

use blueflame::cq::WcStatus;
use blueflame::cq::error::KnownSyndrome;

use super::words::{Kind, Token, phrase};

/// A text of a status, in the words of a program.
struct Text {
    words: &'static [&'static str],
    status: WcStatus,
    /// Whether other programs use these words for other failures.
    common: bool,
}

const fn text(status: WcStatus, words: &'static [&'static str]) -> Text {
    Text { words, status, common: false }
}

const fn common(status: WcStatus, words: &'static [&'static str]) -> Text {
    Text { words, status, common: true }
}

/// The texts of `ibv_wc_status_str` (rdma-core `libibverbs/enum_strs.c`), of `ib_wc_status_msg` (Linux
/// `drivers/infiniband/core/verbs.c`) where it differs, of UCX (`src/uct/ib/mlx5/ib_mlx5_log.c`) and of Open MPI
/// (`opal/mca/btl/openib/btl_openib_component.c`).
const TEXTS: &[Text] = &[
    text(WcStatus::LocLenErr, &["local", "length", "error"]),
    text(WcStatus::LocQpOpErr, &["local", "QP", "operation", "error"]),
    text(WcStatus::LocEecOpErr, &["local", "EE", "context", "operation", "error"]),
    text(WcStatus::LocProtErr, &["local", "protection", "error"]),
    text(WcStatus::WrFlushErr, &["Work", "Request", "Flushed", "Error"]),
    text(WcStatus::WrFlushErr, &["WR", "flushed"]),
    text(WcStatus::MwBindErr, &["memory", "management", "operation", "error"]),
    text(WcStatus::MwBindErr, &["memory", "bind", "operation", "error"]),
    common(WcStatus::BadRespErr, &["bad", "response", "error"]),
    common(WcStatus::LocAccessErr, &["local", "access", "error"]),
    text(WcStatus::RemInvReqErr, &["remote", "invalid", "request", "error"]),
    common(WcStatus::RemInvReqErr, &["invalid", "request", "error"]),
    text(WcStatus::RemAccessErr, &["remote", "access", "error"]),
    common(WcStatus::RemOpErr, &["remote", "operation", "error"]),
    text(WcStatus::RetryExcErr, &["transport", "retry", "counter", "exceeded"]),
    text(WcStatus::RetryExcErr, &["transport", "retry", "count", "exceeded"]),
    text(WcStatus::RnrRetryExcErr, &["RNR", "retry", "counter", "exceeded"]),
    text(WcStatus::RnrRetryExcErr, &["RNR", "retry", "count", "exceeded"]),
    text(WcStatus::RnrRetryExcErr, &["receiver", "not", "ready", "retry", "exceeded", "error"]),
    common(WcStatus::RetryExcErr, &["retry", "exceeded", "error"]),
    text(WcStatus::LocRddViolErr, &["local", "RDD", "violation", "error"]),
    text(WcStatus::RemInvRdReqErr, &["remote", "invalid", "RD", "request"]),
    common(WcStatus::RemAbortErr, &["aborted", "error"]),
    common(WcStatus::RemAbortErr, &["operation", "aborted"]),
    text(WcStatus::InvEecnErr, &["invalid", "EE", "context", "number"]),
    text(WcStatus::InvEecStateErr, &["invalid", "EE", "context", "state"]),
    common(WcStatus::FatalErr, &["fatal", "error"]),
    common(WcStatus::RespTimeoutErr, &["response", "timeout", "error"]),
    common(WcStatus::GeneralErr, &["general", "error"]),
    common(WcStatus::TmErr, &["TM", "error"]),
    common(WcStatus::TmRndvIncomplete, &["TM", "software", "rendezvous"]),
];

/// A status that a line names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) status: WcStatus,
    /// The device's syndrome, if the line has the name of one.
    pub(crate) syndrome: Option<KnownSyndrome>,
    /// The tokens of the name.
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// Whether the words mean it only in a line about a completion.
    pub(crate) common: bool,
}

/// The status that the words at `at` name.
pub(crate) fn named(tokens: &[Token<'_>], at: usize) -> Option<Named> {
    let token = tokens[at];
    if token.kind != Kind::Word {
        return None;
    }
    let of_syndrome = KnownSyndrome::ALL.iter().find(|syndrome| token.is(syndrome.name()));
    if let Some(syndrome) = of_syndrome {
        return Some(Named { status: syndrome.status(), syndrome: Some(*syndrome), at, len: 1, common: false });
    }
    if let Some((status, common)) = by_name(token.text) {
        return Some(Named { status, syndrome: None, at, len: 1, common });
    }
    let text = TEXTS.iter().find(|text| phrase(tokens, at, text.words))?;
    Some(Named { status: text.status, syndrome: None, at, len: text.words.len(), common: text.common })
}

/// The status of a text alone, as `ib_wc_status_msg` of Linux gives it.
pub(crate) fn by_text(tokens: &[Token<'_>]) -> Option<WcStatus> {
    let exact = |text: &&Text| text.words.len() == tokens.len() && phrase(tokens, 0, text.words);
    TEXTS.iter().find(exact).map(|text| text.status)
}

/// The status of a name, and whether it is a common one: `IBV_WC_RETRY_EXC_ERR`, `IB_WC_RETRY_EXC_ERR`,
/// `RETRY_EXC_ERR`, `RetryExcErr`.
fn by_name(name: &str) -> Option<(WcStatus, bool)> {
    let letters = |name: &'static str| name.bytes().filter(|c| *c != b'_');
    // No name is longer. Words of lower case alone are no names.
    if name.len() > 40 || !name.bytes().any(|c| c.is_ascii_uppercase()) {
        return None;
    }
    let prefixes = ["IBV_WC_", "IB_WC_", "WC_"];
    let bare = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let wanted = || bare.bytes().filter(|c| *c != b'_').map(|c| c.to_ascii_uppercase());
    let status = WcStatus::ALL.iter().find(|status| letters(&status.name()["IBV_WC_".len()..]).eq(wanted()))?;
    let is_common = matches!(
        status,
        WcStatus::Success | WcStatus::FatalErr | WcStatus::GeneralErr | WcStatus::TmErr | WcStatus::TmRndvIncomplete
    );
    Some((*status, is_common && bare == name))
}

#[cfg(test)]
mod tests {
    use super::super::words::tokens;
    use super::*;

    #[test]
    fn each_status_has_its_names_and_its_text() {
        for status in WcStatus::ALL {
            let name = status.name();
            let kernel = name.replace("IBV_", "IB_");
            for name in [name, &kernel, &name["IBV_WC_".len()..]] {
                let found = named(&tokens(name), 0).unwrap_or_else(|| panic!("{name}"));
                assert_eq!((found.status, found.syndrome), (*status, None), "{name}");
            }
            let has_text = TEXTS.iter().any(|text| text.status == *status);
            assert_eq!(has_text, *status != WcStatus::Success, "{name}");
        }
        for syndrome in KnownSyndrome::ALL {
            let found = named(&tokens(syndrome.name()), 0).expect("a syndrome");
            assert_eq!(found.syndrome, Some(*syndrome));
        }
        for text in TEXTS {
            let words = text.words.join(" ").to_lowercase();
            assert_eq!(named(&tokens(&words), 0).map(|found| found.status), Some(text.status), "{words}");
        }
        for word in ["success", "flush", "error", "IBV_WC_SEND", "IBV_WC_RDMA_WRITE", "MLX5_CQE_REQ_ERR"] {
            assert!(named(&tokens(word), 0).is_none_or(|found| found.status == WcStatus::Success), "{word}");
        }
    }
}
