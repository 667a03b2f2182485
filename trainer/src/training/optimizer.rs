//! `AdamW`: how weights follow their gradients.
//!
//! The numbers are those of `PyTorch`'s `AdamW` and `clip_grad_norm_` with a learning rate schedule of
//! transformers. Everything is done element by element, or added up in a fixed order: the number of
//! threads changes no bit.

mod adamw;
mod clip;
mod schedule;

pub use adamw::{AdamW, AdamWState, UpdateReport};
pub use clip::clip;
pub use schedule::learning_rate;
