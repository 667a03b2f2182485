//! What an estimator needs, in one line: `use crate::advantages::prelude::*`.

pub(crate) use crate::advantages::batch::{
    AdvantageValues, Advantages, Estimator, RewardBatch, StepReward,
};
pub(crate) use crate::advantages::conventions::{EPS, EpsAt, EstimatorSettings, Std, divided};
pub(crate) use crate::advantages::per_group::{report, rewrite};
pub(crate) use crate::advantages::tokens;
pub(crate) use crate::prelude::*;
pub(crate) use crate::statistics::{Moments, float};
