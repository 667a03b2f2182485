//! The proof that a model scores as its authors' code does.

use std::path::Path;

use assay_verifiers::Message;

use super::{Judgement, Model};
use crate::backend::rten;
use crate::error::ModelError;
use crate::manifest::{Golden, ModelKind, Precision};
use crate::nearness::nearness;
use crate::preference::{both_orders, symmetric};
use crate::template::View;
use crate::tokens::Tokens;

/// Ids that a message shows on each side of the first that differs.
const SHOWN: usize = 3;

impl Model {
    /// Holds every golden pair to what comes out, within its tolerance or that of the backend.
    pub(super) fn prove(&self, manifest: &Path, tolerance: f64) -> Result<(), ModelError> {
        let goldens = &self.manifest.goldens;
        let wrong = |at, why| ModelError::Golden { file: manifest.display().to_string(), at, why };
        for (at, golden) in goldens.iter().enumerate() {
            let view = self.view(golden);
            let found = self.found(golden, &view).map_err(|error| wrong(at, error.to_string()))?;
            held(golden, &found, tolerance).map_err(|why| {
                let hint = self.backend.starts_with("rten") && self.has_integers();
                let hint = if hint { rten::INSTEAD } else { "" };
                let between = if hint.is_empty() { "" } else { "; " };
                wrong(at, format!("{why}{between}{hint}"))
            })?;
        }
        Ok(())
    }

    /// Whether a graph of it computes with integers.
    fn has_integers(&self) -> bool {
        self.manifest.graphs.iter().any(|graph| graph.precision == Precision::Int8)
    }

    /// What comes out of a golden pair.
    fn found(&self, golden: &Golden, view: &View) -> Result<Found, ModelError> {
        let mut views = vec![view.clone()];
        if let Some((first, second)) = &view.pair {
            views = both_orders(view, first, second).to_vec();
        }
        if let (ModelKind::Embedding, Some(reference)) = (self.manifest.kind, &golden.reference) {
            views.push(View { completion: reference.clone(), ..View::default() });
        }
        let tokens = self.tokens(view)?;
        let judged: Result<Vec<Judgement>, ModelError> = self.judge(&views).into_iter().collect();
        let mut judged = judged?.into_iter();
        let first = judged.next().ok_or(ModelError::Stopped)?;
        let second = judged.next();
        let score = match (self.manifest.kind, &second) {
            (ModelKind::Pairwise, Some(second)) => {
                let last = |judgement: &Judgement| judgement.scores.last().copied();
                last(&first).zip(last(second)).map(|(one, two)| symmetric(one, two))
            }
            (ModelKind::Embedding, Some(second)) => nearness(&first.rows, &second.rows),
            _ => self.score(&first, view.steps.len()),
        };
        Ok(Found { tokens, score, judgement: first })
    }

    fn view(&self, golden: &Golden) -> View {
        let messages = match &golden.prompt {
            Some(prompt) => vec![Message::new("user", prompt.as_str())],
            None => golden.messages.clone(),
        };
        let stepwise = matches!(self.manifest.kind, ModelKind::Process | ModelKind::Implicit);
        let steps = match &golden.steps {
            Some(steps) => steps.clone(),
            None if stepwise => self.step_texts(&golden.completion),
            None => Vec::new(),
        };
        View {
            messages,
            completion: golden.completion.clone(),
            steps,
            pair: golden.first.clone().zip(golden.second.clone()),
            reference: golden.reference.clone().unwrap_or_default(),
            question: String::new(),
        }
    }
}

/// What came out of a golden pair.
struct Found {
    tokens: Tokens,
    judgement: Judgement,
    score: Option<f64>,
}

/// Holds a golden pair to what came out.
fn held(golden: &Golden, found: &Found, tolerance: f64) -> Result<(), String> {
    same_tokens(golden, &found.tokens)?;
    let near = |name: &str, expected: f64, found: Option<f64>| {
        // The digits of a large number are as few as those of a small one.
        let tolerance = golden.tolerance.max(tolerance) * expected.abs().max(1.0);
        match found {
            Some(found) if (found - expected).abs() <= tolerance => Ok(()),
            found => {
                let found = found.map_or("nothing".to_owned(), |found| found.to_string());
                Err(format!("{name} is {found}; expected {expected} within {tolerance}"))
            }
        }
    };
    let rows = &found.judgement.rows;
    let near_rows = |name: &str, expected: &Option<Vec<Vec<f64>>>, data: &[f32]| {
        let Some(expected) = expected else { return Ok(()) };
        let all: Vec<&[f32]> = data.chunks(rows.values.max(1)).collect();
        as_many(name, expected.len(), all.len())?;
        for (place, (expected, row)) in expected.iter().zip(all).enumerate() {
            as_many(&format!("{name}[{place}]"), expected.len(), row.len())?;
            for (value, (expected, found)) in expected.iter().zip(row).enumerate() {
                near(&format!("{name}[{place}][{value}]"), *expected, Some(f64::from(*found)))?;
            }
        }
        Ok::<_, String>(())
    };
    near_rows("raw", &golden.raw, &rows.data)?;
    near_rows("uncertainties", &golden.uncertainties, &rows.uncertainties)?;
    if let Some(expected) = &golden.scores {
        as_many("scores", expected.len(), found.judgement.scores.len())?;
        for (place, (expected, found)) in expected.iter().zip(&found.judgement.scores).enumerate() {
            near(&format!("scores[{place}]"), *expected, Some(*found))?;
        }
    }
    if let Some(expected) = golden.score {
        near("score", expected, found.score)?;
    }
    match &golden.text {
        Some(expected) if found.judgement.texts.first() != Some(expected) => {
            let wrote = found.judgement.texts.first().map_or("nothing", String::as_str);
            Err(format!("the model wrote {wrote:?}; expected {expected:?}"))
        }
        _ => Ok(()),
    }
}

/// A list that is shorter than what comes out would leave the rest unproved.
fn as_many(name: &str, expected: usize, found: usize) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{name} has {expected} values; the model gives {found}"))
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
