//! What the texts of a template have in common, seen on a probe: where the answer begins, and where scores
//! are read. That is at the last token, or at a token of its own after each step. A template that marks
//! other places has no texts that callers render.

use assay_verifiers::Message;

use crate::error::ModelError;
use crate::manifest::{Manifest, ModelKind};
use crate::template::{Template, View};
use crate::tokens::Encoder;

/// Steps of which the places are looked for in what a template makes of them.
const STEPS: [&str; 3] = ["one step of three", "another step of them", "what is then left"];

/// Answers that have nothing in common: what is before both is the prompt.
const ANSWERS: [&str; 2] = ["an answer", "one more"];

/// What the texts of a template have in common.
#[derive(Debug)]
pub(super) struct Form {
    /// The BOS with which they begin.
    pub(super) bos: Option<String>,
    /// The token that pads a text on each side, unless the template writes it there itself.
    pub(super) padding: [Option<String>; 2],
    /// The token after each step.
    pub(super) sign: Option<String>,
    /// Bytes before the answer to the question of the probe.
    pub(super) head: usize,
}

impl Form {
    /// What the texts of a template have in common.
    ///
    /// # Errors
    /// Why a model with this template reads no rendered text.
    pub(super) fn of(
        template: &Template,
        manifest: &Manifest,
        encoder: &Encoder,
    ) -> Result<Self, String> {
        let text = template.text(&probe()).map_err(|error| error.to_string())?;
        let refused =
            |why: &str| Err(format!("the model reads no rendered text: its template {why}"));
        let [part] = text.parts.as_slice() else {
            return refused("has texts that are tokenised apart");
        };
        if manifest.kind == ModelKind::Pairwise {
            return refused("has two completions");
        }
        let bos = manifest.tokenizer.tokens.get("bos_token");
        let bos = bos.filter(|bos| !bos.is_empty() && part.starts_with(bos.as_str())).cloned();
        let pad = manifest.tokenizer.tokens.get("pad_token").filter(|pad| !pad.is_empty());
        let padding = [
            pad.filter(|pad| !part.starts_with(pad.as_str())).cloned(),
            pad.filter(|pad| !part.ends_with(pad.as_str())).cloned(),
        ];
        let sign = sign(part, &text.marks, encoder);
        if sign.is_none() && !text.marks.is_empty() {
            return refused("marks places that a text does not show");
        }
        let head = head(template).map_err(|error| error.to_string())?;
        Ok(Self { bos, padding, sign, head })
    }
}

/// Bytes that a template writes before an answer to the question of the probe.
fn head(template: &Template) -> Result<usize, ModelError> {
    let text = |answer: &str| {
        let (completion, steps) = (answer.to_owned(), vec![answer.to_owned()]);
        template.text(&View { completion, steps, ..probe() })
    };
    let [one, other] = ANSWERS.map(text);
    let (one, other) = (one?.parts, other?.parts);
    Ok(one.first().zip(other.first()).map_or(0, |(one, other)| shared(one, other)))
}

/// The token that is between each step of the probe and the mark after it.
fn sign(part: &str, marks: &[(usize, usize)], encoder: &Encoder) -> Option<String> {
    let behind = |(step, (_, mark)): (&str, &(usize, usize))| {
        let before = part.get(..*mark)?;
        before.rfind(step).and_then(|at| before.get(at + step.len()..))
    };
    let signs: Option<Vec<&str>> = STEPS.into_iter().zip(marks).map(behind).collect();
    let (first, others) = signs.as_deref()?.split_first()?;
    let is_sign = marks.len() == STEPS.len()
        && others.iter().all(|other| other == first)
        && encoder.is_added(first);
    is_sign.then(|| (*first).to_owned())
}

/// A sample from which the form of a template is seen.
pub(super) fn probe() -> View {
    View {
        messages: vec![Message::new("user", "a question")],
        completion: "an answer".to_owned(),
        steps: STEPS.map(str::to_owned).to_vec(),
        reference: "a reference".to_owned(),
        ..View::default()
    }
}

/// Bytes with which both texts begin.
fn shared(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    same.map(|(c, _)| c.len_utf8()).sum()
}
