//! The whole group at once: "Inference-Time Scaling for Generalist Reward Modeling" (Liu et al. 2025),
//! the section on inference-time scaling: scores of 1 to 10 are summed over votes, the responses in
//! another order in each.

use assay_verifiers::stats::{SplitMix64, float, mean};
use assay_verifiers::{Fault, Reward, Usage, Verdict};
use futures_util::future::join_all;
use serde_json::json;

use super::member::PairMember;
use super::report::share_of;
use super::request::{Asking, PairRequests, Question, Said};
use super::settings::OnPairFault;

impl PairRequests {
    /// One verdict for each member: the mean over the questions of the mean scores.
    pub(super) async fn listwise(&self, members: &[PairMember]) -> Vec<Verdict> {
        let count = members.len();
        let votes = self.settings.votes;
        let questions = self.questions.iter().enumerate();
        let asked = questions.flat_map(|(at, asked)| (0..votes).map(move |vote| (at, asked, vote)));
        let asked: Vec<_> = asked
            .map(|(at, asked, vote)| {
                let draw = (at as u64) << 32 | u64::from(vote);
                let order = SplitMix64::new(self.settings.seed ^ draw.rotate_left(17))
                    .order(count, SplitMix64::below);
                (asked, vote, order)
            })
            .collect();
        let said = asked.iter().map(|(asked, vote, order)| async move {
            let shown = order.iter().filter_map(|&at| members.get(at));
            let texts: Vec<&str> = shown.map(|member| member.text.as_str()).collect();
            let Some(first) = members.first() else { return nothing() };
            let sample = &first.sample;
            self.list(Question { sample, texts: &texts, asked, swapped: false, vote: *vote }).await
        });
        let said = join_all(said).await;
        let orders: Vec<&[usize]> = asked.iter().map(|(_, _, order)| order.as_slice()).collect();
        self.list_verdicts(count, &orders, &said)
    }

    fn list_verdicts(
        &self,
        count: usize,
        orders: &[&[usize]],
        said: &[Asking<Said<Vec<f64>>>],
    ) -> Vec<Verdict> {
        let mut usage = Usage::default();
        for one in said {
            usage += one.usage;
        }
        let calls: u64 = said.iter().map(|one| one.calls).sum();
        let fault = said.iter().find_map(|one| one.read.as_ref().err());
        let critiques: Vec<Option<Vec<f64>>> = said
            .iter()
            .zip(orders)
            .map(|(one, order)| Some(in_place(order, &one.read.as_ref().ok()?.value)))
            .collect();
        let votes = self.settings.votes as usize;
        let sums: Vec<Option<(Vec<f64>, usize)>> =
            critiques.chunks(votes).map(|critiques| summed(critiques, count)).collect();
        let verdict = |at: usize| {
            let verdict = match (fault, self.settings.on_fault) {
                (Some(fault), OnPairFault::Fail) => Verdict::failed(fault.clone()),
                (fault, _) => scored(&sums, at, fault),
            };
            let by_vote: Vec<Option<f64>> =
                critiques.iter().map(|scores| scores.as_ref()?.get(at).copied()).collect();
            let verdict = verdict
                .with("scores", json!(by_vote))
                .with("calls", calls)
                .with("judge", self.judge.name.as_str());
            Verdict { usage: share_of(usage, count, at), ..verdict }
        };
        (0..count).map(verdict).collect()
    }
}

/// The sum of the scores of each response over the critiques, and how many critiques were counted. A critique
/// that is missing, of another length or not finite is left out; `None` where all are.
fn summed(critiques: &[Option<Vec<f64>>], responses: usize) -> Option<(Vec<f64>, usize)> {
    let is_whole = |scores: &&Vec<f64>| {
        scores.len() == responses && scores.iter().all(|score| score.is_finite())
    };
    let (mut sums, mut counted) = (vec![0.0; responses], 0);
    for scores in critiques.iter().flatten().filter(is_whole) {
        counted += 1;
        sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
    }
    (counted > 0).then_some((sums, counted))
}

/// The reward of the member at a place: its mean score over the critiques that were read, 1 to 10
/// brought to 0 to 1.
fn scored(sums: &[Option<(Vec<f64>, usize)>], at: usize, fault: Option<&Fault>) -> Verdict {
    let own = sums.iter().flatten().filter_map(|(sums, counted)| Some((sums.get(at)?, *counted)));
    let own: Vec<(f64, usize)> = own.map(|(sum, counted)| (*sum, counted)).collect();
    let means: Vec<f64> = own.iter().map(|(sum, counted)| sum / float(*counted)).collect();
    let reward = mean(&means).and_then(|mean| Reward::new((mean - 1.0) / 9.0));
    let counted: usize = own.iter().map(|(_, counted)| counted).sum();
    let sum: f64 = own.iter().map(|(sum, _)| sum).sum();
    let missing = || Fault::internal("no critique was read");
    match reward {
        Some(reward) => Verdict::scored(reward).with("sum", sum).with("critiques", counted),
        None => Verdict::failed(fault.cloned().unwrap_or_else(missing)),
    }
}

/// Scores in the order of the members, from those in the order shown.
fn in_place(order: &[usize], shown: &[f64]) -> Vec<f64> {
    let mut scores: Vec<(usize, f64)> = order.iter().copied().zip(shown.iter().copied()).collect();
    scores.sort_by_key(|(at, _)| *at);
    scores.into_iter().map(|(_, score)| score).collect()
}

fn nothing() -> Asking<Said<Vec<f64>>> {
    let read = Err(Fault::internal("there is nobody to compare"));
    Asking { read, usage: Usage::default(), calls: 0 }
}
