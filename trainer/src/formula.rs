//! What advantages and selections by a formula share: where the formula comes from, and the order of
//! the rollouts.

use assay_verifiers::BuildError;
use assay_verifiers::code::Code;
use assay_verifiers::recipe::settings::{self, Bound};
use assay_verifiers::recipe::{self, RecipePlace};
use serde_json::{Map, Value};

use crate::error::TrainerError;
use crate::groups::Groups;

/// The kind whose formula the configuration holds, and the setting that holds it.
pub(crate) const FORMULA: &str = "formula";

/// What `kind` builds from its formula: that of the settings, or of the recipe of this name. `None`: no
/// formula has this name.
///
/// # Errors
/// No formula, a setting that is not known or is a schedule (a batch has no training step), or what is
/// wrong with the formula.
pub(crate) fn built<T>(
    place: RecipePlace,
    kind: &str,
    settings: &Map<String, Value>,
    build: impl FnOnce(&str, &str, Bound) -> Result<T, TrainerError>,
) -> Result<Option<T>, TrainerError> {
    if kind == FORMULA {
        let Some(source) = settings.get(FORMULA).and_then(Value::as_str) else {
            let error = BuildError::new(FORMULA, "expected `formula`, a string");
            return Err(error.code(Code::MissingKey).into());
        };
        if let Some(key) = settings.keys().find(|key| *key != FORMULA) {
            let error = BuildError::new(key, format!("unknown key `{key}`"));
            return Err(error.code(Code::UnknownKey).expected([FORMULA]).into());
        }
        let own = build(kind, source, Bound::default());
        return own.map(Some).map_err(|error| error.within(FORMULA));
    }
    let Some(recipe) = recipe::find_in(place, kind) else { return Ok(None) };
    let Some(source) = &recipe.formula else { return Ok(None) };
    let bound = settings::bound(&recipe.settings, &recipe.refuse, settings)?;
    if let Some((name, _)) = bound.schedules.first() {
        let why = format!("{name} is a schedule, and a batch has no training step");
        return Err(BuildError::new(name, why).into());
    }
    Ok(Some(build(&recipe.id, source, bound)?))
}

/// The rollouts group by group, and for each group the end of its own.
pub(crate) fn ordered(groups: &Groups) -> (Vec<usize>, Vec<usize>) {
    let mut rows = Vec::new();
    let mut ends = Vec::new();
    for group in groups.iter() {
        rows.extend(group.rows());
        ends.push(rows.len());
    }
    (rows, ends)
}
