//! The clock and the tasks of the daemon: the one file of it that asks the machine for either.

use std::future::Future;
use std::time::Instant;

use tokio_util::task::AbortOnDropHandle;

/// This moment.
#[expect(
    clippy::disallowed_methods,
    reason = "the daemon keeps deadlines, and reads the clock here"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Runs a connection. It ends with its client, or once the daemon drains.
#[expect(clippy::disallowed_methods, reason = "the drain waits for connections")]
pub(crate) fn spawn_connection(connection: impl Future<Output = ()> + Send + 'static) {
    tokio::spawn(connection);
}

/// Runs work of a request that ends, at the latest, when the handle is dropped.
#[expect(clippy::disallowed_methods, reason = "the handle ends it")]
pub(crate) fn spawn_owned(
    work: impl Future<Output = ()> + Send + 'static,
) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(work))
}
