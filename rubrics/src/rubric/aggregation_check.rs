//! What an aggregate must be: points that do not add up to nothing, and settings that fit.

use assay_verifiers::script::Script;

use super::aggregation::{Aggregation, How};
use super::types::{Criterion, Rubric, RubricError};

/// Checks the settings against the criteria.
///
/// # Errors
/// What is wrong, with its place.
pub(super) fn check(aggregate: &Aggregation, rubric: &Rubric) -> Result<(), RubricError> {
    aggregate.check_settings(rubric)?;
    aggregate.check_points(&rubric.criteria)
}

impl Aggregation {
    fn check_settings(&self, rubric: &Rubric) -> Result<(), RubricError> {
        let refuse = |key: &str, why: &str| Err(RubricError::new(format!("aggregate.{key}"), why));
        for (key, range) in [("clip", self.clip), ("range", self.range)] {
            if range.is_some_and(|[low, high]| !(low.is_finite() && high.is_finite() && low < high))
            {
                return refuse(key, "expected two numbers, the less before the more");
            }
        }
        let numbers = [
            ("floor", Some(self.floor)),
            ("threshold", self.threshold),
            ("saturation", self.saturation),
        ];
        for (key, number) in numbers {
            if number.is_some_and(|number| !number.is_finite()) {
                return refuse(key, "not a finite number");
            }
        }
        if !(0.0..=1.0).contains(&self.missing_max) {
            return refuse("missing_max", "expected 0 to 1");
        }
        if self.top.is_some_and(|top| !(top.from < 1.0 && top.power > 0.0 && top.power < 100.0)) {
            return refuse("top", "expected `from` below 1 and `power` above 0");
        }
        if (self.how == How::Expression) != self.expression.is_some() {
            return refuse("expression", "`expression` belongs to how = \"expression\"");
        }
        if let Some(source) = &self.expression {
            Script::expression(source)
                .map_err(|error| RubricError::new("aggregate.expression", error.message))?;
            let names = rubric.criteria.iter().map(|own| own.name.as_str());
            let known: Vec<&str> = names.chain(["value"]).collect();
            if let Some((name, _)) = Script::unknown_variables(source, &known).next() {
                let known = known.join(", ");
                return refuse("expression", &format!("no `{name}` is there; there are: {known}"));
            }
        }
        if self.how == How::Value && rubric.leaves().len() != 1 {
            return refuse("how", "`value` is for a rubric of one criterion");
        }
        for (at, one) in self.interactions.iter().enumerate() {
            let known = |name: &String| rubric.criteria.iter().any(|own| own.name == *name);
            if let Some(name) = one.between.iter().find(|name| !known(name)) {
                let place = format!("aggregate.interactions[{at}]");
                let why = format!("no criterion at the top is called \"{name}\"");
                return Err(RubricError::new(place, why));
            }
        }
        Ok(())
    }

    /// Refuses points by whose sum a reward would be divided, where that is 0 or turns rewards round.
    fn check_points(&self, top: &[Criterion]) -> Result<(), RubricError> {
        let points = || top.iter().map(|criterion| criterion.points);
        let sum: f64 = match self.how {
            How::WeightedMean => points().sum(),
            How::PositivePoints => points().map(|points| points.max(0.0)).sum(),
            How::AbsolutePoints => points().map(f64::abs).sum(),
            _ => 1.0,
        };
        if sum <= 0.0 {
            let word = if self.how == How::PositivePoints { "positive points" } else { "points" };
            let mut why = format!("the {word} of the criteria add up to {sum}");
            if sum < 0.0 {
                why.push_str(DIVIDED);
            }
            return Err(RubricError::new("criterion", why));
        }
        top.iter()
            .enumerate()
            .try_for_each(|(at, criterion)| check_node(criterion, &format!("criterion[{at}]")))
    }
}

/// What to do about it.
const DIVIDED: &str = ", by which a weighted mean is divided: a sum below 0 turns rewards round; \
                       `how = \"positive_points\"` divides by the positive ones alone";

/// Weights below a node may all be 0: it earns nothing then. They may not cancel each other.
fn check_node(criterion: &Criterion, place: &str) -> Result<(), RubricError> {
    let below = &criterion.criteria;
    let sum: f64 = below.iter().map(|one| one.points).sum();
    if sum <= 0.0 && below.iter().any(|one| one.points != 0.0) {
        let divided = if sum < 0.0 { DIVIDED } else { "" };
        let why = format!("the points of the criteria below it add up to {sum}{divided}");
        return Err(RubricError::new(format!("{place}.criterion"), why));
    }
    below
        .iter()
        .enumerate()
        .try_for_each(|(at, one)| check_node(one, &format!("{place}.criterion[{at}]")))
}
