//! `boolean_query`: a query with AND, OR and NOT that means what the reference means, or finds what it
//! must.

use assay_structure::boolean::{Document, Query, equivalent, parse};

use crate::language::sentences::range_in;
use crate::prelude::*;
use crate::text_parts::{Place, share, texts};

/// Right when the query of the answer is true together with that of the reference, for all values of
/// their terms.
///
/// With `documents`, the name of a column of documents, the reference lists the ids of those that the
/// query must find; the reward is then F-beta of what it finds. A document is an object with `id` and
/// its fields, or a text, whose ids count from 1.
///
/// The query stands in the last fence or answer tag, or is the last line. Fields are written
/// `title:word` or `word[ti]`; `tumor*` is a prefix; `cat -dog` is `cat AND NOT dog`.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct BooleanQuery {
    /// Terms side by side are joined by AND. Otherwise such a query is broken.
    implicit_and: bool,
    /// The column with the documents.
    documents: Option<String>,
    /// How much recall counts beside precision.
    #[default(1.0)]
    beta: f64,
}

impl Check for BooleanQuery {
    const ID: &'static str = "boolean_query";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let is_good = self.beta.is_finite() && self.beta > 0.0;
        if is_good { Ok(()) } else { Err(BuildError::new("beta", "beta is above 0")) }
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        self.documents.iter().map(|column| ("documents", column.clone())).collect()
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let completion = sample.completion();
        meter.spend(4 * completion.len() as u64)?;
        let span = match Place::Any.find(completion, &[]) {
            Ok(span) => span,
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let line = completion[span]
            .trim()
            .lines()
            .next_back()
            .unwrap_or_default()
            .trim()
            .trim_matches('`');
        let start = range_in(completion, line).start;
        meter.spend(500 * line.len() as u64)?;
        let query = match parse(line, self.implicit_and) {
            Ok(query) => query,
            Err(broken) => {
                let broken = broken.shifted(start);
                let verdict =
                    Verdict::graded(false).with("span", vec![broken.span.start, broken.span.end]);
                return Ok(verdict.because(broken.rule));
            }
        };
        let verdict = match &self.documents {
            Some(column) => {
                self.retrieve(&query, reference, (column, sample.column(column)), meter)?
            }
            None => compare(&query, reference, meter)?,
        };
        Ok(verdict.with_extracted(line, (start, start + line.len())))
    }

    fn gold(&self, _: &Sample) -> Option<Vec<String>> {
        self.documents.is_some().then(Vec::new)
    }
}

fn compare(query: &Query, reference: &Value, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
    let text =
        reference.as_str().ok_or_else(|| Fault::bad_reference("the reference is no query"))?;
    meter.spend(500 * text.len() as u64)?;
    let wanted = parse(text, true)
        .map_err(|broken| Fault::bad_reference(format!("the reference is no query: {broken}")))?;
    match equivalent(query, &wanted, &mut |units| meter.spend(units))? {
        Some(right) => Ok(Verdict::graded(right).because(if right { "equal" } else { "unequal" })),
        // With more terms no table is made; other terms than those of the reference are wrong.
        None if query.terms().len() > wanted.terms().len() => {
            Ok(Verdict::graded(false).because("too-many-terms"))
        }
        None => Ok(Verdict::abstained("more than 16 different terms")),
    }
}

impl BooleanQuery {
    fn retrieve(
        &self,
        query: &Query,
        reference: &Value,
        (name, column): (&str, Option<&Value>),
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let wanted = texts(reference);
        let documents = column
            .and_then(read)
            .ok_or_else(|| Fault::bad_input(format!("column \"{name}\" holds no documents")))?;
        if wanted.is_empty() || wanted.iter().any(|id| !documents.iter().any(|(own, _)| own == id))
        {
            return Err(Fault::bad_reference(
                "the reference lists no ids of documents, or unknown ones",
            ));
        }
        let (mut hits, mut found) = (0_u32, 0_u32);
        for (id, document) in &documents {
            meter.spend(
                (document.len() as u64 + 50).saturating_mul(1 + query.terms().len() as u64),
            )?;
            if query.is_true(|term| document.has(term)) {
                found += 1;
                hits += u32::from(wanted.contains(id));
            }
        }
        let all = f64::from(u32::try_from(wanted.len()).unwrap_or(u32::MAX));
        let weight = self.beta * self.beta;
        let reward = (1.0 + weight) * f64::from(hits) / (weight * all + f64::from(found));
        let verdict = share(reward).with("found", found).with("right", hits);
        Ok(verdict.because(if reward >= 1.0 { "equal" } else { "unequal" }))
    }
}

fn read(column: &Value) -> Option<Vec<(String, Document)>> {
    let one = |(at, value): (usize, &Value)| match value {
        Value::Object(fields) => {
            let id = crate::sample::value_text(fields.get("id")?).into_owned();
            let texts = fields.iter().filter(|(name, _)| *name != "id");
            let texts = texts.filter_map(|(name, text)| Some((name.as_str(), text.as_str()?)));
            Some((id, Document::new(texts)))
        }
        text => Some(((at + 1).to_string(), Document::new([("text", text.as_str()?)]))),
    };
    column.as_array()?.iter().enumerate().map(one).collect()
}
