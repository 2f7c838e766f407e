//! Runs a check: skips it where a need is not met, and turns everything else into passed or failed.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use blueflame::verbs;
use blueflame_devx as devx;

use super::check::Check;
use super::found::{Failure, Seen, TooLate};
use super::lab::Lab;
use super::report::{Outcome, Row};
use crate::machine;
use crate::need::Need;

/// The first need that is not met, and why.
fn unmet(check: &Check, lab: &Lab, even_down: bool) -> Option<(Need, String)> {
    let needs = check.needs.iter().filter(|&&need| !(even_down && need == Need::Link));
    needs.copied().find_map(|need| Some((need, need.met(&lab.subject).err()?)))
}

/// Runs one check.
pub(crate) fn examine(check: &Check, lab: &Lab, even_down: bool) -> Row {
    let begin = Instant::now();
    let row = |outcome, seen: String, means: String, missing, figures| Row {
        id: check.id,
        theme: check.theme(),
        title: check.title,
        outcome,
        seen,
        means,
        missing,
        figures,
        seconds: begin.elapsed().as_secs_f64(),
    };
    if let Some((need, why)) = unmet(check, lab, even_down) {
        let means = format!("Nothing is known about this: it needs {}.", need.name());
        return row(Outcome::Skipped, why, means, Some(need.name()), Vec::new());
    }
    match catch_unwind(AssertUnwindSafe(|| (check.run)(lab))) {
        Ok(Ok(Seen { text, figures })) => row(Outcome::Passed, text, "This works here.".into(), None, figures),
        Ok(Err(failure)) => {
            let busy = if failure.is::<TooLate>() { machine::busy() } else { None };
            let means = busy.map_or_else(|| check.fault.to_owned(), |busy| blamed(&busy, check.fault));
            row(Outcome::Failed, told(&failure), means, None, Vec::new())
        }
        Err(panic) => {
            let why = format!("the check panicked: {}", message(&*panic));
            row(Outcome::Failed, why, "A defect of this crate or of the check: report it.".into(), None, Vec::new())
        }
    }
}

/// The meaning of a failure on a busy machine.
fn blamed(busy: &str, fault: &str) -> String {
    format!(
        "{busy}, which alone may be the cause: run this again when the machine is idle, or with a longer --patience. If \
         it fails there, too: {fault}"
    )
}

/// The text of a failure. A missing capability that the device has reported is one, too: the check would have been
/// skipped if the attributes said no.
fn told(failure: &Failure) -> String {
    let by_verbs = failure.downcast_ref::<verbs::Error>();
    let by_devx = failure.downcast_ref::<devx::Error>();
    let unsupported = matches!(by_verbs, Some(verbs::Error::Unsupported { .. } | verbs::Error::CqeCompression { .. }))
        || matches!(by_devx, Some(devx::Error::Capability { .. }));
    if unsupported {
        format!("skipped unexpectedly, the device reports what it takes: {failure}")
    } else {
        failure.to_string()
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_blamed_first() {
        let text = blamed("9.5 programs wanted the 2 CPUs", "The cause is the driver.");
        assert!(text.starts_with("9.5 programs wanted the 2 CPUs, which alone"), "{text}");
        assert!(text.ends_with("If it fails there, too: The cause is the driver."), "{text}");
        let late: Failure = TooLate("late".into()).into();
        assert!(late.is::<TooLate>() && late.to_string() == "late");
    }

    #[test]
    fn an_unexpected_skip_is_told_as_one() {
        let of = |failure: Failure| told(&failure);
        let verbs = of(verbs::Error::Unsupported { what: "windows" }.into());
        assert!(verbs.starts_with("skipped unexpectedly") && verbs.contains("windows"), "{verbs}");
        let devx = of(devx::Error::Capability { name: "cd", needed: 1, found: 0 }.into());
        assert!(devx.starts_with("skipped unexpectedly"), "{devx}");
        assert_eq!(of("other".into()), "other");
    }
}
