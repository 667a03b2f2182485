//! What the author of a shape needs, in one line: `use crate::shape::prelude::*`.

pub(crate) use super::settings::{at_least, positive, unit};
pub(crate) use super::{Shape, ShapeMember, Shaped};
pub(crate) use crate::prelude::*;
pub(crate) use crate::schedule::Schedule;
pub(crate) use crate::training_state::TrainingState;
