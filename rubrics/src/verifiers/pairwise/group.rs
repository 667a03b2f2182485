//! The samples of a group against each other, round by round.

use std::sync::Arc;

use assay_verifiers::{Fault, Verdict};
use futures_util::future::join_all;

use super::compared::{Comparison, Pair};
use super::member::PairMember;
use super::report::GroupReport;
use super::request::PairRequests;
use super::settings::PairScore;
use crate::compare::PairSchedule;

/// A group on its way through its comparisons.
pub(super) struct GroupSession {
    pub(super) requests: Arc<PairRequests>,
    pub(super) members: Vec<PairMember>,
}

impl GroupSession {
    /// One verdict for each member, in their order.
    pub(super) async fn run(self) -> Vec<Verdict> {
        let settings = &self.requests.settings;
        if let Some(verdict) = self.refused() {
            return vec![verdict; self.members.len()];
        }
        if settings.score == PairScore::Listwise {
            return self.requests.listwise(&self.members).await;
        }
        let count = self.members.len();
        let mut tournament = settings.schedule.start(count, settings.seed);
        let mut comparisons: Vec<Comparison> = Vec::new();
        let mut results = Vec::new();
        loop {
            let round = tournament.next_round(&results);
            if round.is_empty() {
                break;
            }
            let judged = self.judged(&round).await;
            results = judged.iter().map(Comparison::result).collect();
            comparisons.extend(judged);
        }
        let members = &self.members;
        GroupReport { requests: &self.requests, members, comparisons, tournament }.verdicts()
    }

    /// The verdict on all members of a group that cannot be compared.
    fn refused(&self) -> Option<Verdict> {
        let (settings, count) = (&self.requests.settings, self.members.len());
        if count < 2 {
            return Some(Verdict::abstained("there is nobody to compare with"));
        }
        let refuse = |why: String| Some(Verdict::failed(Fault::bad_input(why)));
        let questions = self.requests.questions.len();
        let pairs = match settings.score {
            PairScore::Listwise => 1,
            _ => settings.schedule.calls(count, settings.both_orders),
        };
        let calls = pairs.saturating_mul(questions).saturating_mul(settings.votes as usize);
        if calls > settings.calls_max {
            let most = settings.calls_max;
            return refuse(format!(
                "a group of {count} takes {calls} questions, of at most {most}: set `schedule` or \
                 `calls_max`"
            ));
        }
        match settings.schedule {
            PairSchedule::Pivot(place)
                if place >= count && settings.score != PairScore::Listwise =>
            {
                refuse(format!("the pivot {place} is not in the group, which has {count} samples"))
            }
            _ if count > 2 && self.requests.reads_column() => {
                refuse(format!("a column holds the replies to one pair; the group has {count}"))
            }
            _ => None,
        }
    }

    async fn judged(&self, round: &[(usize, usize)]) -> Vec<Comparison> {
        let compare = |&(first, second): &(usize, usize)| async move {
            let (one, other) = (self.members.get(first)?, self.members.get(second)?);
            let draw = u64::try_from(first * self.members.len() + second).unwrap_or_default();
            let texts = [one.text.as_str(), other.text.as_str()];
            let compared = self.requests.compare(Pair { sample: &one.sample, texts, draw }).await;
            Some(Comparison { first, second, compared })
        };
        join_all(round.iter().map(compare)).await.into_iter().flatten().collect()
    }
}
