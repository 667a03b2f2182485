//! The deadline of a request: the shortest of what its headers and its body ask for, and of what the
//! daemon allows.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};

use super::error::ApiError;

/// Seconds, or a number with a unit: `2`, `0.5`, `500ms`, `2s`, `1m`.
const REQUEST_TIMEOUT: HeaderName = HeaderName::from_static("x-request-timeout");
/// As gRPC has it: up to 8 digits and a unit, `500m` for milliseconds.
const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// The headers that are read, and what each may say.
pub(crate) const HEADERS: [(HeaderName, &str); 2] = [
    (REQUEST_TIMEOUT, "seconds, or a number with ms, s or m, above 0"),
    (GRPC_TIMEOUT, "up to 8 digits and one of H M S m u n, above 0"),
];

/// The deadline that the headers ask for.
pub(crate) fn of_headers(headers: &HeaderMap) -> Result<Option<Duration>, ApiError> {
    let read = |(name, expected): (HeaderName, &str), parse: fn(&str) -> Option<Duration>| {
        let mut given = headers.get_all(&name).iter();
        let Some(value) = given.next() else { return Ok(None) };
        let refused = |message: String| {
            ApiError::bad_request(format!("header {name}: {message}")).at(name.as_str())
        };
        if given.next().is_some() {
            return Err(refused("expected one".to_owned()));
        }
        let parsed = value.to_str().ok().and_then(|value| parse(value.trim()));
        let parsed = parsed.filter(|time| !time.is_zero());
        parsed.map(Some).ok_or_else(|| refused(format!("expected {expected}")))
    };
    let [own, of_grpc] = HEADERS;
    let (own, grpc) = (read(own, with_unit)?, read(of_grpc, grpc)?);
    Ok(own.into_iter().chain(grpc).min())
}

fn with_unit(text: &str) -> Option<Duration> {
    let split = text.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(split)?;
    let factor = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    let seconds: f64 = number.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds * factor).ok()
}

fn grpc(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if !(1..=8).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn asked(given: &[(&'static str, &'static str)]) -> Result<Option<Duration>, ApiError> {
        let pairs = given.iter().map(|(name, value)| {
            (axum::http::HeaderName::from_static(name), HeaderValue::from_static(value))
        });
        of_headers(&pairs.collect())
    }

    #[test]
    fn the_shortest_is_taken() {
        let ms = |given: &[(&'static str, &'static str)]| {
            asked(given).unwrap().map(|asked| asked.as_micros())
        };
        assert_eq!(ms(&[]), None);
        assert_eq!(ms(&[("x-request-timeout", "2")]), Some(2_000_000));
        assert_eq!(ms(&[("x-request-timeout", "0.25s")]), Some(250_000));
        assert_eq!(ms(&[("x-request-timeout", "70ms"), ("grpc-timeout", "1S")]), Some(70_000));
        assert_eq!(ms(&[("x-request-timeout", "1m"), ("grpc-timeout", "5u")]), Some(5));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for odd in ["", "s", "-1", "0", "0ms", "1h", "nan", "inf", "1e300", "1 2"] {
            assert!(asked(&[("x-request-timeout", odd)]).is_err(), "{odd}");
        }
        for odd in ["", "5", "S", "-1S", "0S", "123456789S", "1s", "1.5S"] {
            assert!(asked(&[("grpc-timeout", odd)]).is_err(), "{odd}");
        }
        let mut twice = HeaderMap::new();
        for value in ["1", "2"] {
            twice.append(REQUEST_TIMEOUT, HeaderValue::from_static(value));
        }
        assert!(of_headers(&twice).is_err());
    }
}
