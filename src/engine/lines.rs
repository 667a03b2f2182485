//! The lines of a run: what is written of a sample, and how one is read back.

mod json;

use std::sync::Arc;

use assay_verifiers::Scored;

/// Appends the verdict line of one sample: its serde form, and the end of the line.
pub fn verdict_line(out: &mut Vec<u8>, scored: &Scored) {
    // Neither the vector nor any of these values can fail to be written: keys are text and numbers
    // are finite.
    let written = json::write(out, scored);
    debug_assert!(written.is_ok(), "a verdict line has no JSON form");
    out.push(b'\n');
}

/// Reads a verdict line.
///
/// # Errors
/// A line that is not a row of a run.
pub(super) fn parse(line: &[u8]) -> Result<Scored, String> {
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// Writes timing lines: microseconds a verifier. The names are made JSON keys once a run.
pub(super) struct TimingLines {
    keys: Vec<Vec<u8>>,
}

impl TimingLines {
    pub(super) fn new(names: &Arc<[String]>) -> Self {
        let key = |name: &String| {
            let mut key = serde_json::to_vec(name).unwrap_or_default();
            key.push(b':');
            key
        };
        Self { keys: names.iter().map(key).collect() }
    }

    /// Appends the line of the sample of row `row`, counted from 0. `group` is its group, where shards
    /// are told apart by it.
    pub(super) fn write(&self, out: &mut Vec<u8>, row: u64, group: Option<u64>, scored: &Scored) {
        let mut digits = itoa::Buffer::new();
        out.extend_from_slice(b"{\"row\":");
        out.extend_from_slice(digits.format(row).as_bytes());
        if let Some(group) = group {
            out.extend_from_slice(b",\"group\":");
            out.extend_from_slice(digits.format(group).as_bytes());
        }
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

#[cfg(test)]
mod tests {
    use assay_verifiers::Fault;

    use super::*;

    #[test]
    fn times_are_whole_microseconds_by_name() {
        let mut scored = Scored::failed("a", Fault::internal("x"));
        scored.spent_ns = vec![1500, 0, 999];
        let names = ["correct", "format", "\"x\""].map(str::to_owned);
        let mut line = Vec::new();
        TimingLines::new(&names.into()).write(&mut line, 17, None, &scored);
        let expected = "{\"row\":17,\"us\":{\"correct\":2,\"format\":0,\"\\\"x\\\"\":1}}\n";
        assert_eq!(String::from_utf8(line).unwrap(), expected);
        let mut line = Vec::new();
        TimingLines::new(&Vec::new().into()).write(&mut line, 1, Some(7), &scored);
        assert_eq!(line, b"{\"row\":1,\"group\":7,\"us\":{}}\n");
    }

    #[test]
    fn a_line_that_is_no_row_is_refused() {
        assert!(parse(b"{\"id\":\"a\"}").is_err());
        assert!(parse(b"{\"id\":\"a\",\"outcome\":\"odd\",\"reward\":1,\"verdicts\":{}}").is_err());
    }
}
