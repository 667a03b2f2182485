//! What the rooms share, in one line: `use crate::prelude::*`.

pub(crate) use schemars::JsonSchema;
pub(crate) use serde::{Deserialize, Serialize};
pub(crate) use smart_default::SmartDefault;

pub(crate) use crate::error::TrainerError;
pub(crate) use crate::groups::Groups;
pub(crate) use crate::ragged::Ragged;
pub(crate) use crate::ranges::{above, within};
