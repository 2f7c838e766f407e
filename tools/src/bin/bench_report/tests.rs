//! The report over measurements that are made up.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::goals::{Bound, GOALS, Goal, MEANINGS};
use crate::measured::Measurements;
use crate::sections::SECTIONS;
use crate::tables::HEADLINES;
use crate::verdict::{Figure, Value, all_met};
use crate::{Options, charts, run, summary};

fn record(group: &str, case: &str, ns: f64, ratios: Json) -> Json {
    json!({ "group": group, "case": case, "ns": ns, "ratios": ratios, "axis": null, "x": null })
}

fn point(axis: &str, case: &str, x: u64, ns: f64, ratios: Json) -> Json {
    json!({ "group": axis, "case": case, "ns": ns, "ratios": ratios, "axis": axis, "x": x })
}

/// A folder with a file of those records under `measured/`, and one of instruction counts.
fn folder(records: &[Json], instructions: &Json) -> TempDir {
    let folder = TempDir::new().unwrap();
    let measured = folder.path().join("measured");
    fs::create_dir(&measured).unwrap();
    fs::write(measured.join("post.json"), json!({ "cpu": "a CPU", "records": records }).to_string()).unwrap();
    fs::write(measured.join("instructions.json"), instructions.to_string()).unwrap();
    folder
}

fn read(folder: &TempDir) -> Measurements {
    Measurements::read(&folder.path().join("measured")).unwrap()
}

fn goal(group: &'static str, x: Option<u64>, case: &'static str, bound: Bound) -> Goal {
    Goal { id: "P0", group, x, case, bound }
}

fn posts() -> Vec<Json> {
    vec![
        record("post", "floor two fences", 6.0, json!({ "typed two fences": 0.95, "ibv_wr default": 0.2 })),
        record("post", "typed two fences", 6.3, json!({ "floor two fences": 1.05, "ibv_wr default": 0.25 })),
        record("post", "ibv_wr default", 31.0, json!({ "floor two fences": 5.0, "typed two fences": 4.0 })),
    ]
}

#[test]
fn each_bound_is_judged_in_its_own_direction() {
    let mut records = posts();
    records.push(point("ring depth", "typed", 64, 5.0, json!({})));
    records.push(point("ring depth", "typed", 32768, 7.0, json!({})));
    let measured = read(&folder(&records, &json!({ "post typed two fences": 58 })));
    let case = "typed two fences";
    let judge = |group, x, case, bound| {
        let goal = goal(group, x, case, bound);
        let figure = Figure::new(&goal, &measured);
        (figure.value, figure.met())
    };
    let floor = |limit| judge("post", None, case, Bound::Within(limit, "floor two fences"));
    // The ratio is the one that was measured, not that of the medians.
    assert_eq!(floor(1.05), (Some(Value::Ratio(1.05)), Some(true)));
    assert_eq!(floor(1.049).1, Some(false));
    let libmlx5 = |limit| judge("post", None, case, Bound::Faster(limit, "ibv_wr default"));
    assert_eq!(libmlx5(4.0), (Some(Value::Speedup(4.0)), Some(true)));
    assert_eq!(libmlx5(4.1).1, Some(false));
    assert_eq!(judge("post", None, case, Bound::Instructions(58)), (Some(Value::Instructions(58)), Some(true)));
    assert_eq!(judge("post", None, case, Bound::Instructions(57)).1, Some(false));
    assert_eq!(judge("post", None, case, Bound::Nanoseconds(6.3)), (Some(Value::Nanoseconds(6.3)), Some(true)));
    assert_eq!(judge("post", None, case, Bound::Nanoseconds(6.2)).1, Some(false));
    let deep = |limit| judge("ring depth", Some(32768), "typed", Bound::WithinPoint(limit, 64));
    assert_eq!(deep(1.4), (Some(Value::Ratio(1.4)), Some(true)));
    assert_eq!(deep(1.3).1, Some(false));
    assert_eq!(judge("post", None, case, Bound::Tested("a test")), (None, None));
}

