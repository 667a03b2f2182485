//! Texts that their callers rendered: a conversation, as the template of the model would have made it,
//! with its special tokens.

use super::form::{Form, probe};
use super::{Model, too_long};
use crate::error::ModelError;
use crate::template::{Text, View};
use crate::tokens::Tokens;

impl Model {
    /// A text that its caller rendered, with the places of its scores. A BOS that the caller left out, as
    /// for servers that put one before every text, is put before it where the template has one. Tokens
    /// that pad a batch, and a BOS before another, are left out.
    ///
    /// # Errors
    /// Why the model reads no such text, or not this one.
    pub fn rendered(&self, text: &str) -> Result<Text, String> {
        let form = self.form()?;
        let mut whole = self.begun(text, form);
        if let [_, Some(pad)] = &form.padding {
            whole.truncate(whole.trim_end_matches(pad.as_str()).len());
        }
        let mut marks = Vec::new();
        if let Some(sign) = &form.sign {
            marks.extend(whole.match_indices(sign).map(|(at, _)| (0, at + sign.len())));
            if marks.is_empty() {
                return Err(format!("the text has no {sign}, behind which a step is scored"));
            }
        }
        Ok(Text { parts: vec![whole], second: None, marks })
    }

    /// The text of a conversation of which the caller rendered the prompt: the answer of `view` and what
    /// follows it are as the template writes them after a prompt of its own.
    ///
    /// # Errors
    /// Why the model reads no such text, or not this one.
    pub fn continued(&self, prompt: &str, view: &View) -> Result<Result<Text, ModelError>, String> {
        let form = self.form()?;
        let head = &form.head;
        let answered = View {
            completion: view.completion.clone(),
            steps: view.steps.clone(),
            reference: view.reference.clone(),
            ..probe()
        };
        let answered = match self.template.text(&answered) {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        let Some(answer) = answered.parts.first().and_then(|part| part.get(*head..)) else {
            return Ok(Err(ModelError::Input("the template begins another text for it".into())));
        };
        let begun = self.begun(prompt, form);
        let moved = |(part, at): &(usize, usize)| (*part, (at + begun.len()).saturating_sub(*head));
        let marks = answered.marks.iter().map(moved).collect();
        Ok(Ok(Text { parts: vec![format!("{begun}{answer}")], second: None, marks }))
    }

    /// A text that its caller rendered, with the BOS of the template before it, and neither another nor
    /// padding.
    fn begun(&self, text: &str, form: &Form) -> String {
        let [padding, _] = &form.padding;
        let bos = self.manifest.tokenizer.tokens.get("bos_token").filter(|bos| !bos.is_empty());
        let strip = |text: &str| -> Option<usize> {
            let mut tokens = [padding.as_ref(), bos].into_iter().flatten();
            tokens.find(|token| text.starts_with(token.as_str())).map(String::len)
        };
        let mut bare = text;
        while let Some(rest) = strip(bare).and_then(|length| bare.get(length..)) {
            bare = rest;
        }
        format!("{}{bare}", form.bos.as_deref().unwrap_or_default())
    }

    /// The steps of a text that its caller rendered, each with its bytes in it; the first begins with
    /// the text.
    pub fn rendered_steps<'a>(&self, text: &'a str) -> Vec<(&'a str, (usize, usize))> {
        let Ok(Form { sign: Some(sign), .. }) = self.form() else { return Vec::new() };
        let mut from = 0;
        let step = |(at, sign): (usize, &str)| {
            let span = (from, at);
            from = at + sign.len();
            (&text[span.0..at], span)
        };
        text.match_indices(sign).map(step).collect()
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

    /// What the texts of its template have in common, seen once.
    fn form(&self) -> Result<&Form, String> {
        let seen = || Form::of(&self.template, &self.manifest, &self.encoder);
        self.form.get_or_init(seen).as_ref().map_err(Clone::clone)
    }
}
