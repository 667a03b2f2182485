//! The rewards of rollouts, paid by an engine.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use assay_trainer::training::{
    PendingRewards, RewardReply, RewardSource, Rollout, RolloutReward, TaskSet,
};
use assay_verifiers::{Content, Outcome, Reward, Sample, Scored, TrainingState};

use crate::engine::{Engine, ScoreOptions, unshaped};

/// The rows of the tasks, set by set: what a rollout is judged with.
#[derive(Clone, Debug, Default)]
pub struct TaskSamples {
    /// Tasks that are trained on.
    pub train: Vec<Sample>,
    /// Tasks that are held out.
    pub held_out: Vec<Sample>,
}

/// The rewards of rollouts, paid by an engine on a thread beside the training. Dropping it waits for
/// what is under way.
pub struct EngineRewards {
    names: Vec<(String, f64)>,
    samples: TaskSamples,
    jobs: Option<Sender<Job>>,
    worker: Option<JoinHandle<()>>,
}

/// Rollouts as samples, and whoever waits for their rewards.
struct Job {
    samples: Vec<Sample>,
    /// The byte of the completion at which each of its messages begins.
    starts: Vec<Vec<usize>>,
    state: TrainingState,
    reply: Sender<Result<RewardReply, String>>,
}

impl EngineRewards {
    /// Rewards of an engine for rollouts of these tasks. What is right is said by the rewards that
    /// `train.correct` of its configuration names.
    ///
    /// # Errors
    /// A thread that the operating system refuses.
    pub fn new(engine: Arc<Engine>, samples: TaskSamples) -> io::Result<Self> {
        let plan = engine.plan();
        let weight = |planned: &crate::engine::Planned| {
            planned.weight.constant().unwrap_or_else(|| planned.weight.at(0))
        };
        let names = plan.rewards.iter().map(|one| (one.name.clone(), weight(one))).collect();
        let mut correct =
            plan.config.train.as_ref().map(|train| train.correct.clone()).unwrap_or_default();
        if correct.is_empty() {
            correct.extend(plan.names.first().cloned());
        }
        let (jobs, waiting) = channel();
        let name = "assay-rewards".to_owned();
        let worker = std::thread::Builder::new()
            .name(name)
            .spawn(move || work(&engine, &correct, &waiting))?;
        Ok(Self { names, samples, jobs: Some(jobs), worker: Some(worker) })
    }

    /// Rollouts as samples: the row of the task, with the completion in it.
    fn samples(&self, rollouts: Vec<Rollout>) -> Result<Vec<Sample>, String> {
        let mut members: BTreeMap<(usize, u64), usize> = BTreeMap::new();
        let sample = |rollout: Rollout| {
            let rows = match rollout.set {
                TaskSet::Train => &self.samples.train,
                TaskSet::HeldOut => &self.samples.held_out,
            };
            let missing =
                || format!("internal: a rollout of task {}, which has no row", rollout.task);
            let row = rows.get(rollout.task).ok_or_else(missing)?;
            let member = members.entry((rollout.task, rollout.group)).or_default();
            let group = format!("{}#{}", row.id(), rollout.group);
            let id = format!("{group}.{member}");
            *member += 1;
            Ok(answered(row, rollout).id(id).group(group).build())
        };
        rollouts.into_iter().map(sample).collect()
    }
}

impl RewardSource for EngineRewards {
    fn names(&self) -> Vec<(String, f64)> {
        self.names.clone()
    }

    fn ask(&self, rollouts: Vec<Rollout>, state: &TrainingState) -> PendingRewards {
        let (reply, pending) = PendingRewards::channel();
        let starts = |one: &Rollout| one.messages.iter().map(|(start, _)| *start).collect();
        let starts = rollouts.iter().map(starts).collect();
        match self.samples(rollouts) {
            // A worker that is gone drops the job, and whoever waits is told.
            Ok(samples) => {
                let job = Job { samples, starts, state: state.clone(), reply };
                drop(self.jobs.as_ref().map(|jobs| jobs.send(job)));
            }
            Err(why) => drop(reply.send(Err(why))),
        }
        pending
    }
}

