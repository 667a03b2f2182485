//! `assay bench --serve`: what a daemon answers to a fixed number of clients, each of which sends its
//! next request once it has read the answer to the last one.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use assay::setup::{Monotonic, variable_text};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, header};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use clap::Args as ClapArgs;
use futures_util::future::{Either, select};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use super::lines::Lines;
use super::phases::Spent;
use crate::exit::Failure;
use crate::output::{self, count};

/// How long an answer may take, in seconds. Daemons answer within their own deadline, which is shorter.
const ANSWER_S: f64 = 300.0;
/// How long a client rests before it connects again.
const REST: Duration = Duration::from_millis(10);
/// What `--batch` and `--connections` go up to.
const BATCH_MAX: u64 = 100_000;
const CONNECTIONS_MAX: u64 = 65_536;

/// How a daemon is asked.
#[derive(Clone, Debug, ClapArgs)]
pub(super) struct LoadArgs {
    /// Measure a daemon: http://IP:PORT, and the path of a profile if need be
    #[arg(long, value_name = "URL")]
    pub(super) serve: Option<String>,
    /// Connections that are kept open, with one request each at a time
    #[arg(long, value_name = "N", default_value_t = 64, requires = "serve")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=CONNECTIONS_MAX))]
    connections: u64,
    /// Rows of a request
    #[arg(long, value_name = "N", default_value_t = 1, requires = "serve")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=BATCH_MAX))]
    batch: u64,
    /// The environment variable with the bearer token
    #[arg(long, value_name = "NAME", requires = "serve")]
    token_env: Option<String>,
    /// Measure a server that sends every body back as well, by turns with the daemon
    #[arg(long, requires = "serve")]
    echo: bool,
}

/// What was measured. The keys are part of the command-line contract.
#[derive(Serialize)]
pub(super) struct LoadReport {
    assay: &'static str,
    url: String,
    connections: u64,
    batch: u64,
    rows: u64,
    daemon: Answers,
    /// A server that sends every body back, asked in the same way.
    echo: Option<Answers>,
    /// Requests a second of the daemon over those of the echo.
    requests_to_echo: Option<f64>,
    p99_to_echo: Option<f64>,
}

/// The answers of one server. Rates and times are of those with status 200.
#[derive(Serialize)]
struct Answers {
    seconds: f64,
    requests_per_s: f64,
    /// Samples a second, times the rewards of the configuration. Null for the echo.
    verdicts_per_s: Option<f64>,
    p50_us: f64,
    p90_us: f64,
    p99_us: f64,
    max_us: f64,
    /// Requests by status.
    statuses: BTreeMap<u16, u64>,
    /// Requests without an answer, and connections that were refused.
    errors: u64,
}

/// A server, and what it is asked.
#[derive(Clone)]
struct Target {
    address: SocketAddr,
    path: Uri,
    headers: HeaderMap,
    bodies: std::sync::Arc<[Bytes]>,
    clock: Monotonic,
}

/// What came of requests.
#[derive(Default)]
struct Tally {
    seconds: f64,
    spent: Spent,
    max_ns: u64,
    statuses: BTreeMap<u16, u64>,
    errors: u64,
}

impl LoadReport {
    /// Whether any request was answered with verdicts.
    pub(super) fn is_answered(&self) -> bool {
        self.daemon.statuses.contains_key(&200)
    }
}

/// Asks the daemon for so many seconds for the verdicts of lines, of which each has so many.
pub(super) fn measure(
    args: &LoadArgs,
    lines: &Lines,
    seconds: f64,
    rewards: usize,
) -> Result<LoadReport, Failure> {
    let url = args.serve.as_deref().unwrap_or_default();
    let bodies = bodies(lines, usize::try_from(args.batch).unwrap_or(usize::MAX));
    let rows = lines.iter().count() as u64;
    if rows == 0 {
        return Err(Failure::usage("the data have no rows"));
    }
    let target = Target::new(url, args.token_env.as_deref(), bodies)?;
    let runtime = runtime("assay-load")?;
    runtime.block_on(target.prove(args.batch))?;
    let (mut daemon, mut echo) = (Tally::default(), Tally::default());
    if args.echo {
        // Runtimes of their own, as the daemon has one. What the machine does beside this changes
        // slowly: both are asked early and late.
        let server = self::runtime("assay-echo")?;
        let answering = server.block_on(Echo::open())?;
        let echoing = target.at(answering.address);
        let mut serving = JoinSet::new();
        serving.spawn_on(answering.serve(), server.handle());
        let turn = |target: &Target| runtime.block_on(target.ask(args.connections, seconds / 2.0));
        echo.add(turn(&echoing));
        daemon.add(turn(&target));
        daemon.add(turn(&target));
        echo.add(turn(&echoing));
    } else {
        daemon.add(runtime.block_on(target.ask(args.connections, seconds)));
    }
    let mut daemon = daemon.answers();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let verdicts = (args.batch * rewards as u64) as f64;
    daemon.verdicts_per_s = Some(daemon.requests_per_s * verdicts);
    let echo = args.echo.then(|| echo.answers());
    Ok(LoadReport {
        assay: env!("CARGO_PKG_VERSION"),
        url: url.to_owned(),
        connections: args.connections,
        batch: args.batch,
        rows,
        requests_to_echo: echo.as_ref().map(|echo| daemon.requests_per_s / echo.requests_per_s),
        p99_to_echo: echo.as_ref().map(|echo| daemon.p99_us / echo.p99_us),
        daemon,
        echo,
    })
}

