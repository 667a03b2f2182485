//! The server of `assay view`: on this machine alone, for who has the token, and for pages of its own.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::compare::Comparison;
use crate::data::data_rows;
use crate::error::ViewError;
use crate::opened::{OpenedRun, ViewRun};
use crate::page::{escaped, page, policy};
use crate::query::RowQuery;

/// Rows of a page.
const PAGE_ROWS_MAX: usize = 1000;
/// What a page takes of each text of a row, and of each member of a group.
const TEXT_BYTES_MAX: usize = 200_000;
const MEMBER_BYTES_MAX: usize = 4_000;
/// Members of a group that are shown.
const MEMBERS_MAX: usize = 64;
/// A label with its note.
const BODY_BYTES_MAX: usize = 16 << 10;
const NOTE_CHARS_MAX: usize = 2 << 10;

/// A server that is bound, and has read its runs.
pub struct ViewServer {
    app: Arc<App>,
    listener: TcpListener,
}

/// What was made last, and of what.
type Last<K, V> = Mutex<Option<(K, Arc<V>)>>;

struct App {
    runs: Vec<OpenedRun>,
    port: u16,
    token: String,
    /// The rows of the last list.
    selected: Last<RowQuery, Vec<u32>>,
    /// The last two runs that were compared.
    compared: Last<(usize, usize), Comparison>,
}

impl ViewServer {
    /// Reads the runs, of which two or more can be compared, and takes the port; 0 is a free one. The address
    /// holds the token, which nobody else may know.
    ///
    /// # Errors
    /// A run that cannot be read, or a port that is taken.
    pub fn bind(runs: Vec<ViewRun>, port: u16, token: String) -> Result<Self, ViewError> {
        let runs = runs.into_iter().map(OpenedRun::open).collect::<Result<_, _>>()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let io = |source| ViewError::Io(address.to_string(), source);
        let listener = TcpListener::bind(address).map_err(io)?;
        listener.set_nonblocking(true).map_err(io)?;
        let port = listener.local_addr().map_err(io)?.port();
        let (selected, compared) = Default::default();
        Ok(Self { app: Arc::new(App { runs, port, token, selected, compared }), listener })
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
                // Without it, lengths are not known; the rows that cannot be read are said so one by one.
                let run = app.runs.get(at)?;
                run.add_data(&data_rows(run.data.as_deref()?).ok()?);
                Some(())
            });
        }
        let router = Router::new()
            .route("/", get(index))
            .route(
                "/api/label",
                post(async |State(app), Json(given)| {
                    answered(app, move |app| app.label(&given)).await
                }),
            )
            .route(
                "/api/{what}",
                get(async |State(app), Path(what): Path<String>, Query(query)| {
                    answered(app, move |app| app.answer(&what, &query)).await
                }),
            )
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .layer(middleware::from_fn_with_state(Arc::clone(&app), guarded))
            .with_state(app);
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        tokio::select! {
            served = axum::serve(listener, router) => served,
            () = stop => Ok(()),
        }
    }
}

/// Lets in who asks this server by its own name, from its own page, with the token.
async fn guarded(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let response = match app.refused(&request) {
        Some(why) => (StatusCode::FORBIDDEN, Json(json!({ "error": why }))).into_response(),
        None => match app.entrance(&request) {
            Some(response) => response,
            None => next.run(request).await,
        },
    };
    let rules = policy("; connect-src 'self'; frame-ancestors 'none'");
    let headers = [
        (header::CONTENT_SECURITY_POLICY, rules.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (headers, response).into_response()
}

impl App {
    /// Why a request is not let in.
    fn refused(&self, request: &Request) -> Option<&'static str> {
        let headers = request.headers();
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let hosts = ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port));
        let is_own = |host: &str| hosts.iter().any(|own| own == host);
        if !text(header::HOST).is_some_and(is_own) {
            return Some("the header Host names another server");
        }
        let is_own_page = |origin: &str| origin.strip_prefix("http://").is_some_and(is_own);
        let is_own_site = |site: &str| ["same-origin", "none"].contains(&site);
        let site = text(header::HeaderName::from_static("sec-fetch-site"));
        if !text(header::ORIGIN).is_none_or(is_own_page) || !site.is_none_or(is_own_site) {
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

    /// What a page asks for by its name; `None` where there is none.
    fn answer(&self, what: &str, query: &RowQuery) -> Result<Option<Value>, ViewError> {
        let (Some(run), at) = (self.runs.get(query.run), query.at.unwrap_or(usize::MAX)) else {
            return Ok(None);
        };
        let limit = query.limit.min(PAGE_ROWS_MAX);
        Ok(match what {
            "rows" => {
                let rows = kept(&self.selected, query.without_page(), || query.select(run))?;
                let place = rows.iter().position(|row| *row as usize == at);
                let page = rows.iter().skip(query.offset).take(limit);
                let page = page.filter_map(|at| run.listed(*at as usize).transpose());
                let page = page.collect::<Result<Vec<_>, _>>()?;
                Some(json!({ "total": rows.len(), "place": place, "rows": page }))
            }
            "row" => run.row(at, TEXT_BYTES_MAX)?.map(Value::from),
            "group" => {
                let members = run.group(at, MEMBERS_MAX);
                let rows = members.filter_map(|at| run.row(at, MEMBER_BYTES_MAX).transpose());
                let rows = rows.collect::<Result<Vec<_>, _>>()?;
                (!rows.is_empty()).then(|| json!({ "rows": rows }))
            }
            "compare" => {
                let pair = (query.a, query.b);
                let runs = self.runs.get(pair.0).zip(self.runs.get(pair.1));
                let Some((a, b)) = runs else { return Ok(None) };
                let found = kept(&self.compared, pair, || Comparison::new(a, b))?;
                Some(found.page((a, b), (query.offset, limit))?)
            }
            _ => None,
        })
    }

    /// Writes what a person says of a row.
    fn label(&self, given: &GivenLabel) -> Result<Option<Value>, ViewError> {
        let Some(run) = self.runs.get(given.run) else { return Ok(None) };
        let number = run.index.numbers.get(given.at).copied();
        let (Some(line), Some(number)) = (run.file.value(given.at)?, number) else {
            return Ok(None);
        };
        let note: String = given.note.chars().take(NOTE_CHARS_MAX).collect();
        let mark = json!({
            "id": line.get("id"), "row": number + 1, "label": given.label, "note": note,
        });
        let texts = json!(run.text(given.at, &line)?);
        let mut labels = run.labels.lock().unwrap_or_else(PoisonError::into_inner);
        labels.set(number, [texts, mark])
    }
}

/// What was made of this key the last time, or is made now.
fn kept<K: PartialEq, V>(
    last: &Last<K, V>,
    key: K,
    make: impl FnOnce() -> Result<V, ViewError>,
) -> Result<Arc<V>, ViewError> {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((own, value)) = &*last
        && *own == key
    {
        return Ok(Arc::clone(value));
    }
    let value = Arc::new(make()?);
    *last = Some((key, Arc::clone(&value)));
    Ok(value)
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
        Ok(Ok(None)) => (StatusCode::NOT_FOUND, "there is no such row or page".to_owned()),
        Ok(Err(error)) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    (status, Json(json!({ "error": why }))).into_response()
}

async fn index(State(app): State<Arc<App>>) -> Response {
    let runs: Vec<Value> = app.runs.iter().map(OpenedRun::json).collect();
    let data = escaped(&json!({ "kind": "view", "runs": runs }).to_string());
    Html(page(&policy("; connect-src 'self'"), &data)).into_response()
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

#[cfg(test)]
mod tests;
