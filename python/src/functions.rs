//! What needs no engine.

use assay::verifiers::checks::math as math_check;
use assay::verifiers::{Meter, math};
use pyo3::prelude::*;

use crate::error::{AssayError, with_code};
use crate::interpreter::detached;

/// Whether an answer is proved equal to a reference.
#[pyfunction]
pub(crate) fn math_equal(py: Python<'_>, answer: &str, reference: &str) -> bool {
    detached(py, || math::equal(answer, reference))
}

/// An answer, its bytes in the completion, its standing, and the bytes of what is said against it.
type Answer = (String, (usize, usize), &'static str, Option<(usize, usize)>);

/// The answer of a completion.
#[pyfunction]
pub(crate) fn extract_answer(
    py: Python<'_>,
    completion: &str,
    prompt: &str,
) -> PyResult<Option<Answer>> {
    let found = detached(py, || math_check::answer(completion, prompt, &mut Meter::default()));
    let found = found.map(|found| {
        found.map(|found| {
            let against = found.against.as_ref().map(|against| against.span);
            let standing = found.against.map_or("stands", |against| against.reason);
            (found.text, found.span, standing, against)
        })
    });
    found.map_err(|fault| {
        let error = AssayError::new_err(format!("{}: {}", fault.kind, fault.why));
        with_code(error, fault.kind.code())
    })
}
