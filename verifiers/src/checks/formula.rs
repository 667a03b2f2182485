//! `formula`: a reward that is computed from columns and from other rewards.

use std::borrow::Cow;

use crate::code::Code;
use crate::formula::{Axis, Formula, FormulaScope, Frame, MISSING, Values};
use crate::prelude::*;
use crate::recipe::settings::{self, Bound};
use crate::recipe::{self, Recipe, RecipePlace};
use crate::shape::formula::{LENGTH_KEYS, length_of};
use crate::shape::inputs::{InputRow, Lack, other_reward};
use crate::shape::length::CompletionLength;
use crate::verdict::Reward;
use crate::verifier::Earlier;

/// The reward is what a formula gives: of numbers in columns (`meta.x`), of lists in columns (`list.x`),
/// of other rewards (`rewards.x`), of the `length` of the completion.
///
/// The formula is one of the configuration, or one of a recipe, whose settings stand beside its name. A
/// reward that it reads and that abstained, or a completion that does not say how it ended, lets it
/// abstain; a column that a row lacks is a fault, but where the formula says what to do
/// (`meta.x ?? 0`). `docs/formulas.md` has the language.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FormulaCheck {
    /// The formula.
    formula: Option<String>,
    /// The recipe whose formula it is.
    recipe: Option<String>,
    /// The settings of the recipe, and how `length` is measured: `unit` and `tokenizer`.
    settings: serde_json::Map<String, Value>,
    #[serde(skip)]
    program: Option<Program>,
}

#[derive(Debug)]
struct Program {
    formula: Formula,
    length: Option<CompletionLength>,
}

impl Check for FormulaCheck {
    const ID: &'static str = "formula";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        let mut given = self.settings.clone();
        let measure: serde_json::Map<String, Value> =
            LENGTH_KEYS.iter().filter_map(|key| given.remove_entry(*key)).collect();
        let (source, bound) = match (&self.formula, &self.recipe) {
            (Some(source), None) => {
                if let Some(key) = given.keys().next() {
                    let why = format!("`{key}` has no effect: write the number in the formula");
                    return Err(BuildError::new("settings", why).code(Code::NoEffect));
                }
                (source.as_str(), Bound::default())
            }
            (None, Some(name)) => {
                let recipe = known(name)?;
                let bound = settings::bound(&recipe.settings, &recipe.refuse, &given)
                    .map_err(|error| error.within("settings"))?;
                (recipe.formula.as_deref().unwrap_or_default(), bound)
            }
            _ => return Err(BuildError::new("formula", "give either formula or recipe")),
        };
        if let Some((name, _)) = bound.schedules.first() {
            let why = format!("{name} is a schedule, and a verifier knows of no training step");
            return Err(BuildError::new("settings", why));
        }
        let scope =
            FormulaScope::new(["length", "truncated"].map(|name| (name, Axis::Row)), OUTPUTS)
                .open("rewards", Axis::Row)
                .open("meta", Axis::Row)
                .open("list", Axis::Step)
                .settings(bound.settings);
        let key = if self.formula.is_some() { "formula" } else { "recipe" };
        let wrong = |error| BuildError::from(error).within(key);
        let formula = Formula::compile(source, &scope).map_err(wrong)?;
        if formula.compares_rows() {
            let why = "the formula compares the samples of a prompt, and a verifier sees one: a shape may";
            return Err(BuildError::new(key, why).code(Code::BadExpression));
        }
        let length = formula.inputs().iter().any(|input| input.name == "length");
        let length = length.then(|| length_of(measure, files)).transpose()?;
        self.program = Some(Program { formula, length: length.map(|own| own.length) });
        Ok(())
    }

    fn rewards(&self) -> Vec<(&'static str, String)> {
        let inputs = self.program.iter().flat_map(|program| program.formula.inputs());
        let named = inputs.filter_map(|input| other_reward(&input.name));
        let key = if self.formula.is_some() { "formula" } else { "recipe" };
        named.map(|name| (key, name.to_owned())).collect()
    }

    fn range(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        self.check_after(sample, Earlier::default(), meter)
    }

    fn check_after(
        &self,
        sample: &Sample,
        earlier: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let unset = || Fault::internal("formula was not loaded");
        let program = self.program.as_ref().ok_or_else(unset)?;
        let row = InputRow { sample, earlier, reward: None, steps: &[] };
        let (mut lack, mut places) = (None, None);
        let mut columns: Vec<Cow<'_, [f64]>> = Vec::new();
        for input in program.formula.inputs() {
            if let (Axis::Step, Some((_, name))) = (input.axis, input.name.split_once('.')) {
                let numbers = row.numbers(name)?;
                if *places.get_or_insert(numbers.len()) != numbers.len() {
                    let why =
                        format!("the lists that the formula reads have different lengths: {name}");
                    return Err(Fault::bad_input(why));
                }
                columns.push(numbers.into());
                continue;
            }
            let number = row.number(input, program.length.as_ref(), meter).unwrap_or_else(|why| {
                lack = lack.take().or(Some(why));
                MISSING
            });
            columns.push(vec![number].into());
        }
        let frame = Frame::new(columns, vec![1], vec![places.unwrap_or_default()]);
        meter.spend(program.formula.fuel(&frame))?;
        verdict(&program.formula.run(&frame)?, lack)
    }
}

/// What the formula gives, the reward first.
const OUTPUTS: [(&str, Axis); 1] = [("reward", Axis::Row)];

fn known(name: &str) -> Result<&'static Recipe, BuildError> {
    let recipe = recipe::find_in(RecipePlace::Reward, name).filter(|own| own.formula.is_some());
    recipe.ok_or_else(|| {
        let error =
            BuildError::new("recipe", format!("no recipe of a reward is called \"{name}\""));
        let known = recipe::of(RecipePlace::Reward).map(|own| own.id.as_str());
        error.code(Code::UnknownWord).expected(known)
    })
}

fn verdict(values: &Values<'_>, lack: Option<Lack>) -> Result<Verdict, Fault> {
    if let Some((fails, why)) = values.guard(0) {
        let why = why.to_owned();
        return if fails { Err(Fault::bad_input(why)) } else { Ok(Verdict::abstained(why)) };
    }
    let reward = values.output("reward").and_then(|own| own.first()).copied();
    let reward = reward.unwrap_or(MISSING);
    if crate::formula::is_missing(reward) {
        return match lack {
            Some(Lack::Fault(fault) | Lack::Stop(fault)) => Err(fault),
            Some(Lack::Skip(why)) => Ok(Verdict::abstained(why)),
            None => Err(Fault::bad_input(values.blame(0))),
        };
    }
    let reward = Reward::new(reward).ok_or_else(|| Fault::trap(values.blame(0)))?;
    let notes: serde_json::Map<String, Value> =
        values.notes(0).map(|(name, value)| (name.to_owned(), value)).collect();
    let verdict = Verdict::scored(reward);
    Ok(if notes.is_empty() { verdict } else { verdict.with("notes", notes) })
}
