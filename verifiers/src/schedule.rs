//! A number that may change with the training step: a weight that is annealed, a factor that grows.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::stats::float;

/// A number, or a number that changes with the training step.
///
/// In a configuration: `0.5`, or a table such as
/// `{ kind = "linear", from = 0.0, to = 0.5, start = 100, end = 600 }`. Offline the step is 0.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "Value")]
pub struct Schedule(Form);

#[derive(Clone, Debug, PartialEq)]
enum Form {
    Constant(f64),
    Curve(Curve),
}

/// How a number changes with the training step `t`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Curve {
    /// `from + (to - from) x` with `x = clip((t - start) / (end - start), 0, 1)`.
    Linear {
        /// The number up to `start`.
        from: f64,
        /// The number from `end` on.
        to: f64,
        /// The step at which it begins to change.
        #[serde(default)]
        start: u64,
        /// The step at which it is `to`.
        end: u64,
    },
    /// `to + (from - to) (1 + cos(pi x)) / 2`, with `x` as in `linear`.
    Cosine {
        /// The number up to `start`.
        from: f64,
        /// The number from `end` on.
        to: f64,
        /// The step at which it begins to change.
        #[serde(default)]
        start: u64,
        /// The step at which it is `to`.
        end: u64,
    },
    /// With `end`: `from (to / from)^x`, with `x` as in `linear`. With `tau` instead:
    /// `to + (from - to) exp(-(t - start) / tau)`.
    Exponential {
        /// The number up to `start`.
        from: f64,
        /// The number to which it goes.
        #[serde(default)]
        to: f64,
        /// The step at which it begins to change.
        #[serde(default)]
        start: u64,
        /// The step at which it is `to`; `from` and `to` are then of one sign.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<u64>,
        /// The steps in which the distance to `to` falls to 1/e.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tau: Option<f64>,
    },
    /// `from`, and `to` from the step `start` on; or one number after another, by `changes`.
    Step {
        /// The number at first.
        from: f64,
        /// The number from `start` on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
        /// The step of the change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
        /// Steps in ascending order, each with the number from there on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<(u64, f64)>,
    },
}

impl Schedule {
    /// 1 at every step.
    pub const ONE: Self = Self(Form::Constant(1.0));

    /// The number at a training step. Always finite.
    pub fn at(&self, step: u64) -> f64 {
        match &self.0 {
            Form::Constant(value) => *value,
            Form::Curve(curve) => curve.at(step),
        }
    }

    /// The number, where it never changes.
    pub fn constant(&self) -> Option<f64> {
        match &self.0 {
            Form::Constant(value) => Some(*value),
            Form::Curve(_) => None,
        }
    }

    /// The least and the greatest number that it comes to, or nears.
    pub fn bounds(&self) -> (f64, f64) {
        match &self.0 {
            Form::Constant(value) => (*value, *value),
            Form::Curve(curve) => curve.bounds(),
        }
    }
}

impl Default for Schedule {
    /// The number 0.
    fn default() -> Self {
        Self(Form::Constant(0.0))
    }
}

impl TryFrom<f64> for Schedule {
    type Error = String;

    /// The number that never changes.
    fn try_from(value: f64) -> Result<Self, String> {
        finite("the number", value)?;
        Ok(Self(Form::Constant(value)))
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScheduleVisitor)
    }
}

struct ScheduleVisitor;

#[expect(
    clippy::cast_precision_loss,
    reason = "a weight of more than 2^53 has no use for its last digits"
)]
impl<'de> Visitor<'de> for ScheduleVisitor {
    type Value = Schedule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a schedule { kind = ... }")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Schedule, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Schedule, E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Schedule, E> {
        Schedule::try_from(value).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Schedule, A::Error> {
        let curve = Curve::deserialize(MapAccessDeserializer::new(members))?;
        curve.valid().map_err(de::Error::custom)?;
        Ok(Schedule(Form::Curve(curve)))
    }
}

impl From<Schedule> for Value {
    fn from(schedule: Schedule) -> Self {
        match schedule.0 {
            Form::Constant(value) => Value::from(value),
            Form::Curve(curve) => serde_json::to_value(curve).unwrap_or_default(),
        }
    }
}

impl JsonSchema for Schedule {
    fn schema_name() -> Cow<'static, str> {
        "Schedule".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let curve = Curve::json_schema(generator);
        json_schema!({
            "description": "A number, or a number that changes with the training step.",
            "anyOf": [{ "type": "number" }, curve],
        })
    }
}

