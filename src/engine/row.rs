//! One line of `verdicts.jsonl` and one of `timings.jsonl`: written fast, read back exactly.

use std::collections::BTreeMap;

use assay_verifiers::{Evidence, FaultKind, Outcome, Verdict};
use serde::{Deserialize, Serialize};

use super::chunk::Scored;

/// The names of the rewards as JSON keys, made once a run.
pub struct RowWriter {
    keys: Vec<Vec<u8>>,
}

impl RowWriter {
    /// A writer for rewards of these names.
    pub fn new(names: &[String]) -> Self {
        let key = |name: &String| {
            let mut key = Vec::new();
            json(&mut key, name);
            key.push(b':');
            key
        };
        Self { keys: names.iter().map(key).collect() }
    }

    /// Appends the verdict line of one sample.
    pub fn verdict_line(&self, out: &mut Vec<u8>, id: &str, scored: &Scored) {
        out.extend_from_slice(b"{\"id\":");
        json(out, id);
        out.extend_from_slice(b",\"outcome\":\"");
        out.extend_from_slice(scored.outcome.name().as_bytes());
        out.extend_from_slice(b"\",\"reward\":");
        match &scored.outcome {
            Outcome::Scored(reward) => json(out, &reward.get()),
            other => {
                out.extend_from_slice(b"null");
                reason(out, other);
            }
        }
        out.extend_from_slice(b",\"verdicts\":{");
        for (at, (key, verdict)) in self.keys.iter().zip(&scored.verdicts).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(key);
            write_verdict(out, verdict);
        }
        out.extend_from_slice(b"}}\n");
    }

    /// Appends the timing line of one sample: microseconds a verifier.
    pub fn timing_line(&self, out: &mut Vec<u8>, row: u64, scored: &Scored) {
        let mut digits = itoa::Buffer::new();
        out.extend_from_slice(b"{\"row\":");
        out.extend_from_slice(digits.format(row).as_bytes());
        out.extend_from_slice(b",\"us\":{");
        for (at, (key, spent_ns)) in self.keys.iter().zip(&scored.spent_ns).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(key);
            out.extend_from_slice(digits.format(spent_ns.div_ceil(1000)).as_bytes());
        }
        out.extend_from_slice(b"}}\n");
    }
}

fn write_verdict(out: &mut Vec<u8>, verdict: &Verdict) {
    out.extend_from_slice(b"{\"outcome\":\"");
    out.extend_from_slice(verdict.outcome.name().as_bytes());
    out.push(b'"');
    match &verdict.outcome {
        Outcome::Scored(reward) => {
            out.extend_from_slice(b",\"reward\":");
            json(out, &reward.get());
        }
        other => reason(out, other),
    }
    if !verdict.evidence.is_empty() {
        out.extend_from_slice(b",\"evidence\":");
        json(out, &verdict.evidence);
    }
    out.push(b'}');
}

fn reason(out: &mut Vec<u8>, outcome: &Outcome) {
    let why = match outcome {
        Outcome::Scored(_) => return,
        Outcome::Abstained(why) => why,
        Outcome::Failed(fault) => {
            out.extend_from_slice(b",\"fault\":");
            json(out, &fault.kind);
            &fault.why
        }
    };
    out.extend_from_slice(b",\"why\":");
    json(out, why);
}

fn json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Neither the vector nor any of these values can fail to be written: keys are text and
    // numbers are finite.
    let written = serde_json::to_writer(&mut *out, value);
    debug_assert!(written.is_ok(), "a row value has no JSON form");
}

/// A line of `verdicts.jsonl`, read back.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct VerdictRow {
    /// The id of the sample.
    pub id: String,
    /// `scored`, `abstained` or `failed`.
    pub outcome: String,
    /// The combined reward, where the sample was scored.
    pub reward: Option<f64>,
    /// The fault that left the sample without a reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultKind>,
    /// Why there is no reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// One verdict a reward.
    pub verdicts: BTreeMap<String, VerdictEntry>,
}

/// One verdict of a line.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct VerdictEntry {
    /// `scored`, `abstained` or `failed`.
    pub outcome: String,
    /// The reward, where the verifier scored the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// What went wrong, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultKind>,
    /// Why it did not score the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What led to it.
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    pub evidence: Evidence,
}

impl VerdictRow {
    /// Reads one line.
    ///
    /// # Errors
    /// A line that is not a row of a run.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }

    /// Whether the sample, or any verdict on it, failed.
    pub fn has_fault(&self) -> bool {
        self.fault.is_some() || self.verdicts.values().any(|verdict| verdict.fault.is_some())
    }
}

#[cfg(test)]
mod tests {
    use assay_verifiers::{Fault, Reward};

    use super::*;

    #[test]
    fn a_row_reads_as_the_design_writes_it() {
        let scored = Scored {
            outcome: Outcome::Scored(Reward::ONE),
            verdicts: vec![
                Verdict::graded(true).with("extracted", "18\u{2028}").because("equal-exact"),
                Verdict::abstained("no reference"),
                Verdict::failed(Fault::bad_reference("empty")),
            ],
            spent_ns: vec![1500, 0, 999],
        };
        let writer = RowWriter::new(&["correct".into(), "format".into(), "\"x\"".into()]);
        let mut line = Vec::new();
        writer.verdict_line(&mut line, "a\nb", &scored);
        let text = String::from_utf8(line.clone()).unwrap();
        assert_eq!(
            text,
            "{\"id\":\"a\\nb\",\"outcome\":\"scored\",\"reward\":1.0,\"verdicts\":{\"correct\":\
             {\"outcome\":\"scored\",\"reward\":1.0,\"evidence\":{\"extracted\":\"18\u{2028}\",\
             \"reason\":\"equal-exact\"}},\"format\":{\"outcome\":\"abstained\",\"why\":\
             \"no reference\"},\"\\\"x\\\"\":{\"outcome\":\"failed\",\"fault\":\"BadReference\",\
             \"why\":\"empty\"}}}\n"
        );
        let row = VerdictRow::parse(&line).unwrap();
        assert_eq!(row.verdicts["\"x\""].fault, Some(FaultKind::BadReference));
        assert!(row.has_fault());
        let mut line = Vec::new();
        writer.timing_line(&mut line, 17, &scored);
        let expected = "{\"row\":17,\"us\":{\"correct\":2,\"format\":0,\"\\\"x\\\"\":1}}\n";
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }

    #[test]
    fn a_row_without_a_reward_says_why() {
        let mut line = Vec::new();
        let scored = Scored::failed(Fault::bad_input("completion: missing"));
        RowWriter::new(&["a".into()]).verdict_line(&mut line, "row-1", &scored);
        let row = VerdictRow::parse(&line).unwrap();
        assert_eq!((row.reward, row.fault), (None, Some(FaultKind::BadInput)));
        assert_eq!(row.why.as_deref(), Some("completion: missing"));
    }
}
