//! Trainings against TRL's own trainer: 50 updates of a small decoder on the completions that TRL
//! sampled, from the same weights. How they were recorded is in `benches/parity/README.md`.

#![allow(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    reason = "a test stops at what it does not expect"
)]

mod differences;
mod grpo_loop;
mod recorded;
mod updates;
