//! The types of assertions, and the criteria that they become.

use serde_json::{Map, Value, json};

use super::value::{constant, filled, filled_list, plain, schema, template};
use crate::formats::place::At;
use crate::rubric::{AnswerChoice, AnswerKind, Criterion, RubricError, Scale};

/// Makes the criterion that of the assertion. `name` makes names for the criteria of a list.
pub(super) fn fill(
    criterion: &mut Criterion,
    at: &At<'_>,
    name: impl FnMut(&str) -> String,
) -> Result<(), RubricError> {
    if let Some(transform) = at.key("transform") {
        return Err(transform.refuse("a transformed output is not read"));
    }
    let kind = at.need("type")?;
    let (inverse, base) = match kind.text()?.strip_prefix("not-") {
        Some(base) => (true, base),
        None => (false, kind.text()?),
    };
    match base {
        "llm-rubric" | "model-graded-closedqa" => question(criterion, at, inverse),
        "factuality" => factuality(criterion, at, inverse),
        "g-eval" if inverse => Err(kind.refuse("`not-g-eval` cannot be answered here")),
        "g-eval" => g_eval(criterion, at, name),
        _ => match check(base, at)? {
            Some((verifier, config)) => {
                criterion.verifier = Some(verifier.to_owned());
                criterion.config = config;
                criterion.negate = inverse;
                Ok(())
            }
            None => Err(kind.refuse(refusal(base))),
        },
    }
}

type Setting = Option<(&'static str, Map<String, Value>)>;

/// The verifier that answers, and its settings.
fn check(base: &str, at: &At<'_>) -> Result<Setting, RubricError> {
    let value = || at.need("value");
    Ok(Some(match base {
        "equals" => equals(&value()?)?,
        "iequals" => pattern(&format!(r"(?is)\A{}\z", escaped(&constant(&value()?)?))),
        "contains" => contains(&value()?, "like")?,
        "icontains" => contains(&value()?, "ilike")?,
        "contains-any" => texts("any", &filled_list(&value()?)?, false),
        "icontains-any" => texts("any", &filled_list(&value()?)?, true),
        "contains-all" => texts("all", &filled_list(&value()?)?, false),
        "icontains-all" => texts("all", &filled_list(&value()?)?, true),
        "starts-with" => pattern(&format!(r"\A{}", escaped(&filled(&value()?)?))),
        "regex" => {
            let source = constant(&value()?)?;
            let compiled = assay_verifiers::Pattern::new(&source);
            compiled.map_err(|why| at.refuse(why.lines().last().unwrap_or("bad").to_owned()))?;
            pattern(&source)
        }
        "is-json" => json_at("whole", at)?,
        "contains-json" => json_at("any", at)?,
        "word-count" => words(&value()?)?,
        "python" => ("python_check", members(json!({ "script": script(&value()?)? }))),
        _ => return Ok(None),
    }))
}

fn refusal(base: &str) -> String {
    let why = match base {
        "javascript" => "scripts are written in Python or rhai here".to_owned(),
        "similar" => {
            "it needs embeddings: use the verifier `embedding_model` in a rubric of your own"
                .to_owned()
        }
        "select-best" | "max-score" => "it compares several outputs".to_owned(),
        "latency" | "cost" | "perplexity" | "perplexity-score" => {
            "it is about the call, not about the text".to_owned()
        }
        _ => "the type is not known".to_owned(),
    };
    format!("`{base}` cannot be answered here: {why}")
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn pattern(pattern: &str) -> (&'static str, Map<String, Value>) {
    ("regex", members(json!({ "pattern": pattern })))
}

fn texts(
    which: &'static str,
    texts: &[String],
    ignore_case: bool,
) -> (&'static str, Map<String, Value>) {
    let mut config = Map::new();
    config.insert(which.to_owned(), json!(texts));
    if ignore_case {
        config.insert("ignore_case".to_owned(), json!(true));
    }
    ("contains", config)
}

/// Equal to a text, or to a JSON value.
fn equals(at: &At<'_>) -> Result<(&'static str, Map<String, Value>), RubricError> {
    if at.value.is_object() || at.value.is_array() {
        let schema = json!({ "schema": { "const": at.value }, "from": "whole" });
        return Ok(("json", members(schema)));
    }
    if plain(at)?.is_empty() {
        return Err(at.refuse("the text is empty"));
    }
    compared(at, "eq")
}

/// Held by the completion: a constant as a check that names its place, a column by its template.
fn contains(
    at: &At<'_>,
    operation: &str,
) -> Result<(&'static str, Map<String, Value>), RubricError> {
    if plain(at)?.contains("{{") {
        return compared(at, operation);
    }
    Ok(texts("all", &[filled(at)?], operation == "ilike"))
}

fn compared(
    at: &At<'_>,
    operation: &str,
) -> Result<(&'static str, Map<String, Value>), RubricError> {
    let reference = template(at)?.to_string();
    let config = json!({
        "input": "{{ sample.output_text }}",
        "reference": reference,
        "operation": operation,
    });
    Ok(("string_check", members(config)))
}

fn json_at(from: &str, at: &At<'_>) -> Result<(&'static str, Map<String, Value>), RubricError> {
    let mut config = members(json!({ "from": from }));
    if let Some(value) = at.key("value") {
        config.insert("schema".to_owned(), schema(&value)?);
    }
    Ok(("json", config))
}

fn words(at: &At<'_>) -> Result<(&'static str, Map<String, Value>), RubricError> {
    let mut config = members(json!({ "unit": "words" }));
    let mut bound = |name: &str, bound: &At<'_>| {
        let number = bound.value.as_u64().and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| bound.refuse("expected a number of words"))?;
        config.insert(name.to_owned(), json!(number));
        Ok::<(), RubricError>(())
    };
    if at.value.is_object() {
        at.need_any(&["min", "max"])?;
        for name in ["min", "max"] {
            at.key(name).map(|one| bound(name, &one)).transpose()?;
        }
    } else {
        bound("min", at)?;
        bound("max", at)?;
    }
    Ok(("length", config))
}

