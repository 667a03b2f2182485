//! Runs the cases of recipes: those of formulas, of kinds in Rust, and of whole configurations.

use assay_trainer::request::AdvantageRequest;
use assay_verifiers::recipe::case::{self, near};
use assay_verifiers::recipe::{Recipe, RecipeCase, RecipePlace};
use assay_verifiers::shape::ShapeMember;
use assay_verifiers::{
    Earlier, Fault, Meter, NoFiles, Reward, Sample, Shaped, Step, TrainingState, Verdict, shaping,
};
use serde_json::{Map, Value, json};

use crate::data::RowReader;
use crate::engine::{Document, EngineBuilder};

/// Whether a case gives what it expects. `builder` makes the engine of a configuration.
///
/// # Errors
/// What it gives instead, or what is wrong with the recipe.
pub fn check(
    recipe: &Recipe,
    case: &RecipeCase,
    builder: &dyn Fn(Document) -> EngineBuilder,
) -> Result<(), String> {
    let found = match (&recipe.formula, &recipe.config, &recipe.kind) {
        (Some(_), None, None) => return case::check(recipe, case),
        (None, Some(config), None) => of_config(config, case, builder)?,
        (_, None, Some(kind)) => {
            let mut table = kind.clone();
            table.extend(case.settings.clone());
            match recipe.place {
                RecipePlace::Shape => of_shape(table, case)?,
                RecipePlace::Advantage => of_advantage(table, case)?,
                place => return Err(format!("cases of a kind of {place:?} are not run")),
            }
        }
        _ => return Err("a recipe has a `formula`, a `config` or a `kind`".to_owned()),
    };
    if near(&found, &case.expect) {
        return Ok(());
    }
    Err(format!("expected {}, got {found}", case.expect))
}

/// The reward of each row; null where it has none.
fn of_config(
    config: &Map<String, Value>,
    case: &RecipeCase,
    builder: &dyn Fn(Document) -> EngineBuilder,
) -> Result<Value, String> {
    let mut config = Value::Object(config.clone());
    for (path, value) in &case.settings {
        set(&mut config, path, value)?;
    }
    let text = serde_json::to_string(&config).map_err(|error| error.to_string())?;
    let document = Document::parse("recipe.json", &text).map_err(|error| error.to_string())?;
    let engine = builder(document).no_cache().build().map_err(|error| error.to_string())?;
    let reader = RowReader::new(&engine.plan().config.data);
    let samples = case.rows.iter().map(|row| reader.sample(row.clone()));
    let samples = samples.collect::<Result<Vec<Sample>, _>>().map_err(|why| why.to_string())?;
    let scored = engine.score(samples);
    Ok(scored.iter().map(assay_verifiers::Scored::reward).map(Value::from).collect())
}

/// Sets the value at a path such as `reward.0.weight`.
fn set(config: &mut Value, path: &str, value: &Value) -> Result<(), String> {
    let pointer = format!("/{}", path.replace('.', "/"));
    if let Some(own) = config.pointer_mut(&pointer) {
        *own = value.clone();
        return Ok(());
    }
    let (table, key) = pointer.rsplit_once('/').unwrap_or_default();
    let table = config.pointer_mut(table).and_then(Value::as_object_mut);
    let table = table.ok_or_else(|| format!("the configuration has no `{path}`"))?;
    table.insert(key.to_owned(), value.clone());
    Ok(())
}

/// What becomes of each row of `inputs`: `r`, `completion`, `steps.reward`, `rewards.X`, `meta.X`.
fn of_shape(table: Map<String, Value>, case: &RecipeCase) -> Result<Value, String> {
    let rows = case.inputs.values().filter_map(Value::as_array).map(Vec::len).max().unwrap_or(0);
    let at = |name: &str, row: usize| case.inputs.get(name).and_then(|own| own.get(row));
    let mut held = Vec::new();
    for row in 0..rows {
        let text = at("completion", row).and_then(Value::as_str).unwrap_or_default();
        let mut sample = Sample::builder(text);
        if let Some(tokens) = at("length", row).and_then(Value::as_u64) {
            sample = sample.token_ids(vec![0; usize::try_from(tokens).unwrap_or(usize::MAX)]);
        }
        let under = |prefix: &str| -> Map<String, Value> {
            let own = case.inputs.keys().filter_map(|name| name.strip_prefix(prefix));
            let own = own.filter_map(|name| {
                Some((name.to_owned(), at(&format!("{prefix}{name}"), row)?.clone()))
            });
            own.collect()
        };
        let verdict =
            |value: Option<&Value>| match value.and_then(Value::as_f64).and_then(Reward::new) {
                Some(reward) => Verdict::scored(reward),
                None => Verdict::abstained("missing"),
            };
        let mut own = verdict(at("r", row));
        let steps = at("steps.reward", row).and_then(Value::as_array).into_iter().flatten();
        own.steps = steps
            .filter_map(|step| Some(Step::new((0, 0), Reward::new(step.as_f64()?)?)))
            .collect();
        let others: Vec<(String, Option<Verdict>)> = under("rewards.")
            .into_iter()
            .map(|(name, value)| (name, Some(verdict(Some(&value)))))
            .collect();
        let (names, verdicts): (Vec<String>, Vec<Option<Verdict>>) = others.into_iter().unzip();
        held.push((sample.meta(under("meta.")).build(), own, names, verdicts));
    }
    let mut state = TrainingState::default();
    for (name, value) in &case.inputs {
        match (name.strip_prefix("state."), value.as_f64()) {
            (Some("step"), _) => state.step = value.as_u64().unwrap_or_default(),
            (Some(name), Some(value)) => drop(state.values.insert(name.to_owned(), value)),
            _ => {}
        }
    }
    let built = shaping::build(Value::Object(table), &NoFiles, &[]);
    let built = built.map_err(|error| format!("{}: {error}", error.setting))?;
    let members: Vec<ShapeMember<'_>> = held
        .iter()
        .map(|(sample, verdict, names, others)| ShapeMember {
            sample,
            verdict,
            earlier: Earlier::new(names, others),
        })
        .collect();
    let found = built.shape(&members, &state, &mut Meter::default());
    let found: Vec<Shaped> =
        found.into_iter().collect::<Result<_, Fault>>().map_err(|fault| fault.to_string())?;
    if case.expect.is_object() {
        let steps = found.iter().map(|own| json!(own.steps)).collect::<Value>();
        let rewards = found.iter().map(|own| json!(own.reward)).collect::<Value>();
        return Ok(json!({ "reward": rewards, "steps": steps }));
    }
    Ok(found.iter().map(|own| json!(own.reward)).collect())
}

/// The advantages of a batch: `inputs` are the columns of the request of `/v1/groups`.
fn of_advantage(table: Map<String, Value>, case: &RecipeCase) -> Result<Value, String> {
    let mut request = case.inputs.clone();
    request.insert("advantage".to_owned(), Value::Object(table));
    let rows = request.get("rewards").and_then(Value::as_array).map_or(0, Vec::len);
    request.entry("groups").or_insert_with(|| rows.into());
    let request: AdvantageRequest =
        assay_verifiers::from_value::from_value(&Value::Object(request))
            .map_err(|error| format!("inputs: {}: {error}", error.setting))?;
    let reply = request.answer(None).map_err(|error| error.to_string())?;
    serde_json::to_value(reply.advantages).map_err(|error| error.to_string())
}
