//! The address of the daemon.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where the daemon listens: `IP:PORT`, `localhost:PORT` or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Bind {
    /// An address.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl FromStr for Bind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Linux gives a socket without a path a name that anybody on the machine may connect to.
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(PathBuf::from(path)));
        }
        let named = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address = named.as_deref().unwrap_or(text).parse();
        address.map(Self::Tcp).map_err(|_| format!("\"{text}\": expected IP:PORT or unix:PATH"))
    }
}

impl TryFrom<String> for Bind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Bind> for String {
    fn from(bind: Bind) -> Self {
        bind.to_string()
    }
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Port 7878 of loopback.
impl Default for Bind {
    fn default() -> Self {
        Self::Tcp((Ipv4Addr::LOCALHOST, 7878).into())
    }
}

impl Bind {
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
            let bind: Bind = text.parse().unwrap();
            assert_eq!(bind.is_local(), is_local, "{text}");
            assert_eq!(bind.to_string().parse(), Ok(bind), "{text}");
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
            assert!(text.parse::<Bind>().is_err(), "{text}");
        }
    }
}