impl Drop for EngineRewards {
    fn drop(&mut self) {
        self.jobs = None;
        drop(self.worker.take().map(JoinHandle::join));
    }
}

/// The row of a task with the completion of a rollout: as messages where there is a tool, so that no
/// result passes for an answer.
fn answered(row: &Sample, rollout: Rollout) -> assay_verifiers::SampleBuilder {
    let completion: Content = if rollout.messages.is_empty() {
        rollout.completion.into()
    } else {
        rollout.messages.into_iter().map(|(_, message)| message).collect::<Vec<_>>().into()
    };
    let builder = Sample::builder(completion)
        .prompt(row.prompt_content().clone())
        .meta(row.meta().clone())
        .token_ids(rollout.tokens)
        .finish_reason(if rollout.truncated { "length" } else { "stop" });
    match row.reference() {
        Some(reference) => builder.reference(reference.clone()),
        None => builder,
    }
}

/// Answers jobs until nobody can ask any more.
fn work(engine: &Engine, correct: &[String], jobs: &Receiver<Job>) {
    for Job { samples, starts, state, reply } in jobs {
        let scored = engine.score_with(samples, ScoreOptions::at(state));
        let each = scored.iter().zip(&starts);
        let rewards = each.map(|(one, starts)| earned(one, correct, starts)).collect();
        let observed = engine.plan().observed(&scored);
        let observed = observed.map(|(name, reward)| (name.to_owned(), reward)).collect();
        drop(reply.send(Ok(RewardReply { rewards, observed })));
    }
}

/// What a rollout earned. Steps are of the message that they name, or of the last one.
fn earned(scored: &Scored, correct: &[String], starts: &[usize]) -> RolloutReward {
    let start = |turn: Option<usize>| {
        turn.map_or(starts.last(), |turn| starts.get(turn)).copied().unwrap_or(0)
    };
    let span = |(from, to), start| (from + start, to + start);
    let verdicts = scored.verdicts.as_slice();
    let steps = verdicts.iter().map(|verdict| &verdict.steps).find(|steps| !steps.is_empty());
    let steps = steps.into_iter().flatten();
    RolloutReward {
        reward: scored.reward(),
        parts: verdicts.iter().map(|one| one.outcome.reward().map(Reward::get)).collect(),
        steps: steps.map(|step| (span(step.span, start(step.turn)), step.reward.get())).collect(),
        correct: is_correct(scored, correct),
        fault: fault(scored),
    }
}

/// Of the rewards that say what is right, the first that did not abstain, as it was judged.
fn is_correct(scored: &Scored, correct: &[String]) -> Option<f64> {
    let verdicts = correct.iter().filter_map(|name| scored.verdict(name));
    let judged = verdicts.filter(|one| !matches!(one.outcome, Outcome::Abstained(_)));
    judged.map(unshaped).next().flatten().map(|reward| reward.clamp(0.0, 1.0))
}

/// What failed first.
fn fault(scored: &Scored) -> Option<String> {
    let failed = |outcome: &Outcome| match outcome {
        Outcome::Failed(fault) => Some(fault.to_string()),
        Outcome::Scored(_) | Outcome::Abstained(_) => None,
    };
    let mut verdicts = scored.verdicts.iter();
    let named = verdicts.find_map(|(name, one)| Some(format!("{name}: {}", failed(&one.outcome)?)));
    named.or_else(|| failed(&scored.outcome))
}

#[cfg(test)]
mod tests {
    use assay_verifiers::Message;

    use super::*;
    use crate::engine::Document;

    const CONFIG: &str = r#"version = 1
[[reward]]
name = "form"
verifier = "regex"
weight = 0.5
config = { pattern = '^[0-9]+$' }
[[reward]]
name = "correct"
verifier = "exact"
when = 'meta.judged'
[train]
tasks = ["t.jsonl"]
steps = 1
correct = ["correct", "form"]
[train.model]
path = "m"
"#;

