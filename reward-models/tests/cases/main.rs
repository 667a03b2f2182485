//! One test a fixture case and backend (of the kind `fixtures`), and one a model folder and backend
//! (`models`). Those of one kind: `cargo test -p assay-reward-models --test cases -- "[models]"`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

mod fixtures;
mod models;

use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let models = Arc::new(support::models());
    let kinds = [("fixtures", fixtures::trials(&models)), ("models", models::trials(&models))];
    let named = |(kind, trials): (&'static str, Vec<Trial>)| {
        trials.into_iter().map(move |trial| trial.with_kind(kind))
    };
    libtest_mimic::run(&arguments, kinds.into_iter().flat_map(named).collect()).exit();
}
