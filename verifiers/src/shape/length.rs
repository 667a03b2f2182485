//! How long a completion is, for shapes: in tokens where nothing else is said.

use super::member::texts;
use crate::measure::{Measure, Unit};
use crate::prelude::*;

/// How a completion is measured: settings of the shapes that measure one.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(default)]
pub(crate) struct CompletionLength {
    /// What is counted.
    #[default(Unit::Tokens)]
    unit: Unit,
    /// The `tokenizer.json` that counts tokens. Without one the token ids of the row are counted.
    tokenizer: Option<String>,
    #[serde(skip)]
    measure: Measure,
}

impl CompletionLength {
    /// Reads the tokenizer, where there is one.
    ///
    /// # Errors
    /// See [`Measure::new`].
    pub(crate) fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if !self.counts_ids() {
            self.measure = Measure::new(self.unit, self.tokenizer.as_deref(), files)?;
        }
        Ok(())
    }

    /// Whether the token ids of the row are counted, so that no other text can be measured.
    pub(crate) fn counts_ids(&self) -> bool {
        self.unit == Unit::Tokens && self.tokenizer.is_none()
    }

    /// The length of what the model wrote: the token ids of the row, or the message that is judged
    /// with the reasoning that an API gives apart.
    ///
    /// # Errors
    /// A row without token ids, where they are counted.
    pub(crate) fn of(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<f64, Fault> {
        if self.counts_ids() {
            let ids = sample.token_ids().ok_or_else(|| {
                let why = "the row has no token ids to count, and the shape names no `tokenizer` \
                           and no other `unit`";
                Fault::bad_input(why)
            })?;
            return Ok(f64::from(u32::try_from(ids.len()).unwrap_or(u32::MAX)));
        }
        let mut whole = 0.0;
        for text in texts(sample) {
            whole += self.of_text(text, meter)?;
        }
        Ok(whole)
    }

    /// The length of a text.
    ///
    /// # Errors
    /// See [`Measure::length`].
    pub(crate) fn of_text(&self, text: &str, meter: &mut Meter<'_>) -> Result<f64, Fault> {
        self.measure.length(text, meter).map(f64::from)
    }
}
