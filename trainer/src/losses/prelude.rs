//! What an objective needs, in one line: `use crate::losses::prelude::*`.

pub(crate) use crate::losses::objective::Objective;
pub(crate) use crate::losses::ratio::{RatioSettings, RatioTerm};
pub(crate) use crate::losses::terms::{Term, Terms};
pub(crate) use crate::losses::tokens::{LogpSource, LossToken, TrainedTokens, at, put};
pub(crate) use crate::prelude::*;
