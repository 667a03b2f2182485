//! A shape that is a formula: one of a configuration, or one of a recipe.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Map;

use super::inputs::{InputRow, Lack, other_reward};
use super::length::CompletionLength;
use super::tool_use::ToolUse;
use super::{BuiltShape, ShapeMember, Shaped, group};
use crate::canonical::Digest;
use crate::check::RecordedFiles;
use crate::formula::{
    Axis, Formula, FormulaError, FormulaInput, FormulaScope, Frame, MISSING, Values, is_missing,
};
use crate::prelude::*;
use crate::recipe::settings::Bound;
use crate::schedule::Schedule;
use crate::stats::float;
use crate::training_state::TrainingState;

/// What a shape by formula gives, the reward first.
const OUTPUTS: [(&str, Axis); 2] = [("reward", Axis::Row), ("steps", Axis::Step)];

/// The names that it may use, but for those with any member.
const NAMES: [&str; 4] = ["r", "length", "correct", "truncated"];

/// The settings that say how `length` is measured.
pub(crate) const LENGTH_KEYS: [&str; 2] = ["unit", "tokenizer"];

/// The settings that say which calls `completion.calls` counts.
pub(crate) const CALLS_KEYS: [&str; 2] = ["tools", "tags"];

/// How many calls of tools the completion has.
pub(crate) const CALLS: &str = "completion.calls";

/// How many messages of the assistant it has; plain text is one.
const TURNS: &str = "completion.turns";

/// A way to measure a completion, as it was configured.
pub(crate) struct ConfiguredLength {
    pub(crate) length: CompletionLength,
    /// The settings with every default filled in.
    pub(crate) settings: Map<String, Value>,
    /// SHA-256 of every file that they name, by its name.
    pub(crate) files: Vec<(String, Digest)>,
}

/// A way to measure from its settings.
pub(crate) fn length_of(
    given: Map<String, Value>,
    files: &dyn Files,
) -> Result<ConfiguredLength, BuildError> {
    let mut length: CompletionLength = crate::check::settings(Value::Object(given))?;
    let recorded = RecordedFiles::new(files, Vec::new());
    length.load(&recorded)?;
    let Ok(Value::Object(settings)) = serde_json::to_value(&length) else {
        return Err(BuildError::new("unit", "the settings cannot be written"));
    };
    Ok(ConfiguredLength { length, settings, files: recorded.into_digests() })
}

impl From<FormulaError> for BuildError {
    fn from(error: FormulaError) -> Self {
        let FormulaError { code, message, place, expected } = error;
        Self { place: place.map(Box::new), ..Self::new("", message).code(code).expected(expected) }
    }
}

/// A formula, and what its names need.
#[derive(Debug)]
pub(crate) struct ShapeFormula {
    formula: Formula,
    length: Option<CompletionLength>,
    calls: ToolUse,
    schedules: Vec<(String, Schedule)>,
}

impl ShapeFormula {
    /// Checks a formula against the names that a shape sees; `rewards` are those of the configuration.
    pub(crate) fn new(source: &str, bound: &Bound, rewards: &[&str]) -> Result<Self, FormulaError> {
        let schedules = bound.schedules.iter().map(|(name, _)| (name.clone(), Axis::Number));
        let parts = rewards.iter().map(|name| ((*name).to_owned(), Axis::Row));
        let names = NAMES.into_iter().chain([CALLS, TURNS]);
        let names = names.map(|name| (name.to_owned(), Axis::Row));
        let scope = FormulaScope::new(parts.chain(names).chain(schedules), OUTPUTS)
            .open("rewards", Axis::Row)
            .open("meta", Axis::Row)
            .open("state", Axis::Number)
            .open("steps", Axis::Step)
            .settings(bound.settings.clone());
        let formula = Formula::compile(source, &scope)?;
        let (schedules, calls) = (bound.schedules.clone(), ToolUse::default());
        Ok(Self { formula, length: None, calls, schedules })
    }

