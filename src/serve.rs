//! The daemon: the engine over HTTP, by a protocol of its own and by those that trainers speak already.
//!
//! A request goes through the gate (id, token, counters), is read by the handler of its path, waits for
//! permits of the one pool (`admission`), and is judged by the engine of a profile. Nothing else queues.
//! Everything that a request is refused for is an `ApiError`, which has one form.

mod admission;
mod ahead;
mod app;
mod deadline;
mod dialect;
mod durations;
mod error;
mod gate;
mod head_limit;
mod inline;
mod listen;
mod metrics;
#[cfg(not(feature = "otel"))]
mod no_trace;
mod openapi;
mod payload;
mod prelude;
mod profiles;
mod protocols;
mod routes;
mod runtime;
mod server;
mod shared;
mod striped;
mod tokens;
#[cfg(feature = "otel")]
mod trace;

#[cfg(not(feature = "otel"))]
use no_trace as trace;

pub use crate::engine::{Bind, ServeConfig};
pub use server::{LoadError, Loaded, Server};
pub use tokens::AccessTokens;
