//! Runs the cases of recipes that are formulas.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::settings::{self, Bound};
use super::{Recipe, RecipeCase, RecipePlace};
use crate::build_error::BuildError;
use crate::formula::{Axis, Formula, FormulaScope, Frame, MISSING, Values, is_missing};

/// How far a value may be from what a case expects, relative to it where it is above 1.
pub const TOLERANCE: f64 = 1e-9;

/// Beside the outputs of a selection: why each rollout is skipped, an empty text where it is not.
const REASON: &str = "reason";

impl RecipePlace {
    /// What formulas in this place give, the first of which they give where they are no map.
    pub fn outputs(self) -> &'static [(&'static str, Axis)] {
        match self {
            Self::Shape => &[("reward", Axis::Row), ("steps", Axis::Step)],
            Self::Combine | Self::Reward => &[("reward", Axis::Row)],
            Self::Advantage => &[
                ("advantage", Axis::Row),
                ("steps", Axis::Step),
                ("rest", Axis::Row),
                ("credited", Axis::Row),
            ],
            Self::Select => &[
                ("keep", Axis::Row),
                ("weight", Axis::Row),
                ("order", Axis::Row),
                ("pair", Axis::Row),
            ],
            Self::Loss => &[("loss", Axis::Step)],
            Self::Diagnose => &[("value", Axis::Number), ("groups", Axis::Group)],
            Self::Train | Self::Config => &[("value", Axis::Number)],
        }
    }
}

/// What one case gives, by output: a number, a list over groups or rows, a list of lists over steps.
///
/// # Errors
/// A setting (`settings.X`) or the formula is refused, inputs do not fit together, or a value is no
/// number.
pub fn computed(recipe: &Recipe, case: &RecipeCase) -> Result<Map<String, Value>, BuildError> {
    let source = recipe.formula.as_deref();
    let source = source.ok_or_else(|| BuildError::new("", "the recipe has no formula"))?;
    let bound = settings::bound(&recipe.settings, &recipe.refuse, &case.settings)?;
    run(source, recipe.place, &bound, case)
}

/// Whether a case gives what it expects.
///
/// # Errors
/// What it gives instead.
pub fn check(recipe: &Recipe, case: &RecipeCase) -> Result<(), String> {
    let found = computed(recipe, case)
        .map_err(|error| format!("{}: {}: {error}", error.setting, error.code));
    if let Some(refused) = &case.refused {
        return match found {
            Err(why) if why.contains(refused.as_str()) => Ok(()),
            Err(why) => Err(format!("expected to be refused for {refused}, got {why}")),
            Ok(found) => {
                Err(format!("expected to be refused for {refused}, got {}", Value::from(found)))
            }
        };
    }
    let found = found?;
    let mut outputs = found.iter().filter(|(name, _)| *name != REASON);
    let mut first = || outputs.next().filter(|_| outputs.next().is_none()).map(|(_, own)| own);
    let agrees = match &case.expect {
        wanted @ Value::Object(_) => near(&Value::from(found.clone()), wanted),
        Value::Null => return Err("the case expects nothing".to_owned()),
        wanted => first().is_some_and(|found| near(found, wanted)),
    };
    if agrees {
        Ok(())
    } else {
        Err(format!("expected {}, got {}", case.expect, Value::from(found)))
    }
}

/// Whether two values are equal, numbers within [`TOLERANCE`].
pub fn near(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Array(found), Value::Array(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(one, other)| near(one, other))
        }
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| found.get(name).is_some_and(|found| near(found, wanted))),
        _ => match (found.as_f64(), wanted.as_f64()) {
            (Some(found), Some(wanted)) => {
                (found - wanted).abs() <= TOLERANCE * wanted.abs().max(1.0)
            }
            _ => found == wanted,
        },
    }
}

fn run(
    source: &str,
    place: RecipePlace,
    bound: &Bound,
    case: &RecipeCase,
) -> Result<Map<String, Value>, BuildError> {
    let step = case.inputs.get("state.step").and_then(Value::as_u64).unwrap_or_default();
    let schedules =
        bound.schedules.iter().map(|(name, schedule)| (name.clone(), schedule.at(step)));
    let schedules: BTreeMap<String, f64> = schedules.collect();
    let names = case.inputs.iter().map(|(name, value)| (name.clone(), axis(value)));
    let names = names.chain(schedules.keys().map(|name| (name.clone(), Axis::Number)));
    let mut scope =
        FormulaScope::new(names, place.outputs().iter().copied()).settings(bound.settings.clone());
    if !matches!(place, RecipePlace::Shape | RecipePlace::Combine) {
        scope = scope.batches();
    }
    let formula = Formula::compile(source, &scope).map_err(|error| {
        let part = error.place.clone().and_then(|place| source.get(place)).unwrap_or_default();
        let message = format!("formula: {} at `{part}`", error.message);
        BuildError { message, ..BuildError::from(error) }
    })?;
    let layout = Layout::of(case)?;
    let columns = formula.inputs().iter().map(|input| {
        if let Some(number) = schedules.get(&input.name) {
            return Ok(vec![*number].into());
        }
        let value = case.inputs.get(&input.name).unwrap_or(&Value::Null);
        let mut numbers = Vec::new();
        flat(value, input.is.as_deref(), &mut numbers);
        let due = layout.len(input.axis);
        if numbers.len() != due {
            let why = format!("{} numbers, expected {due}", numbers.len());
            return Err(BuildError::new(format!("inputs.{}", input.name), why));
        }
        Ok(Cow::Owned(numbers))
    });
    let columns = columns.collect::<Result<Vec<_>, BuildError>>()?;
    let frame = Frame::new(columns, layout.groups.clone(), layout.steps.clone());
    let values = formula.run(&frame).map_err(|fault| BuildError::new("", fault.to_string()))?;
    outputs(place, &values, &layout)
}

