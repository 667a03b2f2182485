//! The address of the daemon.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Where the daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    /// An address.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl Bind {
    /// Reads `IP:PORT`, `localhost:PORT` or `unix:PATH`.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address = named.as_deref().unwrap_or(text).parse();
        address.map(Self::Tcp).map_err(|_| format!("\"{text}\": expected IP:PORT or unix:PATH"))
    }

    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback(),
                IpAddr::V6(ip) => {
                    ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback())
                }
            },
            Self::Unix(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_port_and_sockets_a_path() {
        for (text, is_local) in [
            ("127.0.0.1:0", true),
            ("localhost:80", true),
            ("[::1]:80", true),
            ("[::ffff:127.0.0.1]:80", true),
            ("unix:a.sock", true),
            ("0.0.0.0:80", false),
            ("[::]:80", false),
        ] {
            assert_eq!(Bind::parse(text).unwrap().is_local(), is_local, "{text}");
        }
        for text in [
            "",
            "localhost",
            "127.0.0.1",
            ":80",
            "localhost:99999",
            "example.org:80",
            "http://127.0.0.1:80",
        ] {
            assert!(Bind::parse(text).is_err(), "{text}");
        }
    }
}
