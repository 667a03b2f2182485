//! The HTTP client under TLS: certificates, and HTTP/2.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_rubrics::http::{HttpClient, HttpEndpoint, HttpError, HttpSettings};
use bytes::Bytes;
use rustls::pki_types::{PrivateKeyDer, pem::PemObject as _};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

use crate::server::json;

async fn post(endpoint: &HttpEndpoint) -> (Result<Value, HttpError>, u32) {
    let mut call = endpoint.call([7; 32]).await.unwrap();
    (call.post::<Value>("{}".into()).await, call.tries())
}

/// The settings of a server with a certificate for `localhost`, and who signed it.
fn tls_config(protocol: &str) -> (Arc<ServerConfig>, Vec<u8>) {
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::from_pem_slice(signed.signing_key.serialize_pem().as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![signed.cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    (Arc::new(config), signed.cert.pem().into_bytes())
}

/// A server that speaks HTTP/1.1 under TLS.
fn server() -> (String, Vec<u8>) {
    let (config, certificate) = tls_config("http/1.1");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        // As many connections as the tests make tries.
        for stream in listener.incoming().take(8) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = StreamOwned::new(connection, stream.unwrap());
            let mut buffer = [0; 4096];
            if std::io::Read::read(&mut tls, &mut buffer).is_ok_and(|read| read > 0) {
                let _ = std::io::Write::write_all(&mut tls, &json(200, r#"{"tls":true}"#));
                tls.conn.send_close_notify();
                let _ = std::io::Write::flush(&mut tls);
            }
        }
    });
    (format!("https://localhost:{port}/v1"), certificate)
}

#[tokio::test]
async fn certificates_are_checked_and_a_file_can_add_to_them() {
    let (url, certificate) = server();
    let with = |ca, url: &str| {
        let http = HttpSettings { ca, retries: 0, ..HttpSettings::new(url, "responses") };
        HttpClient::new().endpoint(http).unwrap()
    };
    let (answered, _) = post(&with(Some(certificate.clone()), &url)).await;
    assert_eq!(answered.unwrap(), serde_json::json!({"tls": true}));
    let message = |answered: Result<Value, HttpError>| answered.unwrap_err().message;
    let unknown = message(post(&with(None, &url)).await.0);
    assert!(unknown.starts_with("the TLS handshake failed: the issuer"), "{unknown}");
    let other = url.replace("localhost", "127.0.0.1");
    let name = message(post(&with(Some(certificate), &other)).await.0);
    assert_eq!(name, "the TLS handshake failed: the certificate is for another name");
}

/// Answers the streams of connections, but refuses the first.
async fn http2(acceptor: TlsAcceptor, stream: TcpStream, streams: Arc<AtomicUsize>) {
    let Ok(tls) = acceptor.accept(stream).await else { return };
    let mut connection = h2::server::handshake(tls).await.unwrap();
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        if streams.fetch_add(1, Ordering::Relaxed) == 0 {
            respond.send_reset(h2::Reason::REFUSED_STREAM);
            continue;
        }
        let answer = http::Response::builder().header("content-type", "application/json");
        let mut body = respond.send_response(answer.body(()).unwrap(), false).unwrap();
        body.send_data(Bytes::from_static(b"{\"h\":2}"), true).unwrap();
    }
}

#[tokio::test]
async fn http2_is_spoken_and_a_refused_stream_is_tried_again() {
    let (config, ca) = tls_config("h2");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    let streams = Arc::<AtomicUsize>::default();
    let (acceptor, count) = (TlsAcceptor::from(config), Arc::clone(&streams));
    let serve = async move {
        let connections = tokio::task::LocalSet::new();
        connections
            .run_until(async {
                while let Ok((stream, _)) = listener.accept().await {
                    let served = http2(acceptor.clone(), stream, Arc::clone(&count));
                    tokio::task::spawn_local(served);
                }
            })
            .await;
    };
    let http = HttpSettings { ca: Some(ca), ..HttpSettings::new(url, "responses") };
    let endpoint = HttpClient::new().endpoint(http).unwrap();
    let asked = async {
        let (answered, tries) = post(&endpoint).await;
        assert_eq!((answered.unwrap(), tries), (serde_json::json!({"h": 2}), 2));
        let all = futures_util::future::join_all((0..16).map(|_| post(&endpoint))).await;
        assert!(all.iter().all(|(answered, _)| answered.is_ok()), "{all:?}");
    };
    tokio::select! { () = serve => unreachable!(), () = asked => {} }
    assert_eq!(streams.load(Ordering::Relaxed), 18);
}
