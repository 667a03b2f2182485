//! A grader that is no `multi`.

use serde_json::{Map, Value, json};

use crate::formats::place::At;
use crate::rubric::{AnswerChoice, AnswerKind, Criterion, RubricError, Scale};
use crate::template::GraderTemplate;

/// A criterion, and whether its number counts in place of its share.
pub(super) struct Grader {
    pub(super) criterion: Criterion,
    pub(super) is_number: bool,
}

pub(super) fn grader(at: &At<'_>, name: String) -> Result<Grader, RubricError> {
    let kind = at.need("type")?;
    let mut criterion = Criterion::new(name, "");
    let mut is_number = false;
    match kind.text()? {
        "string_check" => string_check(&mut criterion, at)?,
        "text_similarity" => text_similarity(&mut criterion, at)?,
        "label_model" => label_model(&mut criterion, at)?,
        "score_model" => {
            score_model(&mut criterion, at)?;
            is_number = true;
        }
        "python" => {
            let source = at.need("source")?.text()?;
            criterion.verifier = Some("python_check".to_owned());
            criterion.config = settings(json!({ "script": source, "function": "grade" }));
        }
        "multi" => return Err(kind.refuse("a `multi` within a `multi` is not read")),
        other => {
            let why = format!(
                "expected string_check, text_similarity, score_model, label_model, python or \
                 multi, found \"{other}\""
            );
            return Err(kind.refuse(why));
        }
    }
    Ok(Grader { criterion, is_number })
}

fn string_check(criterion: &mut Criterion, at: &At<'_>) -> Result<(), RubricError> {
    let operation = at.need("operation")?;
    let known = match operation.text()? {
        "neq" => "ne",
        known @ ("eq" | "ne" | "like" | "ilike") => known,
        other => {
            let why = format!("expected eq, ne, neq, like or ilike, found \"{other}\"");
            return Err(operation.refuse(why));
        }
    };
    criterion.verifier = Some("string_check".to_owned());
    criterion.config = settings(json!({
        "input": template(&at.need("input")?)?,
        "reference": template(&at.need("reference")?)?,
        "operation": known,
    }));
    Ok(())
}

fn text_similarity(criterion: &mut Criterion, at: &At<'_>) -> Result<(), RubricError> {
    const METRICS: [&str; 9] = assay_verifiers::words::list(
        "fuzzy_match bleu gleu rouge_1 rouge_2 rouge_3 rouge_4 rouge_5 rouge_l",
    );
    let metric = at.need("evaluation_metric")?;
    let name = metric.text()?;
    let why = match name {
        known if METRICS.contains(&known) => None,
        "meteor" => Some("`meteor` needs the synonyms of WordNet, which are not here".to_owned()),
        "cosine" => Some(
            "`cosine` needs embeddings: use the verifier `embedding_model` in a rubric of your own"
                .to_owned(),
        ),
        other => Some(format!("expected {}, found \"{other}\"", METRICS.join(", "))),
    };
    if let Some(why) = why {
        return Err(metric.refuse(why));
    }
    criterion.verifier = Some("text_similarity".to_owned());
    criterion.config = settings(json!({
        "input": template(&at.need("input")?)?,
        "reference": template(&at.need("reference")?)?,
        "metric": name,
    }));
    criterion.pass = at.key("pass_threshold").map(|pass| pass.number()).transpose()?;
    Ok(())
}

fn score_model(criterion: &mut Criterion, at: &At<'_>) -> Result<(), RubricError> {
    criterion.text = messages(&at.need("input")?)?;
    criterion.pass = None;
    let (min, max) = match at.key("range") {
        Some(range) => match range.list()?.as_slice() {
            [low, high] => (whole(low)?, whole(high)?),
            _ => return Err(range.refuse("expected two numbers")),
        },
        None => (0, 1),
    };
    criterion.kind = AnswerKind::Scale(Scale { min, max, levels: Vec::new(), continuous: true });
    Ok(())
}

fn whole(at: &At<'_>) -> Result<i64, RubricError> {
    const FARTHEST: f64 = 1e9;
    let number = at.number()?;
    if number.fract() != 0.0 || number.abs() > FARTHEST {
        return Err(at.refuse(format!("expected a whole number, found {number}")));
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within 10^9")]
    Ok(number as i64)
}

fn label_model(criterion: &mut Criterion, at: &At<'_>) -> Result<(), RubricError> {
    criterion.text = messages(&at.need("input")?)?;
    let labels = at.need("labels")?.texts()?;
    let passing = at.need("passing_labels")?;
    let passes = passing.texts()?;
    if let Some(other) = passes.iter().find(|label| !labels.contains(label)) {
        return Err(passing.refuse(format!("\"{other}\" is not one of the labels")));
    }
    let choice = |value: f64, label: &String| AnswerChoice {
        label: label.clone(),
        text: String::new(),
        value: Some(value),
    };
    let failing = labels.iter().filter(|label| !passes.contains(label)).map(|one| choice(0.0, one));
    let passing = labels.iter().filter(|label| passes.contains(label)).map(|one| choice(1.0, one));
    criterion.kind = AnswerKind::Choices(failing.chain(passing).collect());
    Ok(())
}

/// The texts of the messages: each a text, a part with a `text`, or a list of parts.
fn messages(at: &At<'_>) -> Result<String, RubricError> {
    if at.value.is_string() {
        return shown(at);
    }
    let mut texts = Vec::new();
    for message in at.filled()? {
        let content = message.need("content")?;
        match content.value {
            Value::String(_) => texts.push(shown(&content)?),
            Value::Array(_) => {
                for part in content.list()? {
                    texts.push(shown(&part.need("text")?)?);
                }
            }
            _ => texts.push(shown(&content.need("text")?)?),
        }
    }
    Ok(texts.join("\n\n"))
}

fn shown(at: &At<'_>) -> Result<String, RubricError> {
    Ok(GraderTemplate::parse(at.text()?).map_err(|why| at.refuse(why))?.for_judge())
}

/// A text that is a template.
fn template<'a>(at: &At<'a>) -> Result<&'a str, RubricError> {
    let text = at.text()?;
    GraderTemplate::parse(text).map_err(|why| at.refuse(why))?;
    Ok(text)
}

fn settings(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
