//! Each case of the files below `fixtures/` is a test of its own, of the kind that is called as the
//! module that runs it. To run one:
//! `cargo test -p assay-verifiers --test cases -- "exact: takes the last line"`; and those of a kind:
//! `cargo test -p assay-verifiers --test cases -- "[redteam] number/"`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fixtures;
mod redteam;
mod shaping;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let kinds = [
        ("fixtures", fixtures::trials()),
        ("redteam", redteam::trials()),
        ("shaping", shaping::trials()),
    ];
    let named = |(kind, trials): (&'static str, Vec<Trial>)| {
        trials.into_iter().map(move |trial| trial.with_kind(kind))
    };
    libtest_mimic::run(&arguments, kinds.into_iter().flat_map(named).collect()).exit();
}
