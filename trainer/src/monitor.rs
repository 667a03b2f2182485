//! The hack monitor: it watches a training for a reward that is hacked.
//!
//! A policy that is trained on a reward finds what the reward pays, not what it was meant to pay
//! ("Defining and Characterizing Reward Hacking", Skalse et al. 2022; "Scaling Laws for Reward Model
//! Overoptimization", Gao et al. 2023). The monitor reads what a training reports after each step and
//! each evaluation, and tells it with the rollouts that show it. Its earliest signal is what the
//! advantages pay within groups: it is seen before the policy has learned it.
//!
//! It is a function of the reports alone: the same reports give the same warnings, and a monitor that
//! goes on from a [`MonitorMemory`] gives those of one that never stopped.
//!
//! ```
//! use assay_trainer::monitor::{HackMonitor, MonitorConfig};
//! use assay_trainer::training::StepReport;
//!
//! let mut monitor = HackMonitor::new(MonitorConfig::default())?;
//! let warnings = monitor.on_step(&StepReport { step: 1, ..StepReport::default() });
//! assert!(warnings.is_empty());
//! # Ok::<(), assay_trainer::TrainerError>(())
//! ```

mod figures;
mod finding;
mod health_alarms;
mod held_out;
mod known_attacks;
mod memory;
mod moments;
mod paid_alarms;
mod paid_features;
mod paid_groups;
mod phrases;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod trend_alarms;

pub use memory::MonitorMemory;

pub use crate::config::{Alarm, MonitorConfig, OnWarning};
use crate::error::TrainerError;
use crate::reports::{EvaluationReport, StepReport};
pub use crate::reports::{MonitorAction, MonitorWarning, ShownRollout};
use finding::{Finding, Look};

/// Watches a training.
#[derive(Clone, Debug)]
pub struct HackMonitor {
    config: MonitorConfig,
    memory: MonitorMemory,
}

/// What a step alarm is: a look at everything up to a step.
type StepAlarm = fn(&Look<'_>) -> Option<Finding>;

/// The alarms that look after each step.
const STEP_ALARMS: [(Alarm, StepAlarm); 12] = [
    (Alarm::RightNotPaid, paid_alarms::right_not_paid),
    (Alarm::LengthPays, paid_alarms::length_pays),
    (Alarm::PhrasePays, paid_alarms::phrase_pays),
    (Alarm::PartPays, paid_alarms::part_pays),
    (Alarm::RewardDiverges, trend_alarms::reward_diverges),
    (Alarm::PartsApart, trend_alarms::parts_apart),
    (Alarm::LengthDrift, trend_alarms::length_drift),
    (Alarm::ZeroVariance, health_alarms::zero_variance),
    (Alarm::FaultShare, health_alarms::fault_share),
    (Alarm::EntropyCollapse, health_alarms::entropy_collapse),
    (Alarm::Copies, health_alarms::copies),
    (Alarm::KnownAttack, trend_alarms::known_attack),
];

impl HackMonitor {
    /// Begins to watch.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(config: MonitorConfig) -> Result<Self, TrainerError> {
        Self::resumed(config, MonitorMemory::default())
    }

    /// Goes on watching.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn resumed(config: MonitorConfig, memory: MonitorMemory) -> Result<Self, TrainerError> {
        config.check()?;
        Ok(Self { config, memory })
    }

    /// Goes on from what a checkpoint kept.
    pub fn resume(&mut self, memory: MonitorMemory) {
        self.memory = memory;
    }

    /// What a checkpoint keeps.
    pub fn memory(&self) -> &MonitorMemory {
        &self.memory
    }

    /// The training went back to a checkpoint, and goes on from there. What was seen since is
    /// forgotten, but not that it went back: after `roll_backs_max` times a warning stops it.
    pub fn rolled_back(&mut self, to_step: u64) {
        self.memory.go_back(to_step);
    }

    /// Looks at a step, in the order of [`Alarm::ALL`]. A step without rollouts is passed over.
    pub fn on_step(&mut self, report: &StepReport) -> Vec<MonitorWarning> {
        if report.rollouts.is_empty() || self.config.alarms.is_empty() {
            return Vec::new();
        }
        self.memory.add_step(report, &self.config);
        let look = Look { config: &self.config, memory: &self.memory, report };
        let wanted = STEP_ALARMS.iter().filter(|(alarm, _)| self.config.alarms.contains(alarm));
        let found: Vec<(Alarm, Option<Finding>)> =
            wanted.map(|(alarm, look_at)| (*alarm, look_at(&look))).collect();
        let patience = self.config.patience;
        let warned = found
            .into_iter()
            .filter_map(|(alarm, finding)| self.track(alarm, report.step, finding, patience));
        warned.collect()
    }

    /// Looks at an evaluation.
    pub fn on_evaluation(&mut self, report: &EvaluationReport) -> Vec<MonitorWarning> {
        if !self.config.alarms.contains(&Alarm::HeldOutFalls) {
            return Vec::new();
        }
        self.memory.add_evaluation(report);
        let found = held_out::held_out_falls(&self.config, &self.memory, report);
        // Patience is for steps: evaluations are few, and their test counts its looks.
        self.track(Alarm::HeldOutFalls, report.step, found, 1).into_iter().collect()
    }

    /// Follows an alarm: whether what it found is told now.
    fn track(
        &mut self,
        alarm: Alarm,
        step: u64,
        finding: Option<Finding>,
        patience: u32,
    ) -> Option<MonitorWarning> {
        let track = self.memory.tracks.entry(alarm).or_default();
        let Some(finding) = finding else {
            (track.since, track.held) = (None, 0);
            return None;
        };
        let since = *track.since.get_or_insert(step);
        track.held = if finding.is_sure { track.held.saturating_add(1) } else { 0 };
        let repeat = self.config.repeat_after;
        let was_told =
            track.warned.is_some_and(|warned| repeat == 0 || step < warned.saturating_add(repeat));
        if track.held < patience || was_told {
            return None;
        }
        track.warned = Some(step);
        // What fades tells a change late by its half-life.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let lag = self.config.half_life as u64;
        let began = finding.since.unwrap_or_else(|| since.saturating_sub(lag));
        let action = self.action(alarm, began.saturating_sub(1));
        let Finding { message, rollouts, .. } = finding;
        Some(MonitorWarning { alarm, step, message, rollouts, action })
    }

    fn action(&self, alarm: Alarm, to_step: u64) -> MonitorAction {
        let acts = self.config.act_on.contains(&alarm);
        let has_gone_back = self.memory.roll_backs >= self.config.roll_backs_max;
        match self.config.on_warning {
            OnWarning::Stop if acts => MonitorAction::Stop,
            OnWarning::RollBack if acts && has_gone_back => MonitorAction::Stop,
            OnWarning::RollBack if acts => MonitorAction::RollBack { to_step },
            _ => MonitorAction::Warn,
        }
    }
}