/// What a formula gave, by output.
fn outputs(
    place: RecipePlace,
    values: &Values<'_>,
    layout: &Layout,
) -> Result<Map<String, Value>, BuildError> {
    let rows = 0..layout.len(Axis::Row);
    let skips = place == RecipePlace::Select;
    let guards: Vec<Option<(bool, &str)>> = rows.clone().map(|row| values.guard(row)).collect();
    let is_refused = |guard: &Option<(bool, &str)>| guard.is_some_and(|(fails, _)| fails || !skips);
    if let Some((row, Some((_, why)))) = guards.iter().enumerate().find(|(_, own)| is_refused(own))
    {
        return Err(BuildError::new("", format!("row {row}: {why}")));
    }
    let mut found = Map::new();
    if guards.iter().any(Option::is_some) {
        let why = guards.iter().map(|guard| guard.map_or("", |(_, why)| why));
        found.insert(REASON.to_owned(), why.collect());
    }
    for (name, axis) in place.outputs() {
        let Some(numbers) = values.output(name) else { continue };
        // A rollout that is skipped is not kept.
        let mut numbers = numbers.to_vec();
        for (own, _) in numbers.iter_mut().zip(&guards).filter(|(_, guard)| guard.is_some()) {
            *own = 0.0;
        }
        if numbers.iter().any(|own| !own.is_finite() && !is_missing(*own)) {
            let is_bad = |row: &usize| values.blame_if_bad(*row).is_some();
            let row = rows.clone().find(is_bad).unwrap_or_default();
            return Err(BuildError::new("", values.blame(row)));
        }
        let list = |numbers: &[f64]| numbers.iter().copied().map(Value::from).collect::<Value>();
        let value = match axis {
            Axis::Number => numbers.first().copied().map_or(Value::Null, Value::from),
            Axis::Group | Axis::Row => list(&numbers),
            Axis::Step => {
                rows.clone().map(|row| list(values.steps(name, row).unwrap_or_default())).collect()
            }
        };
        found.insert((*name).to_owned(), value);
    }
    Ok(found)
}

/// Over what a value of a case varies.
fn axis(value: &Value) -> Axis {
    match value {
        Value::Array(rows) if rows.iter().any(Value::is_array) => Axis::Step,
        Value::Array(_) => Axis::Row,
        _ => Axis::Number,
    }
}

fn flat(value: &Value, is: Option<&str>, out: &mut Vec<f64>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| flat(value, is, out)),
        Value::String(text) => out.push(is.map_or(MISSING, |is| f64::from(u8::from(text == is)))),
        Value::Bool(truth) => out.push(f64::from(u8::from(*truth))),
        value => out.push(value.as_f64().unwrap_or(MISSING)),
    }
}

/// How many rows and steps the inputs of a case have.
struct Layout {
    groups: Vec<usize>,
    steps: Vec<usize>,
}

impl Layout {
    fn of(case: &RecipeCase) -> Result<Self, BuildError> {
        let lists = || case.inputs.values().filter_map(Value::as_array);
        let rows = lists().map(Vec::len).max().unwrap_or(1);
        let groups: Vec<usize> = match case.groups.as_slice() {
            [] => vec![rows],
            sizes => sizes
                .iter()
                .scan(0, |end, size| {
                    *end += size;
                    Some(*end)
                })
                .collect(),
        };
        if groups.last() != Some(&rows) {
            let why = format!("the groups do not have the {rows} rows of the inputs");
            return Err(BuildError::new("groups", why));
        }
        let steps = lists().find(|rows| rows.iter().any(Value::is_array));
        let steps = steps.map(|rows| {
            let lengths = rows.iter().map(|row| row.as_array().map_or(0, Vec::len));
            lengths
                .scan(0, |end, length| {
                    *end += length;
                    Some(*end)
                })
                .collect()
        });
        Ok(Self { groups, steps: steps.unwrap_or_default() })
    }

    fn len(&self, axis: Axis) -> usize {
        match axis {
            Axis::Number => 1,
            Axis::Group => self.groups.len(),
            Axis::Row => self.groups.last().copied().unwrap_or_default(),
            Axis::Step => self.steps.last().copied().unwrap_or_default(),
        }
    }
}
