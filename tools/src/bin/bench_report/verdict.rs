//! Goals compared with measurements.
use crate::goals::{Bound, Goal};
use crate::measured::{Measurements, Record, name};

/// A goal's figure, as measured.
pub(crate) struct Figure<'a> {
    pub(crate) goal: &'a Goal,
    /// Nanoseconds of the case.
    pub(crate) ns: Option<f64>,
    /// The figure that the goal limits: a ratio, nanoseconds or instructions. `None` if it was not measured.
    pub(crate) value: Option<Value>,
    /// The case's floor, in that figure: a case that costs only its stores and loads would reach it. `None` where the
    /// goal itself compares with the floor.
    pub(crate) floor: Option<Value>,
}

/// A measured value, in the unit of its goal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Value {
    /// Time over another case's.
    Ratio(f64),
    /// How many times as fast as another case.
    Speedup(f64),
    Nanoseconds(f64),
    Instructions(u64),
}

impl<'a> Figure<'a> {
    pub(crate) fn new(goal: &'a Goal, measurements: &Measurements) -> Self {
        let record = measurements.find(goal.group, goal.x, goal.case);
        Self {
            goal,
            ns: record.map(|record| record.ns),
            value: value(goal, record, measurements),
            floor: record.and_then(|record| floor(goal, record, measurements)),
        }
    }

    /// Whether the goal is met; nothing if that was not measured.
    pub(crate) fn met(&self) -> Option<bool> {
        Some(match (self.goal.bound, self.value?) {
            (Bound::Within(limit, _) | Bound::WithinPoint(limit, _), Value::Ratio(ratio)) => ratio <= limit,
            (Bound::Faster(limit, _), Value::Speedup(times)) => times >= limit,
            (Bound::Nanoseconds(limit), Value::Nanoseconds(ns)) => ns <= limit,
            (Bound::Instructions(limit), Value::Instructions(count)) => count <= limit,
            _ => return None,
        })
    }

    /// Whether the goal is one that measurements decide.
    pub(crate) fn is_measurable(&self) -> bool {
        !matches!(self.goal.bound, Bound::Tested(_))
    }
}

fn value(goal: &Goal, record: Option<&Record>, measurements: &Measurements) -> Option<Value> {
    match goal.bound {
        Bound::Within(_, other) => Some(Value::Ratio(record?.ratio_to(other)?)),
        Bound::WithinPoint(_, x) => {
            Some(Value::Ratio(record?.ns / measurements.find(goal.group, Some(x), goal.case)?.ns))
        }
        Bound::Faster(_, other) => Some(Value::Speedup(1.0 / record?.ratio_to(other)?)),
        Bound::Nanoseconds(_) => Some(Value::Nanoseconds(record?.ns)),
        Bound::Instructions(_) => {
            measurements.instructions(&name(goal.group, goal.x, goal.case)).map(Value::Instructions)
        }
        Bound::Tested(_) => None,
    }
}

fn floor(goal: &Goal, record: &Record, measurements: &Measurements) -> Option<Value> {
    let floor = measurements.floor_of(record)?;
    match goal.bound {
        Bound::Within(_, other) => {
            let other = measurements.find(goal.group, goal.x, other).filter(|other| !other.is_floor())?;
            Some(Value::Ratio(floor.ratio_to(&measurements.floor_of(other)?.case)?))
        }
        Bound::WithinPoint(_, x) => {
            Some(Value::Ratio(floor.ns / measurements.find(goal.group, Some(x), &floor.case)?.ns))
        }
        Bound::Faster(_, other) => Some(Value::Speedup(1.0 / floor.ratio_to(other)?)),
        Bound::Nanoseconds(_) => Some(Value::Nanoseconds(floor.ns)),
        Bound::Instructions(_) | Bound::Tested(_) => None,
    }
}

/// Whether all goals of a list are met: one that is not decides, and else one that was not measured.
pub(crate) fn all_met(figures: &[&Figure<'_>]) -> Option<bool> {
    let met: Vec<Option<bool>> = figures.iter().map(|figure| figure.met()).collect();
    match (met.is_empty(), met.contains(&Some(false)), met.contains(&None)) {
        (true, ..) => None,
        (_, true, _) => Some(false),
        (_, _, true) => None,
        _ => Some(true),
    }
}