fn runtime(name: &str) -> Result<Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().thread_name(name).enable_all().build()?)
}

/// Bodies of so many rows each. The last one is filled up from the start.
fn bodies(lines: &Lines, batch: usize) -> Vec<Bytes> {
    let rows: Vec<&[u8]> = lines.iter().map(<[u8]>::trim_ascii).collect();
    let mut left = rows.iter().cycle();
    let body = |_| {
        let rows: Vec<&[u8]> = left.by_ref().take(batch).copied().collect();
        Bytes::from([br#"{"samples":["#, rows.join(&b","[..]).as_slice(), b"]}"].concat())
    };
    (0..rows.len().div_ceil(batch)).map(body).collect()
}

/// The address and the path of a URL.
fn parse(url: &str) -> Result<(SocketAddr, Uri), String> {
    let rest = url.strip_prefix("http://").ok_or("expected http://IP:PORT")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let named = host.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let address = named.as_deref().unwrap_or(host).parse();
    let address = address.map_err(|_| "expected http://IP:PORT".to_owned())?;
    let slash = if path.is_empty() { "" } else { "/" };
    let path = format!("{slash}{}/v1/verify", path.trim_end_matches('/'));
    Ok((address, path.parse().map_err(|error| format!("{error}"))?))
}

impl Target {
    fn new(url: &str, token_env: Option<&str>, bodies: Vec<Bytes>) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::usage(format!("--serve {url}: {why}"));
        let (address, path) = parse(url).map_err(wrong)?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let host = HeaderValue::from_str(&address.to_string());
        headers.insert(header::HOST, host.map_err(|error| wrong(error.to_string()))?);
        if let Some(name) = token_env {
            let text = variable_text(name).unwrap_or_default();
            let token = text.split_whitespace().next().map(|token| format!("Bearer {token}"));
            let value = token.and_then(|token| HeaderValue::from_str(&token).ok());
            let none = || Failure::usage(format!("the variable {name} has no token"));
            let mut value = value.ok_or_else(none)?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        Ok(Self { address, path, headers, bodies: bodies.into(), clock: Monotonic::start() })
    }

    /// The same requests to another server.
    fn at(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    async fn connect(
        &self,
    ) -> anyhow::Result<(
        SendRequest<Full<Bytes>>,
        http1::Connection<TokioIo<TcpStream>, Full<Bytes>>,
    )> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        Ok(http1::handshake(TokioIo::new(stream)).await?)
    }

    /// The request number `at`.
    #[expect(clippy::indexing_slicing, reason = "data without rows are refused")]
    fn request(&self, at: usize) -> Request<Full<Bytes>> {
        let body = self.bodies[at % self.bodies.len()].clone();
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = axum::http::Method::POST;
        *request.uri_mut() = self.path.clone();
        request.headers_mut().clone_from(&self.headers);
        request
    }

    /// Asks once, and reads what comes: rates of refusals would say nothing.
    async fn prove(&self, batch: u64) -> Result<(), Failure> {
        let (mut sender, connection) = self.connect().await.context(self.address)?;
        let asked = async {
            let answer = sender.send_request(self.request(0)).await?;
            let status = answer.status();
            Ok::<_, hyper::Error>((status, answer.into_body().collect().await?.to_bytes()))
        };
        let limit = Duration::from_secs_f64(ANSWER_S);
        let asked = tokio::time::timeout(limit, beside(asked, connection)).await;
        let (status, body) = asked.context("no answer")?.context(self.address)?;
        let told: Value = serde_json::from_slice(&body).unwrap_or_default();
        if status != StatusCode::OK {
            let why = told.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason");
            return Err(anyhow!("{}: {status}: {why}", self.address).into());
        }
        let results = told.get("results").and_then(Value::as_array);
        let results = results.filter(|results| results.len() as u64 == batch);
        let none = || anyhow!("{}: the answer is not that of assay serve", self.address);
        let mut rewards = results.ok_or_else(none)?.iter().map(|result| result.get("reward"));
        if rewards.all(|reward| reward.is_none_or(Value::is_null)) {
            output::note("note: no sample of the first request has a reward");
        }
        Ok(())
    }

    /// Asks over so many connections for so many seconds. What is under way then is still awaited.
    async fn ask(&self, connections: u64, seconds: f64) -> Tally {
        let start = self.clock.seconds();
        let mut clients = JoinSet::new();
        for at in 0..connections {
            // Each starts at rows of its own.
            let first = self.bodies.len() as u64 * at / connections;
            let target = self.clone();
            clients
                .spawn(target.client(usize::try_from(first).unwrap_or_default(), start + seconds));
        }
        let mut all = Tally::default();
        while let Some(done) = clients.join_next().await {
            match done {
                Ok(tally) => all.add(tally),
                Err(_) => all.errors += 1,
            }
        }
        all.seconds = self.clock.seconds() - start;
        all
    }

    /// One client, which connects again where a connection ends.
    async fn client(self, first: usize, until: f64) -> Tally {
        let (mut tally, mut at) = (Tally::default(), first);
        while self.clock.seconds() < until {
            let left = (until - self.clock.seconds()).max(0.0) + ANSWER_S;
            let session = self.session(&mut tally, &mut at, until);
            let ended = tokio::time::timeout(Duration::from_secs_f64(left), session).await;
            if !matches!(ended, Ok(Ok(()))) {
                tally.errors += 1;
                tokio::time::sleep(REST).await;
            }
        }
        tally
    }

    async fn session(&self, tally: &mut Tally, at: &mut usize, until: f64) -> anyhow::Result<()> {
        let (mut sender, connection) = self.connect().await?;
        let requests = async {
            while self.clock.seconds() < until && sender.ready().await.is_ok() {
                let request = self.request(*at);
                *at += 1;
                let start = self.clock.seconds();
                let answer = sender.send_request(request).await?;
                let (status, mut body) = (answer.status(), answer.into_body());
                while let Some(frame) = body.frame().await {
                    frame?;
                }
                tally.answer(status, self.clock.seconds() - start);
            }
            Ok::<_, hyper::Error>(())
        };
        Ok(beside(requests, connection).await?)
    }
}

/// Drives a connection while requests are made on it, in one task.
#[expect(
    clippy::redundant_async_block,
    reason = "the block drops the connection as soon as it ends"
)]
async fn beside<T>(
    requests: impl Future<Output = Result<T, hyper::Error>>,
    connection: impl Future<Output = Result<(), hyper::Error>>,
) -> Result<T, hyper::Error> {
    // One that ended is dropped at once: only then do the requests see it.
    let connection = async move { connection.await };
    match select(pin!(requests), pin!(connection)).await {
        Either::Left((done, _)) => done,
        Either::Right((_, requests)) => requests.await,
    }
}