impl Curve {
    fn at(&self, step: u64) -> f64 {
        match self {
            Self::Linear { from, to, start, end } => mixed(*from, *to, share(step, *start, *end)),
            Self::Cosine { from, to, start, end } => {
                let turn = std::f64::consts::PI * share(step, *start, *end);
                mixed(*to, *from, f64::midpoint(1.0, turn.cos()))
            }
            Self::Exponential { from, to, start, end: Some(end), .. } => {
                from * (to / from).powf(share(step, *start, *end))
            }
            Self::Exponential { from, to, start, tau, .. } => {
                let gone = float(step.saturating_sub(*start));
                mixed(*to, *from, (-gone / tau.unwrap_or(1.0)).exp())
            }
            Self::Step { from, to, start, changes } => {
                let jump = start.zip(*to).into_iter();
                let passed = jump.chain(changes.iter().copied()).rfind(|(at, _)| *at <= step);
                passed.map_or(*from, |(_, value)| value)
            }
        }
    }

    fn bounds(&self) -> (f64, f64) {
        match self {
            Self::Linear { from, to, .. }
            | Self::Cosine { from, to, .. }
            | Self::Exponential { from, to, .. } => (from.min(*to), from.max(*to)),
            Self::Step { from, to, changes, .. } => {
                let values = to.iter().copied().chain(changes.iter().map(|(_, value)| *value));
                values.fold((*from, *from), |(low, high), value| (low.min(value), high.max(value)))
            }
        }
    }

    fn valid(&self) -> Result<(), String> {
        match self {
            Self::Linear { from, to, start, end } | Self::Cosine { from, to, start, end } => {
                ends_finite(*from, *to)?;
                spans(*start, *end)
            }
            Self::Exponential { from, to, start, end, tau } => {
                ends_finite(*from, *to)?;
                match (end, tau) {
                    (Some(end), None) if from * to > 0.0 => spans(*start, *end),
                    (Some(_), None) => Err(format!(
                        "exponential with `end`: from and to need one sign and no zero, found \
                         {from} and {to}"
                    )),
                    (None, Some(tau)) if tau.is_finite() && *tau > 0.0 => Ok(()),
                    (None, Some(tau)) => Err(format!("tau is {tau}, expected more than 0")),
                    _ => Err("exponential needs one of `end` and `tau`".to_owned()),
                }
            }
            Self::Step { from, to, start, changes } => {
                finite("from", *from)?;
                stepped(*to, *start, changes)
            }
        }
    }
}

fn stepped(to: Option<f64>, start: Option<u64>, changes: &[(u64, f64)]) -> Result<(), String> {
    match (to, start) {
        (Some(to), Some(_)) if changes.is_empty() => finite("to", to),
        (None, None) if !changes.is_empty() => {
            changes.iter().try_for_each(|(_, value)| finite("changes", *value))?;
            let ascends = changes.is_sorted_by(|(one, _), (next, _)| one < next);
            if ascends { Ok(()) } else { Err("the steps of changes do not ascend".to_owned()) }
        }
        _ => Err("step needs `to` and `start`, or `changes`".to_owned()),
    }
}

/// How much of the way from `start` to `end` is done, 0 to 1.
fn share(step: u64, start: u64, end: u64) -> f64 {
    let gone = float(step.saturating_sub(start));
    (gone / float(end.saturating_sub(start))).min(1.0)
}

/// Both ends are met exactly.
fn mixed(from: f64, to: f64, share: f64) -> f64 {
    from * (1.0 - share) + to * share
}

fn finite(name: &str, value: f64) -> Result<(), String> {
    if value.is_finite() { Ok(()) } else { Err(format!("{name} is {value}, expected a number")) }
}

fn ends_finite(from: f64, to: f64) -> Result<(), String> {
    finite("from", from)?;
    finite("to", to)
}

