//! The example of an async server, under clients that come all at once, are slow to be answered, and
//! leave.

#![allow(
    clippy::disallowed_methods,
    reason = "a test stops at what it does not expect, and its tasks end with it"
)]

#[path = "../../examples/axum.rs"]
mod example;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::{Seen, engine, registry};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const BODY: &str =
    r#"[{"completion": "4", "reference": "4"}, {"completion": "5", "reference": "4"}]"#;

/// Sends a request, and leaves the connection open.
async fn ask(server: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let head = format!(
        "POST /score HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{BODY}",
        BODY.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn answer(mut stream: TcpStream) -> Value {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    serde_json::from_str(body).unwrap()
}

async fn eventually(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{what}: never");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_requests_at_once_and_clients_that_leave() {
    let seen = Arc::new(Seen::default());
    let text = "[[reward]]\nname = 'exact'\nverifier = 'exact'\n\
                [[reward]]\nname = 'endless'\nverifier = 'endless'\nwhen = 'completion == \"5\"'\n\
                [[reward]]\nname = 'held'\nverifier = 'held'\n";
    let engine = Arc::new(engine(text, registry(&seen), 2));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = listener.local_addr().unwrap();
    let serving =
        tokio::spawn(axum::serve(listener, example::app(Arc::clone(&engine))).into_future());
    let clients: Vec<_> = (0..64)
        .map(|at| {
            tokio::spawn(async move {
                let stream = ask(server).await;
                // Every fourth leaves at once.
                if at % 4 == 0 { None } else { Some(answer(stream).await) }
            })
        })
        .collect();
    for client in clients {
        let Some(answer) = client.await.unwrap() else { continue };
        for scored in answer.as_array().unwrap() {
            assert_eq!(scored["fault"], "Timeout", "{scored}");
        }
        assert_eq!(answer.as_array().unwrap().len(), 2);
    }
    serving.abort();
    // The server holds the engine until its connections are closed.
    eventually("the engine is free", || Arc::strong_count(&engine) == 1).await;
    drop(engine);
    let busy = || seen.in_flight.load(Ordering::SeqCst) + seen.spinning.load(Ordering::SeqCst);
    eventually("nothing is left running", || busy() == 0).await;
    assert_eq!(seen.awaited.load(Ordering::SeqCst), 0, "nothing was answered by `held`");
}
