//! `POST /v1/verify` with rows a line: a verdict line for each, in their order, while rows still come.
//!
//! Reading goes on while answers wait to be read, up to a limit: a client that sends all of its rows
//! before it reads is served too. Where many lines wait they are kept compressed, which makes them a
//! tenth of their size.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::request::Parts;
use axum::response::IntoResponse as _;
use futures_util::StreamExt as _;
use tokio::sync::{Notify, mpsc};

use super::super::payload::check_encoding;
use super::super::runtime::spawn_owned;
use super::super::shared::OpenRequest;
use super::query::VerifyQuery;
use crate::data::BOM;
use crate::engine::{GroupOrder, Rows, verdict_line};
use crate::serve::prelude::*;

/// The most rows that are judged at once.
const CHUNK_ROWS: usize = 256;
/// The most bytes of rows that are judged at once, unless one row has more.
const CHUNK_BYTES: usize = 1 << 20;
/// The most bytes that lines which wait to be read take.
const UNREAD_BYTES_MAX: usize = 32 << 20;
/// How many bytes of them wait before the next ones are compressed.
const PLAIN_BYTES_MAX: usize = 1 << 20;
/// The fastest that there is.
const COMPRESSION_LEVEL: i32 = 1;

pub(super) async fn verify(
    mut asked: Asked,
    parts: &Parts,
    body: Body,
) -> Result<Response, ApiError> {
    check_encoding(&parts.headers)?;
    let query = VerifyQuery::of(&parts.uri)?;
    asked.shorten(query.deadline_ms);
    let profile = asked.profile(query.profile.as_deref())?;
    // The first permits decide whether the request is refused.
    drop(asked.enter(1).await?);
    let (sender, receiver) = mpsc::unbounded_channel();
    let unread = Arc::new(Unread::default());
    let config = &asked.shared.config;
    let lines = Lines {
        body: body.into_data_stream(),
        time: Duration::from_millis(config.body_timeout_ms),
        line_bytes_max: config.body_bytes_max,
        partial: Vec::new(),
        ready: VecDeque::new(),
        ready_bytes: 0,
        is_fresh: true,
        is_done: false,
        is_broken: false,
    };
    let open = OpenRequest::new(Arc::clone(&asked.shared));
    let stream = Stream {
        asked,
        profile,
        step: query.step.unwrap_or_default(),
        lines,
        first: 0,
        held: Rows::default(),
        order: GroupOrder::default(),
    };
    let judging = spawn_owned(judge(stream, sender, Arc::clone(&unread), open));
    // The work ends with the body of the answer: a client that leaves drops it.
    let state = (receiver, unread, judging);
    let body = futures_util::stream::unfold(state, |(mut receiver, unread, judging)| async move {
        let kept: io::Result<Kept> = receiver.recv().await?;
        unread.take(kept.as_ref().map_or(0, Kept::size));
        Some((kept.and_then(Kept::lines), (receiver, unread, judging)))
    });
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(body)).into_response())
}

/// Lines that wait to be read.
enum Kept {
    Plain(Vec<u8>),
    /// Compressed, and how long they were before that.
    Compressed(Vec<u8>, usize),
}

impl Kept {
    fn new(lines: Vec<u8>, is_compressed: bool) -> Self {
        if is_compressed && let Ok(bytes) = zstd::bulk::compress(&lines, COMPRESSION_LEVEL) {
            return Self::Compressed(bytes, lines.len());
        }
        Self::Plain(lines)
    }

    /// The bytes that it takes.
    fn size(&self) -> usize {
        match self {
            Self::Plain(bytes) | Self::Compressed(bytes, _) => bytes.len(),
        }
    }

    fn lines(self) -> io::Result<Bytes> {
        match self {
            Self::Plain(lines) => Ok(lines.into()),
            Self::Compressed(bytes, length) => {
                zstd::bulk::decompress(&bytes, length).map(Bytes::from)
            }
        }
    }
}

/// Bytes of lines that nobody has read yet.
#[derive(Default)]
struct Unread {
    bytes: AtomicUsize,
    changed: Notify,
}

