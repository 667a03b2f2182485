//! The crate from outside.

mod asking;
mod column;
mod http;
mod openai;
mod server;
mod set;
mod store;
mod tls;
