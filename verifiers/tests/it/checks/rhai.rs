//! `rhai`: properties, hostile texts, and settings that are refused.

use assay_verifiers::NoFiles;
use assay_verifiers::check::build;
use assay_verifiers::checks::rhai::Rhai;
use assay_verifiers::prelude::*;

#[test]
fn a_script_that_does_not_compile_is_refused() {
    for settings in [
        json!({}),
        json!({"script": "let"}),
        json!({"script": "1", "file": "a.rhai"}),
        json!({"script": "eval(completion)"}),
    ] {
        let error = build::<Rhai>(settings.clone(), &NoFiles).err().expect("refused");
        assert_eq!(error.setting, "script", "{settings}: {error}");
    }
}
