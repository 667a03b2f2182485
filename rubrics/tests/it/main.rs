//! Tests of the crate, a file a topic.

mod formats;
mod formats_answered;
mod formats_refused;
mod similarity;
mod support;