fn spans(start: u64, end: u64) -> Result<(), String> {
    if end > start {
        Ok(())
    } else {
        Err(format!("end is {end}, expected more than start, {start}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::from_value;

    use super::*;

    fn read(value: Value) -> Schedule {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn numbers_and_curves_have_the_values_of_their_formulas() {
        for (schedule, step, wanted) in [
            (json!(0.3), 7, 0.3),
            (json!(2), 0, 2.0),
            // "FairMarket": l_max clip((t - t0) / (t1 - t0), 0, 1).
            (json!({"kind": "linear", "from": 0.0, "to": 0.5, "start": 100, "end": 600}), 99, 0.0),
            (
                json!({"kind": "linear", "from": 0.0, "to": 0.5, "start": 100, "end": 600}),
                350,
                0.25,
            ),
            (json!({"kind": "linear", "from": 0.0, "to": 0.5, "start": 100, "end": 600}), 900, 0.5),
            (json!({"kind": "cosine", "from": 1.0, "to": 0.0, "end": 100}), 0, 1.0),
            (
                json!({"kind": "cosine", "from": 1.0, "to": 0.0, "end": 100}),
                25,
                0.853_553_390_593_273_8,
            ),
            (json!({"kind": "cosine", "from": 1.0, "to": 0.0, "end": 100}), 50, 0.5),
            (json!({"kind": "cosine", "from": 1.0, "to": 0.2, "end": 100}), 101, 0.2),
            (json!({"kind": "exponential", "from": 1.0, "to": 0.01, "end": 100}), 50, 0.1),
            (json!({"kind": "exponential", "from": 0.3, "tau": 10.0}), 10, 0.110_363_832_351_432_7),
            (json!({"kind": "exponential", "from": 0.3, "tau": 10, "start": 5}), 3, 0.3),
            (json!({"kind": "step", "from": 1.0, "to": 0.0, "start": 10}), 9, 1.0),
            (json!({"kind": "step", "from": 1.0, "to": 0.0, "start": 10}), 10, 0.0),
            (json!({"kind": "step", "from": 1.0, "changes": [[5, 0.5], [9, 0.1]]}), 8, 0.5),
            (json!({"kind": "step", "from": 1.0, "changes": [[5, 0.5], [9, 0.1]]}), 9, 0.1),
        ] {
            let found = read(schedule.clone()).at(step);
            assert!((found - wanted).abs() < 1e-12, "{schedule} at {step}: {found}");
        }
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        for (schedule, why) in [
            (json!("fast"), "found the string \"fast\""),
            (json!({"kind": "linea", "from": 0, "to": 1, "end": 1}), "\"linea\" is not known"),
            (
                json!({"kind": "linear", "from": 0, "to": 1, "end": 1, "ends": 2}),
                "unknown key `ends`",
            ),
            (json!({"kind": "linear", "from": 0, "to": 1}), "missing key `end`"),
            (
                json!({"kind": "linear", "from": 0, "to": 1, "start": 5, "end": 5}),
                "more than start",
            ),
            (json!({"kind": "exponential", "from": 1, "to": 0, "end": 5}), "one sign"),
            (json!({"kind": "exponential", "from": 1, "to": 0}), "one of `end` and `tau`"),
            (json!({"kind": "exponential", "from": 1, "tau": 0}), "more than 0"),
            (json!({"kind": "step", "from": 1, "to": 0}), "needs `to` and `start`"),
            (json!({"kind": "step", "from": 1, "changes": [[5, 1], [5, 2]]}), "ascend"),
        ] {
            let error = from_value::<Schedule>(&schedule).unwrap_err();
            assert!(error.to_string().contains(why), "{schedule}: {error}");
        }
    }

    #[test]
    fn it_is_written_as_it_was_read() {
        for schedule in [
            json!(0.5),
            json!({"kind": "linear", "from": 0.0, "to": 0.5, "start": 0, "end": 600}),
            json!({"kind": "step", "from": 1.0, "changes": [[5, 0.5]]}),
        ] {
            assert_eq!(serde_json::to_value(read(schedule.clone())).unwrap(), schedule);
        }
    }

    proptest! {
        #[test]
        fn every_value_is_finite_and_within_the_bounds(
            from in -1e6..1e6_f64, to in -1e6..1e6_f64, start in 0..1000_u64, long in 1..1000_u64,
            step in 0..5000_u64, kind in 0..4_usize,
        ) {
            let kind = ["linear", "cosine", "exponential", "step"][kind];
            let schedule = match kind {
                "exponential" => json!({"kind": kind, "from": from, "to": to, "start": start, "tau": long}),
                "step" => json!({"kind": kind, "from": from, "to": to, "start": start}),
                _ => json!({"kind": kind, "from": from, "to": to, "start": start, "end": start + long}),
            };
            let schedule = read(schedule);
            let ((low, high), value) = (schedule.bounds(), schedule.at(step));
            prop_assert!(value.is_finite() && value >= low - 1e-9 && value <= high + 1e-9);
        }
    }
}
