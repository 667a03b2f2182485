//! The expression of an aggregate: rhai over the shares of the criteria.

use assay_verifiers::script::{Script, shared_engine};
use assay_verifiers::{Fault, FaultKind, Meter};
use rhai::{Dynamic, Map, Scope};

use crate::rubric::{Answers, Criterion};

/// The value of an expression over the shares by name, the numbers as `value.NAME`; `()` where there
/// is not an answer.
///
/// # Errors
/// An expression that does not parse or run, or is not a number.
pub(super) fn expression(
    source: &str,
    top: &[(&Criterion, Option<f64>)],
    answers: &Answers,
    meter: &mut Meter<'_>,
) -> Result<f64, Fault> {
    let trap = |why: String| Fault::new(FaultKind::Trap, format!("`expression`: {why}"));
    let script = Script::expression(source).map_err(|error| trap(error.message))?;
    let mut scope = Scope::new();
    for (criterion, share) in top {
        let share = share.map_or(Dynamic::UNIT, Dynamic::from_float);
        scope.push_dynamic(criterion.name.clone(), share);
    }
    let values: Map = answers
        .iter()
        .map(|(name, answer)| {
            let value = answer.as_ref().map_or(Dynamic::UNIT, |one| Dynamic::from_float(one.value));
            (name.as_str().into(), value)
        })
        .collect();
    scope.push_dynamic("value", values.into());
    let value = script.run(&shared_engine(), &mut scope, meter)?;
    let whole = |value: &Dynamic| value.as_int().ok().map(as_float);
    let found = value.as_float().ok().or_else(|| whole(&value));
    let truth = value.as_bool().ok().map(|yes| if yes { 1.0 } else { 0.0 });
    found.or(truth).ok_or_else(|| trap(format!("expected a number, found {}", value.type_name())))
}

#[expect(clippy::cast_precision_loss, reason = "a reward is far below 2^53")]
fn as_float(value: i64) -> f64 {
    value as f64
}
