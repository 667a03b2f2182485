//! `citations`: what an answer cites exists, and what it quotes stands there.

use assay_structure::citation::{Form, Report, Source, report};

use crate::prelude::*;
use crate::text_parts::{share, shown, texts};

/// Right when an answer cites sources that exist, those that it must, and quotes what they say.
///
/// The column `sources` holds them: a list of texts (whose ids count from 1), a list of objects with
/// `id` and `text`, or an object of texts by id. The reference, where there is one, lists ids that must
/// be cited. Ids stand in square brackets, or in a tag. A quotation, in quotation marks of
/// any kind or as a block of Markdown, must stand in the source that is cited right behind it, or else in any;
/// white space and case do not count.
///
/// An answer that only cites and quotes says nothing, and earns nothing.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Citations {
    /// The column with the sources.
    #[default = "sources"]
    sources: String,
    /// The tag in which ids stand, instead of brackets: `cite`.
    tag: Option<String>,
    /// Other sources than those of the reference must not be cited.
    only_required: bool,
    /// The shortest quotation, in words. Shorter ones are names, and not looked up.
    #[default(4)]
    quote_words: usize,
    /// The fewest words of its own that an answer has.
    #[default(5)]
    own_words: usize,
    /// Pay the product of F1 (or, where others may be cited, of recall) of ids and the share of
    /// quotations that stand in their sources.
    partial: bool,
}

impl Check for Citations {
    const ID: &'static str = "citations";
    /// Sources are cited in sentences, which the reference has not.
    const NO_GOLD: bool = true;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let is_name = |tag: &String| {
            tag.chars().all(|c| c.is_alphanumeric() || "_-".contains(c)) && !tag.is_empty()
        };
        match self.tag.as_ref().filter(|tag| !is_name(tag)) {
            Some(tag) => {
                Err(BuildError::new("tag", format!("tag \"{tag}\" is not a name: write \"cite\"")))
            }
            None => Ok(()),
        }
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("sources", self.sources.clone())]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(column) = sample.column(&self.sources).filter(|column| !column.is_null()) else {
            return Ok(Verdict::abstained("the sample has no sources"));
        };
        let sources = read(column).ok_or_else(|| {
            Fault::bad_input(format!("column \"{}\" holds no sources", self.sources))
        })?;
        let required = sample.reference().map(texts).unwrap_or_default();
        if let Some(id) = required.iter().find(|id| !sources.iter().any(|source| source.id == **id))
        {
            return Err(Fault::bad_reference(format!("no source has the id \"{id}\"")));
        }
        let text = shown(sample, meter)?;
        let form = self.tag.clone().map_or(Form::Brackets, Form::Tags);
        let report =
            report(&text, &sources, &form, self.quote_words, &mut |units| meter.spend(units))?;
        let found = report.quotes.iter().filter(|(_, is_there)| *is_there).count();
        let verdict = |verdict: Verdict| {
            let cited: Vec<&String> = report.cited.iter().collect();
            verdict.with("cited", json!(cited)).with("quotes", vec![found, report.quotes.len()])
        };
        if report.own_words < self.own_words {
            return Ok(verdict(Verdict::graded(false)).because("no-content"));
        }
        if report.mentions == 0 {
            return Ok(verdict(Verdict::graded(false)).because("no-citation"));
        }
        let (ids, quotes) = (self.of_ids(&report, &required), ratio(found, report.quotes.len()));
        let flaw = if !report.unknown.is_empty() {
            Some("unknown-source")
        } else if required.iter().any(|id| !report.cited.contains(id)) {
            Some("missing-source")
        } else if ids < 1.0 {
            Some("other-source")
        } else {
            (quotes < 1.0).then_some("false-quotation")
        };
        Ok(match flaw {
            None => verdict(Verdict::graded(true)).because("valid"),
            Some(reason) => {
                verdict(share(if self.partial { ids * quotes } else { 0.0 })).because(reason)
            }
        })
    }
}

impl Citations {
    /// How well ids are cited. Ids that exist nowhere count against it.
    fn of_ids(&self, report: &Report, required: &[String]) -> f64 {
        let hits = required.iter().filter(|id| report.cited.contains(*id)).count();
        let given = report.cited.len() + report.unknown.len();
        let exist = ratio(report.cited.len(), given);
        match (required.is_empty(), self.only_required) {
            (true, _) => exist,
            (false, true) => ratio(2 * hits, given + required.len()),
            (false, false) => exist * ratio(hits, required.len()),
        }
    }
}

/// A share, 1 of nothing.
fn ratio(part: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a text has far fewer citations than 2^53")]
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

fn read(column: &Value) -> Option<Vec<Source>> {
    let source = |id: String, text: &Value| Some(Source { id, text: text.as_str()?.to_owned() });
    let found: Option<Vec<Source>> = match column {
        Value::Array(values) => {
            let one = |(at, value): (usize, &Value)| match value {
                Value::Object(_) => {
                    let id = crate::sample::value_text(value.get("id")?).into_owned();
                    source(id, value.get("text").or_else(|| value.get("content"))?)
                }
                text => source((at + 1).to_string(), text),
            };
            values.iter().enumerate().map(one).collect()
        }
        Value::Object(members) => {
            members.iter().map(|(id, text)| source(id.clone(), text)).collect()
        }
        _ => None,
    };
    found.filter(|sources| !sources.is_empty())
}
