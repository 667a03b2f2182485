//! Languages whose interpreters are modules: each folder of `fixtures/sandbox/modules` holds cases of
//! `stdin_stdout`, and the modules that their settings name lie beside them.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use assay_sandbox::{Sandbox, verifiers};
use assay_verifiers::cases::{self, Case};
use assay_verifiers::{Files, Lane};
use libtest_mimic::{Failed, Trial};
use serde_json::json;

pub(crate) fn trials() -> Vec<Trial> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/sandbox/modules");
    let module = fs::read_to_string(folder.join("postfix.wat")).unwrap();
    let file = fs::read_to_string(folder.join("stdin_stdout.toml")).unwrap();
    let sandbox = Arc::new(Sandbox::default());
    let mut trials: Vec<Trial> = Vec::new();
    for mut case in cases::parse(&file).unwrap().cases {
        case.files.insert("postfix.wat".to_owned(), module.clone());
        let sandbox = Arc::clone(&sandbox);
        trials.push(Trial::test(case.name.clone(), move || judged(&sandbox, &case)));
    }
    trials.push(Trial::test("the module is part of what the verifier is", move || {
        the_module_is_part_of_the_verifier(&sandbox, &module)
    }));
    trials
}

fn build(
    sandbox: &Arc<Sandbox>,
    settings: serde_json::Value,
    files: &dyn Files,
) -> Result<assay_verifiers::Built, assay_verifiers::BuildError> {
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "stdin_stdout").unwrap();
    (entry.build)(sandbox, settings, files)
}

fn judged(sandbox: &Arc<Sandbox>, case: &Case) -> Result<(), Failed> {
    let verdict = case.run(|settings, files: &dyn Files| build(sandbox, settings, files));
    let verdict = verdict.map_err(|error| error.to_string())?;
    case.disagreement(&verdict).map_or(Ok(()), |why| Err(why.into()))
}

struct Text(String);

impl Files for Text {
    fn read(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

fn the_module_is_part_of_the_verifier(sandbox: &Arc<Sandbox>, module: &str) -> Result<(), Failed> {
    let settings = json!({"language": {"wasm": {"file": "m.wat", "tags": ["m"]}}});
    let files = |module: &str| -> Result<_, Failed> {
        let built = build(sandbox, settings.clone(), &Text(module.to_owned()));
        let built = built.map_err(|error| error.to_string())?;
        assert!(matches!(built.lane, Lane::Compute(_)));
        Ok(built.spec.files)
    };
    let other = module.replace("(i32.const 48)", "(i32.const 49)");
    let (first, again, other) = (files(module)?, files(module)?, files(&other)?);
    if first == again && first != other && first.len() == 1 {
        Ok(())
    } else {
        Err(format!("{first:?} {other:?}").into())
    }
}
