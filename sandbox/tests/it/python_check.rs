//! What `python_check` says of scripts that cannot judge.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use assay_sandbox::runtime::Options;
use assay_sandbox::{Sandbox, SandboxConfig, verifiers};
use assay_verifiers::{BuildError, Built, Earlier, Lane, Meter, NoFiles, Outcome, Sample, Verdict};
use serde_json::{Value, json};

fn build(settings: Value) -> Result<Built, BuildError> {
    static SANDBOX: OnceLock<Arc<Sandbox>> = OnceLock::new();
    let sandbox = SANDBOX.get_or_init(|| {
        let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/assets");
        let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
        Arc::new(Sandbox::new(SandboxConfig { assets: vec![assets], options }))
    });
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "python_check").unwrap();
    (entry.build)(sandbox, settings, &NoFiles)
}

fn verdict(script: &str) -> Verdict {
    let settings = json!({"script": script, "limits": {"fuel": 2_000_000_000_u64}});
    let sample = Sample::builder("the completion").reference("r").build();
    match build(settings).unwrap().lane {
        Lane::Compute(verifier) => {
            verifier.verify(&sample, Earlier::default(), &mut Meter::default())
        }
        _ => panic!("another lane"),
    }
}

#[test]
fn a_script_that_cannot_judge_is_refused_when_it_is_read() {
    for (settings, setting, why) in [
        (json!({}), "script", "one of script, file and tests"),
        (json!({"script": "x = 1", "file": "a.py"}), "script", "one of script, file and tests"),
        (json!({"script": "\ndef reward(sample)\n    return 1"}), "script", "line 2: SyntaxError"),
        (json!({"script": "import nothing"}), "script", "line 1: ModuleNotFoundError"),
        (
            json!({"script": "def rate(s): return 1"}),
            "script",
            "no function reward or grade; has: rate",
        ),
        (json!({"script": "def reward(s): return 1", "function": "f"}), "script", "no function f"),
        (json!({"script": "def reward(s): return 1", "range": [1, 0]}), "range", "1, 0"),
        (json!({"file": "a.py"}), "file", "a.py"),
    ] {
        let error = build(settings.clone()).err().unwrap();
        assert_eq!(error.setting, setting, "{settings}: {error}");
        assert!(error.message.contains(why), "{settings}: {error}");
    }
}

#[test]
fn a_fault_names_the_line_and_what_was_returned() {
    for (body, why) in [
        (
            "x = 1\n    return int(sample['completion'])",
            "script: line 3: ValueError: invalid literal",
        ),
        ("return sample['nothing']", "script: line 2: KeyError: 'nothing'"),
        ("return 'a text'", "script: returned a value of type str"),
        ("return {'score': 1}", "script: returned a dict without \"reward\""),
        ("return 2", "script: returned 2; `range` allows 0 to 1"),
        ("return float('inf')", "script: returned inf; `range` allows 0 to 1"),
        ("return 10 ** 400", "script: returned an int that is too large"),
        ("return reward(sample)", "script: line 2: RecursionError"),
        ("import os; os._exit(0)", "script: exit with code 0"),
        (
            "raise type('Odd', (BaseException,), {'__str__': lambda s: 1 / 0})",
            "script: line 2: Odd",
        ),
    ] {
        let verdict = verdict(&format!("def reward(sample):\n    {body}\n"));
        let Outcome::Failed(fault) = &verdict.outcome else { panic!("{body}: {verdict:?}") };
        assert!(fault.why.starts_with(why), "{body}: {fault}");
    }
}

#[test]
fn what_was_printed_before_a_fault_is_kept() {
    let verdict = verdict("def reward(sample):\n    print('so far')\n    raise ValueError\n");
    assert_eq!(verdict.evidence.get("stdout"), Some(&json!("so far\n")));
    assert!(verdict.evidence.get("fuel").is_some());
}

#[test]
fn one_sample_leaves_nothing_for_the_next() {
    let script = "import builtins\nseen = []\ndef reward(sample):\n    seen.append(1)\n    builtins.n = getattr(builtins, 'n', 0) + 1\n    return len(seen) == 1 == builtins.n\n";
    for _ in 0..3 {
        assert_eq!(verdict(script).outcome.reward().map(assay_verifiers::Reward::get), Some(1.0));
    }
}