/// A Python expression, or the body of a function, over `output` and `context`.
fn script(at: &At<'_>) -> Result<String, RubricError> {
    let source = constant(at)?;
    let source = source.trim();
    let is_body = source.lines().count() > 1;
    let body = if is_body {
        let lines: Vec<&str> = source.lines().collect();
        format!("    {}\n", lines.join("\n    "))
    } else {
        format!("    return ({source})\n")
    };
    Ok(format!(
        "def judged(output, context):\n{body}\n\
         def reward(sample):\n    \
             context = {{\"prompt\": sample[\"prompt\"], \"vars\": sample[\"meta\"]}}\n    \
             said = judged(sample[\"completion\"], context)\n    \
             if isinstance(said, dict):\n        \
                 return float(said.get(\"score\", said.get(\"pass\", False)))\n    \
             return said if said is None else float(said)\n"
    ))
}

/// A question of yes and no; for `not-` the answer no is the better one.
fn question(criterion: &mut Criterion, at: &At<'_>, inverse: bool) -> Result<(), RubricError> {
    criterion.text = template(&at.need("value")?)?.for_judge();
    if inverse {
        criterion.kind = AnswerKind::Choices(vec![choice("yes", "", 0.0), choice("no", "", 1.0)]);
    }
    Ok(())
}

fn choice(label: &str, text: &str, value: f64) -> AnswerChoice {
    AnswerChoice { label: label.to_owned(), text: text.to_owned(), value: Some(value) }
}

/// The five relations to an answer of an expert, as `factuality` has them: all count but a
/// contradiction.
fn factuality(criterion: &mut Criterion, at: &At<'_>, inverse: bool) -> Result<(), RubricError> {
    let expert = template(&at.need("value")?)?.for_judge();
    criterion.text =
        format!("How do the facts of the completion relate to this answer of an expert?\n{expert}");
    let (held, not) = if inverse { (0.0, 1.0) } else { (1.0, 0.0) };
    let mut choices = vec![
        choice("D", "they contradict each other", not),
        choice("A", "the completion has a part of the facts, and they agree", held),
        choice("B", "the completion has more facts, and they agree", held),
        choice("C", "they are the same facts", held),
        choice("E", "they differ, but not in facts that matter", held),
    ];
    if inverse {
        choices.rotate_left(1);
    }
    criterion.kind = AnswerKind::Choices(choices);
    Ok(())
}

/// A rating from 0 to 10, paid as a tenth; several criteria are rated one by one.
fn g_eval(
    criterion: &mut Criterion,
    at: &At<'_>,
    mut name: impl FnMut(&str) -> String,
) -> Result<(), RubricError> {
    let rated = |criterion: &mut Criterion, at: &At<'_>| {
        criterion.text = template(at)?.for_judge();
        criterion.kind = AnswerKind::Scale(Scale { min: 0, max: 10, ..Scale::default() });
        Ok::<(), RubricError>(())
    };
    let value = at.need("value")?;
    if !value.value.is_array() {
        return rated(criterion, &value);
    }
    for (at, one) in value.filled()?.iter().enumerate() {
        let wish = format!("{}-{}", criterion.name, at + 1);
        let mut below = Criterion::new(name(&wish), "");
        rated(&mut below, one)?;
        criterion.criteria.push(below);
    }
    Ok(())
}

/// A text as a pattern that stands for itself.
fn escaped(text: &str) -> String {
    let sign = |c: char| {
        let special = r"\.+*?()|[]{}^$#&-~".contains(c);
        special.then_some('\\').into_iter().chain([c])
    };
    text.chars().flat_map(sign).collect()
}
