//! The daemon: the engine over HTTP, by a protocol of its own and by those that trainers speak already.
//!
//! A request goes through the gate (id, token, counters), is read by the handler of its path, waits for
//! permits of the one pool (`admission`), and is judged by the engine of a profile. Nothing else queues.
//! Everything that a request is refused for is an `ApiError`, which has one form.

#[cfg(feature = "serve")]
mod admission;
#[cfg(feature = "serve")]
mod ahead;
#[cfg(feature = "serve")]
mod app;
#[cfg(feature = "serve")]
mod deadline;
#[cfg(feature = "serve")]
mod dialect;
#[cfg(feature = "serve")]
mod durations;
#[cfg(feature = "serve")]
mod error;
#[cfg(feature = "serve")]
mod gate;
#[cfg(feature = "serve")]
mod head_limit;
#[cfg(feature = "serve")]
mod inline;
#[cfg(feature = "serve")]
#[cfg(feature = "serve")]
mod listen;
#[cfg(feature = "serve")]
mod metrics;
#[cfg(all(feature = "serve", not(feature = "otel")))]
mod no_trace;
#[cfg(feature = "serve")]
mod openapi;
#[cfg(feature = "serve")]
mod payload;
#[cfg(feature = "serve")]
mod profiles;
#[cfg(feature = "serve")]
mod protocols;
#[cfg(feature = "serve")]
mod routes;
#[cfg(feature = "serve")]
mod runtime;
#[cfg(feature = "serve")]
mod server;
#[cfg(feature = "serve")]
mod shared;
#[cfg(feature = "serve")]
mod striped;
#[cfg(feature = "serve")]
mod tokens;
#[cfg(feature = "otel")]
mod trace;

#[cfg(all(feature = "serve", not(feature = "otel")))]
use no_trace as trace;

pub use crate::engine::{Bind, ServeConfig};
#[cfg(feature = "serve")]
pub use server::{LoadError, Loaded, Server};
#[cfg(feature = "serve")]
pub use tokens::AccessTokens;