#[test]
fn beside_a_figure_is_what_its_floor_has() {
    let mut records = posts();
    records.push(record("post", "floor one fence", 3.0, json!({ "floor two fences": 0.5, "ibv_wr default": 0.1 })));
    records.push(record("post", "typed one fence", 3.6, json!({ "typed two fences": 0.6, "ibv_wr default": 0.2 })));
    for (x, ns) in [(64, 2.0), (32768, 5.0)] {
        records.push(point("ring depth", "floor", x, ns, json!({})));
        records.push(point("ring depth", "typed", x, 2.0 * ns, json!({})));
    }
    let measured = read(&folder(&records, &json!({})));
    let floor = |group, x, case, bound| Figure::new(&goal(group, x, case, bound), &measured).floor;
    let case = "typed one fence";
    assert_eq!(floor("post", None, case, Bound::Within(0.8, "typed two fences")), Some(Value::Ratio(0.5)));
    assert_eq!(floor("post", None, case, Bound::Within(1.1, "floor one fence")), None);
    assert_eq!(floor("post", None, case, Bound::Faster(6.0, "ibv_wr default")), Some(Value::Speedup(10.0)));
    assert_eq!(floor("post", None, case, Bound::Nanoseconds(4.0)), Some(Value::Nanoseconds(3.0)));
    assert_eq!(floor("post", None, case, Bound::Instructions(58)), None);
    assert_eq!(floor("ring depth", Some(32768), "typed", Bound::WithinPoint(1.3, 64)), Some(Value::Ratio(2.5)));
}

#[test]
fn what_was_not_measured_is_neither_met_nor_missed() {
    let measured = read(&folder(&posts(), &json!({})));
    for goal in [
        goal("post", None, "typed one fence", Bound::Within(1.1, "floor one fence")),
        goal("post", None, "typed two fences", Bound::Within(1.1, "floor one fence")),
        goal("post", None, "typed two fences", Bound::Instructions(58)),
        goal("queues", Some(256), "typed", Bound::WithinPoint(1.8, 1)),
    ] {
        let figure = Figure::new(&goal, &measured);
        assert_eq!((figure.value, figure.met()), (None, None), "{}", goal.bound);
    }
}

#[test]
fn a_case_meets_its_goals_when_it_meets_all() {
    let measured = read(&folder(&posts(), &json!({})));
    let bounds = [Bound::Nanoseconds(7.0), Bound::Nanoseconds(6.0), Bound::Instructions(58)];
    let goals = bounds.map(|bound| goal("post", None, "typed two fences", bound));
    let [met, missed, unknown] = goals.each_ref().map(|goal| Figure::new(goal, &measured));
    assert_eq!(all_met(&[]), None);
    assert_eq!(all_met(&[&met]), Some(true));
    assert_eq!(all_met(&[&met, &unknown]), None);
    assert_eq!(all_met(&[&met, &unknown, &missed]), Some(false));
}

#[test]
fn the_summary_has_the_agreed_form() {
    let measured = read(&folder(&posts(), &json!({ "post typed two fences": 53, "post staged": 20 })));
    let figures: Vec<Figure<'_>> = GOALS.iter().map(|goal| Figure::new(goal, &measured)).collect();
    let json = serde_json::to_value(summary::summary(&measured, &figures)).unwrap();
    assert_eq!(
        json["post typed two fences"],
        json!({
            "ns": 6.3, "ratio_to_floor": 1.05, "ratio_to_libmlx5": 4.0, "instructions": 53,
            "goal": "P1 ≤ 1.10× floor two fences; P1 ≤ 1.10× floor with wr_id; P1 ≤ 58 instructions; \
                     P5 ≥ 3.0× as fast as ibv_wr single-threaded; P5 ≥ 4.5× as fast as ibv_wr default",
            "met": false,
        })
    );
    let nothing = json!({
        "ns": null, "ratio_to_floor": null, "ratio_to_libmlx5": null, "instructions": null, "goal": null, "met": null,
    });
    let with = |fields: &[(&str, Json)]| {
        let mut entry = nothing.clone();
        fields.iter().for_each(|(name, value)| entry[*name] = value.clone());
        entry
    };
    // No floor's name fits libmlx5's case; a floor is its own measure; counted but not timed; a goal and nothing else.
    assert_eq!(json["post ibv_wr default"], with(&[("ns", json!(31.0))]));
    assert_eq!(json["post floor two fences"], with(&[("ns", json!(6.0)), ("ratio_to_libmlx5", json!(5.0))]));
    assert_eq!(json["post staged"], with(&[("instructions", json!(20))]));
    assert_eq!(json["queues 256 typed"], with(&[("goal", json!("P6 ≤ 1.80× itself at 1"))]));
}

