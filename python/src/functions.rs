//! What needs no engine.

use assay::verifiers::checks::math as math_check;
use assay::verifiers::{Meter, math};
use pyo3::prelude::*;

use crate::error::AssayError;
use crate::interpreter::detached;

/// Whether an answer is proved equal to a reference.
#[pyfunction]
pub(crate) fn math_equal(py: Python<'_>, answer: &str, reference: &str) -> bool {
    detached(py, || math::equal(answer, reference))
}

/// The answer of a completion and its bytes in it.
#[pyfunction]
pub(crate) fn extract_answer(
    py: Python<'_>,
    completion: &str,
    prompt: &str,
) -> PyResult<Option<(String, (usize, usize))>> {
    let found = detached(py, || math_check::answer(completion, prompt, &mut Meter::default()));
    let found = found.map(|found| found.map(|found| (found.text, found.span)));
    found.map_err(|fault| AssayError::new_err(format!("{}: {}", fault.kind, fault.why)))
}