    fn rewards() -> EngineRewards {
        rewards_of(CONFIG)
    }

    fn rewards_of(config: &str) -> EngineRewards {
        let document = Document::parse("test.toml", config).unwrap();
        let engine = Engine::builder().config(document).jobs(1).build().unwrap();
        let row = |id: &str, judged: bool| {
            let meta = serde_json::json!({"judged": judged}).as_object().unwrap().clone();
            Sample::builder("").id(id).prompt("1+1=").reference("2").meta(meta).build()
        };
        let samples =
            TaskSamples { train: vec![row("a", true), row("b", false)], held_out: vec![] };
        EngineRewards::new(Arc::new(engine), samples).unwrap()
    }

    fn rollout(set: TaskSet, task: usize, completion: &str) -> Rollout {
        let (completion, tokens) = (completion.to_owned(), vec![1, 2]);
        Rollout { set, task, group: 3, completion, messages: vec![], tokens, truncated: false }
    }

    #[test]
    fn rollouts_are_judged_with_the_rows_of_their_tasks() {
        let rewards = rewards();
        assert_eq!(rewards.names(), [("form".to_owned(), 0.5), ("correct".to_owned(), 1.0)]);
        let of = |task, completion| rollout(TaskSet::Train, task, completion);
        let asked = vec![of(0, "2"), of(0, "3"), of(0, "x"), of(1, "9")];
        let reply = rewards.ask(asked, &TrainingState::default()).wait().unwrap();
        let found: Vec<_> =
            reply.rewards.iter().map(|one| (one.reward, one.correct, one.parts.clone())).collect();
        assert_eq!(
            found,
            [
                (Some(1.5), Some(1.0), vec![Some(1.0), Some(1.0)]),
                (Some(0.5), Some(0.0), vec![Some(1.0), Some(0.0)]),
                (Some(0.0), Some(0.0), vec![Some(0.0), Some(0.0)]),
                // `correct` abstained: `form` says it.
                (Some(0.5), Some(1.0), vec![Some(1.0), None]),
            ]
        );
        assert!(reply.rewards.iter().all(|one| one.fault.is_none()) && reply.observed.is_empty());
    }

    #[test]
    fn what_a_tool_says_is_no_answer_and_steps_are_of_messages() {
        let config = CONFIG.replace("\"exact\"", "\"exact\"\nturn = \"each_assistant\"");
        let rewards = rewards_of(&config);
        let message = |start, role: &str, text: &str| (start, Message::new(role, text));
        let messages = vec![
            message(0, "assistant", "so"),
            message(9, "tool", "2"),
            message(15, "assistant", "3"),
        ];
        let asked = Rollout { messages, ..rollout(TaskSet::Train, 0, "so<call><2>3") };
        let reply = rewards.ask(vec![asked], &TrainingState::default()).wait().unwrap();
        let found = &reply.rewards[0];
        // The form of the last message, and no message of the policy says 2.
        assert_eq!(found.parts, [Some(1.0), Some(0.0)]);
        assert_eq!(found.steps, [((0, 2), 0.0), ((15, 16), 0.0)]);
    }

    #[test]
    fn samples_know_their_groups() {
        let rewards = rewards();
        let asked = vec![rollout(TaskSet::Train, 1, "2"), rollout(TaskSet::Train, 1, "3")];
        let samples = rewards.samples(asked).unwrap();
        assert_eq!((samples[1].id(), samples[1].group()), ("b#3.1", Some("b#3")));
        assert_eq!(samples[0].finish_reason(), Some("stop"));
        assert_eq!(samples[0].token_ids(), Some([1, 2].as_slice()));
    }

    #[test]
    fn a_task_without_a_row_is_an_error() {
        let rewards = rewards();
        let asked = vec![rollout(TaskSet::HeldOut, 0, "2")];
        let why = rewards.ask(asked, &TrainingState::default()).wait().unwrap_err();
        assert!(why.contains("no row"), "{why}");
    }
}