    /// Whether it reads what is measured of the completion under this name.
    pub(crate) fn measures(&self, name: &str) -> bool {
        self.formula.inputs().iter().any(|input| input.name == name)
    }

    /// The same with a way to measure.
    pub(crate) fn measured(self, length: CompletionLength) -> Self {
        Self { length: Some(length), ..self }
    }

    /// The same with what counts as a call.
    pub(crate) fn counting(self, calls: ToolUse) -> Self {
        Self { calls, ..self }
    }

    /// Whether it compares the samples of a prompt.
    pub(crate) fn is_group(&self) -> bool {
        self.formula.compares_rows()
    }

    /// The other rewards that it reads.
    pub(crate) fn reads(&self) -> Vec<String> {
        let inputs = self.formula.inputs().iter().filter(|input| input.axis == Axis::Row);
        inputs.filter_map(|input| other_reward(&input.name)).map(str::to_owned).collect()
    }

    /// What becomes of each member; see [`BuiltShape::shape`].
    pub(crate) fn shape(
        &self,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        meter: &Meter<'_>,
    ) -> Vec<Result<Shaped, Fault>> {
        let shaped = self.computed(members, state, &meter.part(members.len()));
        if !self.is_group() {
            return shaped;
        }
        let own = |own| Ok(group::of_member(own)?.unwrap_or_else(Shaped::failed));
        super::of_group(members.len(), shaped.into_iter().map(own).collect())
    }

