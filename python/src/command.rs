//! The command `assay`, which the package installs as a console script.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Runs the command with its arguments, of which the first is its own name, and returns its exit code.
/// `assets` are folders that may hold guests, `onnxruntime` is the one with the library of that package.
#[pyfunction]
pub(crate) fn command(
    py: Python<'_>,
    args: Vec<OsString>,
    assets: Vec<PathBuf>,
    onnxruntime: Option<PathBuf>,
) -> u8 {
    py.detach(|| {
        assay_cli::run(args, |environment| {
            environment.assets.extend(assets);
            environment.add_ort_library("the package onnxruntime", onnxruntime);
        })
    })
}
