//! `latex`: LaTeX whose groups, environments, delimiters and formulas balance.

use assay_structure::latex;

use crate::prelude::*;
use crate::text_parts::{Place, judge_document, required, valid};

/// Right when the completion is LaTeX in which everything that opens is closed.
///
/// Braces, environments, `$`, `\(`, `\[`, `\left` and `\right` pair up; `_` and `^` stand in formulas,
/// `&` in environments, and no formula has a blank line. Comments and verbatim text are passed over.
/// It is not compiled: commands and packages are not looked up.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Latex {
    /// Where the text stands.
    from: Place,
    /// The whole of it is one formula, without `$` around it.
    formula: bool,
    /// The fewest formulas, set between `$` and the like.
    formulas_min: usize,
    /// Environments that must be there.
    environments: Vec<String>,
    /// Commands that must be there, without the backslash.
    required: Vec<String>,
    /// Commands that must not be there, such as `input`.
    forbidden: Vec<String>,
    /// The reference of each row lists further environments that must be there.
    by_reference: bool,
}

impl Check for Latex {
    const ID: &'static str = "latex";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        for (name, list) in [("required", &self.required), ("forbidden", &self.forbidden)] {
            if list.iter().any(|command| command.starts_with('\\')) {
                return Err(BuildError::new(name, "name a command without its backslash"));
            }
        }
        if self.formula && self.formulas_min > 0 {
            return Err(BuildError::new("formulas_min", "a formula holds no others"));
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(required) = required(&self.environments, self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        let names = required.len() + self.required.len() + self.forbidden.len();
        let place = (self.from, &["latex", "tex"][..], 20 + names as u64);
        judge_document(sample, place, meter, |text, _| {
            let parts = latex::balance(text, self.formula)?;
            let refused =
                |reason, name: &str| Verdict::graded(false).with("what", name).because(reason);
            let missing = |wanted: &'_ [String], have: &[&str]| {
                wanted.iter().find(|name| !have.contains(&name.as_str())).cloned()
            };
            if let Some(name) = missing(&required, &parts.environments) {
                return Ok(refused("missing-environment", &name));
            }
            if let Some(name) = missing(&self.required, &parts.commands) {
                return Ok(refused("missing-command", &name));
            }
            let is_forbidden = |name: &&&str| self.forbidden.iter().any(|one| one == **name);
            if let Some(name) = parts.commands.iter().find(is_forbidden) {
                return Ok(refused("forbidden-command", name));
            }
            let has_formulas = parts.formulas >= self.formulas_min;
            Ok(if has_formulas {
                valid()
            } else {
                Verdict::graded(false).because("too-few-formulas")
            })
        })
    }
}
