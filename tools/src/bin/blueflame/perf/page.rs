//! A run as one HTML page without anything outside of it.

use common::Failure;
use maud::{Markup, PreEscaped, html};

use super::chart::{Curve, draw};
use super::plan::{Figure, Limit};
use super::quantiles::Quantiles;
use super::report::{Outcome, Report};
use crate::pages;

/// The page.
///
/// # Errors
/// A chart cannot be drawn.
pub(super) fn page(report: &Report) -> Result<String, Failure> {
    let title = format!("blueflame perf: {}", report.title);
    let charts = charts(report)?;
    let body = html! {
        p {
            "The " (report.role) "'s report. Device " (report.device) ", firmware " (report.firmware)
            ", MTU " (report.mtu) ". Peer: " (report.peer) ". Version " (report.version) "."
        }
        p.means { "Times in microseconds: " (report.omission) "." }
        @for chart in &charts { figure { (PreEscaped(chart)) } }
        h2 { "Results" }
        (results(report))
        @if report.results.iter().any(|outcome| outcome.series.len() > 1) {
            h2 { "Time series" }
            (series(report))
        }
        h2 { "Plan" }
        (plan(report))
    };
    Ok(pages::page(&title, &body))
}

fn charts(report: &Report) -> Result<Vec<String>, Failure> {
    let mut charts = Vec::new();
    let results = &report.results;
    let is_lat = report.plan.figure == Figure::Lat;
    if results.len() > 1 {
        let of = |name, value: fn(&Outcome) -> Option<f64>| Curve {
            name,
            points: results.iter().filter_map(|outcome| Some((outcome.bytes as f64, value(outcome)?))).collect(),
        };
        let (axis, curves) = if is_lat {
            let p50 = of("p50", |outcome| Some(outcome.times()?.p50));
            ("us", vec![p50, of("p99", |outcome| Some(outcome.times()?.p99))])
        } else {
            ("MB/s", vec![of("MB/s", |outcome| Some(outcome.stream()?.bytes_per_second / f64::from(1 << 20)))])
        };
        charts.push(draw("By size", ["bytes of a message", axis], true, &curves)?);
    }
    if report.times().count() > 0 {
        charts.push(common::svg::drawn(report.times().histogram(), &report.histogram_title())?);
    }
    for outcome in results.iter().filter(|outcome| outcome.series.len() > 1) {
        let rate = outcome.series.iter().map(|line| (line.seconds, line.per_second)).collect();
        let rate = Curve { name: "messages a second", points: rate };
        charts.push(draw("Rate over time", ["seconds", "messages a second"], false, &[rate])?);
        let of = |name, value: fn(&Quantiles) -> f64| Curve {
            name,
            points: outcome.series.iter().filter_map(|line| Some((line.seconds, value(line.us.as_ref()?)))).collect(),
        };
        let curves = [of("p50", |us| us.p50), of("p99", |us| us.p99), of("max", |us| us.max)];
        if curves.iter().all(|curve| !curve.points.is_empty()) {
            charts.push(draw("Times over time", ["seconds", "us"], false, &curves)?);
        }
    }
    Ok(charts)
}

fn results(report: &Report) -> Markup {
    html! {
        table {
            tr {
                th { "bytes" } th { "direction" } th { "messages" } th { "seconds" } th { "MB/s" } th { "Mmsg/s" }
                @for name in Quantiles::NAMES { th { (name) } }
                th { "lost" }
            }
            @for outcome in &report.results {
                @for (direction, stream) in [("sent", &outcome.sent), ("received", &outcome.received)] {
                    @if let Some(stream) = stream {
                        tr {
                            td { (outcome.bytes) } td { (direction) } td { (stream.messages) }
                            td { (format!("{:.3}", stream.seconds)) }
                            td { (format!("{:.2}", stream.bytes_per_second / f64::from(1 << 20))) }
                            td { (format!("{:.6}", stream.messages_per_second / 1e6)) }
                            @let times = outcome.times().filter(|_| direction == "sent");
                            @for (at, name) in Quantiles::NAMES.iter().enumerate() {
                                td {
                                    @if let Some(times) = times.filter(|times| times.has(name)) {
                                        (format!("{:.2}", times.values()[at]))
                                    }
                                }
                            }
                            td { @if let Some(lost) = outcome.lost.filter(|_| direction == "sent") { (lost) } }
                        }
                    }
                }
                @if let Some(posting) = &outcome.posting {
                    tr { td {} td colspan="13" {
                        "posting a message: " (format!("{:.1}", posting.ns_per_message)) " ns, "
                        (format!("{:.0}", posting.cycles_per_message)) " cycles of the CPU"
                    } }
                }
            }
        }
    }
}

fn series(report: &Report) -> Markup {
    html! {
        table {
            tr { th { "seconds" } th { "messages a second" } th { "p50 us" } th { "p99 us" } th { "max us" } }
            @for line in report.results.iter().flat_map(|outcome| &outcome.series) {
                tr {
                    td { (line.seconds) } td { (format!("{:.0}", line.per_second)) }
                    @if let Some(us) = &line.us {
                        td { (format!("{:.2}", us.p50)) } td { (format!("{:.2}", us.p99)) }
                        td { (format!("{:.2}", us.max)) }
                    }
                }
            }
        }
    }
}

fn plan(report: &Report) -> Markup {
    let plan = &report.plan;
    let limit = match plan.limit {
        Limit::Messages(messages) => format!("{messages} messages of each queue, after {} not measured", plan.warm_up),
        Limit::Time(time) => format!("{time:?}, of which {:?} at either end are not measured", plan.margin),
    };
    html! {
        table {
            tr { td.name { "limit" } td { (limit) } }
            tr { td.name { "queues, threads" } td { (plan.queues) ", " (plan.threads) } }
            tr { td.name { "both ways" } td { (plan.both_ways) } }
            tr { td.name { "messages on their way from a queue" } td { (plan.tx_depth) } }
            tr { td.name { "receives of a queue" } td { (plan.rx_depth) } }
            tr { td.name { "messages by one doorbell" } td { (plan.post_list) } }
            tr { td.name { "messages for each completion" } td { (plan.cq_mod) } }
            tr { td.name { "largest inline message" } td { (plan.inline) } }
            @if let Some(rate) = plan.rate { tr { td.name { "messages a second" } td { (rate) } } }
        }
    }
}
