//! Whose thread this is.

/// Whether this thread is one of the engine, or works beside it.
pub(super) fn is_engine_thread() -> bool {
    std::thread::current().name().is_some_and(|name| name.starts_with("assay-"))
}
