//! Texts that are too long for a model: the prompt loses its beginning.

use assay_verifiers::{Message, MessageContent};

use super::Model;
use crate::error::ModelError;
use crate::template::View;
use crate::tokens::Tokens;

/// Tokens that a template may put around a message, for a first guess at how many have to go.
const AROUND: usize = 32;
/// Conversations of so few messages are shortened by one at a time.
const FEW: usize = 64;

impl Model {
    /// The tokens of a text of which the prompt loses its beginning: whole messages first, the oldest
    /// before the others, then the beginning of the last one, token by token. `None` where that is not
    /// enough.
    pub(super) fn shortened(&self, view: &View, over: usize) -> Result<Option<Tokens>, ModelError> {
        let mut view = view.clone();
        let mut over = over;
        let all = std::mem::take(&mut view.messages);
        for from in self.first_guess(&all, over)?..all.len() {
            view.messages = all.split_at(from).1.to_vec();
            match self.fitting(&view) {
                Ok(Ok(tokens)) => return Ok(Some(tokens)),
                Ok(Err(left)) => over = left,
                // Some templates take no conversation that begins with an answer.
                Err(ModelError::Input(_)) if from + 1 < all.len() => {}
                Err(error) => return Err(error),
            }
        }
        self.cut(view, over)
    }

    /// The tokens of a text, or how many there are too many.
    fn fitting(&self, view: &View) -> Result<Result<Tokens, usize>, ModelError> {
        let tokens = self.encoder.tokens(&self.template.text(view)?)?;
        let over = tokens.ids.len().saturating_sub(self.manifest.limits.max_tokens);
        Ok(if over == 0 { Ok(tokens) } else { Err(over) })
    }

    /// How many messages have to go at least.
    fn first_guess(&self, messages: &[Message], over: usize) -> Result<usize, ModelError> {
        if messages.len() <= FEW {
            return Ok(1.min(messages.len().saturating_sub(1)));
        }
        let mut gone = 0;
        for (at, message) in messages.iter().enumerate() {
            if gone >= over {
                return Ok(at);
            }
            gone += self.encoder.plain(message.text())?.len() + AROUND;
        }
        Ok(messages.len().saturating_sub(1))
    }

    /// The beginning of the last message goes.
    fn cut(&self, mut view: View, mut over: usize) -> Result<Option<Tokens>, ModelError> {
        while let Some(last) = view.messages.last_mut() {
            let text = last.text();
            let prompt = self.encoder.plain(text)?;
            // A token may begin within a character: the next one that does not is the border.
            let mut borders = prompt.get_offsets().iter().skip(over).map(|(from, _)| *from);
            let border = borders.find(|from| *from > 0 && text.is_char_boundary(*from));
            let Some(from) = border else { return Ok(None) };
            let kept = text[from..].to_owned();
            last.content = MessageContent::Text(kept);
            match self.fitting(&view)? {
                Ok(tokens) => return Ok(Some(tokens)),
                Err(left) => over = left,
            }
        }
        Ok(None)
    }
}
