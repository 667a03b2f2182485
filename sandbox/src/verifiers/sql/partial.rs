//! What a query that does not come to the right rows has in common with one that does.

use std::collections::BTreeSet;

use assay_verifiers::prelude::*;

use super::guard::Reads;
use super::lex::{Kind, Token, tokens};

/// What each part of the partial reward counts for.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// The right rows.
    #[default(3.0)]
    pub execution: f64,
    /// A query that `SQLite` can run.
    #[default(1.0)]
    pub syntax: f64,
    /// The tables and columns of the gold query.
    #[default(1.0)]
    pub schema: f64,
    /// The pairs of neighbouring tokens of the gold query.
    #[default(1.0)]
    pub ngram: f64,
}

impl Weights {
    /// Refuses weights under which a wrong query could earn as much as a right one.
    pub(super) fn validate(self) -> Result<(), BuildError> {
        for (name, weight) in [
            ("execution", self.execution),
            ("syntax", self.syntax),
            ("schema", self.schema),
            ("ngram", self.ngram),
        ] {
            if !weight.is_finite() || weight < 0.0 {
                let message = format!("a weight is a number from 0 up, not {weight}");
                return Err(BuildError::new(format!("weights.{name}"), message));
            }
        }
        let rest = self.syntax + self.schema + self.ngram;
        if self.execution <= 0.0 || self.execution < rest {
            let message = format!("must be at least the other weights together, which are {rest}");
            return Err(BuildError::new("weights.execution", message));
        }
        Ok(())
    }

    /// What a query that ran to other rows earns.
    pub(super) fn reward(self, parts: Parts) -> f64 {
        let earned =
            self.syntax * parts.syntax + self.schema * parts.schema + self.ngram * parts.ngram;
        earned / (self.execution + self.syntax + self.schema + self.ngram)
    }
}

/// The parts that are earned without the right rows, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Parts {
    pub(super) syntax: f64,
    pub(super) schema: f64,
    pub(super) ngram: f64,
}

/// How much of the tables and columns two queries share: 1 where neither reads any.
pub(super) fn schema(gold: &Reads, found: &Reads) -> f64 {
    jaccard(&names(gold), &names(found))
}

/// Tables and columns alike, each once.
fn names(reads: &Reads) -> BTreeSet<(&str, &str)> {
    let pairs = reads.iter().map(|(table, column)| (table.as_str(), column.as_str()));
    pairs.flat_map(|(table, column)| [(table, ""), (table, column)]).collect()
}

/// How many of the pairs of neighbouring tokens two queries share. Words are compared without
/// regard to case; a query of one token is compared whole.
pub(super) fn ngram(gold: &str, found: &str, meter: &mut Meter<'_>) -> Result<f64, Fault> {
    meter.spend(8 * (gold.len() + found.len()) as u64)?;
    Ok(jaccard(&bigrams(gold), &bigrams(found)))
}

fn bigrams(sql: &str) -> BTreeSet<(String, String)> {
    let is_end = |token: &Token<'_>| token.is_mark(";");
    let words: Vec<String> = tokens(sql).filter(|token| !is_end(token)).map(spelled).collect();
    match words.as_slice() {
        [only] => BTreeSet::from([(only.clone(), String::new())]),
        _ => words.iter().cloned().zip(words.iter().skip(1).cloned()).collect(),
    }
}

/// A token as it is compared: literals as they are, names without their quotes.
fn spelled(token: Token<'_>) -> String {
    match token.kind {
        Kind::Text => token.text.to_owned(),
        Kind::Name => token.text.trim_matches(['"', '`', '[', ']']).to_lowercase(),
        Kind::Word | Kind::Number | Kind::Mark => token.text.to_lowercase(),
    }
}

#[allow(clippy::cast_precision_loss, reason = "queries are far shorter than 2^52 tokens")]
fn jaccard<T: Ord>(one: &BTreeSet<T>, two: &BTreeSet<T>) -> f64 {
    let shared = one.intersection(two).count();
    let all = one.len() + two.len() - shared;
    if all == 0 { 1.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(one: f64, two: f64) -> bool {
        (one - two).abs() < 1e-12
    }

    #[test]
    fn shares_are_of_what_either_has() {
        let reads = |pairs: &[(&str, &str)]| -> Reads {
            pairs.iter().map(|(table, column)| ((*table).into(), (*column).into())).collect()
        };
        let gold = reads(&[("t", "a"), ("t", "b")]);
        assert!(close(schema(&gold, &gold), 1.0));
        assert!(close(schema(&gold, &reads(&[("t", "a")])), 2.0 / 3.0));
        assert!(close(schema(&gold, &reads(&[("t", "")])), 1.0 / 3.0));
        assert!(close(schema(&gold, &reads(&[])), 0.0));
        assert!(close(schema(&reads(&[]), &reads(&[])), 1.0));
    }

    #[test]
    fn pairs_of_tokens_do_not_see_case_quotes_and_comments() {
        let mut meter = Meter::default();
        let mut share = |gold, found| ngram(gold, found, &mut meter).unwrap();
        assert!(close(share("SELECT a FROM t;", "select \"A\" /* x */ from T"), 1.0));
        assert!(close(share("SELECT a FROM t", "SELECT b FROM t"), 1.0 / 5.0));
        assert!(close(share("SELECT 'a'", "SELECT 'A'"), 0.0));
    }

    #[test]
    fn weights_keep_the_right_rows_ahead() {
        assert!(Weights::default().validate().is_ok());
        for weights in [
            Weights { execution: 0.0, syntax: 0.0, schema: 0.0, ngram: 0.0 },
            Weights { execution: 2.0, ..Weights::default() },
            Weights { syntax: -1.0, ..Weights::default() },
            Weights { ngram: f64::NAN, ..Weights::default() },
        ] {
            assert!(weights.validate().is_err(), "{weights:?}");
        }
        let all = Parts { syntax: 1.0, schema: 1.0, ngram: 1.0 };
        assert!(close(Weights::default().reward(all), 0.5));
    }
}
