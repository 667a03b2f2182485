//! Texts that their callers rendered: a conversation, as the template of the model would have made it,
//! with its special tokens.
//!
//! Where the score is read is what the template says, seen on a probe: at the last token, or at a token
//! of its own behind each step. A template that marks other places has no such texts.

use assay_verifiers::Message;

use super::{Model, too_long};
use crate::error::ModelError;
use crate::manifest::ModelKind;
use crate::template::{Text, View};
use crate::tokens::Tokens;

/// Steps of which the places are looked for in what a template makes of them.
const STEPS: [&str; 3] = ["one step of three", "another step of them", "what is then left"];

/// What the texts of a template have in common.
struct Form {
    /// The BOS with which they begin.
    bos: Option<String>,
    /// The token behind each step.
    sign: Option<String>,
}

/// Answers that have nothing in common: what stands before both is the prompt.
const ANSWERS: [&str; 2] = ["an answer", "one more"];

impl Model {
    /// A text that its caller rendered, with the places of its scores. A BOS that the caller left out, as
    /// for servers that put one before every text, is put before it where the template has one.
    ///
    /// # Errors
    /// Why the model reads no such text, or not this one.
    pub fn rendered(&self, text: &str) -> Result<Text, String> {
        let Form { bos, sign } = self.form()?;
        let whole = self.begun(text, bos);
        let mut marks = Vec::new();
        if let Some(sign) = sign {
            marks.extend(whole.match_indices(&sign).map(|(at, _)| (0, at + sign.len())));
            if marks.is_empty() {
                return Err(format!("the text has no {sign}, behind which a step is scored"));
            }
        }
        Ok(Text { parts: vec![whole], second: None, marks })
    }

    /// The text of a conversation of which the caller rendered the prompt: the answer of `view` and what
    /// follows it are as the template writes them behind a prompt of its own.
    ///
    /// # Errors
    /// Why the model reads no such text, or not this one.
    pub fn continued(&self, prompt: &str, view: &View) -> Result<Result<Text, ModelError>, String> {
        let Form { bos, .. } = self.form()?;
        let own = |answer: &str| View {
            completion: answer.to_owned(),
            steps: vec![answer.to_owned()],
            ..probe()
        };
        let text = |view: &View| self.template.text(view);
        let both: Result<Vec<Text>, ModelError> =
            ANSWERS.iter().map(|answer| text(&own(answer))).collect();
        let both = both.map_err(|error| error.to_string())?;
        let [one, other] =
            [both.first(), both.last()].map(|text| text.and_then(|text| text.parts.first()));
        let head = one.zip(other).map_or("", |(one, other)| shared(one, other)).len();
        let answered = View {
            completion: view.completion.clone(),
            steps: view.steps.clone(),
            reference: view.reference.clone(),
            ..probe()
        };
        let answered = match text(&answered) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        let answer = answered.parts.first().and_then(|part| part.get(head..)).unwrap_or_default();
        let begun = self.begun(prompt, bos);
        let moved = |(part, at): &(usize, usize)| (*part, (at + begun.len()).saturating_sub(head));
        let marks = answered.marks.iter().map(moved).collect();
        Ok(Ok(Text { parts: vec![format!("{begun}{answer}")], second: None, marks }))
    }

    /// A text that its caller rendered, with the BOS of the template before it and no other.
    fn begun(&self, text: &str, bos: Option<String>) -> String {
        let known = self.manifest.tokenizer.tokens.get("bos_token");
        let bare = known.and_then(|bos| text.strip_prefix(bos.as_str())).unwrap_or(text);
        format!("{}{bare}", bos.unwrap_or_default())
    }

    /// The steps of a text that its caller rendered, each with its bytes in it; the first begins with
    /// the text.
    pub fn rendered_steps<'a>(&self, text: &'a str) -> Vec<(&'a str, (usize, usize))> {
        let Ok(Form { sign: Some(sign), .. }) = self.form() else { return Vec::new() };
        let mut from = 0;
        let step = |(at, sign): (usize, &str)| {
            let span = (from, at);
            from = at + sign.len();
            (text.get(span.0..at).unwrap_or_default(), span)
        };
        text.match_indices(&sign).map(step).collect()
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// A text that is too long.
    pub fn text_tokens(&self, text: &Text) -> Result<Tokens, ModelError> {
        text.parts.iter().try_for_each(|part| self.short_enough(part))?;
        let tokens = self.encoder.tokens(text)?;
        let (count, most) = (tokens.ids.len(), self.manifest.limits.max_tokens);
        if count > most { Err(too_long(count, most)) } else { Ok(tokens) }
    }

    /// What the texts of its template have in common.
    fn form(&self) -> Result<Form, String> {
        let text = self.template.text(&probe()).map_err(|error| error.to_string())?;
        let refused =
            |why: &str| Err(format!("the model reads no rendered text: its template {why}"));
        let [part] = text.parts.as_slice() else {
            return refused("has texts that are tokenised apart");
        };
        if self.manifest.kind == ModelKind::Pairwise {
            return refused("has two completions");
        }
        let bos = self.manifest.tokenizer.tokens.get("bos_token");
        let bos = bos.filter(|bos| !bos.is_empty() && part.starts_with(bos.as_str())).cloned();
        if text.marks.is_empty() {
            return Ok(Form { bos, sign: None });
        }
        match self.sign(part, &text.marks) {
            Some(sign) => Ok(Form { bos, sign: Some(sign) }),
            None => refused("marks places that a text does not show"),
        }
    }

    /// The token that stands between each step of the probe and the mark behind it.
    fn sign(&self, part: &str, marks: &[(usize, usize)]) -> Option<String> {
        let behind = |(step, (_, mark)): (&str, &(usize, usize))| {
            let before = part.get(..*mark)?;
            before.rfind(step).and_then(|at| before.get(at + step.len()..))
        };
        let signs: Option<Vec<&str>> = STEPS.into_iter().zip(marks).map(behind).collect();
        let (first, others) = signs.as_deref()?.split_first()?;
        let is_sign = marks.len() == STEPS.len()
            && others.iter().all(|other| other == first)
            && self.encoder.is_added(first);
        is_sign.then(|| (*first).to_owned())
    }
}

/// A sample from which the form of a template is seen.
fn probe() -> View {
    View {
        messages: vec![Message::new("user", "a question")],
        completion: "an answer".to_owned(),
        steps: STEPS.map(str::to_owned).to_vec(),
        reference: "a reference".to_owned(),
        ..View::default()
    }
}

/// What two texts begin with.
fn shared<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.char_indices().zip(other.chars()).take_while(|((_, one), other)| one == other);
    let end = same.last().map_or(0, |((at, c), _)| at + c.len_utf8());
    one.get(..end).unwrap_or_default()
}
