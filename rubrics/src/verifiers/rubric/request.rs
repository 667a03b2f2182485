//! The requests about criteria: prompt, schema, seeds; and the reading of their replies.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use assay_verifiers::checks::math;
use assay_verifiers::{Content, Fault, FaultKind, Meter, Pending, Sample, Usage};
use serde_json::{Value, json};

use super::settings::RubricVerifier;
use crate::judge::{JudgeReply, JudgeRequest, JudgedTexts, NamedJudge, Subject};
use crate::prompt::{Material, PromptTemplate, ShownMaterial, escaped};
use crate::reply::{AskedCriteria, CriterionVerdict, read};
use crate::rubric::{AnswerKind, Criterion, Rubric};
use crate::verifiers::reply_schema::object;
use crate::verifiers::shown::{
    conversation, of_turn, shown_reference, transcript, without_thinking,
};

/// What makes requests and asks them.
pub(super) struct Requests {
    pub(super) judge: Option<Arc<NamedJudge>>,
    pub(super) prompt: PromptTemplate,
    pub(super) verifier: RubricVerifier,
}

/// What came of asking some criteria once.
pub(super) struct Asking {
    /// Along the criteria; the fault stands for all of them.
    pub(super) verdicts: Result<Vec<CriterionVerdict>, AskError>,
    pub(super) usage: Usage,
}

/// Why there is no verdict.
#[derive(Clone, Debug)]
pub(super) enum AskError {
    /// The judge did not answer.
    Fault(Fault),
    /// No verdict can be read from its reply.
    Unreadable(Fault),
}

/// A sample and its texts, made once for each turn that criteria ask about.
pub(super) struct KnownMaterial {
    sample: Sample,
    shown: Mutex<BTreeMap<Option<usize>, Arc<ShownMaterial>>>,
}

impl KnownMaterial {
    pub(super) fn new(sample: Sample) -> Self {
        Self { sample, shown: Mutex::default() }
    }

    fn of(&self, turn: Option<usize>, make: impl FnOnce() -> ShownMaterial) -> Arc<ShownMaterial> {
        let mut known = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(turn).or_insert_with(|| Arc::new(make())))
    }
}

/// A request on its way.
struct Sent {
    reply: Pending<Result<JudgeReply, Fault>>,
    material: Arc<ShownMaterial>,
    code: String,
}

/// Waits for the reply and reads it.
async fn received(
    sent: Result<Sent, AskError>,
    criteria: &[Criterion],
    usage: &mut Usage,
) -> Result<Vec<CriterionVerdict>, AskError> {
    let Sent { reply, material, code } = sent?;
    let reply = reply.await.map_err(AskError::Fault)?;
    *usage += reply.usage;
    let texts = material.given.texts();
    let criteria: Vec<&Criterion> = criteria.iter().collect();
    let asked = AskedCriteria { criteria: &criteria, code: &code, material: &texts };
    read(&reply, &asked)
        .map_err(|error| AskError::Unreadable(Fault::new(FaultKind::Upstream, error.to_string())))
}

impl AskError {
    /// Nothing was asked, which cannot be.
    pub(super) const UNASKED: Self = Self::Fault(Fault {
        kind: FaultKind::Internal,
        why: std::borrow::Cow::Borrowed("nothing was asked"),
        place: None,
    });
}

impl Requests {
    /// The texts of a sample that a criterion is asked about, made when they are first needed.
    pub(super) fn shown(
        &self,
        known: &KnownMaterial,
        rubric: &Rubric,
        turn: Option<usize>,
    ) -> Arc<ShownMaterial> {
        known.of(turn, || self.material(&known.sample, rubric, turn).shown())
    }

    fn material(&self, sample: &Sample, rubric: &Rubric, turn: Option<usize>) -> Material {
        let reference = rubric.reference.clone();
        Material {
            prompt: conversation(sample.prompt_content()),
            reference: reference
                .or_else(|| shown_reference(sample.reference()?))
                .unwrap_or_default(),
            completions: vec![self.completion(sample, turn)],
        }
    }

