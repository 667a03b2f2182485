//! Limits for the heads of requests: a connection may idle much longer than a client may take to send a
//! head once it began.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::ahead::Watch;

/// Whether a connection waits for a head, or is in one. Its service says when.
#[derive(Clone)]
pub(crate) struct Phase(Arc<AtomicBool>);

impl Phase {
    /// A head is there: its request is under way.
    pub(crate) fn head_is_read(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// The request is answered: what comes is another head.
    fn head_is_next(&self) {
        self.0.store(true, Ordering::Relaxed);
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

/// How long a head may take.
#[derive(Clone, Copy)]
pub(crate) struct HeadTimes {
    /// Until one begins.
    pub(crate) idle: Duration,
    /// From its first byte on.
    pub(crate) head: Duration,
}

/// A stream of which a head that comes too late is an error.
pub(crate) struct HeadLimit<S> {
    stream: S,
    times: HeadTimes,
    phase: Phase,
    /// A head began.
    has_begun: bool,
    /// Since when a head, or the rest of one, is waited for.
    since: Option<Instant>,
    /// One for the whole connection.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> HeadLimit<S> {
    pub(crate) fn new(stream: S, times: HeadTimes) -> (Self, Phase) {
        let phase = Phase(Arc::new(AtomicBool::new(true)));
        let limit = Self {
            stream,
            times,
            phase: phase.clone(),
            has_begun: false,
            since: None,
            timer: None,
        };
        (limit, phase)
    }

    /// Ready once the moment is past. The timer is set again when it fires, not for each head: one that
    /// fires too early costs a look, and to move it costs more than to read a head.
    fn poll_until(&mut self, end: Instant, context: &mut Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if timer.deadline() > end {
            timer.as_mut().reset(end);
        }
        while timer.as_mut().poll(context).is_ready() {
            if timer.deadline() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end);
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if !self.phase.0.load(Ordering::Relaxed) {
            (self.has_begun, self.since) = (false, None);
            return read;
        }
        if !self.has_begun && buffer.filled().len() > before {
            (self.has_begun, self.since) = (true, None);
        }
        if read.is_pending() {
            let time = if self.has_begun { self.times.head } else { self.times.idle };
            let since = *self.since.get_or_insert_with(Instant::now);
            if self.poll_until(since + time, context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadLimit<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// A stream whose heads must end within 5 ms, and begin within `idle`.
    fn limited(
        idle: Duration,
    ) -> (tokio::io::DuplexStream, HeadLimit<tokio::io::DuplexStream>, Phase) {
        let (client, server) = tokio::io::duplex(64);
        let times = HeadTimes { idle, head: Duration::from_millis(5) };
        let (stream, phase) = HeadLimit::new(server, times);
        (client, stream, phase)
    }

    /// Whether a read is without an end within 30 ms.
    async fn waits(stream: &mut HeadLimit<tokio::io::DuplexStream>) -> bool {
        let read = stream.read_u8();
        tokio::time::timeout(Duration::from_millis(30), read).await.is_err()
    }

    #[tokio::test]
    async fn a_head_that_began_must_end_and_idling_may_last_longer() {
        let (mut client, mut stream, phase) = limited(Duration::from_mins(10));
        let mut buffer = [0; 8];
        assert!(waits(&mut stream).await);
        client.write_all(b"GET").await.unwrap();
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 3);
        let late = stream.read(&mut buffer).await.unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        // A body has limits of its own.
        phase.head_is_read();
        assert!(waits(&mut stream).await);
        phase.head_is_next();
        assert!(waits(&mut stream).await);
    }

    #[tokio::test]
    async fn each_wait_for_a_head_has_the_whole_time() {
        let idle = Duration::from_millis(50);
        let (mut client, mut stream, phase) = limited(idle);
        // The timer is set for this wait.
        let now = tokio::time::timeout(Duration::ZERO, stream.read_u8()).await;
        assert!(now.is_err());
        client.write_all(b"GET").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 3);
        phase.head_is_read();
        assert!(waits(&mut stream).await);
        phase.head_is_next();
        let start = Instant::now();
        let late = stream.read_u8().await.unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert!(start.elapsed() >= idle);
    }
}
