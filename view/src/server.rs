//! The server of `assay view`: on this machine alone, for who has the token, and for pages of its own.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::compare::Comparison;
use crate::error::ViewError;
use crate::labels::RowMark;
use crate::opened::{OpenedRun, ViewRun};
use crate::page::{escaped, page, policy};
use crate::query::RowQuery;

/// Rows of a page.
const PAGE_ROWS_MAX: usize = 1000;
/// A label with its note.
const BODY_BYTES_MAX: usize = 16 << 10;
const NOTE_BYTES_MAX: usize = 8 << 10;

/// What is shown, and to whom.
pub struct ViewSpec {
    /// The runs; two or more can be compared.
    pub runs: Vec<ViewRun>,
    /// The port; 0 is a free one.
    pub port: u16,
    /// What the address holds. Nobody else may know it.
    pub token: String,
}

/// A server that is bound, and has read its runs.
pub struct ViewServer {
    app: Arc<App>,
    listener: TcpListener,
}

/// Two runs, and what moved.
type Compared = ((usize, usize), Arc<Comparison>);

struct App {
    runs: Vec<OpenedRun>,
    port: u16,
    token: String,
    /// The rows of the last list.
    selected: Mutex<Option<(RowQuery, Arc<Vec<u32>>)>>,
    /// The last two runs that were compared.
    compared: Mutex<Option<Compared>>,
    is_ended: AtomicBool,
}

impl ViewServer {
    /// Reads the runs, and takes the port.
    ///
    /// # Errors
    /// A run that cannot be read, or a port that is taken.
    pub fn bind(spec: ViewSpec) -> Result<Self, ViewError> {
        let runs = spec.runs.into_iter().map(OpenedRun::open).collect::<Result<_, _>>()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, spec.port));
        let io = |source| ViewError::Io { file: address.to_string(), source };
        let listener = TcpListener::bind(address).map_err(io)?;
        listener.set_nonblocking(true).map_err(io)?;
        let port = listener.local_addr().map_err(io)?.port();
        let app = App {
            runs,
            port,
            token: spec.token,
            selected: Mutex::default(),
            compared: Mutex::default(),
            is_ended: AtomicBool::new(false),
        };
        Ok(Self { app: Arc::new(app), listener })
    }

    /// The address to open, with the token.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.app.port, self.app.token)
    }

    /// Serves until `stop`. Lengths of completions are read in the background.
    ///
    /// # Errors
    /// A socket that fails.
    pub async fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let app = self.app;
        for at in 0..app.runs.len() {
            let app = Arc::clone(&app);
            tokio::task::spawn_blocking(move || {
                let is_ended = || app.is_ended.load(Ordering::Relaxed);
                // Without it, lengths are not known; the rows that cannot be read are said so one by one.
                app.runs.get(at).map(|run| run.read_data(&is_ended))
            });
        }
        let router = Router::new()
            .route("/", get(index))
            .route("/api/rows", get(rows))
            .route("/api/row", get(row))
            .route("/api/group", get(group))
            .route("/api/compare", get(compare))
            .route("/api/label", post(label))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .layer(middleware::from_fn_with_state(Arc::clone(&app), guarded))
            .with_state(Arc::clone(&app));
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let ended = async move {
            stop.await;
            app.is_ended.store(true, Ordering::Relaxed);
        };
        tokio::select! {
            served = axum::serve(listener, router) => served,
            () = ended => Ok(()),
        }
    }
}

/// Lets in who asks this server by its own name, from its own page, with the token.
async fn guarded(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match app.refused(&request) {
        Some(why) => (StatusCode::FORBIDDEN, Json(json!({ "error": why }))).into_response(),
        None => match app.entrance(&request) {
            Some(response) => response,
            None => next.run(request).await,
        },
    };
    let rules = policy("; connect-src 'self'; frame-ancestors 'none'");
    let headers = response.headers_mut();
    if let Ok(rules) = HeaderValue::from_str(&rules) {
        headers.insert(header::CONTENT_SECURITY_POLICY, rules);
    }
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

impl App {
    /// Why a request is not let in.
    fn refused(&self, request: &Request) -> Option<&'static str> {
        let headers = request.headers();
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let host = text(header::HOST);
        if !hosts.iter().any(|own| host == Some(own)) {
            return Some("the header Host names another server");
        }
        let origin = text(header::ORIGIN);
        let is_own = |origin: &str| hosts.iter().any(|own| origin == format!("http://{own}"));
        if origin.is_some_and(|origin| !is_own(origin)) {
            return Some("the request comes from another page");
        }
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
            return Some("the request comes from another page");
        }
        let given = cookie(headers, &self.cookie_name()).or_else(|| token(request));
        if given.is_none_or(|given| Sha256::digest(given) != Sha256::digest(&self.token)) {
            return Some("the token is missing or is another: open the address that was printed");
        }
        None
    }

    /// The answer to the address that was printed: the token becomes a cookie, and leaves the address.
    fn entrance(&self, request: &Request) -> Option<Response> {
        token(request)?;
        let (name, token) = (self.cookie_name(), &self.token);
        let cookie = format!("{name}={token}; HttpOnly; SameSite=Strict; Path=/");
        let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())];
        Some((StatusCode::SEE_OTHER, headers).into_response())
    }

    /// Ports share their cookies, so that each has a name of its own.
    fn cookie_name(&self) -> String {
        format!("assay_view_{}", self.port)
    }

    fn selection(&self, query: &RowQuery, run: &OpenedRun) -> Result<Arc<Vec<u32>>, ViewError> {
        let key = query.without_page();
        let mut selected = self.selected.lock().unwrap_or_else(PoisonError::into_inner);
        match &*selected {
            Some((own, rows)) if *own == key => Ok(Arc::clone(rows)),
            _ => {
                let rows = Arc::new(query.select(run)?);
                *selected = Some((key, Arc::clone(&rows)));
                Ok(rows)
            }
        }
    }
}

