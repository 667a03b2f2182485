//! Requests a second of a judge whose server takes 20 ms, 64 in flight, beside what that allows, and
//! beside what it allows by the clock of the server, whose timers are late by a millisecond or so.
//! `cargo bench -p assay-rubrics --bench judge [REQUESTS]`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]
#![expect(clippy::indexing_slicing, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts of requests are far below 2^53")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_rubrics::http::{HttpClient, HttpSettings};
use assay_rubrics::judge::{
    ChatMessage, Judge as _, JudgeRequest, JudgeSampling, JudgedTexts, OpenAiJudge, OpenAiSettings,
    Subject,
};
use assay_verifiers::Sample;
use futures_util::{StreamExt as _, stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

const IN_FLIGHT: usize = 64;
const LATENCY: Duration = Duration::from_millis(20);

/// Answers each request after the latency.
async fn serve(mut stream: TcpStream, held_us: Arc<AtomicU64>) {
    let body = r#"{"choices":[{"message":{"content":"{\"yes\": true}"},"finish_reason":"stop"}],"usage":{"total_tokens":300}}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut buffer = Vec::with_capacity(1 << 14);
    while stream.read_buf(&mut buffer).await.is_ok_and(|read| read > 0) {
        let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap();
        let length: usize = length.lines().next().unwrap().parse().unwrap();
        if buffer.len() < end + 4 + length {
            continue;
        }
        buffer.clear();
        let start = Instant::now();
        tokio::time::sleep(LATENCY).await;
        let took = u64::try_from(start.elapsed().as_micros()).unwrap();
        held_us.fetch_add(took, Ordering::Relaxed);
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

fn request(at: usize) -> JudgeRequest {
    JudgeRequest {
        messages: vec![ChatMessage {
            role: "user",
            content: format!("{at} {}", "word ".repeat(200)),
        }],
        schema: serde_json::json!({"type": "object", "properties": {"yes": {"type": "boolean"}}}),
        sampling: JudgeSampling { temperature: 0.0, seed: 0, tokens_max: 64, top_logprobs: 0 },
        vote: 0,
        texts: JudgedTexts::default(),
        sample: Sample::builder("a completion").build(),
        subject: Subject { criterion: "polite".to_owned(), swapped: false },
    }
}

fn main() {
    let count = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(20_000_usize);
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", server.local_addr().unwrap());
    let held_us = Arc::<AtomicU64>::default();
    let held = Arc::clone(&held_us);
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            server.set_nonblocking(true).unwrap();
            let server = TcpListener::from_std(server).unwrap();
            loop {
                let (stream, _) = server.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&held)));
            }
        });
    });
    let settings = OpenAiSettings { model: "m".to_owned(), ..OpenAiSettings::default() };
    let http = HttpSettings::new(url, "");
    let judge = OpenAiJudge::new(settings, &HttpClient::new(), http, Arc::default()).unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let start = Instant::now();
    runtime.block_on(async {
        let asked = stream::iter(0..count).map(|at| judge.ask(request(at)));
        let mut replies = asked.buffer_unordered(IN_FLIGHT);
        while let Some(reply) = replies.next().await {
            reply.unwrap();
        }
    });
    let rate = count as f64 / start.elapsed().as_secs_f64();
    let ideal = IN_FLIGHT as f64 / LATENCY.as_secs_f64();
    let mean_hold = held_us.load(Ordering::Relaxed) as f64 / 1e6 / count as f64;
    let allowed = IN_FLIGHT as f64 / mean_hold;
    println!("{rate:>8.0} requests/s of {ideal:.0}: {:.1} %", 100.0 * rate / ideal);
    println!("{:>8} by the server's clock {allowed:.0}: {:.1} %", "", 100.0 * rate / allowed);
}
