//! Files of the measurements of a training: JSON lines, and events that `TensorBoard` reads.
//!
//! Both are [`TrainingObserver`](super::TrainingObserver)s. They name the measurements alike, by the
//! names of TRL: a step has those of its report, an evaluation has names that begin with `eval_`.

mod json_lines;
mod names;
mod tensorboard;
mod tensorboard_wire;

pub use json_lines::JsonLines;
pub use names::evaluation_metrics;
pub use tensorboard::{EventClock, TensorBoard};
