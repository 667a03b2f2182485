//! A rubric whose texts are templates, filled in from a row.

use std::borrow::Cow;

use assay_verifiers::{Meter, Sample};

use super::types::{Criterion, Rubric, RubricError};
use crate::template::{GraderTemplate, Unfilled};

impl Rubric {
    /// The rubric with its `instructions` and the `text` of each criterion filled in from the row,
    /// where they are `templates`. Nothing of the completion is filled in: words stand for it.
    ///
    /// # Errors
    /// What a template names and the sample lacks, and more text than the meter pays for.
    pub fn filled(
        &self,
        sample: &Sample,
        meter: &mut Meter<'_>,
    ) -> Result<Cow<'_, Self>, Unfilled> {
        if !self.templates {
            return Ok(Cow::Borrowed(self));
        }
        let mut filled = self.clone();
        fill(&mut filled.instructions, sample, meter)?;
        fill_all(&mut filled.criteria, sample, meter)?;
        filled.templates = false;
        Ok(Cow::Owned(filled))
    }
}

fn fill_all(
    criteria: &mut [Criterion],
    sample: &Sample,
    meter: &mut Meter<'_>,
) -> Result<(), Unfilled> {
    criteria.iter_mut().try_for_each(|one| {
        fill(&mut one.text, sample, meter)?;
        fill_all(&mut one.criteria, sample, meter)
    })
}

fn fill(text: &mut String, sample: &Sample, meter: &mut Meter<'_>) -> Result<(), Unfilled> {
    // A text that is not a template is refused when the rubric is read.
    let shown = GraderTemplate::parse(text).map(|template| template.for_judge());
    if let Ok(template) = shown.and_then(|shown| GraderTemplate::parse(&shown)) {
        *text = template.fill(sample, meter)?;
    }
    Ok(())
}

/// Refuses a text that is not a template.
pub(super) fn is_template(place: &str, text: &str) -> Result<(), RubricError> {
    GraderTemplate::parse(text).map(|_| ()).map_err(|why| RubricError::new(place, why))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rubric(text: &str) -> Result<Rubric, RubricError> {
        Rubric::from_value(&json!({
            "instructions": "Of {{ item.kind }}.",
            "templates": true,
            "criterion": [{"name": "a", "criterion": [{"name": "b", "text": text}]}],
        }))
    }

    #[test]
    fn texts_are_filled_in_from_the_row() {
        let rubric = rubric("Is it {{ item.reference }}?").unwrap();
        let meta = json!({"kind": "{{ item.x }}"}).as_object().unwrap().clone();
        let sample = Sample::builder("c").reference(4).meta(meta).build();
        let meter = &mut Meter::default();
        let filled = rubric.filled(&sample, meter).unwrap().into_owned();
        assert_eq!(filled.instructions, "Of {{ item.x }}.");
        assert_eq!(filled.leaves().first().map(|leaf| leaf.text.as_str()), Some("Is it 4?"));
        assert_eq!(filled.filled(&sample, meter).as_deref(), Ok(&filled), "once");
        let bare = Sample::builder("c").build();
        let missing = Unfilled::Missing { path: "item.kind".to_owned(), by_completion: false };
        assert_eq!(rubric.filled(&bare, meter).unwrap_err(), missing);
    }

    #[test]
    fn a_text_that_is_no_template_is_refused() {
        let error = rubric("Is it {{ x }}?").unwrap_err();
        assert_eq!(error.place, "criterion[0].criterion[0].text");
    }
}
