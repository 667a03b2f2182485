//! The clock, the threads and the tasks of the daemon: the one file of it that asks the machine for any.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// This moment.
#[expect(
    clippy::disallowed_methods,
    reason = "the daemon keeps deadlines, and reads the clock here"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Runs work of a request that ends, at the latest, when the handle is dropped.
#[expect(clippy::disallowed_methods, reason = "the handle ends it")]
pub(crate) fn spawn_owned<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> AbortOnDropHandle<T> {
    AbortOnDropHandle::new(tokio::spawn(work))
}

/// The threads that all requests share, for what takes long.
#[derive(Clone)]
pub(crate) struct Workers(Handle);

impl Workers {
    /// Those of the runtime that this is called in.
    pub(crate) fn current() -> Self {
        Self(Handle::current())
    }

    /// Runs work on them. It ends, at the latest, when this future is dropped; `None` where it panicked.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        AbortOnDropHandle::new(self.0.spawn(work)).await.ok()
    }
}

/// A thread for each core, which serves the connections that are given to it and no others: nobody wakes
/// another thread for a request. What is done on it keeps its other connections waiting.
pub(crate) struct ConnectionThreads {
    threads: Vec<ConnectionThread>,
    end: CancellationToken,
}

struct ConnectionThread {
    runtime: Handle,
    /// Each of its connections holds it too.
    open: Arc<()>,
}

impl ConnectionThreads {
    pub(crate) fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let end = CancellationToken::new();
        let threads = (0..count).map(|_| ConnectionThread::start(end.clone()));
        Ok(Self { threads: threads.collect::<io::Result<_>>()?, end })
    }

    /// Runs a connection on the thread that has the fewest. It ends with its client, or once the daemon
    /// drains.
    pub(crate) fn spawn(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let fewest = self.threads.iter().min_by_key(|thread| Arc::strong_count(&thread.open));
        if let Some(thread) = fewest {
            let open = Arc::clone(&thread.open);
            thread.runtime.spawn(async move {
                connection.await;
                drop(open);
            });
        }
    }
}

impl Drop for ConnectionThreads {
    fn drop(&mut self) {
        self.end.cancel();
    }
}

impl ConnectionThread {
    fn start(end: CancellationToken) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let run = move || {
            runtime.block_on(end.cancelled());
            // What blocks is not waited for.
            runtime.shutdown_background();
        };
        thread::Builder::new().name("assay-connect".to_owned()).spawn(run)?;
        Ok(Self { runtime: handle, open: Arc::new(()) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::future::pending;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn connections_spread_over_the_threads_and_end_with_them() {
        let threads = ConnectionThreads::start().unwrap();
        let count = threads.threads.len();
        let (sender, receiver) = mpsc::channel();
        for _ in 0..3 * count {
            let sender = sender.clone();
            threads.spawn(async move {
                sender.send(thread::current().id()).unwrap();
                pending::<()>().await;
                drop(sender);
            });
        }
        drop(sender);
        let mut connections = HashMap::new();
        for id in receiver.iter().take(3 * count) {
            *connections.entry(id).or_insert(0) += 1;
        }
        assert_eq!(connections.values().copied().collect::<Vec<_>>(), vec![3; count]);
        drop(threads);
        // Each held a sender until it was dropped.
        assert!(receiver.recv().is_err());
    }

    #[tokio::test]
    async fn work_ends_when_nobody_waits_for_it() {
        let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
        let work = Workers::current();
        assert_eq!(work.run(async { 3 }).await, Some(3));
        let endless = async move {
            pending::<()>().await;
            drop(sender);
        };
        let waiting = tokio::time::timeout(std::time::Duration::from_millis(1), work.run(endless));
        assert!(waiting.await.is_err());
        assert!(receiver.await.is_err());
        assert_eq!(work.run(async { panic!("as a handler might") }).await, None::<()>);
    }
}
