//! Checkpoints: what a training needs to go on as if it had never stopped.
//!
//! A checkpoint is the folder `checkpoint-STEP` in the folder of a run, as transformers names it. It
//! has the weights that are trained (`model.safetensors`), the moments of the optimiser
//! (`optimizer.safetensors`), the weights of a reference policy where there is one
//! (`reference.safetensors`) and all that is small (`state.json`), with the SHA-256 of the others. A
//! folder is renamed to its name when all of it is on the disk.

mod folders;
mod tensors;
mod trainer;
mod whole;

pub use folders::{
    keep_checkpoints, newest_checkpoint, newest_checkpoint_until, remove_checkpoints_after,
    write_folder,
};
pub use tensors::{read_parameters, write_parameters};
pub use whole::{Checkpoint, CheckpointTarget};
