//! `assay._core`: the engine for Python. What users see of it is in `python/assay`, which documents it.

mod advantages;
mod arrow;
mod asyncio;
mod columns;
mod command;
mod diagnostics;
mod engine;
mod error;
mod explain;
mod functions;
mod interpreter;
mod losses;
mod recipe;
mod results;
mod rows;
mod run;
mod score_arrow;
mod scored;
mod selection;
mod shaped;
mod spec;
mod trainer_rows;
mod value;
mod verifier;
mod wait;

use pyo3::prelude::*;

/// As in the command: a row is parsed by one thread and freed by another. It serves what Rust allocates
/// here; the interpreter keeps its own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native part of the package.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::advantages::advantages;
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::diagnostics::{correlation, length_bias, pass_at_k, pass_curve};
    #[pymodule_export]
    use super::engine::PyEngine;
    #[pymodule_export]
    use super::error::{AssayError, DataError, RunError};
    #[pymodule_export]
    use super::functions::{extract_answer, math_equal};
    #[pymodule_export]
    use super::losses::{kl_rewards, policy_loss, preference_loss};
    #[pymodule_export]
    use super::recipe::{recipe_file, recipe_ids, recipe_values};
    #[pymodule_export]
    use super::run::merge;
    #[pymodule_export]
    use super::score_arrow::{PyArrowBatch, PyArrowStream, verdict_lines};
    #[pymodule_export]
    use super::scored::{PyComponent, PyScored, PyStep, PyUsage, PyVerdict, rewards_and_faults};
    #[pymodule_export]
    use super::selection::select;
    #[pymodule_export]
    use super::spec::reward_names;
    #[pymodule_export]
    use super::verifier::PySample;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        super::interpreter::close_at_exit(module)?;
        super::error::prepare(py)?;
        module.add("ConfigError", super::error::ConfigError::class(py)?)?;
        module.add("DataTypeError", super::error::DataTypeError::class(py)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
