//! One sample and its rubric: code first, then the judge, wave by wave, as gates and prerequisites
//! allow.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use assay_verifiers::{
    AsyncVerifier, Earlier, Lane, Meter, Outcome, Pending, Sample, Usage, Verdict,
};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::FuturesOrdered;

use super::prepared::PreparedRubric;
use super::request::{AskError, Asking, KnownMaterial, Requests};
use super::verdict::{CriterionState, Report, answers};
use crate::reply::CriterionVerdict;
use crate::rubric::{Answer, Answers, Criterion, Rubric};
use crate::template::Unfilled;
use crate::verifiers::shown::reaches;

/// A sample on its way through its rubric.
pub(super) struct Session {
    /// The rubric, its templates filled in from the row.
    rubric: Arc<Rubric>,
    requests: Arc<Requests>,
    known: Arc<KnownMaterial>,
    /// The prerequisites of each leaf, those of the nodes above it among them.
    needs: BTreeMap<String, Vec<String>>,
    /// What is known of each leaf, by name.
    states: BTreeMap<String, CriterionState>,
    /// Verifiers that are awaited.
    awaited: Vec<(String, Pending<Verdict>)>,
    /// The first wave, where nothing is awaited before it: its requests are made on the thread that
    /// starts the session.
    first: Option<Wave>,
    usage: Usage,
}

/// Requests that may be sent at once: their criteria, and each of their votes.
struct Wave {
    calls: Vec<Arc<Vec<Criterion>>>,
    asked: FuturesOrdered<Pending<Asking>>,
}

