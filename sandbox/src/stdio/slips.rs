//! What is most likely not meant in inputs of programs.

use assay_verifiers::{Sample, Slip};

use crate::suite::{Kind, StdioCase, Suite};
use crate::suite_run;

/// Tests are read of so many samples.
const SAMPLES_MAX: usize = 1_000;

/// Inputs whose line breaks were escaped once too often; `from` is where the tests are.
pub(crate) fn slips(samples: &[&Sample], from: &str) -> Vec<Slip> {
    let is_escaped = |sample: &Sample| {
        let suite = suite_run::tests(sample, from).map(|value| Suite::from_value(&value));
        let Some(Ok(Suite { kind: Kind::Stdio { cases }, .. })) = suite else { return false };
        are_escaped(&cases)
    };
    let samples: Vec<usize> = samples
        .iter()
        .take(SAMPLES_MAX)
        .enumerate()
        .filter_map(|(at, sample)| is_escaped(sample).then_some(at))
        .collect();
    if samples.is_empty() {
        return Vec::new();
    }
    let message = "the inputs hold `\\n` as two characters, and no line breaks".to_owned();
    let help =
        "write line breaks: json.loads once more, or text.replace('\\\\n', '\\n')".to_owned();
    vec![Slip { code: "escaped_line_break", setting: "", samples, message, help }]
}

/// Whether an input has a backslash and an n, and none has a line break before its end.
fn are_escaped(cases: &[StdioCase]) -> bool {
    let has_break = |case: &StdioCase| case.stdin.trim_end_matches(['\r', '\n']).contains('\n');
    cases.iter().any(|case| case.stdin.contains("\\n")) && !cases.iter().any(has_break)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn slipped(inputs: &[&str]) -> bool {
        let outputs: Vec<&str> = inputs.iter().map(|_| "1").collect();
        let reference = json!({"inputs": inputs, "outputs": outputs});
        let sample = Sample::builder("").reference(reference).build();
        let other = Sample::builder("").reference(json!({"test": "assert f() == '\\\\n'"})).build();
        let slips = slips(&[&other, &sample], "reference");
        assert!(slips.iter().all(|slip| slip.samples == [1]));
        !slips.is_empty()
    }

    #[test]
    fn line_breaks_as_two_characters_are_told() {
        for (inputs, is_slip) in [
            (&["1\\n2\\n"][..], true),
            (&["1\\n2\n", "5\n"], true),
            (&["1\n2\n"], false),
            (&["1\n2", "a\\nb"], false),
            (&["1", "2\n"], false),
        ] {
            assert_eq!(slipped(inputs), is_slip, "{inputs:?}");
        }
    }
}