impl Unread {
    fn put(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn take(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Whether the lines to come are compressed.
    fn is_much(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > PLAIN_BYTES_MAX
    }

    async fn room(&self) {
        while self.bytes.load(Ordering::Relaxed) > UNREAD_BYTES_MAX {
            self.changed.notified().await;
        }
    }
}

async fn judge(
    mut stream: Stream,
    sender: mpsc::UnboundedSender<io::Result<Kept>>,
    unread: Arc<Unread>,
    _open: OpenRequest,
) {
    let shared = Arc::clone(&stream.asked.shared);
    let reason = tokio::select! {
        biased;
        () = answer(&mut stream, &sender, &unread) => {
            stream.lines.is_broken.then_some("body")
        }
        () = shared.ended.cancelled() => Some("draining"),
    };
    if let Some(reason) = reason {
        tracing::warn!(reason, rows = stream.first, "a stream of rows was broken off");
        shared.cut(reason);
        // The answer has no orderly end: whoever still reads it knows that rows are missing.
        let _ = sender.send(Err(io::ErrorKind::UnexpectedEof.into()));
    }
}

/// Hands out the lines of all rows, or of those before the body broke off.
async fn answer(
    stream: &mut Stream,
    sender: &mpsc::UnboundedSender<io::Result<Kept>>,
    unread: &Unread,
) {
    while let Some(lines) = stream.next().await {
        let kept = Kept::new(lines, unread.is_much());
        unread.put(kept.size());
        if sender.send(Ok(kept)).is_err() {
            return;
        }
        unread.room().await;
    }
}

/// Rows on their way to be judged.
struct Stream {
    asked: Asked,
    profile: Arc<Profile>,
    step: u64,
    lines: Lines,
    /// The number of the next row, from 0.
    first: u64,
    /// Rows of a group that may go on.
    held: Rows,
    order: GroupOrder,
}

impl Stream {
    /// The lines of the next rows.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let needs_groups = self.profile.engine.plan().needs_groups();
        loop {
            let chunk = self.lines.chunk().await;
            self.asked.begin_again();
            let read = chunk.iter().map(Vec::as_slice);
            let bytes_max = self.lines.line_bytes_max;
            let first = self.first;
            let more = self.profile.engine.read_rows_within(bytes_max, first, read);
            self.first += chunk.len() as u64;
            let mut rows = std::mem::take(&mut self.held);
            if needs_groups {
                let bytes = chunk.iter().map(Vec::len).sum();
                rows.hold(more, bytes, first, &mut self.order);
            } else {
                rows.append(more);
            }
            if needs_groups && !chunk.is_empty() {
                self.held = rows.split_last_group();
            }
            if !rows.is_empty() {
                let Self { asked, profile, step, lines, .. } = self;
                return tokio::select! {
                    judged = judged(asked, profile, *step, rows) => Some(judged),
                    () = lines.broken_off() => None,
                };
            }
            if chunk.is_empty() {
                return None;
            }
        }
    }
}

/// The lines of rows. Behind the deadline every row still has its line: a `Timeout`.
async fn judged(asked: &Asked, profile: &Profile, step: u64, rows: Rows) -> Vec<u8> {
    let _permits = asked.enter(rows.len()).await.ok();
    let mut lines = Vec::new();
    for one in asked.judge(profile, rows, step).await {
        verdict_line(&mut lines, &one);
    }
    lines
}

/// The lines of a body, in chunks.
struct Lines {
    body: BodyDataStream,
    time: Duration,
    line_bytes_max: usize,
    partial: Vec<u8>,
    ready: VecDeque<Vec<u8>>,
    ready_bytes: usize,
    /// No line was found yet.
    is_fresh: bool,
    is_done: bool,
    /// The body ended before it was whole.
    is_broken: bool,
}

impl Lines {
    /// So many lines as there are, at least one, and not too many; none at the end. Lines of blanks are
    /// left out. A body that breaks off ends in a line that cannot be read, if it was in one.
    async fn chunk(&mut self) -> Vec<Vec<u8>> {
        while self.ready.is_empty() && !self.is_done {
            match tokio::time::timeout(self.time, self.body.next()).await {
                Ok(Some(Ok(bytes))) => self.cut(&bytes),
                Ok(None) => self.end(),
                Ok(Some(Err(_))) | Err(_) => {
                    self.is_broken = true;
                    self.end();
                }
            }
        }
        let mut bytes = 0;
        let count = self.ready.iter().take(CHUNK_ROWS).take_while(|line| {
            bytes += line.len();
            bytes <= CHUNK_BYTES
        });
        let count = count.count().max(1).min(self.ready.len());
        let chunk: Vec<Vec<u8>> = self.ready.drain(..count).collect();
        self.ready_bytes -= chunk.iter().map(Vec::len).sum::<usize>();
        chunk
    }

    /// Reads ahead while rows are judged, and returns once the body broke off: that a client left is
    /// seen only where its body is read.
    async fn broken_off(&mut self) {
        while !self.is_done && self.ready_bytes + self.partial.len() < CHUNK_BYTES {
            match self.body.next().await {
                Some(Ok(bytes)) => self.cut(&bytes),
                Some(Err(_)) => {
                    self.is_broken = true;
                    return;
                }
                None => self.end(),
            }
        }
        std::future::pending::<()>().await;
    }

    fn end(&mut self) {
        self.is_done = true;
        let last = std::mem::take(&mut self.partial);
        self.push(last);
    }

    fn cut(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            // What is too long is cut there: the reader of rows refuses it by its length.
            let room = (self.line_bytes_max + 1).saturating_sub(self.partial.len());
            let kept = piece.strip_suffix(b"\n").unwrap_or(piece);
            self.partial.extend_from_slice(kept.get(..room).unwrap_or(kept));
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.partial);
                self.push(line);
            }
        }
    }

    fn push(&mut self, mut line: Vec<u8>) {
        if std::mem::take(&mut self.is_fresh) && line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        if !line.trim_ascii().is_empty() {
            self.ready_bytes += line.len();
            self.ready.push_back(line);
        }
    }
}
