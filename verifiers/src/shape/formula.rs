//! A shape that is a formula: one of a configuration, or one of a recipe.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Map;

use super::inputs::{InputRow, Lack, other_reward};
use super::length::CompletionLength;
use super::{BuiltShape, ShapeMember, Shaped, group};
use crate::canonical::Digest;
use crate::check::RecordedFiles;
use crate::formula::{
    Axis, Formula, FormulaError, FormulaInput, FormulaScope, Frame, MISSING, Values, is_missing,
};
use crate::prelude::*;
use crate::recipe::settings::Bound;
use crate::schedule::Schedule;
use crate::training_state::TrainingState;

/// What a shape by formula gives, the reward first.
const OUTPUTS: [(&str, Axis); 2] = [("reward", Axis::Row), ("steps", Axis::Step)];

/// The names that it may use, but for those with any member.
const NAMES: [&str; 4] = ["r", "length", "correct", "truncated"];

/// The settings that say how `length` is measured.
pub(crate) const LENGTH_KEYS: [&str; 2] = ["unit", "tokenizer"];

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
    schedules: Vec<(String, Schedule)>,
}

impl ShapeFormula {
    /// Checks a formula against the names that a shape sees; `rewards` are those of the configuration.
    pub(crate) fn new(source: &str, bound: &Bound, rewards: &[&str]) -> Result<Self, FormulaError> {
        let schedules = bound.schedules.iter().map(|(name, _)| (name.clone(), Axis::Number));
        let parts = rewards.iter().map(|name| ((*name).to_owned(), Axis::Row));
        let names = NAMES.iter().map(|name| ((*name).to_owned(), Axis::Row));
        let scope = FormulaScope::new(parts.chain(names).chain(schedules), OUTPUTS)
            .open("rewards", Axis::Row)
            .open("meta", Axis::Row)
            .open("state", Axis::Number)
            .open("steps", Axis::Step)
            .settings(bound.settings.clone());
        let formula = Formula::compile(source, &scope)?;
        Ok(Self { formula, length: None, schedules: bound.schedules.clone() })
    }

    /// Whether it reads the length of the completion.
    pub(crate) fn reads_length(&self) -> bool {
        self.formula.inputs().iter().any(|input| input.name == "length")
    }

    /// The same with a way to measure.
    pub(crate) fn measured(self, length: Option<CompletionLength>) -> Self {
        Self { length, ..self }
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

    /// What becomes of each member; see [`super::Shape::shape`].
    pub(crate) fn shape(
        &self,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        let ends = members.iter().scan(0, |end, member| {
            *end += member.verdict.steps.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let mut lacks: Vec<Option<Lack>> = vec![None; members.len()];
        let inputs = self.formula.inputs().iter();
        let columns = inputs
            .map(|input| self.column(input, members, state, (&mut lacks, meter)))
            .collect::<Result<Vec<_>, Fault>>()?;
        let frame = Frame::new(columns, vec![members.len()], ends);
        meter.spend(self.formula.fuel(&frame))?;
        let values = self.formula.run(&frame)?;
        let shaped = members.iter().zip(&lacks).enumerate();
        let shaped =
            shaped.map(|(at, (member, lack))| Self::shaped(at, member, lack.as_ref(), &values));
        let shaped: Vec<Result<Shaped, Fault>> = shaped.collect();
        if !self.is_group() {
            return shaped.into_iter().collect();
        }
        let failed = |shaped: Result<Shaped, Fault>| match group::of_member(shaped)? {
            Ok(shaped) => Ok(shaped),
            Err(why) => Ok(Shaped::failed(why)),
        };
        shaped.into_iter().map(failed).collect()
    }

    fn shaped(
        at: usize,
        member: &ShapeMember<'_>,
        lack: Option<&Lack>,
        values: &Values<'_>,
    ) -> Result<Shaped, Fault> {
        let Some(before) = member.reward() else { return Ok(Shaped::ignored()) };
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
                Some(Lack::Fault(fault)) => Err(fault.clone()),
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

    /// The numbers of an input, and why some are missing.
    fn column(
        &self,
        input: &FormulaInput,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        (lacks, meter): (&mut [Option<Lack>], &mut Meter<'_>),
    ) -> Result<Cow<'static, [f64]>, Fault> {
        let (name, own) = input.name.split_once('.').unwrap_or((&input.name, ""));
        if input.axis == Axis::Number {
            let known = match (name, own) {
                #[expect(clippy::cast_precision_loss, reason = "no training has 2^53 steps")]
                ("state", "step") => Some(state.step as f64),
                ("state", value) => state.values.get(value).copied().filter(|own| own.is_finite()),
                (schedule, _) => {
                    let found = self.schedules.iter().find(|(own, _)| own == schedule);
                    found.map(|(_, schedule)| schedule.at(state.step))
                }
            };
            if known.is_none() {
                let why = format!("value \"{own}\" is unknown");
                for lack in lacks {
                    *lack = lack.take().or(Some(Lack::Skip(why.clone())));
                }
            }
            return Ok(vec![known.unwrap_or(MISSING)].into());
        }
        let mut column = Vec::with_capacity(members.len());
        for (member, lack) in members.iter().zip(lacks) {
            let row = InputRow {
                sample: member.sample,
                earlier: member.earlier,
                reward: member.reward(),
                steps: &member.verdict.steps,
            };
            let mut end = column.len();
            let found = match (input.axis, row.reward) {
                (Axis::Step, _) => row.list(own, &mut column),
                (_, None) => {
                    column.push(MISSING);
                    Ok(())
                }
                _ => row.number(input, self.length.as_ref(), meter).map(|own| column.push(own)),
            };
            match found {
                Ok(()) => {}
                Err(Lack::Fault(fault)) if group::is_ours(&fault) => return Err(fault),
                Err(why) => {
                    *lack = lack.take().or(Some(why));
                    end += usize::from(input.axis != Axis::Step);
                    column.resize(end, MISSING);
                }
            }
        }
        Ok(column.into())
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
