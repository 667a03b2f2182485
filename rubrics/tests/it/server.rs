//! A server of canned answers on a thread of its own, for tests. It reads whole requests, answers
//! each by a function, and ends with the value that holds it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What is done with a request.
pub(crate) enum Action {
    /// These bytes are written, and the connection stays open.
    Write(Vec<u8>),
    /// These bytes are written, and the connection is closed.
    WriteAndClose(Vec<u8>),
    /// One byte after the other, with pauses of milliseconds, until the client leaves.
    Trickle(Vec<u8>, u64),
    /// These bytes, then a body without an end, until the client leaves.
    Flood(Vec<u8>),
    /// Nothing, until the client leaves.
    Hang,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// The server. Its requests are listed in the order in which they came.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) requests: Arc<Mutex<Vec<Request>>>,
    /// The most requests that were answered at the same time.
    pub(crate) in_flight_max: Arc<Mutex<(usize, usize)>>,
    stop: Arc<AtomicBool>,
    address: std::net::SocketAddr,
}

type Answer = Arc<dyn Fn(usize, &Request) -> Action + Send + Sync>;

impl Server {
    /// Answers the nth request (from 0) by `answer`.
    pub(crate) fn start(
        answer: impl Fn(usize, &Request) -> Action + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Self {
            url: format!("http://{address}/v1"),
            requests: Arc::default(),
            in_flight_max: Arc::default(),
            stop: Arc::default(),
            address,
        };
        let (requests, stop) = (Arc::clone(&server.requests), Arc::clone(&server.stop));
        let in_flight = Arc::clone(&server.in_flight_max);
        let answer: Answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Acquire) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let connection = Connection {
                    requests: Arc::clone(&requests),
                    in_flight: Arc::clone(&in_flight),
                    answer: Arc::clone(&answer),
                    stop: Arc::clone(&stop),
                };
                thread::spawn(move || connection.serve(&stream));
            }
        });
        server
    }

    /// How many requests came.
    pub(crate) fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address);
    }
}

struct Connection {
    requests: Arc<Mutex<Vec<Request>>>,
    in_flight: Arc<Mutex<(usize, usize)>>,
    answer: Answer,
    stop: Arc<AtomicBool>,
}

impl Connection {
    fn serve(&self, stream: &TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        while let Some(request) = read_request(&mut reader) {
            let at = {
                let mut requests = self.requests.lock().unwrap();
                requests.push(request.clone());
                requests.len() - 1
            };
            self.count(1);
            let action = (self.answer)(at, &request);
            // Before the client knows: it may send the next request at once.
            self.count(-1);
            if !self.act(action, stream) {
                break;
            }
        }
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }

    fn count(&self, change: isize) {
        let mut counts = self.in_flight.lock().unwrap();
        counts.0 = counts.0.checked_add_signed(change).unwrap();
        counts.1 = counts.1.max(counts.0);
    }

    /// Whether the connection goes on.
    fn act(&self, action: Action, mut stream: &TcpStream) -> bool {
        match action {
            Action::Write(bytes) => stream.write_all(&bytes).is_ok(),
            Action::WriteAndClose(bytes) => {
                let _ = stream.write_all(&bytes);
                false
            }
            Action::Trickle(bytes, pause_ms) => {
                for byte in bytes {
                    if self.stop.load(Ordering::Acquire) || stream.write_all(&[byte]).is_err() {
                        return false;
                    }
                    thread::sleep(Duration::from_millis(pause_ms));
                }
                false
            }
            Action::Flood(head) => {
                let _ = stream.write_all(&head);
                let block = vec![b' '; 1 << 16];
                // 100 MB, should nobody leave.
                let written = (0..1600).take_while(|_| stream.write_all(&block).is_ok()).count();
                assert!(written < 1600, "the client read all of it");
                false
            }
            Action::Hang => {
                let mut byte = [0];
                stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
                while !self.stop.load(Ordering::Acquire) {
                    match stream.read(&mut byte) {
                        Err(error)
                            if matches!(
                                error.kind(),
                                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                            ) => {}
                        _ => break,
                    }
                }
                false
            }
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = String::new();
    loop {
        let before = head.len();
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
        if head[before..].trim().is_empty() {
            break;
        }
    }
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { head, body: String::from_utf8(body).unwrap() })
}

/// An answer with a status, further header lines, and a body.
pub(crate) fn answer(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} S\r\n{headers}content-length: {length}\r\n\r\n{body}").into_bytes()
}

/// A JSON answer.
pub(crate) fn json(status: u16, body: &str) -> Vec<u8> {
    answer(status, "content-type: application/json\r\n", body)
}

/// A chat completion that says `text`.
pub(crate) fn chat(text: &str) -> Vec<u8> {
    let body = serde_json::json!({
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    });
    json(200, &body.to_string())
}
