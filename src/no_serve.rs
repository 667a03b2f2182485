//! In place of the daemon, which this build is without: what a configuration says of it.

pub use crate::engine::{Bind, ServeConfig};
