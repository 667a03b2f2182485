//! What the author of a check needs, in one line: `use crate::prelude::*`.

pub use schemars::JsonSchema;
pub use serde::{Deserialize, Serialize};
pub use serde_json::{Value, json};
pub use smart_default::SmartDefault;

pub use crate::build_error::BuildError;
pub use crate::check::{Check, Files};
pub use crate::fault::{Fault, FaultKind};
pub use crate::group_check::GroupCheck;
pub use crate::meter::Meter;
pub use crate::pattern::Pattern;
pub use crate::sample::Sample;
pub use crate::verdict::{Evidence, Outcome, Reward, Verdict};
pub use crate::verifier::{Aspect, Group, Slip};
