//! `external_checker`: whoever has the tool says what a completion is worth: a prover, a simulator, a
//! grader behind HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::{AsyncVerifier, Built, Earlier, Lane, OrderedMap, Pending, Spec};
use serde_json::value::RawValue;

use super::judge_choice::JudgeChoice;
use super::scope::RubricScope;
use super::shown::conversation;
use crate::judge::{ChatMessage, JudgeRequest, JudgedTexts, NamedJudge, Subject};
use crate::template::{GraderTemplate, Unfilled};

/// The id of the verifier.
pub const ID: &str = "external_checker";
/// Raised whenever the same sample may get another verdict.
pub const VERSION: u32 = 1;

/// Characters of a reply, or of its detail, that the evidence holds.
const SHOWN_CHARS: usize = 300;

/// The reward that a checker outside of assay gives: a prover, a simulator, a sandbox, a grader of your own.
///
/// The checker is a judge with `api = "checker"`. Each sample is posted to its `url` as a JSON object with
/// `id`, `prompt`, `completion`, `reference` and `meta`, or as `body` says; the answer is JSON. What it answers is kept and replayed
/// as the replies of judges are (`--judge-store`), with its deadline, tries and permits. With `column`
/// in place of `url`, the answers are in the rows.
///
/// The member `reward` of the answer is the reward: true or false, a number from `min` to `max`, or one of
/// `labels`. Where it is null or missing, the verifier abstains. A number outside of the bounds, a
/// label that is not listed and an answer that is not JSON are faults, never a reward of 0.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExternalChecker {
    /// The checker, by its name in `[judges]` or by its settings.
    judge: JudgeChoice,
    /// What is posted in place of the sample: JSON in whose texts `{{ sample.output_code }}` (the last
    /// block of code), `{{ sample.output_text }}` and `{{ item.NAME }}` (a column) are filled in. A
    /// sandbox is asked in its own protocol so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    /// Where the reward is in the answer: dots lead into objects and lists. Empty: the answer is the reward.
    #[serde(default = "reward_member")]
    reward: String,
    /// The number that is worth 0.
    #[serde(default)]
    min: f64,
    /// The number that is worth 1.
    #[serde(default = "one")]
    max: f64,
    /// What texts are worth, from 0 to 1; a text is compared without case.
    #[serde(default = "labels")]
    labels: BTreeMap<String, f64>,
    /// Where the answer says why; the evidence holds its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

fn reward_member() -> String {
    "reward".to_owned()
}

fn one() -> f64 {
    1.0
}

fn labels() -> BTreeMap<String, f64> {
    let labels = [("correct", 1.0), ("fail", 0.0), ("incorrect", 0.0), ("pass", 1.0)];
    labels.map(|(label, worth)| (label.to_owned(), worth)).into()
}

struct Checker {
    settings: ExternalChecker,
    body: Option<Body>,
    judge: Arc<NamedJudge>,
}

/// Builds the verifier.
///
/// # Errors
/// Bounds or labels that are no shares, and whatever is wrong with the judge.
pub fn build(scope: &RubricScope<'_>, given: Value) -> Result<Built, BuildError> {
    let settings: ExternalChecker = assay_verifiers::check::settings(given)?;
    if !(settings.min.is_finite() && settings.max.is_finite() && settings.min < settings.max) {
        return Err(BuildError::new("max", "expected a number above `min`"));
    }
    if let Some((label, _)) =
        settings.labels.iter().find(|(_, worth)| !(0.0..=1.0).contains(*worth))
    {
        return Err(BuildError::new(format!("labels.{label}"), "expected 0 to 1"));
    }
    let written = serde_json::to_value(&settings)
        .map_err(|error| BuildError::new("", format!("settings cannot be written: {error}")))?;
    let mut spec = Spec::new(ID, VERSION, written);
    let judge = settings.judge.of(scope.judges)?;
    spec.files.push(("judge".to_owned(), judge.identity));
    let body = settings.body.as_ref().map(Body::parse).transpose();
    let body = body.map_err(|why| BuildError::new("body", why))?;
    Ok(Built::new(spec, Lane::Awaited(Arc::new(Checker { settings, body, judge }))))
}

impl AsyncVerifier for Checker {
    fn in_flight_max(&self) -> Option<usize> {
        self.judge.samples_in_flight(1)
    }

    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        _: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        let request = match self.request(sample, meter) {
            Ok(request) => request,
            Err(unfilled) => return Box::pin(std::future::ready(unfilled.verdict())),
        };
        Box::pin(async move {
            let verdict = match self.judge.judge.ask(request).await {
                Err(fault) => return Verdict::failed(fault),
                Ok(reply) => self.settings.verdict(&reply.text),
            };
            verdict.unwrap_or_else(Verdict::failed).with("judge", self.judge.name.as_str())
        })
    }
}

