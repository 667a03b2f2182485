//! The steps of a training: evaluations between them, checkpoints, warnings.

use assay::engine::CancellationToken;
use assay::trainer::TrainerError;
use assay::trainer::monitor::{MonitorAction, MonitorWarning};
use assay::trainer::policy::{Decoder, PolicyError, PolicyTokenizer};
use assay::trainer::training::checkpoint::{keep_checkpoints, newest_checkpoint_until};
use assay::trainer::training::{GrpoTrainer, TrainingError, TrainingObserver as _};

use super::super::exit::Failure;
use super::folder::{CHECKPOINTS, TrainFolder};
use super::policy::refused;
use super::recorder::Recorder;
use super::watched::Phase;

/// How a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// All steps were made.
    Complete,
    /// It was asked to stop, and can go on.
    Stopped,
    /// The monitor stopped it, and it can go on.
    Warned,
}

/// A training that is under way.
pub(super) struct Session<'a> {
    pub(super) trainer: GrpoTrainer<Decoder>,
    pub(super) tokenizer: &'a PolicyTokenizer,
    pub(super) recorder: &'a mut Recorder,
    pub(super) folder: &'a TrainFolder,
    /// Cancelled where the training is to stop after the step that it makes.
    pub(super) stop: &'a CancellationToken,
}

impl Session<'_> {
    /// Measures the policy before its first step.
    pub(super) fn start(&mut self) -> Result<(), Failure> {
        let samples = self.trainer.setup().config.evaluation.samples;
        self.evaluate(samples)?;
        self.save()
    }

    /// Makes the steps that are left. Where some are left then, there is a checkpoint.
    pub(super) fn run(&mut self) -> Result<Ended, Failure> {
        let (steps, samples, evaluate_every, save_every) = {
            let config = &self.trainer.setup().config;
            let evaluation = &config.evaluation;
            (config.steps, evaluation.samples, evaluation.every, config.checkpoint.every)
        };
        while self.step() < steps {
            if self.stop.is_cancelled() {
                return Ok(Ended::Stopped);
            }
            self.recorder.phase(Phase::Steps);
            let report = self.trainer.step().map_err(failed)?;
            self.recorder.on_step(&report)?;
            let mut action = strongest(&report.warnings);
            let (step, is_last) = (self.step(), self.step() == steps);
            if is_last || is_due(step, evaluate_every) {
                let warnings = self.evaluate(if is_last { samples } else { 0 })?;
                action = stronger(action, strongest(&warnings));
            }
            if let MonitorAction::RollBack { to_step } = action
                && self.go_back(to_step)?
            {
                continue;
            }
            let is_warned = action != MonitorAction::Warn;
            if is_last || is_warned || is_due(step, save_every) || self.stop.is_cancelled() {
                self.save()?;
            }
            if is_warned && !is_last {
                return Ok(Ended::Warned);
            }
        }
        Ok(Ended::Complete)
    }

    /// Steps that were made.
    fn step(&self) -> u64 {
        self.trainer.state().step
    }

    /// Evaluates the policy on the tasks that are held out, where there are any.
    fn evaluate(&mut self, samples: usize) -> Result<Vec<MonitorWarning>, Failure> {
        if self.trainer.setup().held_out.is_empty() {
            return Ok(Vec::new());
        }
        self.recorder.phase(Phase::Evaluation);
        let report = self.trainer.evaluate(samples).map_err(failed)?;
        self.recorder.on_evaluation(&report)?;
        Ok(report.warnings)
    }

    /// Leaves a checkpoint, and removes old ones.
    fn save(&self) -> Result<(), Failure> {
        let run = self.folder.path(CHECKPOINTS);
        let saved = self.trainer.save_checkpoint(&run, |folder| self.tokenizer.save(folder));
        saved.map_err(refused)?;
        let keep = self.trainer.setup().config.checkpoint.keep;
        keep_checkpoints(&run, keep).map_err(refused)
    }

    /// Goes back to the newest checkpoint that is not after a step; `false` where there is none.
    fn go_back(&mut self, to_step: u64) -> Result<bool, Failure> {
        let run = self.folder.path(CHECKPOINTS);
        let Some(kept) = newest_checkpoint_until(&run, to_step).map_err(refused)? else {
            return Ok(false);
        };
        self.trainer.roll_back(&kept).map_err(refused)?;
        self.recorder.go_back(self.folder, self.step())?;
        // What goes on from here knows that it went back.
        self.save()?;
        Ok(true)
    }
}

/// Whether something that is done every so many steps is due.
fn is_due(step: u64, every: u64) -> bool {
    every > 0 && step.is_multiple_of(every)
}

/// What is to be done about several warnings.
fn strongest(warnings: &[MonitorWarning]) -> MonitorAction {
    warnings.iter().map(|warning| warning.action).fold(MonitorAction::Warn, stronger)
}

/// To stop is more than to go back, which is more the further it goes.
fn stronger(one: MonitorAction, other: MonitorAction) -> MonitorAction {
    use MonitorAction::{RollBack, Stop, Warn};
    match (one, other) {
        (Stop, _) | (_, Stop) => Stop,
        (RollBack { to_step: one }, RollBack { to_step: other }) => {
            RollBack { to_step: one.min(other) }
        }
        (back @ RollBack { .. }, Warn) | (Warn, back) => back,
    }
}

/// Why a training ended early: a setting or a file is the user's, anything else failed outside.
pub(super) fn failed(error: TrainingError) -> Failure {
    match error {
        TrainingError::Numbers(TrainerError::Setting(_))
        | TrainingError::Policy(PolicyError::Invalid { .. }) => Failure::usage(error.to_string()),
        other => anyhow::Error::from(other).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_due_every_so_many_steps() {
        assert_eq!([0, 1, 2, 3].map(|every| is_due(6, every)), [false, true, true, true]);
        assert!(!is_due(7, 2));
    }

    #[test]
    fn the_strongest_warning_decides() {
        use MonitorAction::{RollBack, Stop, Warn};
        let all = [Warn, RollBack { to_step: 5 }, RollBack { to_step: 3 }, Warn];
        assert_eq!(all.into_iter().fold(Warn, stronger), RollBack { to_step: 3 });
        assert_eq!(all.into_iter().fold(Stop, stronger), Stop);
        assert_eq!((strongest(&[]), stronger(Warn, Stop)), (Warn, Stop));
    }

    #[test]
    fn a_setting_is_the_users_and_a_fault_is_not() {
        let setting = TrainingError::Numbers(TrainerError::setting("epochs", "0"));
        assert!(matches!(failed(setting), Failure::Usage(..)));
        let fault = TrainingError::Rewards { step: 1, message: "gone".into() };
        assert!(matches!(failed(fault), Failure::Outside(..)));
    }
}
