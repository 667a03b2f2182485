//! `instructions`: the completion follows the instructions of `IFEval`, `IFBench` or Tulu 3.

use std::borrow::Cow;

use assay_calls::Value as Literal;
use assay_instructions::{Demand, Edition, Met, follow};
use serde_json::Map;

use crate::extract::{Thinking, thinking};
use crate::prelude::*;
use crate::text_parts::share;

/// Right when the completion follows its instructions, each of which a rule can verify.
///
/// The 25 instructions of `IFEval` and the 58 of `IFBench`, by their ids. A row lists them in the
/// columns `instruction_id_list` and `kwargs`, as the data sets do, or in its reference: an object with
/// these two, a list of ids, the list of objects of IF-RLVR (`instruction_id`, `kwargs`), or one object
/// with the `func_name` of Tulu 3; also as text that holds JSON, or a literal of Python. `instruction`
/// names one for every row. An id or an argument that is unknown, missing or none that can be judged by
/// is a bad reference, never a pass. What the model thinks is not looked at.
///
/// A loose judgement passes what any of eight forms of the text follows: whole, without the first
/// line, the last, or both; each with and without asterisks.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Instructions {
    /// One instruction for every row, by its id. The rows then need none.
    instruction: Option<String>,
    /// The arguments of `instruction`.
    kwargs: Map<String, Value>,
    /// The column with the ids, where the reference has none.
    #[default = "instruction_id_list"]
    ids: String,
    /// The column with the arguments: an object or null for each id.
    #[default = "kwargs"]
    arguments: String,
    /// Pay only when all are followed, or the share of them.
    pay: Pay,
    /// Judge the text as it is, or loosely.
    mode: Strictness,
    /// As the official code judges, with its quirks, or without what is plainly a mistake there.
    variant: Variety,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Pay {
    #[default]
    All,
    Share,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Strictness {
    #[default]
    Strict,
    Loose,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Variety {
    #[default]
    Official,
    Fixed,
}

/// Instructions by their ids.
type Listed = Vec<(String, Demand)>;

impl Check for Instructions {
    const ID: &'static str = "instructions";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        match &self.instruction {
            Some(id) => match Demand::read(id, Some(&self.kwargs), self.edition()) {
                Ok(_) => Ok(()),
                Err(why) => Err(BuildError::new("instruction", why)),
            },
            None if self.kwargs.is_empty() => Ok(()),
            None => Err(BuildError::new("kwargs", "they are arguments of `instruction`")),
        }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(listed) = self.listed(sample, meter)? else { return Ok(Verdict::no_reference()) };
        let text = sample.completion();
        let end = text.len();
        let text = &text[thinking::answer(text, Thinking::Skip).unwrap_or(end..end)];
        let (ids, demands): (Vec<String>, Vec<Demand>) = listed.into_iter().unzip();
        for demand in &demands {
            meter.spend(demand.cost(text.len()))?;
        }
        let met = follow(&demands, text);
        let strict: Vec<bool> = met.iter().map(|met| met.strict).collect();
        let loose: Vec<bool> = met.iter().map(|met| met.loose).collect();
        let judged = match self.mode {
            Strictness::Strict => part(&met, |met| met.strict),
            Strictness::Loose => part(&met, |met| met.loose),
        };
        let is_right = judged >= 1.0;
        let verdict = share(match self.pay {
            Pay::All => f64::from(u8::from(is_right)),
            Pay::Share => judged,
        });
        let verdict = verdict
            .with("ids", ids)
            .with("strict", strict)
            .with("loose", loose)
            .with("strict_share", part(&met, |met| met.strict))
            .with("loose_share", part(&met, |met| met.loose));
        Ok(verdict.because(if is_right { "followed" } else { "not-followed" }))
    }
}

/// The share of instructions that are followed.
#[expect(clippy::cast_precision_loss, reason = "instructions of a row are far fewer than 2^53")]
fn part(met: &[Met], is_met: impl Fn(&Met) -> bool) -> f64 {
    met.iter().filter(|met| is_met(met)).count() as f64 / met.len() as f64
}

fn bad(why: String) -> Fault {
    Fault::bad_reference(why)
}

impl Instructions {
    fn edition(&self) -> Edition {
        match self.variant {
            Variety::Official => Edition::Official,
            Variety::Fixed => Edition::Fixed,
        }
    }