impl Tally {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time of minutes in nanoseconds"
    )]
    fn answer(&mut self, status: StatusCode, seconds: f64) {
        *self.statuses.entry(status.as_u16()).or_default() += 1;
        if status == StatusCode::OK {
            let ns = (seconds * 1e9) as u64;
            self.spent.add(ns);
            self.max_ns = self.max_ns.max(ns);
        }
    }

    fn add(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.spent.append(other.spent);
        self.max_ns = self.max_ns.max(other.max_ns);
        for (status, requests) in other.statuses {
            *self.statuses.entry(status).or_default() += requests;
        }
        self.errors += other.errors;
    }

    #[expect(clippy::cast_precision_loss, reason = "rates and times for people")]
    fn answers(mut self) -> Answers {
        let answered = self.statuses.get(&200).copied().unwrap_or_default();
        Answers {
            seconds: self.seconds,
            requests_per_s: answered as f64 / self.seconds.max(1e-9),
            verdicts_per_s: None,
            p50_us: self.spent.quantile_us(50),
            p90_us: self.spent.quantile_us(90),
            p99_us: self.spent.quantile_us(99),
            max_us: self.max_ns as f64 / 1000.0,
            statuses: self.statuses,
            errors: self.errors,
        }
    }
}

/// A server that sends every body back.
struct Echo {
    listener: TcpListener,
    address: SocketAddr,
}