impl Session {
    /// Runs the code that answers criteria, and starts what is awaited of it.
    pub(super) fn start(
        prepared: &PreparedRubric,
        requests: Arc<Requests>,
        sample: &Sample,
        earlier: Earlier<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Unfilled> {
        let rubric = match prepared.rubric.filled(sample, meter)? {
            Cow::Borrowed(_) => Arc::clone(&prepared.rubric),
            Cow::Owned(filled) => Arc::new(filled),
        };
        let mut needs = BTreeMap::new();
        collect_needs(&rubric.criteria, &[], &mut needs);
        let mut session = Self {
            needs,
            rubric,
            requests,
            known: Arc::new(KnownMaterial::new(sample.clone())),
            states: BTreeMap::new(),
            awaited: Vec::new(),
            first: None,
            usage: Usage::default(),
        };
        for leaf in prepared.rubric.leaves() {
            let verdict = match (prepared.lane(leaf), &leaf.reward) {
                (Some(Lane::Compute(verifier)), _) => verifier.verify(sample, earlier, meter),
                (Some(Lane::Awaited(verifier)), _) => {
                    let pending =
                        AsyncVerifier::verify(Arc::clone(verifier), sample, earlier, meter);
                    session.awaited.push((leaf.name.clone(), pending));
                    continue;
                }
                (None, None)
                    if leaf
                        .turn
                        .is_some_and(|turn| !reaches(sample.completion_content(), turn)) =>
                {
                    let why = "the conversation ends before its turn".to_owned();
                    session.states.insert(leaf.name.clone(), CriterionState::Unmet { why });
                    continue;
                }
                (_, Some(reward)) => earlier.get(reward).cloned().unwrap_or_else(|| {
                    Verdict::abstained(format!("there is no verdict of the reward \"{reward}\""))
                }),
                _ => continue,
            };
            session.by_code(leaf, verdict);
        }
        if session.awaited.is_empty() {
            session.first = session.next_wave();
        }
        Ok(session)
    }

    /// What comes of the rubric.
    pub(super) async fn run(mut self) -> Verdict {
        let rubric = Arc::clone(&self.rubric);
        let leaves = rubric.leaves();
        let (names, pending): (Vec<String>, Vec<_>) =
            std::mem::take(&mut self.awaited).into_iter().unzip();
        for (name, verdict) in names.into_iter().zip(join_all(pending).await) {
            if let Some(leaf) = leaves.iter().find(|leaf| leaf.name == name) {
                self.by_code(leaf, verdict);
            }
        }
        let mut wave = self.first.take().or_else(|| self.next_wave());
        while let Some(now) = wave {
            self.answer(now).await;
            wave = self.next_wave();
        }
        let judge = self.requests.judge.as_deref().map(|judge| judge.name.clone());
        let report = Report { rubric: &rubric, states: &self.states, judge };
        Verdict { usage: self.usage, ..report.verdict() }
    }

    /// Notes the verdict of code on a criterion.
    fn by_code(&mut self, leaf: &Criterion, verdict: Verdict) {
        self.usage += verdict.usage;
        let state = match verdict.outcome {
            Outcome::Scored(reward) => {
                let share = if leaf.negate { 1.0 - reward.get() } else { reward.get() };
                let answer = Answer { share, value: share };
                CriterionState::Answered { answer, evidence: verdict.evidence }
            }
            Outcome::Abstained(why) => CriterionState::Missing { why: why.into_owned() },
            Outcome::Failed(fault) => CriterionState::Failed { fault },
        };
        self.states.insert(leaf.name.clone(), state);
    }

    fn answers(&self) -> Answers {
        answers(&self.rubric, &self.states)
    }

    /// Whether a gate is closed: more answers do not open it. A node counts once all below it is known.
    fn is_closed(&self) -> bool {
        let rubric = &*self.rubric;
        let answers = self.answers();
        let mut nodes = rubric.aggregate.nodes(rubric, &answers);
        nodes.retain(|(name, _)| rubric.find(name).is_some_and(|node| self.is_known(node)));
        rubric.aggregate.gate(rubric, &answers, &nodes).is_some()
    }

    /// A criterion whose prerequisite is not met is not met, whatever code said of it; one whose
    /// prerequisite is not known is not known.
    fn settle_prerequisites(&mut self, leaves: &[&Criterion]) {
        loop {
            let open = leaves.iter().filter(|leaf| match self.states.get(&leaf.name) {
                None => leaf.asks_judge(),
                Some(CriterionState::Answered { .. }) => !leaf.asks_judge(),
                Some(_) => false,
            });
            let known: Vec<(String, CriterionState)> = open
                .filter_map(|leaf| Some((leaf.name.clone(), self.by_prerequisites(leaf)?)))
                .collect();
            if known.is_empty() {
                return;
            }
            self.states.extend(known);
        }
    }

    /// What the prerequisites say of a criterion, where they are against it.
    fn by_prerequisites(&self, leaf: &Criterion) -> Option<CriterionState> {
        self.needs.get(&leaf.name)?.iter().find_map(|need| match self.prerequisite(need)? {
            Prerequisite::Met => None,
            Prerequisite::Unmet => {
                let why = format!("its prerequisite \"{need}\" is not met");
                Some(CriterionState::Unmet { why })
            }
            Prerequisite::Unknown => {
                let why = format!("its prerequisite \"{need}\" was not judged");
                Some(CriterionState::Missing { why })
            }
        })
    }

    /// Whether everything is known of a criterion and of those below it.
    fn is_known(&self, criterion: &Criterion) -> bool {
        criterion.leaves().iter().all(|leaf| self.states.contains_key(&leaf.name))
    }

    /// What is known of a prerequisite: a leaf, or a node. `None` where it is still open.
    fn prerequisite(&self, name: &str) -> Option<Prerequisite> {
        let rubric = &*self.rubric;
        let criterion = rubric.find(name).filter(|criterion| self.is_known(criterion))?;
        let share = if criterion.is_node() {
            let nodes = rubric.aggregate.nodes(rubric, &self.answers());
            nodes.into_iter().find(|(node, _)| node == name).and_then(|(_, share)| share)
        } else {
            self.states.get(name)?.answer().map(|answer| answer.share)
        };
        Some(match share {
            Some(share) if criterion.is_met(share) => Prerequisite::Met,
            Some(_) => Prerequisite::Unmet,
            None => Prerequisite::Unknown,
        })
    }

    /// The criteria that the judge is asked next: gates first, each after its prerequisites.
    fn open<'a>(&self, leaves: &[&'a Criterion]) -> Vec<&'a Criterion> {
        let is_open = |leaf: &&&Criterion| {
            let met = |need: &String| matches!(self.prerequisite(need), Some(Prerequisite::Met));
            let needs = self.needs.get(&leaf.name);
            leaf.asks_judge()
                && !self.states.contains_key(&leaf.name)
                && needs.is_none_or(|needs| needs.iter().all(met))
        };
        let open: Vec<&Criterion> = leaves.iter().filter(is_open).copied().collect();
        let gates = open.iter().filter(|leaf| leaf.essential || leaf.veto).copied();
        let gates: Vec<&Criterion> = gates.collect();
        if gates.is_empty() { open } else { gates }
    }

    /// Makes the requests of the next wave. `None` where nobody is to be asked.
    fn next_wave(&mut self) -> Option<Wave> {
        if self.is_closed() {
            return None;
        }
        let rubric = Arc::clone(&self.rubric);
        let leaves = rubric.leaves();
        self.settle_prerequisites(&leaves);
        let open = self.open(&leaves);
        let settings = &self.requests.verifier;
        let calls = calls(&open, settings.criteria_per_call);
        let ask = |call, vote| self.requests.ask(&self.known, &rubric, call, vote);
        let each =
            calls.iter().flat_map(|call| (0..settings.votes).map(move |vote| ask(call, vote)));
        // Only those that were woken are polled.
        let asked: FuturesOrdered<Pending<Asking>> = each.collect();
        (!asked.is_empty()).then_some(Wave { calls, asked })
    }

    /// Waits for a wave, all votes at once.
    async fn answer(&mut self, wave: Wave) {
        let Wave { calls, asked } = wave;
        let answered: Vec<Asking> = asked.collect().await;
        let votes = self.requests.verifier.votes as usize;
        for (call, votes) in calls.iter().zip(answered.chunks(votes)) {
            self.usage_of(votes);
            for (at, criterion) in call.iter().enumerate() {
                let state = self.counted(criterion, &by_criterion(votes, at));
                self.states.insert(criterion.name.clone(), state);
            }
        }
    }

    fn usage_of(&mut self, votes: &[Asking]) {
        for vote in votes {
            self.usage += vote.usage;
        }
    }

    /// What the votes on a criterion come to. A vote that failed makes it fail.
    fn counted(
        &self,
        criterion: &Criterion,
        votes: &[Result<&CriterionVerdict, &AskError>],
    ) -> CriterionState {
        if let Some(error) = votes.iter().find_map(|vote| vote.as_ref().err()) {
            return match error {
                AskError::Fault(fault) => CriterionState::Failed { fault: fault.clone() },
                AskError::Unreadable(fault) => CriterionState::Unreadable { fault: fault.clone() },
            };
        }
        let verdicts: Vec<&CriterionVerdict> = votes.iter().filter_map(|vote| vote.ok()).collect();
        let shown = self.requests.shown(&self.known, &self.rubric, criterion.turn);
        let completion = shown.given.completions.first().map_or("", String::as_str);
        CriterionState::of_votes(criterion, &verdicts, &self.requests.verifier, completion)
    }
}