#[test]
fn a_case_is_held_against_the_floor_that_does_the_same() {
    let names = [
        "floor two fences",
        "prepared floor two fences",
        "typed two fences",
        "prepared two fences",
        "floor fields",
        "floor fields 16",
        "poll_with(1) fields",
        "poll_with(16) fields",
        "typed shared",
    ];
    let records = names.map(|name| record("g", name, 1.0, json!({})));
    let measured = read(&folder(&records, &json!({})));
    let floor = |case| measured.floor_of(measured.find("g", None, case).unwrap()).map(|floor| floor.case.as_str());
    assert_eq!(floor("typed two fences"), Some("floor two fences"));
    assert_eq!(floor("prepared two fences"), Some("prepared floor two fences"));
    assert_eq!(floor("poll_with(1) fields"), Some("floor fields"));
    assert_eq!(floor("poll_with(16) fields"), Some("floor fields 16"));
    assert_eq!(floor("typed shared"), None);
}

#[test]
fn a_case_is_held_against_the_fastest_libmlx5_that_does_as_much() {
    let cases =
        [("blueflame", 3.0), ("blueflame moderated", 2.0), ("ibv_a", 9.0), ("ibv_b", 8.0), ("ibv_b moderated", 5.0)];
    let measured = read(&folder(&cases.map(|(case, ns)| record("g", case, ns, json!({}))), &json!({})));
    let beside = |case| measured.libmlx5_beside(measured.find("g", None, case).unwrap()).unwrap().case.as_str();
    assert_eq!([beside("blueflame"), beside("blueflame moderated")], ["ibv_b", "ibv_b moderated"]);
}

#[test]
fn goals_name_groups_that_are_shown() {
    for goal in GOALS.iter().filter(|goal| !matches!(goal.bound, Bound::Tested(_))) {
        let shown = SECTIONS.iter().any(|section| section.groups().contains(&goal.group));
        assert!(shown, "{} {}", goal.id, goal.group);
    }
}

/// Measurements of every group, with every goal's case in it.
fn everything() -> Vec<Json> {
    let mut records = posts();
    for section in SECTIONS {
        for group in section.groups() {
            let sweep = GOALS.iter().find(|goal| goal.group == group).is_some_and(|goal| goal.x.is_some());
            for (n, x) in [8, 16, 64, 220].into_iter().enumerate() {
                if sweep || matches!(group, "inline bytes" | "entries") {
                    records.push(point(group, "typed", x, 5.0 + n as f64, json!({})));
                } else if group != "post" {
                    records.push(record(group, &format!("case {n}"), 5.0 + n as f64, json!({})));
                }
            }
        }
    }
    records
}

fn options(folder: &Path, check: bool) -> Options {
    Options { folder: folder.to_owned(), check, docs: None }
}

#[test]
fn every_chart_says_what_it_is_not() {
    let folder = folder(&everything(), &json!({}));
    let drawn = charts::draw(&read(&folder), folder.path()).unwrap();
    assert_eq!(drawn.len(), SECTIONS.len());
    for section in SECTIONS {
        let svg = fs::read_to_string(folder.path().join(section.file).with_extension("svg")).unwrap();
        assert!(svg.contains(charts::CAVEAT), "{}", section.file);
        assert!(svg.contains(section.title), "{}", section.file);
        assert!(svg.trim_end().ends_with("</svg>"), "{}", section.file);
    }
}

