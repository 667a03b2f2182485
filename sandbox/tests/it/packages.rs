//! Packages that a verifier mounts: those that are refused, and a wheel.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use assay_sandbox::runtime::Options;
use assay_sandbox::{Sandbox, SandboxConfig, verifiers};
use assay_verifiers::{BuildError, Built, Earlier, Files, Lane, Meter, Outcome, Sample};
use serde_json::{Value, json};

/// The digest of the wheel that `sandbox/guests/python/translator.txt` pins.
const DIGEST: &str = "06c4c212a7868c7dcff0fd0fda348dd3c5cbad40137b3083a70ecdfe22921cf9";

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/assets")
}

/// The wheel that comes with assay, and files that are no packages.
struct Packages;

impl Files for Packages {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        match name {
            "sqlglot.whl" => std::fs::read(assets().join(name)).map_err(|why| why.to_string()),
            "none.whl" => Ok(b"not a wheel".to_vec()),
            "json.py" => Ok(b"x = 1".to_vec()),
            name => Err(format!("file \"{name}\": not there")),
        }
    }
}

fn build(packages: &Value) -> Result<Built, BuildError> {
    static SANDBOX: OnceLock<Arc<Sandbox>> = OnceLock::new();
    let sandbox = SANDBOX.get_or_init(|| {
        let options = Options { compiled: Some(assets().join("compiled")), ..Options::default() };
        Arc::new(Sandbox::new(SandboxConfig { assets: vec![assets()], options }))
    });
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "unit_tests").unwrap();
    (entry.build)(sandbox, json!({"packages": packages}), &Packages)
}

#[test]
fn what_is_no_package_is_refused_when_it_is_read() {
    let other = format!("sqlglot.whl#sha256={}", DIGEST.replace('0', "1"));
    for (packages, why) in [
        (json!([other]), "expected the SHA-256 16c4c212a7868c7dcff1fd1fda348dd3"),
        (json!(["none.whl"]), "none.whl: File is not a zip file"),
        (json!(["json.py"]), "json.py: has the name of a module of the library: json"),
        (json!(["away.whl"]), "file \"away.whl\": not there"),
        (json!(["numpy"]), "numpy is not in the sandbox"),
        (json!(["os; import sys"]), "is not in the sandbox"),
    ] {
        let error = build(&packages).err().unwrap();
        assert_eq!(error.setting, "packages", "{packages}: {error}");
        assert!(error.message.contains(why), "{packages}: {error}");
    }
}

#[test]
fn programs_and_tests_import_a_wheel() {
    let packages = json!([format!("sqlglot.whl#sha256={DIGEST}"), "sortedcontainers"]);
    let program = "```python\nimport importlib.metadata\n\ndef version():\n    \
                   return importlib.metadata.version('sqlglot')\n```";
    let test = "import sqlglot.errors\nassert version() == '30.30.0' and sqlglot.errors.ParseError";
    let sample = Sample::builder(program).reference(json!({"test": test})).build();
    let Lane::Compute(verifier) = build(&packages).unwrap().lane else { panic!("another lane") };
    let verdict = verifier.verify(&sample, Earlier::default(), &mut Meter::default());
    assert!(
        matches!(verdict.outcome, Outcome::Scored(reward) if reward.get() > 0.999),
        "{verdict:?}"
    );
}
