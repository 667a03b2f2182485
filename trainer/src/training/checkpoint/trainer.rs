//! The checkpoints of a trainer.

use std::path::{Path, PathBuf};

use super::folders::remove_checkpoints_after;
use super::whole::{Checkpoint, CheckpointTarget};
use crate::policy::{PolicyError, PolicyModel};
use crate::training::grpo::GrpoTrainer;
use crate::training::state::TrainerState;

impl<P: PolicyModel> GrpoTrainer<P> {
    /// Writes `checkpoint-STEP` into the folder of a run, with what `add` writes beside it, such as
    /// the configuration and the tokenizer of the model. Returns the folder.
    ///
    /// # Errors
    /// Files that cannot be written, and those of `add`. No checkpoint is to be seen then.
    pub fn save_checkpoint(
        &self,
        run: &Path,
        add: impl FnOnce(&Path) -> Result<(), PolicyError>,
    ) -> Result<PathBuf, PolicyError> {
        let state = TrainerState { monitor: self.monitor.memory().clone(), ..self.state.clone() };
        let checkpoint = Checkpoint {
            seed: self.setup.config.seed,
            state: &state,
            parameters: self.policy.parameters(),
            reference: self.reference.as_ref(),
            optimizer: self.optimizer.state(),
        };
        checkpoint.write(run, add)
    }

    /// Goes on from a checkpoint of a trainer with the same setup, as if it had never stopped.
    ///
    /// # Errors
    /// A file that cannot be read, is torn or changed, or is of another training; it says which, what
    /// it has and what was expected. The trainer is as it was then.
    pub fn resume_from_checkpoint(&mut self, folder: &Path) -> Result<(), PolicyError> {
        let target = CheckpointTarget {
            seed: self.setup.config.seed,
            parameters: self.policy.parameters_mut(),
            reference: self.reference.as_mut(),
            optimizer: &mut self.optimizer,
        };
        self.state = target.read(folder)?;
        self.monitor.resume(std::mem::take(&mut self.state.monitor));
        Ok(())
    }

    /// Goes back to a checkpoint of this training, and on from there by another way: everything random
    /// is drawn anew. The monitor remembers that it went back. Later checkpoints beside that one are
    /// removed.
    ///
    /// # Errors
    /// As for [`Self::resume_from_checkpoint`]; a later checkpoint that cannot be removed, after the
    /// trainer went back.
    pub fn roll_back(&mut self, folder: &Path) -> Result<(), PolicyError> {
        let (mut monitor, times) = (self.monitor.clone(), self.state.roll_backs + 1);
        self.resume_from_checkpoint(folder)?;
        monitor.rolled_back(self.state.step);
        self.monitor = monitor;
        self.state.roll_backs = times;
        folder.parent().map_or(Ok(()), |run| remove_checkpoints_after(run, self.state.step))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::config::TrainConfig;
    use crate::policy::PolicyModel as _;
    use crate::selection;
    use crate::training::testing::{Bigrams, setup, setup_of};
    use crate::training::{GrpoTrainer, TrainingSetup};

    const SETTINGS: &str = "seed = 5\nepochs = 2\nminibatches = 2\n\
        generation = { max_new_tokens = 3 }\noptimizer = { learning_rate = 0.1 }\n";

    /// Every part that keeps something: a reference policy, a selection that holds groups, an
    /// estimator with a memory.
    fn everything() -> TrainingSetup {
        let table = format!("model = {{}}\ntasks = []\nsteps = 8\ngroups = 9\n{SETTINGS}");
        let config: TrainConfig = toml::from_str(&table).unwrap();
        let loss = "preset = 'trl-1.16'\nkl = { coefficient = 0.01 }\n";
        let mut setup = setup_of(config, "kind = 'dcpo'\n", loss);
        let table = "kind = 'dynamic'\nbatch_groups = 9\nrefill = 'missing'\n";
        setup.selector = Some(selection::build(toml::from_str(table).unwrap()).unwrap());
        setup
    }

    fn steps(trainer: &mut GrpoTrainer<Bigrams>, count: usize) {
        for _ in 0..count {
            trainer.step().unwrap();
        }
    }

    fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| {
                (path.file_name().unwrap().to_string_lossy().into(), fs::read(path).unwrap())
            })
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_training_that_goes_on_is_the_one_that_never_stopped() {
        let place = tempfile::tempdir().unwrap();
        let (whole, halves) = (place.path().join("whole"), place.path().join("halves"));
        let mut uninterrupted = GrpoTrainer::new(Bigrams::new(), everything()).unwrap();
        steps(&mut uninterrupted, 8);
        let whole = uninterrupted.save_checkpoint(&whole, |_| Ok(())).unwrap();
        let mut first = GrpoTrainer::new(Bigrams::new(), everything()).unwrap();
        steps(&mut first, 3);
        let half = first.save_checkpoint(&halves, |_| Ok(())).unwrap();
        let mut second = GrpoTrainer::new(Bigrams::new(), everything()).unwrap();
        second.resume_from_checkpoint(&half).unwrap();
        steps(&mut second, 5);
        let resumed = second.save_checkpoint(&halves, |_| Ok(())).unwrap();
        assert_eq!(files(&whole), files(&resumed));
        assert_eq!(files(&whole).len(), 4, "weights, reference, moments, state");
    }

    #[test]
    fn a_training_that_went_back_goes_another_way() {
        let place = tempfile::tempdir().unwrap();
        let mut trainer = GrpoTrainer::new(Bigrams::new(), setup(SETTINGS)).unwrap();
        steps(&mut trainer, 2);
        let kept = trainer.save_checkpoint(place.path(), |_| Ok(())).unwrap();
        let before = trainer.policy().parameters().clone();
        steps(&mut trainer, 2);
        let later = trainer.save_checkpoint(place.path(), |_| Ok(())).unwrap();
        let after = trainer.policy().parameters().clone();
        trainer.roll_back(&kept).unwrap();
        assert!(kept.exists() && !later.exists());
        assert_eq!(trainer.policy().parameters(), &before);
        assert_eq!((trainer.state().step, trainer.state().roll_backs), (2, 1));
        steps(&mut trainer, 2);
        assert_ne!(trainer.policy().parameters(), &after);
    }

    #[test]
    fn a_checkpoint_of_another_training_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let trainer = GrpoTrainer::new(Bigrams::new(), setup(SETTINGS)).unwrap();
        let kept = trainer.save_checkpoint(place.path(), |_| Ok(())).unwrap();
        let mut other = GrpoTrainer::new(Bigrams::new(), setup("seed = 6\n")).unwrap();
        assert!(other.resume_from_checkpoint(&kept).unwrap_err().to_string().contains("seed"));
        assert!(other.resume_from_checkpoint(&place.path().join("checkpoint-9")).is_err());
    }
}
