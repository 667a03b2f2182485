//! Each case, each program and each module below `fixtures/` is a test of its own, of the kind that
//! is called as the module that runs it. Those of one kind:
//! `cargo test -p assay-sandbox --test cases -- "[escapes]"`. The guests must be there: `make assets`
//! builds them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[cfg(feature = "c")]
mod c;
mod escapes;
mod fixtures;
mod guests;
mod languages;
mod leetcode;
mod modules;
mod redteam;

use std::path::Path;
use std::sync::Arc;

use assay_sandbox::runtime::Options;
use assay_sandbox::{Sandbox, SandboxConfig};
use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/assets");
    let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
    let sandbox = Arc::new(Sandbox::new(SandboxConfig { assets: vec![assets], options }));
    let kinds = [
        // The first, because it looks at instances before anything else has run.
        ("escapes", escapes::trials(&sandbox)),
        ("fixtures", fixtures::trials(&sandbox)),
        ("guests", guests::trials()),
        ("languages", languages::trials(&sandbox)),
        ("leetcode", leetcode::trials(&sandbox)),
        ("modules", modules::trials()),
        ("redteam", redteam::trials(&sandbox)),
        #[cfg(feature = "c")]
        ("c", c::trials(&sandbox)),
    ];
    let named = |(kind, trials): (&'static str, Vec<Trial>)| {
        trials.into_iter().map(move |trial| trial.with_kind(kind))
    };
    libtest_mimic::run(&arguments, kinds.into_iter().flat_map(named).collect()).exit();
}
