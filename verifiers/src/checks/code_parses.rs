//! `code_parses`: a program that its language can parse.

use assay_structure::code::CodeLanguage;

use crate::prelude::*;
use crate::text_parts::{Place, Stop, judge_document, valid};

/// Right when the completion is a program that the grammar of its language accepts.
///
/// Nothing is compiled, and names, types and dialects are not looked at: the grammars of tree-sitter
/// accept somewhat more than the language, so this is a form, and no sign of a right program. What breaks
/// it is named with its place and the tokens that may stand there. A program of comments alone is none.
/// The check is there where the feature `code-parses` is on.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct CodeParses {
    /// Where the program stands.
    from: Place,
    /// The language: `bash`, `c`, `cpp`, `go`, `java`, `javascript`, `python`, `rust`, `tsx` or
    /// `typescript`.
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<String>,
    /// The column that names the language of each row, where `language` does not.
    #[default = "language"]
    language_column: String,
}

impl Check for CodeParses {
    const ID: &'static str = "code_parses";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        match &self.language {
            Some(name) if CodeLanguage::named(name).is_none() => {
                Err(BuildError::new("language", format!("no grammar for \"{name}\"")))
            }
            _ => Ok(()),
        }
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        match self.language {
            Some(_) => Vec::new(),
            None => vec![("language_column", self.language_column.clone())],
        }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let column = sample.column(&self.language_column).and_then(Value::as_str);
        let Some(name) = self.language.as_deref().or(column) else {
            return Ok(Verdict::abstained("the row names no language"));
        };
        let language = CodeLanguage::named(name)
            .ok_or_else(|| Fault::bad_input(format!("no grammar for \"{name}\"")))?;
        judge_document(sample, (self.from, language.names, 20), meter, |text, meter| {
            let mut pay = |units| meter.spend(units);
            language.read(text, &mut pay).map_err(Stop::Fault)??;
            Ok(valid().with("language", language.names.first().copied().unwrap_or(name)))
        })
    }
}
