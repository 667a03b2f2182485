//! The checkpoints of a trainer.

use std::path::{Path, PathBuf};

use super::whole::{Checkpoint, CheckpointTarget};
use crate::policy::{PolicyError, PolicyModel};
use crate::training::grpo::GrpoTrainer;

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
        let checkpoint = Checkpoint {
            seed: self.setup.config.seed,
            state: &self.state,
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
        Ok(())
    }
}