impl Echo {
    async fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    async fn serve(self) {
        let back = |body: Bytes| async move {
            Ok::<_, Infallible>(([(header::CONTENT_TYPE, "application/json")], body))
        };
        let app = Router::new().fallback(post(back)).layer(DefaultBodyLimit::disable());
        let listener = self.listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        // It ends with its runtime.
        let _ = axum::serve(listener, app).await;
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates for people")]
pub(super) fn text(report: &LoadReport) -> String {
    let row = |name: &str, answers: &Answers| {
        let [p50, p90, p99, max] = [answers.p50_us, answers.p90_us, answers.p99_us, answers.max_us]
            .map(|us| format!("{:.3}", us / 1000.0));
        let verdicts = answers.verdicts_per_s.map_or_else(String::new, |rate| count(rate as u64));
        [name.to_owned(), count(answers.requests_per_s as u64), verdicts, p50, p90, p99, max]
    };
    let header = ["server", "requests/s", "verdicts/s", "p50 ms", "p90 ms", "p99 ms", "max ms"];
    let servers = [("daemon", Some(&report.daemon)), ("echo", report.echo.as_ref())];
    let servers = servers.map(|(name, answers)| answers.map(|answers| (name, answers)));
    let servers = servers.iter().flatten();
    let rows: Vec<_> = servers.clone().map(|(name, answers)| row(name, answers)).collect();
    let mut text = format!(
        "{} connections, {} rows a request\n\n{}\n\n",
        report.connections,
        report.batch,
        output::table(header, &rows)
    );
    if let (Some(requests), Some(p99)) = (report.requests_to_echo, report.p99_to_echo) {
        text.push_str(&format!(
            "to echo: {requests:.2} of its requests/s, {p99:.2} times its p99\n"
        ));
    }
    for (name, answers) in servers {
        let statuses = answers.statuses.iter();
        let statuses: Vec<_> =
            statuses.map(|(status, requests)| format!("{status}: {}", count(*requests))).collect();
        let errors = count(answers.errors);
        text.push_str(&format!("{name}: {}, errors: {errors}\n", statuses.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_the_same_number_of_rows() {
        let lines = Lines { bytes: b"{\"a\":1}\n\n {\"a\":2}\r\n{\"a\":3}\n".to_vec() };
        assert_eq!(
            bodies(&lines, 2),
            [r#"{"samples":[{"a":1},{"a":2}]}"#, r#"{"samples":[{"a":3},{"a":1}]}"#]
        );
        assert_eq!(bodies(&lines, 1).len(), 3);
        assert!(bodies(&Lines { bytes: Vec::new() }, 4).is_empty());
    }

    #[test]
    fn urls_name_an_address_and_a_profile() {
        let path = |url| parse(url).map(|(address, path)| format!("{address}{path}"));
        assert_eq!(path("http://127.0.0.1:80").unwrap(), "127.0.0.1:80/v1/verify");
        assert_eq!(path("http://localhost:80/").unwrap(), "127.0.0.1:80/v1/verify");
        let profile = path("http://[::1]:80/profiles/b/").unwrap();
        assert_eq!(profile, "[::1]:80/profiles/b/v1/verify");
        for odd in ["127.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1", "http://host:80"] {
            assert!(path(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn answers_are_counted_by_status_and_timed_where_they_are_verdicts() {
        let mut one = Tally { seconds: 1.0, ..Tally::default() };
        one.answer(StatusCode::OK, 0.002);
        one.answer(StatusCode::TOO_MANY_REQUESTS, 9.0);
        let mut all = Tally { seconds: 1.0, errors: 1, ..Tally::default() };
        all.answer(StatusCode::OK, 0.004);
        all.add(one);
        let answers = all.answers();
        assert_eq!(answers.statuses, BTreeMap::from([(200, 2), (429, 1)]));
        assert!((answers.requests_per_s - 1.0).abs() < 1e-9, "{}", answers.requests_per_s);
        assert!((answers.max_us - 4000.0).abs() < 1.0, "{}", answers.max_us);
        assert_eq!(answers.errors, 1);
    }
}