impl Checker {
    fn request(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<JudgeRequest, Unfilled> {
        let whole = || {
            json!({
                "id": sample.id(),
                "prompt": sample.prompt_content(),
                "completion": sample.completion_content(),
                "reference": sample.reference(),
                "meta": sample.meta(),
            })
        };
        let content = match &self.body {
            Some(body) => body.fill(sample, meter)?,
            None => whole(),
        };
        Ok(JudgeRequest {
            messages: vec![ChatMessage { role: "user", content: content.to_string() }],
            schema: Value::Null,
            sampling: self.judge.sampling.clone(),
            vote: 0,
            texts: JudgedTexts {
                prompt: conversation(sample.prompt_content()),
                completion: sample.completion().to_owned(),
                ..JudgedTexts::default()
            },
            sample: sample.clone(),
            subject: Subject { criterion: ID.to_owned(), swapped: false },
        })
    }
}

/// JSON whose texts are templates.
enum Body {
    Value(Value),
    Text(GraderTemplate),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Body {
    fn parse(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::String(text) => Self::Text(GraderTemplate::parse(text)?),
            Value::Array(list) => {
                Self::List(list.iter().map(Self::parse).collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let member =
                    |(name, value): (&String, &Value)| Ok((name.clone(), Self::parse(value)?));
                Self::Object(members.iter().map(member).collect::<Result<_, String>>()?)
            }
            other => Self::Value(other.clone()),
        })
    }

    fn fill(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Value, Unfilled> {
        Ok(match self {
            Self::Value(value) => value.clone(),
            Self::Text(template) => Value::from(template.fill(sample, meter)?),
            Self::List(list) => Value::Array(
                list.iter().map(|one| one.fill(sample, meter)).collect::<Result<_, _>>()?,
            ),
            Self::Object(members) => {
                let mut filled = serde_json::Map::new();
                for (name, one) in members {
                    filled.insert(name.clone(), one.fill(sample, meter)?);
                }
                Value::Object(filled)
            }
        })
    }
}

impl ExternalChecker {
    fn verdict(&self, reply: &str) -> Result<Verdict, Fault> {
        let verdict = match at(reply, &self.reward)? {
            None | Some(Value::Null) => {
                Verdict::abstained(format!("the checker gives no `{}`", self.reward))
            }
            Some(found) => Verdict::scored(self.worth(&found)?),
        };
        let detail = self.detail.as_ref().and_then(|path| at(reply, path).ok()?);
        let detail = detail.map(|detail| shown(&assay_verifiers::sample::value_text(&detail)));
        Ok(match detail {
            Some(detail) => verdict.with("detail", detail),
            None => verdict,
        })
    }

    fn worth(&self, found: &Value) -> Result<Reward, Fault> {
        let share = match found {
            Value::Bool(passes) => Some(f64::from(u8::from(*passes))),
            Value::Number(number) => number
                .as_f64()
                .filter(|number| (self.min..=self.max).contains(number))
                .map(|number| (number - self.min) / (self.max - self.min)),
            Value::String(label) => {
                let label = label.trim();
                let known = self.labels.iter().find(|(own, _)| own.eq_ignore_ascii_case(label));
                known.map(|(_, worth)| *worth)
            }
            _ => None,
        };
        share.and_then(Reward::new).ok_or_else(|| {
            let known: Vec<&str> = self.labels.keys().map(String::as_str).collect();
            wrong(format!(
                "`{}` is {}; expected true or false, a number from {} to {}, or one of {}",
                self.reward,
                shown(&found.to_string()),
                self.min,
                self.max,
                known.join(", ")
            ))
        })
    }
}

/// What a path leads to in an answer; the whole answer of an empty path.
///
/// # Errors
/// An answer that is not JSON, or a member on the way that is there twice and says two things.
fn at(answer: &str, path: &str) -> Result<Option<Value>, Fault> {
    let no_json = |_: serde_json::Error| wrong(format!("the answer is no JSON: {}", shown(answer)));
    let mut found: &RawValue = serde_json::from_str(answer).map_err(no_json)?;
    for name in path.split('.').filter(|_| !path.is_empty()) {
        let members =
            serde_json::from_str::<OrderedMap<&RawValue>>(found.get()).unwrap_or_default();
        let mut own = members.iter().filter(|(key, _)| *key == name).map(|(_, own)| *own);
        let list = || serde_json::from_str::<Vec<&RawValue>>(found.get()).ok();
        let element = || list()?.get(name.parse::<usize>().ok()?).copied();
        let Some(next) = own.next().or_else(element) else { return Ok(None) };
        if own.any(|other| other.get() != next.get()) {
            return Err(wrong(format!("the answer has two `{name}`: {}", shown(answer))));
        }
        found = next;
    }
    serde_json::from_str(found.get()).map(Some).map_err(no_json)
}

fn wrong(why: String) -> Fault {
    Fault::new(FaultKind::Upstream, why)
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}
