//! Requests and their waiters.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};

use futures_channel::oneshot::{Receiver, Sender, channel};

use crate::error::ModelError;
use crate::score::ModelOutput;

/// The result of a request, shared by its waiters.
pub(super) type Found = Result<Arc<ModelOutput>, ModelError>;

/// A queue that is notified when a waiter is dropped.
pub(super) trait Cancellable: Send + Sync {
    /// Cancels batches without waiters.
    fn waiter_left(&self);
}

/// A text that was handed in: the future resolves to its rows, in any runtime or in none.
///
/// Dropping it cancels the request: a text without waiters is not run, and a batch without waiters is
/// cancelled. When the queue was dropped it resolves to [`ModelError::Stopped`].
#[must_use = "dropping a ticket cancels its request"]
pub struct Ticket {
    reply: Receiver<Found>,
    /// Notified of a drop, up to the answer.
    queue: Option<Weak<dyn Cancellable>>,
}

impl Ticket {
    pub(super) fn new(reply: Receiver<Found>, queue: Weak<dyn Cancellable>) -> Self {
        Self { reply, queue: Some(queue) }
    }
}

impl Future for Ticket {
    type Output = Result<ModelOutput, ModelError>;

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
            queue.waiter_left();
        }
    }
}

/// The waiters of one text.
#[derive(Default)]
pub(super) struct Waiters(Mutex<Vec<Sender<Found>>>);

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, Vec<Sender<Found>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a waiter.
    pub(super) fn join(&self) -> Receiver<Found> {
        let (reply, found) = channel();
        self.lock().push(reply);
        found
    }

    /// Whether any waiter is left.
    pub(super) fn any(&self) -> bool {
        self.lock().iter().any(|reply| !reply.is_canceled())
    }

    /// Answers all waiters.
    pub(super) fn answer(&self, found: &Found) {
        let all = std::mem::take(&mut *self.lock());
        for reply in all {
            // A waiter that was dropped has no receiver.
            let _ = reply.send(found.clone());
        }
    }
}

/// A waiter whose result is known already.
pub(super) fn answered(found: Found) -> Receiver<Found> {
    let (reply, receiver) = channel();
    let _ = reply.send(found);
    receiver
}