    /// What the judge sees of the completion.
    fn completion(&self, sample: &Sample, turn: Option<usize>) -> String {
        let whole = match (sample.completion_content(), turn) {
            (Content::Messages(messages), Some(turn)) => transcript(of_turn(messages, turn)),
            (Content::Messages(messages), None) if self.verifier.conversation => {
                transcript(messages)
            }
            _ => sample.completion().to_owned(),
        };
        without_thinking(whole, self.verifier.thinking)
    }

    /// Asks some criteria, the vote numbered `vote`. The request is made at once; the future waits for
    /// the reply and reads it.
    pub(super) fn ask(
        self: &Arc<Self>,
        known: &Arc<KnownMaterial>,
        rubric: &Arc<Rubric>,
        criteria: &Arc<Vec<Criterion>>,
        vote: u32,
    ) -> Pending<Asking> {
        let first = self.sent(known, rubric, criteria, vote);
        let (own, known) = (Arc::clone(self), Arc::clone(known));
        let (rubric, criteria) = (Arc::clone(rubric), Arc::clone(criteria));
        Box::pin(async move {
            let mut usage = Usage::default();
            let mut verdicts = received(first, &criteria, &mut usage).await;
            for again in 1..=own.verifier.asks_again {
                if !matches!(verdicts, Err(AskError::Unreadable(_))) {
                    break;
                }
                let number = vote + again * own.verifier.votes;
                let sent = own.sent(&known, &rubric, &criteria, number);
                verdicts = received(sent, &criteria, &mut usage).await;
            }
            Asking { verdicts, usage }
        })
    }

    /// Makes a request and hands it to the judge.
    fn sent(
        &self,
        known: &KnownMaterial,
        rubric: &Rubric,
        criteria: &[Criterion],
        vote: u32,
    ) -> Result<Sent, AskError> {
        let judge = self.judge.as_ref();
        let judge = judge.ok_or_else(|| AskError::Fault(Fault::internal("there is no judge")))?;
        let criteria: Vec<&Criterion> = criteria.iter().collect();
        let turn = criteria.first().and_then(|criterion| criterion.turn);
        let material = self.shown(known, rubric, turn);
        let (request, code) =
            self.request(judge, &known.sample, rubric, &criteria, &material, vote)?;
        Ok(Sent { reply: judge.judge.ask(request), material, code })
    }

    fn request(
        &self,
        judge: &NamedJudge,
        sample: &Sample,
        rubric: &Rubric,
        criteria: &[&Criterion],
        material: &ShownMaterial,
        vote: u32,
    ) -> Result<(JudgeRequest, String), AskError> {
        let names: Vec<&str> = criteria.iter().map(|criterion| criterion.name.as_str()).collect();
        let question: Vec<&str> =
            criteria.iter().map(|criterion| criterion.text.as_str()).collect();
        let subject = Subject { criterion: names.join(", "), swapped: false };
        let kinds = json!(criteria).to_string();
        let words = [rubric.instructions.as_str(), kinds.as_str()];
        let rendered = self.prompt.render(material, &words, |code| {
            json!({
                "answer": escaped(&self.answer(&material.given)),
                "instructions": rubric.instructions,
                "abstain": self.verifier.may_abstain,
                "criteria": criteria.iter().map(|one| shown(one)).collect::<Vec<_>>(),
                "shape": self.shape(criteria, code),
            })
        });
        let broken = |why: String| AskError::Fault(Fault::bad_input(why));
        let rendered = rendered.map_err(broken)?;
        let mut sampling = judge.sampling.clone();
        sampling.seed = sampling.seed.wrapping_add(u64::from(vote));
        if self.verifier.logprobs && sampling.top_logprobs == 0 {
            sampling.top_logprobs = 20;
        }
        let texts = JudgedTexts {
            prompt: material.given.prompt.clone(),
            completion: material.given.completions.first().cloned().unwrap_or_default(),
            other: None,
            reference: material.given.reference.clone(),
            question: question.join("\n"),
        };
        let request = JudgeRequest {
            messages: rendered.messages,
            schema: self.schema(criteria, &rendered.code),
            sampling,
            vote,
            texts,
            sample: sample.clone(),
            subject,
        };
        Ok((request, rendered.code))
    }