/// The token of the address of the page.
fn token(request: &Request) -> Option<&str> {
    let is_page = request.method() == Method::GET && request.uri().path() == "/";
    let query = request.uri().query().filter(|_| is_page)?;
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// What an answer is made of, on a thread that may wait for files.
async fn answered(
    app: Arc<App>,
    make: impl FnOnce(&App) -> Result<Option<Value>, ViewError> + Send + 'static,
) -> Response {
    let answer = tokio::task::spawn_blocking(move || make(&app)).await;
    let (status, why) = match answer {
        Ok(Ok(Some(value))) => return Json(value).into_response(),
        Ok(Ok(None)) => (StatusCode::NOT_FOUND, "there is no such row".to_owned()),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    (status, Json(json!({ "error": why }))).into_response()
}

async fn index(State(app): State<Arc<App>>) -> Response {
    let runs: Vec<Value> = app.runs.iter().map(OpenedRun::json).collect();
    let data = escaped(&json!({ "kind": "view", "runs": runs }).to_string());
    Html(page("assay view", &policy("; connect-src 'self'"), &data)).into_response()
}

async fn rows(State(app): State<Arc<App>>, Query(query): Query<RowQuery>) -> Response {
    answered(app, move |app| {
        let Some(run) = app.runs.get(query.run) else { return Ok(None) };
        let places = app.selection(&query, run)?;
        let page = places.iter().skip(query.offset).take(query.limit.min(PAGE_ROWS_MAX));
        let rows = page.filter_map(|at| run.listed(*at as usize).transpose());
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(Some(json!({ "total": places.len(), "rows": rows })))
    })
    .await
}

/// One row of a run.
#[derive(Deserialize)]
struct OneRow {
    #[serde(default)]
    run: usize,
    at: usize,
}

async fn row(State(app): State<Arc<App>>, Query(query): Query<OneRow>) -> Response {
    answered(app, move |app| app.runs.get(query.run).map_or(Ok(None), |run| run.row(query.at)))
        .await
}

async fn group(State(app): State<Arc<App>>, Query(query): Query<OneRow>) -> Response {
    answered(app, move |app| {
        let Some(run) = app.runs.get(query.run) else { return Ok(None) };
        let rows = run.group(query.at)?;
        Ok((!rows.is_empty()).then(|| json!({ "rows": rows })))
    })
    .await
}

/// A page of what moved between two runs.
#[derive(Deserialize)]
struct ComparePage {
    a: usize,
    b: usize,
    #[serde(default)]
    offset: usize,
    limit: usize,
}

async fn compare(State(app): State<Arc<App>>, Query(query): Query<ComparePage>) -> Response {
    answered(app, move |app| {
        let pair = (query.a, query.b);
        let (Some(a), Some(b)) = (app.runs.get(pair.0), app.runs.get(pair.1)) else {
            return Ok(None);
        };
        let mut compared = app.compared.lock().unwrap_or_else(PoisonError::into_inner);
        let comparison = match &*compared {
            Some((own, comparison)) if *own == pair => Arc::clone(comparison),
            _ => {
                let comparison = Arc::new(Comparison::new(a, b)?);
                *compared = Some((pair, Arc::clone(&comparison)));
                comparison
            }
        };
        drop(compared);
        comparison.page((a, b), query.offset, query.limit.min(PAGE_ROWS_MAX)).map(Some)
    })
    .await
}

/// What a person says of a row.
#[derive(Deserialize)]
struct GivenLabel {
    #[serde(default)]
    run: usize,
    at: usize,
    label: bool,
    #[serde(default)]
    note: String,
}

async fn label(State(app): State<Arc<App>>, Json(given): Json<GivenLabel>) -> Response {
    answered(app, move |app| {
        let Some(run) = app.runs.get(given.run) else { return Ok(None) };
        let Some(line) = run.value(given.at)? else { return Ok(None) };
        let id = line.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let note: String = given.note.chars().take(NOTE_BYTES_MAX / 4).collect();
        let text = run.text(given.at, &id)?;
        let mark = RowMark::new(run.index.number(given.at), id, given.label, note.clone());
        let mark = match text {
            Some(text) => mark.with_texts(text),
            None => mark,
        };
        run.labels().lock().unwrap_or_else(PoisonError::into_inner).set(mark)?;
        Ok(Some(json!({ "label": given.label, "note": note })))
    })
    .await
}

#[cfg(test)]
mod tests;