#[test]
fn a_report_succeeds_and_a_check_wants_every_goal() {
    let folder = folder(&posts(), &json!({}));
    fs::write(folder.path().join("poll.svg"), "an earlier report's").unwrap();
    let code = |check| format!("{:?}", run(&options(folder.path(), check)).unwrap());
    assert_eq!(code(false), format!("{:?}", std::process::ExitCode::SUCCESS));
    assert_eq!(code(true), format!("{:?}", std::process::ExitCode::FAILURE));
    assert!(folder.path().join("summary.json").exists());
    assert!(folder.path().join("post.svg").exists());
    assert!(!folder.path().join("poll.svg").exists());
}

#[test]
fn broken_measurements_are_errors_that_name_the_file() {
    let empty = TempDir::new().unwrap();
    assert!(run(&options(empty.path(), false)).is_err());
    for (broken, complaint) in [
        ("", "not the measurements"),
        ("{}", "not the measurements"),
        (r#"{"cpu": "another", "records": []}"#, "other files on"),
        (&json!({ "cpu": "a CPU", "records": [record("g", "c", 0.0, json!({}))] }).to_string(), "no time"),
        (&json!({ "cpu": "a CPU", "records": [posts()[0]] }).to_string(), "measured twice"),
        (&json!({ "cpu": "a CPU", "records": [point("g", "c", 0, 1.0, json!({}))] }).to_string(), "no place"),
    ] {
        let folder = folder(&posts(), &json!({}));
        fs::write(folder.path().join("measured/q.json"), broken).unwrap();
        let error = format!("{:#}", run(&options(folder.path(), false)).unwrap_err());
        assert!(error.contains("q.json") && error.contains(complaint), "{error}");
    }
}

#[test]
fn the_page_gets_charts_and_tables() {
    let folder = folder(&everything(), &json!({}));
    let docs = folder.path().join("performance");
    let (page, appendix) = (docs.with_extension("md"), docs.join("tables.md"));
    fs::create_dir(&docs).unwrap();
    for (page, kind) in [(&page, "results"), (&appendix, "figures")] {
        let place = format!("<!-- {kind}: written by bench_report, not by hand -->\n<!-- end of {kind} -->");
        fs::write(page, format!("before\n{place}\nafter\n")).unwrap();
    }
    run(&Options { docs: Some(docs.clone()), ..options(folder.path(), false) }).unwrap();
    let [results, tables] = [&page, &appendix].map(|page| fs::read_to_string(page).unwrap());
    for text in [&results, &tables] {
        assert!(text.starts_with("before\n") && text.ends_with("after\n"), "{text}");
        assert!(text.contains("CPU: a CPU.") && text.contains("| P1 "), "{text}");
    }
    // One of the ten figures of P1 is there, and within its limit.
    let row = results.lines().find(|line| line.starts_with("| P1 ")).unwrap();
    assert!(row.ends_with(" 1 of 10 |"), "{row}");
    let row = results.lines().find(|line| line.contains("posted by BlueFlame")).unwrap();
    assert_eq!(row.split('|').map(str::trim).skip(2).collect::<Vec<_>>(), ["6.30", "1.05", "4.00", "", ""]);
    assert!(tables.contains("(post.svg)"), "{tables}");
    assert!(docs.join("post.svg").exists());
}

#[test]
fn the_page_explains_each_goal_and_shows_cases_that_have_goals() {
    let ids: BTreeSet<&str> = GOALS.iter().map(|goal| goal.id).collect();
    let explained: Vec<&str> = MEANINGS.iter().map(|(id, _)| *id).collect();
    assert_eq!(explained.iter().copied().collect::<BTreeSet<_>>(), ids);
    assert_eq!(explained.len(), ids.len(), "{explained:?}");
    for (group, case, _) in HEADLINES {
        assert!(GOALS.iter().any(|goal| (goal.group, goal.case) == (*group, *case)), "{group} {case}");
    }
}
