//! The proof that a model scores as its authors' code does.

use std::path::Path;

use super::Model;
use crate::error::ModelError;
use crate::manifest::{Golden, Kind};
use crate::template::View;
use crate::tokens::Tokens;
use assay_verifiers::Message;

/// Ids that a message shows on each side of the first that differs.
const SHOWN: usize = 3;

impl Model {
    /// Holds every golden pair to what comes out.
    pub(super) fn prove(&self, manifest: &Path) -> Result<(), ModelError> {
        let goldens = &self.manifest.goldens;
        let wrong = |at, why| ModelError::Golden { file: manifest.display().to_string(), at, why };
        let mut texts = Vec::with_capacity(goldens.len());
        for (at, golden) in goldens.iter().enumerate() {
            let tokens =
                self.tokens(&self.view(golden)).map_err(|error| wrong(at, error.to_string()))?;
            same_tokens(golden, &tokens).map_err(|why| wrong(at, why))?;
            texts.push(Ok(tokens));
        }
        for (at, (golden, found)) in goldens.iter().zip(self.judge_tokens(texts)).enumerate() {
            let found = found.map_err(|error| wrong(at, error.to_string()))?;
            let near = |name: &str, expected: f64, found: Option<f64>| match found {
                Some(found) if (found - expected).abs() <= golden.tolerance => Ok(()),
                found => {
                    let found = found.map_or("nothing".to_owned(), |found| found.to_string());
                    let tolerance = golden.tolerance;
                    Err(wrong(
                        at,
                        format!("{name} is {found}; expected {expected} within {tolerance}"),
                    ))
                }
            };
            for (place, (expected, found)) in
                golden.raw.iter().flatten().zip(found.rows.iter()).enumerate()
            {
                for (value, expected) in expected.iter().enumerate() {
                    let found = found.get(value).map(|value| f64::from(*value));
                    near(&format!("raw[{place}][{value}]"), *expected, found)?;
                }
            }
            for (place, expected) in golden.scores.iter().flatten().enumerate() {
                near(&format!("scores[{place}]"), *expected, found.scores.get(place).copied())?;
            }
            if let Some(expected) = golden.score {
                near("score", expected, self.manifest.score.aggregate.of(&found.scores))?;
            }
        }
        Ok(())
    }

    fn view(&self, golden: &Golden) -> View {
        let messages = match &golden.prompt {
            Some(prompt) => vec![Message { role: "user".to_owned(), content: prompt.clone() }],
            None => golden.messages.clone(),
        };
        let stepwise = matches!(self.manifest.kind, Kind::Process | Kind::Implicit);
        let steps = match &golden.steps {
            Some(steps) => steps.clone(),
            None if stepwise => {
                let steps = self.steps(&golden.completion).into_iter();
                steps.map(|(step, _)| step.to_owned()).collect()
            }
            None => Vec::new(),
        };
        View {
            messages,
            completion: golden.completion.clone(),
            steps,
            pair: golden.first.clone().zip(golden.second.clone()),
            reference: golden.reference.clone().unwrap_or_default(),
        }
    }
}

fn same_tokens(golden: &Golden, tokens: &Tokens) -> Result<(), String> {
    let (expected, found) = (&golden.token_ids, &tokens.ids);
    if expected != found {
        let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
        let around = |ids: &[u32]| {
            let shown = ids.iter().skip(at.saturating_sub(SHOWN)).take(2 * SHOWN);
            shown.map(u32::to_string).collect::<Vec<_>>().join(" ")
        };
        let (expected, shown) = (around(expected), around(found));
        return Err(format!(
            "token_ids differ from place {at} on: ... {shown} ...; expected ... {expected} ..."
        ));
    }
    match &golden.positions {
        Some(expected) if *expected != tokens.positions => {
            Err(format!("positions are {:?}; expected {expected:?}", tokens.positions))
        }
        _ => Ok(()),
    }
}
