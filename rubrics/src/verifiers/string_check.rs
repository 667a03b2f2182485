//! `string_check`: one text equals another, or holds it.

use assay_verifiers::prelude::*;

use crate::template::GraderTemplate;

/// Right when one text of the row equals another or holds it, as the grader `string_check` of
/// `OpenAI` compares them.
///
/// Both are templates: `{{ sample.output_text }}` is the completion without what the model thinks
/// before it answers, `{{ sample.output_json.NAME }}` a member of the JSON that it is,
/// `{{ item.NAME }}` a column of the row. Nothing is trimmed. A row without the column abstains, and
/// a completion without the member is wrong. An empty text is never equal to another, and an empty
/// reference is a fault: every text holds it.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct StringCheck {
    /// The text that is looked at.
    #[default = "{{ sample.output_text }}"]
    input: String,
    /// The text that it is compared with.
    #[default = "{{ item.reference }}"]
    reference: String,
    /// How they are compared.
    operation: Operation,
    #[serde(skip)]
    parsed: Option<(GraderTemplate, GraderTemplate)>,
}

/// How the texts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Operation {
    /// They are equal.
    #[default]
    Eq,
    /// They differ.
    #[serde(alias = "neq")]
    Ne,
    /// The input holds the reference.
    Like,
    /// The same, without regard to case in any script.
    Ilike,
}

impl Check for StringCheck {
    const ID: &'static str = "string_check";
    const ASPECT: Aspect = Aspect::Text;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let parse = |setting: &str, text: &str| {
            GraderTemplate::parse(text).map_err(|why| BuildError::new(setting, why))
        };
        self.parsed = Some((parse("input", &self.input)?, parse("reference", &self.reference)?));
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let unset = || Fault::internal("string_check was not loaded");
        let (input, reference) = self.parsed.as_ref().ok_or_else(unset)?;
        meter.spend(sample.completion().len() as u64)?;
        let (input, reference) = match (input.fill(sample, meter), reference.fill(sample, meter)) {
            (Ok(input), Ok(reference)) => (input, reference),
            (Err(missing), _) | (_, Err(missing)) => return Ok(missing.verdict()),
        };
        if reference.is_empty() {
            return Err(Fault::bad_reference("the reference of string_check is empty"));
        }
        meter.spend((input.len() + reference.len()) as u64)?;
        let right = match self.operation {
            Operation::Eq => input == reference,
            Operation::Ne => !input.is_empty() && input != reference,
            Operation::Like => input.contains(&reference),
            Operation::Ilike => input.to_lowercase().contains(&reference.to_lowercase()),
        };
        Ok(Verdict::graded(right).because(if right { "match" } else { "no-match" }))
    }
}