    /// The answer that a completion settles on, for templates of one's own; all of it where none is found.
    fn answer<'m>(&self, given: &'m Material) -> Cow<'m, str> {
        let whole = given.completions.first().map_or("", String::as_str);
        if self.verifier.user_prompt.is_none() {
            return whole.into();
        }
        let found = math::answer(whole, &given.prompt, &mut Meter::default());
        found.ok().flatten().map_or(whole.into(), |found| found.text.into())
    }

    /// The JSON Schema of the reply. Members are in the order of their names, which is the order in
    /// which they are wanted: the reasons before the verdict.
    fn schema(&self, criteria: &[&Criterion], code: &str) -> Value {
        let code = json!({ "type": "string", "enum": [code] });
        if let [criterion] = criteria {
            let mut properties = self.properties(criterion);
            properties.insert("code".to_owned(), code);
            return object(&properties);
        }
        let named =
            |criterion: &&Criterion| (criterion.name.clone(), object(&self.properties(criterion)));
        let verdicts = object(&criteria.iter().map(named).collect());
        object(
            &[("code".to_owned(), code), ("verdicts".to_owned(), verdicts)].into_iter().collect(),
        )
    }

    fn properties(&self, criterion: &Criterion) -> serde_json::Map<String, Value> {
        let verdict = match &criterion.kind {
            AnswerKind::YesNo => json!({ "type": "boolean" }),
            AnswerKind::Choices(choices) => {
                let labels: Vec<&str> =
                    choices.iter().map(|choice| choice.label.as_str()).collect();
                json!({ "type": "string", "enum": labels })
            }
            AnswerKind::Scale(scale) => {
                let number = if scale.continuous { "number" } else { "integer" };
                json!({ "type": number, "minimum": scale.min, "maximum": scale.max })
            }
        };
        let verdict = if self.verifier.may_abstain {
            json!({ "anyOf": [verdict, { "type": "null" }] })
        } else {
            verdict
        };
        let mut properties = serde_json::Map::new();
        if criterion.evidence {
            properties.insert("quote".to_owned(), json!({ "type": "string" }));
        }
        properties.insert("reasons".to_owned(), json!({ "type": "string" }));
        properties.insert("verdict".to_owned(), verdict);
        properties
    }

    /// The shape of the reply in words.
    fn shape(&self, criteria: &[&Criterion], code: &str) -> String {
        let members = |criterion: &Criterion| {
            let quote = if criterion.evidence { "\"quote\": \"...\", " } else { "" };
            let verdict = match &criterion.kind {
                AnswerKind::YesNo => "true or false".to_owned(),
                AnswerKind::Choices(choices) => {
                    let labels = choices.iter().map(|choice| format!("\"{}\"", choice.label));
                    labels.collect::<Vec<_>>().join(" or ")
                }
                AnswerKind::Scale(scale) => format!("{} to {}", scale.min, scale.max),
            };
            let null = if self.verifier.may_abstain { " or null" } else { "" };
            format!("{quote}\"reasons\": \"...\", \"verdict\": {verdict}{null}")
        };
        if let [criterion] = criteria {
            return format!("{{\"code\": \"{code}\", {}}}", members(criterion));
        }
        let each = criteria
            .iter()
            .map(|criterion| format!("  {}: {{{}}}", json!(criterion.name), members(criterion)));
        let each: Vec<String> = each.collect();
        format!("{{\"code\": \"{code}\", \"verdicts\": {{\n{}\n}}}}", each.join(",\n"))
    }
}

/// A criterion as the template sees it.
fn shown(criterion: &Criterion) -> Value {
    let mut shown = json!({
        "name": criterion.name,
        "text": criterion.text,
        "evidence": criterion.evidence,
        "examples": criterion.examples,
    });
    let kind = match &criterion.kind {
        AnswerKind::YesNo => None,
        AnswerKind::Choices(choices) => Some(("choices", json!(choices))),
        AnswerKind::Scale(scale) => {
            let kind = if scale.continuous { "number" } else { "whole number" };
            let (min, max, levels) = (scale.min, scale.max, &scale.levels);
            Some(("scale", json!({ "kind": kind, "min": min, "max": max, "levels": levels })))
        }
    };
    if let (Some((key, value)), Some(members)) = (kind, shown.as_object_mut()) {
        members.insert(key.to_owned(), value);
    }
    shown
}
