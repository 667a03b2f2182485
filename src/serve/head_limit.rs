//! How long a connection may wait for its client: for a head, which may begin much later than it may take
//! once it began, and for an answer to be read.
//!
//! The stream notes what happens, and a [`Timer`] beside the connection looks at it. A server does not read
//! all the time, so that a limit inside of reads would not hold where nobody reads.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::ahead::Watch;

/// Where a connection is. Its stream and its service say so.
#[derive(Clone)]
pub(crate) struct Phase(Arc<Mutex<State>>);

struct State {
    /// A head is next: no request is under way.
    is_next: bool,
    /// It began.
    has_begun: bool,
    /// Since when it, or the rest of it, is waited for.
    since: Option<Instant>,
    /// Since when an answer is not read, and nothing is sent either.
    unread: Option<Instant>,
}

impl Phase {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A head is there: its request is under way.
    pub(crate) fn head_is_read(&self) {
        let mut state = self.state();
        (state.is_next, state.has_begun, state.since) = (false, false, None);
    }

    /// The request is answered: what comes is another head.
    fn head_is_next(&self) {
        let mut state = self.state();
        (state.is_next, state.has_begun, state.since) = (true, false, None);
    }

    /// Bytes came. A client that sends is there: it may read the answer later.
    fn came(&self) {
        let mut state = self.state();
        if state.is_next && !state.has_begun {
            // The timer, which is looked at next, sets the moment: most heads are whole by then.
            (state.has_begun, state.since) = (true, None);
        }
        if state.unread.is_some() {
            state.unread = Some(Instant::now());
        }
    }

    /// Bytes of an answer were taken, or were not.
    fn wrote<T>(&self, written: &Poll<T>) {
        let mut state = self.state();
        if written.is_pending() {
            state.unread.get_or_insert_with(Instant::now);
        } else if state.unread.take().is_some() && !state.has_begun {
            // The answer is still being read: the wait for the next head begins after it.
            state.since = None;
        }
    }

    /// The body of an answer. A head is next once all of it is written: until then what comes may be
    /// more of the body of the request.
    pub(crate) fn until_written<S>(self, body: Body, watch: Watch<S>) -> Answering<S> {
        Answering { body, phase: self, watch }
    }
}

/// The body of an answer that is under way.
pub(crate) struct Answering<S> {
    body: Body,
    phase: Phase,
    watch: Watch<S>,
}

impl<S> Drop for Answering<S> {
    fn drop(&mut self) {
        self.phase.head_is_next();
    }
}

impl<S: AsyncRead + Unpin> HttpBody for Answering<S> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() && self.watch.poll_left(context).is_ready() {
            // Nobody sends or reads how it would go on. Whoever still reads is not told that it is whole.
            let left = io::Error::from(io::ErrorKind::UnexpectedEof);
            return Poll::Ready(Some(Err(axum::Error::new(left))));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// How long a client may take.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// Until a head begins.
    pub(crate) idle: Duration,
    /// From its first byte on.
    pub(crate) head: Duration,
    /// To read of an answer, or to send more.
    pub(crate) unread: Duration,
}

/// What took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// A head.
    Head,
    /// That an answer is read.
    Unread,
}

/// Sees that a client takes too long.
pub(crate) struct Timer {
    phase: Phase,
    times: Times,
    /// One for the whole connection.
    sleep: Option<Pin<Box<Sleep>>>,
    /// Who is woken when it fires.
    waker: Option<Waker>,
}

impl Timer {
    /// Ready once the client takes too long. It is polled by the task of the connection, after it.
    pub(crate) fn poll_late(&mut self, context: &mut Context<'_>) -> Poll<Late> {
        let (end, late) = {
            let mut state = self.phase.state();
            let time = if state.has_begun { self.times.head } else { self.times.idle };
            match state.unread {
                Some(since) => (since + self.times.unread, Late::Unread),
                None if state.is_next => {
                    (*state.since.get_or_insert_with(Instant::now) + time, Late::Head)
                }
                None => return Poll::Pending,
            }
        };
        self.poll_until(end, context).map(|()| late)
    }

