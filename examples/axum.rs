//! Rewards over HTTP, from inside an async server: `cargo run --example axum`, then
//!
//! ```text
//! curl -s 127.0.0.1:8000/score -H 'content-type: application/json' \
//!   -d '[{"completion": "So it is \\boxed{4}.", "reference": "4"}]'
//! ```
//!
//! A client that leaves drops its future, and with it the work. A request has 50 ms; what is not
//! judged by then comes back as a `Timeout`.

use std::sync::Arc;
use std::time::Duration;

use assay::verifiers::Content;
use assay::{Config, Engine, Sample, ScoreOptions, Scored};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::Value;

const CONFIG: &str = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'math'\n";
const DEADLINE: Duration = Duration::from_millis(50);

/// What a client sends of a sample.
#[derive(Deserialize)]
struct Request {
    completion: Content,
    #[serde(default)]
    reference: Value,
}

/// `POST /score`: a list of samples for a list of scored samples.
pub(crate) fn app(engine: Arc<Engine>) -> Router {
    let score = move |Json(requests): Json<Vec<Request>>| {
        let engine = Arc::clone(&engine);
        async move { Json(score(&engine, requests).await) }
    };
    Router::new().route("/score", post(score))
}

async fn score(engine: &Engine, requests: Vec<Request>) -> Vec<Scored> {
    let sample =
        |request: Request| Sample::builder(request.completion).reference(request.reference).build();
    let samples = requests.into_iter().map(sample).collect();
    let options = ScoreOptions { deadline: Some(DEADLINE), ..ScoreOptions::default() };
    engine.score_async(samples, options).await
}

#[tokio::main]
#[allow(dead_code, reason = "the tests take the routes alone")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::parse("example", CONFIG)?;
    let engine = Arc::new(Engine::builder().config(config).build()?);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8000").await?;
    axum::serve(listener, app(engine)).await?;
    Ok(())
}
