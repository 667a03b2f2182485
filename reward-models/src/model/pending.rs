//! Texts of which the judgement is under way.

use std::panic::resume_unwind;
use std::sync::Arc;

use super::{Judgement, Model};
use crate::error::{ModelError, guarded};
use crate::schedule::Ticket;
use crate::template::View;
use crate::tokens::Tokens;

/// The fewest texts for which another thread is started.
const READ_MIN: usize = 16;

/// A text that was handed in. Dropping it gives the text up.
pub(super) struct Pending {
    tokens: Arc<Tokens>,
    /// The marks of the template.
    marks: Vec<usize>,
    rows: Ticket,
    reference: Option<Ticket>,
}

impl Pending {
    /// Waits for what the graphs say.
    pub(super) async fn judged(self, model: &Model) -> Result<Judgement, ModelError> {
        let rows = self.rows.await?;
        let reference = match self.reference {
            Some(reference) => Some(reference.await?),
            None => None,
        };
        model.judgement(&self.tokens, &self.marks, rows, reference.as_ref())
    }
}

impl Model {
    /// The tokens of texts, read on as many threads as the model has workers.
    pub(super) fn read(&self, views: &[View]) -> Vec<Result<Tokens, ModelError>> {
        let read = |views: &[View]| -> Vec<Result<Tokens, ModelError>> {
            views.iter().map(|view| guarded(|| self.tokens(view))).collect()
        };
        let each = views.len().div_ceil(self.workers).max(READ_MIN);
        let (own, others) = views.split_at(each.min(views.len()));
        std::thread::scope(|scope| {
            let others: Vec<_> =
                others.chunks(each).map(|part| scope.spawn(move || read(part))).collect();
            let mut tokens = read(own);
            for part in others {
                tokens.extend(part.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            tokens
        })
    }

    /// Hands texts in, as the kind of the model asks.
    pub(super) fn submit(
        &self,
        texts: Vec<Result<Tokens, ModelError>>,
    ) -> Vec<Result<Pending, ModelError>> {
        let mut marks = Vec::with_capacity(texts.len());
        let mut asked = |tokens: Tokens| {
            marks.push(tokens.positions.clone());
            Arc::new(self.asked(tokens))
        };
        let texts: Vec<Result<Arc<Tokens>, ModelError>> =
            texts.into_iter().map(|text| text.map(&mut asked)).collect();
        let good = || texts.iter().flatten().map(Arc::clone).collect();
        let references = self.reference.as_ref().map(|queue| queue.submit(good()));
        let mut references = references.map(Vec::into_iter);
        let mut rows = self.queue.submit(good()).into_iter();
        let mut marks = marks.into_iter();
        let pending = |tokens: Result<Arc<Tokens>, ModelError>| {
            let tokens = tokens?;
            let (Some(rows), Some(marks)) = (rows.next(), marks.next()) else {
                return Err(ModelError::Stopped);
            };
            let reference = references.as_mut().and_then(Iterator::next);
            Ok(Pending { tokens, marks, rows, reference })
        };
        texts.into_iter().map(pending).collect()
    }
}
