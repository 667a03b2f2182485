//! Who waits for a text.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_channel::oneshot::{Receiver, Sender, channel};

use super::Shared;
use crate::error::ModelError;
use crate::score::Rows;

/// What came of a text, for everybody who waits for it.
pub(super) type Found = Result<Arc<Rows>, ModelError>;

/// A text that was handed in: the future resolves to its rows, in any runtime or in none.
///
/// Dropping it gives the text up. A text that nobody else waits for is not run, and a batch in which
/// nobody is interested any more is stopped. When the queue is gone it resolves to
/// [`ModelError::Stopped`].
#[must_use = "a text whose ticket is dropped is given up"]
pub struct Ticket {
    reply: Receiver<Found>,
    /// The queue, up to the answer.
    queue: Option<Weak<Shared>>,
}

impl Ticket {
    pub(super) fn new(reply: Receiver<Found>, queue: Weak<Shared>) -> Self {
        Self { reply, queue: Some(queue) }
    }
}

impl Future for Ticket {
    type Output = Result<Rows, ModelError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.reply).poll(context).map(|found| {
            self.queue = None;
            found.unwrap_or(Err(ModelError::Stopped)).map(Arc::unwrap_or_clone)
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.reply.close();
        if let Some(queue) = self.queue.take().and_then(|queue| queue.upgrade()) {
            queue.stop_what_nobody_wants();
        }
    }
}

/// All who wait for one text.
#[derive(Default)]
pub(super) struct Waiters(Mutex<Vec<Sender<Found>>>);

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, Vec<Sender<Found>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more.
    pub(super) fn join(&self) -> Receiver<Found> {
        let (reply, found) = channel();
        self.lock().push(reply);
        found
    }

    /// Whether anybody is left.
    pub(super) fn any(&self) -> bool {
        self.lock().iter().any(|reply| !reply.is_canceled())
    }

    /// Tells everybody.
    pub(super) fn answer(&self, found: &Found) {
        let all = std::mem::take(&mut *self.lock());
        for reply in all {
            // Who left does not want it.
            let _ = reply.send(found.clone());
        }
    }
}

/// What waits for a text that is known already.
pub(super) fn answered(found: Found) -> Receiver<Found> {
    let (reply, receiver) = channel();
    let _ = reply.send(found);
    receiver
}
