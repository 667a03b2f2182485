//! Which URLs and addresses may be called.
//!
//! The URL comes from the file of the operator, who may run a judge on this machine or in a private
//! network. What no judge can be is refused: link-local addresses, the metadata services of clouds,
//! and addresses that are none of one host. A name is checked when it is resolved for a connection,
//! so what was checked is what is connected to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Names of the metadata services of clouds.
const METADATA_NAMES: [&str; 5] = assay_verifiers::words::list(
    "instance-data instance-data.ec2.internal metadata metadata.goog metadata.google.internal",
);

/// Addresses of the metadata services of clouds that are not link-local: Alibaba, Azure and Oracle.
const METADATA_V4: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// The same of IPv6: those of Amazon and Google.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254),
];

/// Reads a URL and checks all of it that can be checked before a connection.
///
/// # Errors
/// What about it is refused. The URL itself is not shown: its query may hold a key.
pub(super) fn read_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text.trim()).map_err(|error| format!("not a URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the scheme is {:?}, not http or https", url.scheme()));
    }
    // An empty user before an `@` leaves no trace in what was read.
    let authority =
        text.split("//").nth(1).and_then(|rest| rest.split(['/', '?', '#', '\\']).next());
    let has_user = authority.is_some_and(|authority| authority.contains('@'));
    if has_user || !url.username().is_empty() || url.password().is_some() {
        return Err("a user or password in a URL is refused; name a key by `key_env`".to_owned());
    }
    if url.fragment().is_some() {
        return Err("a URL of a service has no fragment".to_owned());
    }
    check_host(&url)?;
    Ok(url)
}

fn check_host(url: &Url) -> Result<(), String> {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return refused(address).map_or(Ok(()), |what| Err(format!("the host is {what}")));
    }
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    if name.is_empty() {
        return Err("the host is empty".to_owned());
    }
    if METADATA_NAMES.contains(&name.as_str()) {
        return Err("the host is the metadata service of a cloud".to_owned());
    }
    Ok(())
}

/// Why `address` is refused, if it is.
fn refused(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refused_v4(address),
        IpAddr::V6(address) => refused_v6(address),
    }
}

fn refused_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address {
        _ if METADATA_V4.contains(&address) => Some("the metadata service of a cloud"),
        _ if address.is_link_local() => Some("a link-local address"),
        _ if address.octets()[0] == 0 => Some("an unspecified address"),
        _ if address.is_multicast() => Some("a multicast address"),
        _ if address.is_broadcast() => Some("a broadcast address"),
        _ => None,
    }
}

fn refused_v6(address: Ipv6Addr) -> Option<&'static str> {
    match address {
        _ if METADATA_V6.contains(&address) => Some("the metadata service of a cloud"),
        _ if address.is_unicast_link_local() => Some("a link-local address"),
        _ if address.is_unspecified() => Some("an unspecified address"),
        _ if address.is_multicast() => Some("a multicast address"),
        _ if address.is_loopback() => None,
        _ => embedded_v4(address).and_then(refused_v4),
    }
}

/// The IPv4 address inside an IPv6 address: mapped, compatible, NAT64, 6to4, Teredo or ISATAP.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, _, _, _, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(join(high, low)),
        [0x2001, 0, _, _, _, _, high, low] => Some(join(!high, !low)),
        _ => None,
    }
}

/// Resolves names by the system, and refuses a name if one of its addresses is refused.
#[derive(Debug)]
pub(super) struct CheckedResolver;

/// A name whose addresses are not to be called.
#[derive(Debug, thiserror::Error)]
#[error("the host resolves to {0}, which is refused")]
pub(super) struct RefusedAddress(&'static str);

/// A name that has no address.
#[derive(Debug, thiserror::Error)]
#[error("the host name cannot be resolved")]
pub(super) struct UnresolvedName;

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            checked(found.map_err(|_| UnresolvedName)?.collect())
        })
    }
}

