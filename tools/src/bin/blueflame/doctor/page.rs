//! The report as one HTML page without anything outside of it.

use maud::{Markup, html};

use super::report::{Outcome, Report, Row};
use crate::machine::Fact;
use crate::pages;

/// The page.
pub(crate) fn page(report: &Report) -> String {
    let device = &report.device;
    let summary = report.summary;
    let title = format!("blueflame doctor: {}, firmware {}", device.name, device.firmware);
    let body = html! {
        p {
            span.passed { (summary.passed) " passed" } ", "
            span.failed { (summary.failed) " failed" } ", "
            span.skipped { (summary.skipped) " skipped" }
            ". Port " (report.port) ". Version " (report.version) "."
        }
        p.means {
            "A check is skipped only if the device, its port or this process lacks the capability that it "
            "names. A check that is skipped for any other reason has failed."
        }
        @for theme in themes(&report.checks) {
            h2 { (theme) }
            table { @for row in report.checks.iter().filter(|row| row.theme == theme) { (check(row)) } }
        }
        h2 { "Device" }
        (facts(&device.facts))
        table {
            tr { td.name { "vendor, device" } td { (device.vendor_id) ", " (device.vendor_part_id) } }
            tr { td.name { "node GUID" } td { (device.node_guid) } }
            @if let Some(half) = device.register.half_bytes {
                tr { td.name { "doorbell register" } td {
                    "halves of " (half) " bytes, mapped from "
                    code { (device.register.mapped_from.as_deref().unwrap_or("nothing")) }
                } }
            }
            @for port in &device.ports {
                tr { td.name { "port " (port.number) } td {
                    (port.link_layer) ", " (port.state) ", " (port.rate.as_deref().unwrap_or("unknown rate"))
                    ", path MTU " (port.active_mtu) ", " (port.gids.len()) " GIDs"
                } }
            }
        }
        h2 { "What this crate can do there" }
        table { @for capability in &device.capabilities {
            tr {
                td class=(if capability.available { "passed" } else { "skipped" }) {
                    (if capability.available { "yes" } else { "no" })
                }
                td.name { (capability.name) }
                td { (capability.why_not.as_deref().unwrap_or(capability.offers)) }
            }
        } }
        h2 { "Machine" }
        (facts(&report.machine))
    };
    pages::page(&title, &body)
}

/// The themes, in order, each once.
fn themes(rows: &[Row]) -> Vec<&'static str> {
    let mut themes: Vec<_> = rows.iter().map(|row| row.theme).collect();
    themes.dedup();
    themes
}

fn check(row: &Row) -> Markup {
    html! {
        tr {
            td class=(row.outcome.word()) { (row.outcome.word()) }
            td.name { code { (row.id) } }
            td {
                (row.title)
                br; (row.seen)
                @if row.outcome != Outcome::Passed { br; span.means { (row.means) } }
                @if !row.figures.is_empty() {
                    ul.figures { @for figure in &row.figures { li { (figure.name) ": " (figure.value) } } }
                }
            }
            td.time { (format!("{:.2} s", row.seconds)) }
        }
    }
}

fn facts(facts: &[Fact]) -> Markup {
    html! {
        table { @for fact in facts {
            tr {
                td.name { (fact.name) }
                td { (fact.value) @if let Some(advice) = fact.advice { br; span.advice { (advice) } } }
            }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &'static str, theme: &'static str) -> Row {
        Row {
            id,
            theme,
            title: "a < b",
            outcome: Outcome::Failed,
            seen: "<script>".into(),
            means: "look there".into(),
            missing: None,
            figures: Vec::new(),
            seconds: 0.5,
        }
    }

    #[test]
    fn texts_are_escaped() {
        let text = check(&row("x.y", "x")).into_string();
        assert!(text.contains("&lt;script&gt;") && text.contains("a &lt; b") && text.contains("look there"), "{text}");
    }

    /// A time is one word to its reader: `0.50 s` must not break before its unit.
    #[test]
    fn times_do_not_wrap() {
        assert!(check(&row("x.y", "x")).into_string().contains("<td class=\"time\">0.50 s</td>"));
        assert!(pages::page("title", &html! {}).contains("td.name, td.time { white-space: nowrap; }"));
    }

    #[test]
    fn themes_are_in_order() {
        assert_eq!(themes(&[row("b.1", "b"), row("b.2", "b"), row("a.1", "a")]), ["b", "a"]);
    }
}
