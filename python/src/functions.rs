//! What needs no engine.

use assay::verifiers::extract::{Policy, Scope, Spoken, Thinking, announced, unannounced};
use assay::verifiers::{Meter, math};
use pyo3::prelude::*;

use crate::error::AssayError;

/// Whether an answer is proved equal to a reference.
#[pyfunction]
pub(crate) fn math_equal(py: Python<'_>, answer: &str, reference: &str) -> bool {
    py.detach(|| math::equal(answer, reference))
}

/// The answer of a completion and its bytes in it.
#[pyfunction]
pub(crate) fn extract_answer(
    py: Python<'_>,
    completion: &str,
    prompt: &str,
) -> PyResult<Option<(String, (usize, usize))>> {
    let found = py.detach(|| {
        let spoken = Spoken::of(completion, Thinking::Skip);
        let scope = Scope::of(&spoken, prompt);
        let mut found = announced(&scope, Policy::Auto, &mut Meter::default())?;
        if found.is_empty() {
            found = unannounced(&scope, Policy::Auto);
        }
        let offset = scope.offset();
        let told = found
            .first()
            .map(|best| (best.text.to_string(), (best.span.0 + offset, best.span.1 + offset)));
        Ok::<_, assay::verifiers::Fault>(told)
    });
    found.map_err(|fault| AssayError::new_err(format!("{}: {}", fault.kind, fault.why)))
}
