//! BLEU and GLEU of one sentence.

use assay_verifiers::Pattern;
use assay_verifiers::stats::float;

use super::ngrams::{runs, shared};

/// The longest n-grams.
const ORDER_MAX: usize = 4;

/// BLEU as sacrebleu 2.6 has it for one sentence: "BLEU: a Method for Automatic Evaluation of
/// Machine Translation", sections 2.1 and 2.2, with n-grams up to the longest that the text has, and
/// a k-th order without a match counted as `1 / (2^k * n-grams)`. From 0 to 1.
pub(super) fn bleu(input: &[String], reference: &[String]) -> f64 {
    let (mut logarithms, mut orders, mut smooth, mut matches) = (0.0, 0.0, 1.0, 0);
    for n in 1..=ORDER_MAX {
        let total = runs(input, n);
        if total == 0 {
            break;
        }
        let correct = shared(input, reference, n);
        matches += correct;
        let precision = if correct == 0 {
            smooth *= 2.0;
            1.0 / (smooth * float(total))
        } else {
            float(correct) / float(total)
        };
        logarithms += precision.ln();
        orders += 1.0;
    }
    if matches == 0 {
        return 0.0;
    }
    let ratio = float(reference.len()) / float(input.len());
    let brevity = if ratio > 1.0 { (1.0 - ratio).exp() } else { 1.0 };
    brevity * (logarithms / orders).exp()
}

/// GLEU: "Google's Neural Machine Translation System: Bridging the Gap between Human and Machine
/// Translation", section on training criteria: the n-grams 1 to 4 that both
/// have, over the n-grams of the one that has more.
pub(super) fn gleu(input: &[String], reference: &[String]) -> f64 {
    let orders = 1..=ORDER_MAX;
    let both: usize = orders.clone().map(|n| shared(input, reference, n)).sum();
    let most = orders.clone().map(|n| runs(input, n)).sum::<usize>();
    let most = most.max(orders.map(|n| runs(reference, n)).sum());
    if most == 0 { 0.0 } else { float(both) / float(most) }
}

/// The tokens of mteval 13a, as sacrebleu splits them.
#[derive(Debug)]
pub(super) struct Tokenizer13a {
    rules: Vec<(Pattern, &'static str)>,
}

impl Tokenizer13a {
    pub(super) fn new() -> Result<Self, String> {
        let rules = [
            (r"([\{-~\[-` -\&\(-\+:-@/])", " $1 "),
            (r"([^0-9])([\.,])", "$1 $2 "),
            (r"([\.,])([^0-9])", " $1 $2"),
            (r"([0-9])(-)", "$1 $2 "),
        ];
        let compiled = rules.map(|(pattern, with)| Ok((Pattern::new(pattern)?, with)));
        Ok(Self { rules: compiled.into_iter().collect::<Result<_, String>>()? })
    }

    pub(super) fn tokens(&self, text: &str) -> Vec<String> {
        let text = text.trim_end_matches(is_space).replace("<skipped>", "");
        let mut text = text.replace("-\n", "").replace('\n', " ");
        for (name, sign) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
            text = text.replace(name, sign);
        }
        text = format!(" {text} ");
        for (pattern, with) in &self.rules {
            text = pattern.replace_all(&text, *with).into_owned();
        }
        text.split(is_space).filter(|token| !token.is_empty()).map(str::to_owned).collect()
    }
}

/// White space as Python has it.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
