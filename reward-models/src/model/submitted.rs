//! A text on its way through the queues of a model.

use std::sync::Arc;

use crate::error::ModelError;
use crate::schedule::Ticket;
use crate::score::ModelOutput;
use crate::tokens::Tokens;

/// A text that was handed in. Dropping it gives the text up.
pub(super) struct Submitted {
    pub(super) tokens: Arc<Tokens>,
    /// The marks of the template.
    pub(super) marks: Vec<usize>,
    pub(super) rows: Ticket,
    pub(super) reference: Option<Ticket>,
}

impl Submitted {
    /// Waits for what the graph says, and what the reference model says where there is one.
    pub(super) async fn wait(self) -> Result<Answered, ModelError> {
        let Self { tokens, marks, rows, reference } = self;
        let rows = rows.await?;
        let reference = match reference {
            Some(reference) => Some(reference.await?),
            None => None,
        };
        Ok(Answered { tokens, marks, rows, reference })
    }
}

/// What the graphs said of a text.
pub(super) struct Answered {
    pub(super) tokens: Arc<Tokens>,
    pub(super) marks: Vec<usize>,
    pub(super) rows: ModelOutput,
    pub(super) reference: Option<ModelOutput>,
}