    /// Computes the formula for all members, each of which may use `part` of the fuel.
    fn computed(
        &self,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        part: &Meter<'_>,
    ) -> Vec<Result<Shaped, Fault>> {
        let (columns, lacks) = self.read(members, state, part);
        let ends = members.iter().scan(0, |end, member| {
            *end += member.verdict.steps.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let columns = columns.into_iter().map(Cow::Owned).collect();
        let frame = Frame::new(columns, vec![members.len()], ends);
        match self.formula.run(&frame) {
            Ok(values) => {
                let members = members.iter().zip(&lacks).enumerate();
                members
                    .map(|(at, (own, lack))| Self::shaped(at, own, lack.as_ref(), &values))
                    .collect()
            }
            Err(fault) => vec![Err(fault); members.len()],
        }
    }

    fn shaped(
        at: usize,
        member: &ShapeMember<'_>,
        lack: Option<&Lack>,
        values: &Values<'_>,
    ) -> Result<Shaped, Fault> {
        let Some(before) = member.reward() else { return Ok(Shaped::ignored()) };
        if let Some(Lack::Stop(fault)) = lack {
            return Err(fault.clone());
        }
        if let Some((fails, why)) = values.guard(at) {
            return if fails {
                Err(Fault::bad_input(why.to_owned()))
            } else {
                Ok(Shaped::skipped(before, why))
            };
        }
        let reward = values.output("reward").and_then(|own| own.get(at)).copied().unwrap_or(before);
        let steps = values.steps("steps", at);
        let all = || steps.unwrap_or_default().iter().chain([&reward]);
        if all().any(|own| is_missing(*own)) {
            return match lack {
                Some(Lack::Fault(fault) | Lack::Stop(fault)) => Err(fault.clone()),
                Some(Lack::Skip(why)) => Ok(Shaped::skipped(before, why.as_str())),
                None if member.verdict.steps.is_empty() => {
                    Ok(Shaped::skipped(before, "the verdict has no steps"))
                }
                None => Err(Fault::bad_input(values.blame(at))),
            };
        }
        if all().any(|own| !own.is_finite()) {
            return Err(Fault::trap(values.blame(at)));
        }
        let mut shaped = Shaped::new(reward);
        shaped.steps = steps.map(<[f64]>::to_vec);
        for (name, value) in values.notes(at) {
            shaped.notes.push((Cow::Owned(name.to_owned()), value));
        }
        Ok(shaped)
    }

    /// The numbers of each input, and why some are missing in a row.
    fn read(
        &self,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        part: &Meter<'_>,
    ) -> (Vec<Vec<f64>>, Vec<Option<Lack>>) {
        let inputs = self.formula.inputs();
        let mut unknown = None;
        let shared = |input: &FormulaInput| match (input.axis, self.of_state(&input.name, state)) {
            (Axis::Number, Ok(number)) => vec![number],
            (Axis::Number, Err(why)) => {
                unknown.get_or_insert(Lack::Skip(why));
                vec![MISSING]
            }
            _ => Vec::with_capacity(members.len()),
        };
        let mut columns: Vec<Vec<f64>> = inputs.iter().map(shared).collect();
        let mut lacks = vec![unknown; members.len()];
        for (member, lack) in members.iter().zip(&mut lacks) {
            let row = InputRow {
                sample: member.sample,
                earlier: member.earlier,
                reward: member.reward(),
                steps: &member.verdict.steps,
            };
            let mut meter = part.clone();
            if let Err(fault) = meter.spend(self.formula.fuel_of_row(row.steps.len())) {
                *lack = Some(Lack::Stop(fault));
            }
            for (input, column) in inputs.iter().zip(&mut columns) {
                match self.add(input, &row, column, &mut meter) {
                    Err(Lack::Fault(fault)) if group::is_ours(&fault) => {
                        *lack = Some(Lack::Stop(fault));
                    }
                    Err(why) => drop(lack.get_or_insert(why)),
                    Ok(()) => {}
                }
            }
        }
        (columns, lacks)
    }

    /// Adds the numbers of a row to those of an input.
    fn add(
        &self,
        input: &FormulaInput,
        row: &InputRow<'_>,
        column: &mut Vec<f64>,
        meter: &mut Meter<'_>,
    ) -> Result<(), Lack> {
        match input.axis {
            // What it did is known of a completion that has no reward too.
            Axis::Row if row.reward.is_none() && input.name != CALLS => column.push(MISSING),
            Axis::Row => {
                let number = match input.name.as_str() {
                    CALLS => {
                        let counted = self.calls.count(row.sample, meter);
                        counted.map(|own| own.calls).map_err(Lack::Fault)
                    }
                    TURNS => Ok(row.sample.assistant_turns().map_or(1.0, |own| float(own.len()))),
                    _ => row.number(input, self.length.as_ref(), meter),
                };
                column.push(*number.as_ref().unwrap_or(&MISSING));
                return number.map(drop);
            }
            Axis::Step => {
                let (_, list) = input.name.split_once('.').unwrap_or_default();
                return row.list(list, column);
            }
            Axis::Number | Axis::Group => {}
        }
        Ok(())
    }

    /// The value of the training that a name stands for, or why it is missing.
    fn of_state(&self, name: &str, state: &TrainingState) -> Result<f64, String> {
        let known = match name.split_once('.') {
            #[expect(clippy::cast_precision_loss, reason = "no training has 2^53 steps")]
            Some(("state", "step")) => Some(state.step as f64),
            Some((_, value)) => state.values.get(value).copied().filter(|own| own.is_finite()),
            None => {
                let found = self.schedules.iter().find(|(own, _)| own == name);
                found.map(|(_, schedule)| schedule.at(state.step))
            }
        };
        let value = name.split_once('.').map_or(name, |(_, value)| value);
        known.ok_or_else(|| format!("value \"{value}\" is unknown"))
    }
}

/// A shape by a formula, with its settings and the digests of its files.
pub(crate) fn built_of(
    kind: &'static str,
    shape: ShapeFormula,
    mut settings: Map<String, Value>,
    files: Vec<(String, Digest)>,
) -> BuiltShape {
    settings.insert("kind".to_owned(), Value::from(kind));
    BuiltShape {
        kind,
        settings: Value::Object(settings),
        is_group: shape.is_group(),
        reads: shape.reads(),
        moments: Vec::new(),
        files,
        run: Arc::new(move |members, state, meter| shape.shape(members, state, meter)),
    }
}