    /// Ready once the moment is past. The timer is set again when it fires, not for each head: one that
    /// fires too early costs a look, and to move it costs more than to read a head.
    fn poll_until(&mut self, end: Instant, context: &mut Context<'_>) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(end)));
        let is_set = self.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker()));
        if is_set && sleep.deadline() <= end && !sleep.is_elapsed() {
            return Poll::Pending;
        }
        self.waker = Some(context.waker().clone());
        if sleep.deadline() > end {
            sleep.as_mut().reset(end);
        }
        while sleep.as_mut().poll(context).is_ready() {
            if sleep.deadline() >= end {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(end);
        }
        Poll::Pending
    }
}

/// A stream that notes what its client does.
pub(crate) struct Noted<S> {
    stream: S,
    phase: Phase,
}

impl<S> Noted<S> {
    pub(crate) fn new(stream: S, times: Times) -> (Self, Timer) {
        let state = State { is_next: true, has_begun: false, since: None, unread: None };
        let phase = Phase(Arc::new(Mutex::new(state)));
        let limit = Timer { phase: phase.clone(), times, sleep: None, waker: None };
        (Self { stream, phase }, limit)
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase.clone()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Noted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.phase.came();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Noted<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.phase.wrote(&written);
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.phase.wrote(&flushed);
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.phase.wrote(&shut);
        shut
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.phase.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};

    use super::*;

    const SOON: Duration = Duration::from_millis(5);
    const LONG: Duration = Duration::from_mins(10);

    /// A stream whose heads must begin within `idle`, and its timer.
    fn limited(idle: Duration, head: Duration) -> (DuplexStream, Noted<DuplexStream>, Timer) {
        let (client, server) = tokio::io::duplex(64);
        let (stream, timer) = Noted::new(server, Times { idle, head, unread: SOON });
        (client, stream, timer)
    }

    /// What comes to be too late within 30 ms, while nobody reads.
    async fn late(timer: &mut Timer) -> Option<Late> {
        let late = poll_fn(|context| timer.poll_late(context));
        tokio::time::timeout(Duration::from_millis(30), late).await.ok()
    }

    #[tokio::test]
    async fn a_head_that_began_must_end_and_idling_may_last_longer() {
        let (mut client, mut stream, mut timer) = limited(LONG, SOON);
        let phase = stream.phase();
        assert_eq!(late(&mut timer).await, None);
        client.write_all(b"GET").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
        assert_eq!(late(&mut timer).await, Some(Late::Head));
        // A body has limits of its own.
        phase.head_is_read();
        assert_eq!(late(&mut timer).await, None);
        phase.head_is_next();
        assert_eq!(late(&mut timer).await, None);
    }

    #[tokio::test]
    async fn each_wait_for_a_head_has_the_whole_time() {
        let idle = Duration::from_millis(50);
        let (_client, stream, mut timer) = limited(idle, SOON);
        let phase = stream.phase();
        // The timer is set for this wait.
        assert_eq!(late(&mut timer).await, None);
        phase.head_is_read();
        assert_eq!(late(&mut timer).await, None);
        phase.head_is_next();
        let start = Instant::now();
        assert_eq!(poll_fn(|context| timer.poll_late(context)).await, Late::Head);
        assert!(start.elapsed() >= idle);
    }

    #[tokio::test]
    async fn an_answer_may_wait_while_its_client_sends() {
        let (mut client, mut stream, mut timer) = limited(LONG, LONG);
        stream.phase().head_is_read();
        stream.write_all(&[0; 64]).await.unwrap();
        assert_eq!(late(&mut timer).await, None);
        let full = tokio::time::timeout(Duration::ZERO, stream.write_all(&[0; 1])).await;
        assert!(full.is_err());
        assert_eq!(late(&mut timer).await, Some(Late::Unread));
        client.write_all(b"more").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 4);
        assert!(poll_fn(|context| Poll::Ready(timer.poll_late(context))).await.is_pending());
        assert_eq!(client.read(&mut [0; 64]).await.unwrap(), 64);
        stream.write_all(&[0; 1]).await.unwrap();
        assert_eq!(late(&mut timer).await, None);
    }
}
