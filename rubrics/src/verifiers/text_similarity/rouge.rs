//! ROUGE-N and ROUGE-L: "ROUGE: A Package for Automatic Evaluation of Summaries", sections 2 and 3,
//! the F measure, with the tokens of rouge-score 0.1.2 and no stemming.

use assay_verifiers::stats::float;
use assay_verifiers::{Fault, Meter};

use super::lcs::common;
use super::ngrams::{runs, shared};

pub(super) fn rouge_n(input: &str, reference: &str, n: usize) -> f64 {
    let (input, reference) = (tokens(input), tokens(reference));
    let both = shared(&input, &reference, n);
    f_measure(both, runs(&input, n), runs(&reference, n))
}

pub(super) fn rouge_l(input: &str, reference: &str, meter: &mut Meter<'_>) -> Result<f64, Fault> {
    let (input, reference) = (tokens(input), tokens(reference));
    let both = common(&input, &reference, meter)?;
    Ok(f_measure(both, input.len(), reference.len()))
}

/// Runs of the letters a to z and digits, in lower case.
fn tokens(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit()));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn f_measure(both: usize, of_input: usize, of_reference: usize) -> f64 {
    let precision = float(both) / float(of_input.max(1));
    let recall = float(both) / float(of_reference.max(1));
    let sum = precision + recall;
    if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 }
}