    /// The instructions of a row; `None` where it has none.
    fn listed(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Option<Listed>, Fault> {
        if let Some(id) = &self.instruction {
            let demand = Demand::read(id, Some(&self.kwargs), self.edition()).map_err(bad)?;
            return Ok(Some(vec![(id.clone(), demand)]));
        }
        let column = |name: &str| sample.column(name).filter(|value| !value.is_null());
        let Some(source) = sample.reference().or_else(|| column(&self.ids)) else {
            return Ok(None);
        };
        meter.spend(100 * source.as_str().map_or(0, str::len) as u64)?;
        let mut listed = Vec::new();
        self.read(held(source)?.as_ref(), column(&self.arguments), &mut listed)?;
        if listed.is_empty() {
            return Err(bad("the row lists no instruction".to_owned()));
        }
        Ok(Some(listed))
    }

    fn read(
        &self,
        source: &Value,
        arguments: Option<&Value>,
        listed: &mut Listed,
    ) -> Result<(), Fault> {
        match source {
            Value::Object(object) => {
                if let Some(name) = object.get("func_name") {
                    let name = name.as_str().ok_or_else(|| bad("a func_name is a text".into()))?;
                    let demand = Demand::tulu(name, object).map_err(bad)?;
                    listed.push((name.to_owned(), demand));
                    return Ok(());
                }
                let ids =
                    object.get("instruction_id_list").or_else(|| object.get("instruction_id"));
                let ids = ids.ok_or_else(|| bad("the reference has no instruction ids".into()))?;
                self.read_ids(held(ids)?.as_ref(), object.get("kwargs"), listed)
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                items.iter().try_for_each(|item| match item {
                    Value::Object(_) => self.read(item, None, listed),
                    _ => Err(bad("a list of instructions holds objects alone, or ids".into())),
                })
            }
            ids => self.read_ids(ids, arguments, listed),
        }
    }

    fn read_ids(
        &self,
        ids: &Value,
        arguments: Option<&Value>,
        listed: &mut Listed,
    ) -> Result<(), Fault> {
        let ids: Vec<String> = match ids {
            Value::String(id) => vec![id.clone()],
            ids => serde_json::from_value(ids.clone())
                .map_err(|_| bad("instruction ids are a list of texts".into()))?,
        };
        let arguments = arguments.map(held).transpose()?;
        let arguments = match arguments.as_deref() {
            None | Some(Value::Null) => None,
            Some(Value::Array(list)) if list.len() == ids.len() => Some(list),
            Some(_) => return Err(bad("kwargs are one object or null for each id".into())),
        };
        for (at, id) in ids.into_iter().enumerate() {
            let kwargs = match arguments.and_then(|list| list.get(at)) {
                None | Some(Value::Null) => None,
                Some(Value::Object(kwargs)) => Some(kwargs),
                Some(_) => return Err(bad(format!("the kwargs of \"{id}\" are no object"))),
            };
            let demand = Demand::read(&id, kwargs, self.edition()).map_err(bad)?;
            listed.push((id, demand));
        }
        Ok(())
    }
}

/// The value itself, or what its text holds as JSON or as a literal of Python. A text that holds none
/// is an id.
fn held(value: &Value) -> Result<Cow<'_, Value>, Fault> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => {
            let json = serde_json::from_str(text).ok();
            let read = json.or_else(|| assay_calls::parse_python(text).ok().as_ref().map(json_of));
            let read = read.ok_or_else(|| bad("the reference is a text that is no JSON".into()))?;
            Ok(Cow::Owned(read))
        }
        value => Ok(Cow::Borrowed(value)),
    }
}

/// A literal of Python as JSON.
fn json_of(value: &Literal) -> Value {
    match value {
        Literal::Null => Value::Null,
        Literal::Bool(truth) => json!(truth),
        Literal::Int(number) => json!(number),
        Literal::Float(number) => json!(number),
        Literal::Big(text) => json!(text),
        Literal::Text(text) | Literal::Raw(text) => json!(text),
        Literal::List(items) | Literal::Tuple(items) => items.iter().map(json_of).collect(),
        Literal::Object(members) => Value::Object(
            members.iter().map(|(name, value)| (name.to_owned(), json_of(value))).collect(),
        ),
    }
}