/// What is known of a prerequisite.
enum Prerequisite {
    Met,
    Unmet,
    Unknown,
}

/// The prerequisites of each leaf, after those of the nodes above it.
fn collect_needs(
    criteria: &[Criterion],
    above: &[String],
    needs: &mut BTreeMap<String, Vec<String>>,
) {
    for criterion in criteria {
        let own = [above, &criterion.needs].concat();
        if criterion.is_node() {
            collect_needs(&criterion.criteria, &own, needs);
        } else {
            needs.insert(criterion.name.clone(), own);
        }
    }
}

/// Criteria that are asked together: of one turn, and at most so many.
fn calls(criteria: &[&Criterion], most: usize) -> Vec<Arc<Vec<Criterion>>> {
    let same_turn = |a: &&Criterion, b: &&Criterion| a.turn == b.turn;
    let turns = criteria.chunk_by(same_turn).flat_map(|turn| turn.chunks(most));
    turns.map(|call| Arc::new(call.iter().copied().cloned().collect())).collect()
}

/// The votes on one of the criteria that were asked together.
fn by_criterion(votes: &[Asking], at: usize) -> Vec<Result<&CriterionVerdict, &AskError>> {
    let missing = || -> Result<&CriterionVerdict, &AskError> { Err(&AskError::UNASKED) };
    votes
        .iter()
        .map(|vote| match &vote.verdicts {
            Ok(verdicts) => verdicts.get(at).map_or_else(missing, Ok),
            Err(error) => Err(error),
        })
        .collect()
}
