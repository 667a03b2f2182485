//! `answer_list`: a list of short answers, with or without order.

use std::collections::BTreeSet;

use assay_structure::answer::{self, Guards, Rules, matches};
use assay_structure::assignment;
use assay_structure::fold::fold;

use super::short_answer::Match;
use crate::extract::Provenance;
use crate::plain::refuse_objects;
use crate::prelude::*;
use crate::text_parts::{said, share, shown};

/// Right when the items of the answer are those of the reference.
///
/// The reference is a list, or a text of items between bars (`a | b`); an item that is a list has
/// several names. The items of the answer are those of its box or answer tag, or else the lines with
/// bullets or numbers, or else what commas or semicolons separate in the announced answer. Items are
/// assigned so that most agree; one that comes twice counts once.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AnswerList {
    /// The items must come in the order of the reference.
    ordered: bool,
    /// Pay the F1 of items, so that a list of all candidates earns little.
    partial: bool,
    /// How an item may say what one of the reference says.
    #[serde(rename = "match")]
    how: Match,
    /// Marks on letters do not count.
    ignore_accents: bool,
}

/// The most items of an answer.
const ITEMS_MAX: usize = 1000;

impl Check for AnswerList {
    const ID: &'static str = "answer_list";

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        refuse_objects(sample)?;
        let wanted = wanted(reference)?;
        let Some(given) = given(sample, meter)? else {
            return Ok(Verdict::graded(false).because("nothing-found"));
        };
        if given.len() > ITEMS_MAX {
            return Ok(Verdict::graded(false).with("items", given.len()).because("too-many"));
        }
        let rules = Rules { accents: !self.ignore_accents, articles: false };
        let guards = Guards { extra_words: 3, least_share: 0.5 };
        let mut pay = |units| meter.spend(units);
        let mut weights = Vec::with_capacity(given.len() * wanted.len());
        for item in &given {
            for names in &wanted {
                let mut is_equal = false;
                for name in names {
                    is_equal =
                        is_equal || matches(item, name, self.how.how(), rules, guards, &mut pay)?;
                }
                weights.push(f64::from(u8::from(is_equal)));
            }
        }
        #[expect(
            clippy::indexing_slicing,
            reason = "every pair of an item and a name was compared"
        )]
        let weight = |row: usize, column: usize| weights[row * wanted.len() + column];
        let assign = if self.ordered { assignment::in_order } else { assignment::best };
        let pairs = assign(given.len(), wanted.len(), &weight, &mut pay)?;
        let right = pairs.iter().flatten().count();
        let is_right = right == wanted.len() && right == given.len();
        #[expect(clippy::cast_precision_loss, reason = "lists are far shorter than 2^53")]
        let f1 = 2.0 * right as f64 / (given.len() + wanted.len()) as f64;
        let verdict = share(if is_right || self.partial { f1 } else { 0.0 });
        let verdict =
            verdict.with("right", right).with("given", given.len()).with("wanted", wanted.len());
        Ok(verdict.because(if is_right { "equal" } else { "unequal" }))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let wanted = wanted(sample.reference()?).ok()?;
        let lines: Vec<String> =
            wanted.iter().filter_map(|names| Some(format!("- {}", names.first()?))).collect();
        Some(vec![lines.join("\n")])
    }
}

/// The names of each item.
fn wanted(reference: &Value) -> Result<Vec<Vec<String>>, Fault> {
    let names = |value: &Value| crate::text_parts::texts(value);
    let wanted: Vec<Vec<String>> = match reference {
        Value::Array(items) => items.iter().map(names).collect(),
        Value::String(text) => match crate::sample::listed(text) {
            Some(items) => items.into_iter().map(|item| vec![item]).collect(),
            None => text.split('|').map(|item| vec![item.trim().to_owned()]).collect(),
        },
        other => vec![names(other)],
    };
    let is_blank = |names: &Vec<String>| names.iter().all(|name| name.trim().is_empty());
    if wanted.is_empty() || wanted.iter().any(is_blank) {
        return Err(Fault::bad_reference("the reference lists nothing, or an empty item"));
    }
    let same = |names: &Vec<String>| names.iter().map(|name| fold(name.trim(), true)).collect();
    let different: BTreeSet<Vec<String>> = wanted.iter().map(same).collect();
    if different.len() < wanted.len() {
        return Err(Fault::bad_reference("the reference lists an item twice, which counts once"));
    }
    Ok(wanted)
}

/// The different items of the answer.
fn given(sample: &Sample, meter: &mut Meter<'_>) -> Result<Option<Vec<String>>, Fault> {
    let said = said(sample, "", meter)?;
    let is_marked = |provenance| {
        matches!(provenance, Provenance::Boxed | Provenance::Marker | Provenance::Json)
    };
    let marked =
        said.as_ref().filter(|said| is_marked(said.provenance)).map(|said| said.text.clone());
    let text = if let Some(text) = marked {
        text
    } else {
        let all = shown(sample, meter)?;
        let has_list = all.lines().filter_map(answer::bullet).count() > 1;
        match said {
            _ if has_list => all,
            Some(said) => said.text,
            None => return Ok(None),
        }
    };
    meter.spend(20 * text.len() as u64)?;
    let mut items: Vec<String> = Vec::new();
    for item in answer::items(&text) {
        meter.spend(items.len() as u64)?;
        if !items.iter().any(|have| have == item) {
            items.push(item.to_owned());
        }
    }
    Ok((!items.is_empty()).then_some(items))
}
