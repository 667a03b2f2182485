//! What a configuration says and nothing comes of: rewards that are there twice, judges that nobody asks, times
//! within which nothing answers, and rewards that are normalised twice.

use assay::engine::config::CombineBy;
use assay::engine::{Normalise, Planned};

use super::faults::DEADLINE_MS_LOW;
use super::lint::Lint;
use super::problem::Problem;

/// In less time few judges answer, and seconds were meant.
#[cfg(feature = "rubrics")]
const TIMEOUT_MS_LOW: u64 = 1000;
/// Milliseconds in a second.
const SECOND_MS: u64 = 1000;

impl Lint<'_> {
    /// What is written and does nothing.
    pub(super) fn of_idle(&self) -> Vec<Problem> {
        let mut problems = self.alike();
        problems.extend(self.normalised_twice());
        problems.extend(self.deadline());
        problems.extend(self.clamped_advantages());
        #[cfg(feature = "rubrics")]
        problems.extend(self.of_judges());
        problems
    }

    /// Rewards that judge alike under two names, and both count.
    fn alike(&self) -> Vec<Problem> {
        let (config, planned) = (&self.plan.config, &self.plan.rewards);
        // An expression may have its reasons, and a gate counts for nothing else.
        if config.combine.how == CombineBy::Expression {
            return Vec::new();
        }
        let counts = |at: usize| {
            let weight = planned.get(at).and_then(|own| own.weight.constant());
            weight != Some(0.0) && !self.plan.gates.contains(&at)
        };
        let digests: Vec<_> = planned.iter().map(|own| own.built.spec.digest()).collect();
        let is_same = |one: usize, other: usize| -> Option<bool> {
            let (given, again) = (config.rewards.get(one)?, config.rewards.get(other)?);
            Some(
                digests.get(one)? == digests.get(other)?
                    && given.when == again.when
                    && given.turn == again.turn
                    && given.shape == again.shape,
            )
        };
        let twin =
            |at: usize| (0..at).find(|first| counts(*first) && is_same(*first, at) == Some(true));
        let counted = (0..planned.len()).filter(|at| counts(*at));
        let twins = counted.filter_map(|at| Some((twin(at)?, at)));
        let told = |(first, at): (usize, usize)| {
            let name = |at: usize| planned.get(at).map(|own: &Planned| own.name.as_str());
            let (first, own) = (name(first)?, name(at)?);
            let message =
                format!("\"{own}\" judges as \"{first}\" does, and what they find counts twice");
            let help =
                "leave one of them out, and write the weight that both should have at the other";
            let error = self.document.error(&format!("reward[{at}].verifier"), message);
            Some(Problem::new(format!("reward.{own}"), error.help(Some(help.to_owned()))))
        };
        twins.filter_map(told).collect()
    }

    /// Rewards that are normalised by their shape and once more as they become one.
    fn normalised_twice(&self) -> Option<Problem> {
        if self.plan.config.combine.normalise.is_none() {
            return None;
        }
        let is_normalised =
            |planned: &Planned| planned.shapes.iter().position(|own| own.kind == "group_zscore");
        let (at, place) = self
            .plan
            .rewards
            .iter()
            .enumerate()
            .find_map(|(at, planned)| Some((at, is_normalised(planned)?)))?;
        let message =
            "the shape `group_zscore` and [combine] normalise both normalise over the group";
        let help = "leave one of them out: normalise = \"then_sum\" does for all rewards what the shape does for one";
        Some(self.setting(at, &format!("shape[{place}].kind"), message.to_owned(), help.to_owned()))
    }

    /// A clamp that cuts what is below the mean of a group.
    fn clamped_advantages(&self) -> Option<Problem> {
        let combine = &self.plan.config.combine;
        let [low, _] = combine.clamp.filter(|[low, _]| *low >= 0.0)?;
        (combine.normalise == Normalise::ThenSum).then(|| {
            let message = format!(
                "rewards that are normalised have the mean 0, and `clamp` raises what is below {low}: every row that \
                 is worse than its group earns {low}"
            );
            let help = "leave clamp out, or write normalise = \"sum_then\", by which rewards are clamped first";
            let error = self.document.error("combine.clamp", message).help(Some(help.to_owned()));
            Problem::new("combine.clamp", error)
        })
    }

    /// A deadline within which neither programs nor models answer.
    fn deadline(&self) -> Option<Problem> {
        let deadline_ms = self.plan.config.limits.deadline_ms;
        let is_slow = |planned: &&Planned| planned.built.slow || planned.built.lane.is_awaited();
        let slow =
            self.plan.rewards.iter().find(is_slow).filter(|_| deadline_ms < DEADLINE_MS_LOW)?;
        let message = format!(
            "a row has {deadline_ms} milliseconds, and \"{}\" ({}) takes longer",
            slow.name, slow.built.spec.id
        );
        let help =
            format!("for {deadline_ms} seconds write deadline_ms = {}", deadline_ms * SECOND_MS);
        let error = self.document.error("limits.deadline_ms", message).help(Some(help));
        Some(Problem::new("limits.deadline_ms", error))
    }

    /// Judges that no reward asks, and judges that have no time.
    #[cfg(feature = "rubrics")]
    fn of_judges(&self) -> Vec<Problem> {
        let made = self.plan.judges.report().judges;
        let told = |(name, judge): (&String, &assay::rubrics::judge::JudgeConfig)| {
            let (key, message, help) = if !made.contains_key(name) {
                let help = format!(
                    "write judge = \"{name}\" in the config of a reward, or leave the judge out"
                );
                (format!("judges.{name}"), format!("no reward asks the judge \"{name}\""), help)
            } else if judge.timeout_ms < TIMEOUT_MS_LOW && judge.column.is_none() {
                let timeout_ms = judge.timeout_ms;
                let message = format!(
                    "a question has {timeout_ms} milliseconds, with all its tries: few judges answer in it"
                );
                let meant = timeout_ms * SECOND_MS;
                let help = format!("for {timeout_ms} seconds write timeout_ms = {meant}");
                (format!("judges.{name}.timeout_ms"), message, help)
            } else {
                return None;
            };
            let error = self.document.error(&key, message).help(Some(help));
            Some(Problem::new(key, error))
        };
        self.plan.config.judges.iter().filter_map(told).collect()
    }
}