fn checked(addresses: Vec<SocketAddr>) -> Result<Addrs, Box<dyn std::error::Error + Send + Sync>> {
    if let Some(what) = addresses.iter().find_map(|address| refused(address.ip())) {
        return Err(Box::new(RefusedAddress(what)));
    }
    Ok(Box::new(addresses.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forms of URLs that are refused, most of them spellings of 169.254.169.254.
    const REFUSED: [&str; 43] = [
        "http://169.254.169.254/v1",
        "http://169.254.169.254:80/v1",
        "http://169.254.0.1/",
        "http://169.254.169.254./",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0xA9FEA9FE:8000/",
        "http://025177524776/",
        "http://0251.0376.0251.0376/",
        "http://0xa9.0xfe.0xa9.0xfe/",
        "http://169.254.43518/",
        "http://169.16689662/",
        "http://169.0xfe.0251.254/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[0:0:0:0:0:ffff:a9fe:a9fe]:8080/",
        "http://[::169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[64:ff9b:1::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::1]/",
        "http://[2001:0:4136:e378:8000:63bf:5601:5601]/",
        "http://[fe80::1]/",
        "http://[fe80::5efe:a9fe:a9fe]/",
        "http://[2001:db8::200:5efe:a9fe:a9fe]/",
        "http://[febf::1]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://metadata.google.internal/",
        "http://METADATA.google.internal./computeMetadata/v1",
        "http://metadata%2egoogle%2einternal/",
        "http://①⑥⑨.254.169.254/",
        "http://169。254。169。254/",
        "http://0.0.0.0:8000/",
        "http://0/",
        "http://[::]/",
        "http://255.255.255.255/",
        "http://224.0.0.1/",
        "http://[ff02::1]/",
        "http://user:pass@judge.example/",
        "http://judge.example@169.254.169.254/",
        "http://@judge.example/",
        "http:\\\\169.254.169.254\\v1",
        "http://judge.example\\@169.254.169.254/",
    ];

    #[test]
    fn forms_that_lead_to_refused_hosts_are_refused() {
        let passed: Vec<_> = REFUSED
            .iter()
            .filter_map(|url| read_url(url).ok().map(|read| (*url, read.to_string())))
            // What comes before a backslash is the host, as browsers read it.
            .filter(|(_, read)| !read.starts_with("http://judge.example/@"))
            .collect();
        assert!(passed.is_empty(), "{passed:?}");
    }

    #[test]
    fn other_schemes_and_broken_urls_are_refused() {
        for url in [
            "file:///etc/passwd",
            "ftp://a/",
            "gopher://a/",
            "data:,x",
            "unix:/x",
            "a/b",
            "",
            "http://",
            "http:///",
            "http://a/#x",
            "http://[fe80::1%25eth0]/",
            "http://1.2.3.4.5.6/",
        ] {
            assert!(read_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn judges_here_and_in_private_networks_are_allowed() {
        for url in [
            "http://localhost:8000/v1",
            "http://127.0.0.1:8000/v1",
            "http://[::1]:8000",
            "http://10.1.2.3/",
            "http://192.168.0.7/v1?api-version=1",
            "http://[fd12:3456::1]/",
            "http://[::ffff:10.0.0.1]/",
            "https://api.example.com/v1",
            " https://api.example.com/v1 ",
        ] {
            assert!(read_url(url).is_ok(), "{url}: {:?}", read_url(url));
        }
    }

    #[test]
    fn a_name_with_one_refused_address_is_refused() {
        let addresses = |text: &[&str]| text.iter().map(|one| one.parse().unwrap()).collect();
        assert!(checked(addresses(&["127.0.0.1:0", "[::1]:0"])).is_ok());
        let refused = checked(addresses(&["93.184.216.34:0", "169.254.169.254:0"]));
        let why = refused.err().unwrap().to_string();
        assert_eq!(why, "the host resolves to a link-local address, which is refused");
    }
}
