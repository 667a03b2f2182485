//! How long to wait before the next try.

use std::time::Duration;

use assay_verifiers::Digest;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// The pause before the second try, before jitter; it doubles from try to try.
const PAUSE: Duration = Duration::from_millis(250);

/// The longest pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The pause after the try `tries` (from 1) of the request with this digest: half of it is fixed,
/// the other half depends on the digest. Requests that failed together do not come back together,
/// and nothing random is needed for that.
#[expect(clippy::indexing_slicing, reason = "behind an even place of a digest there is one more")]
pub(super) fn pause(digest: &Digest, tries: u32) -> Duration {
    let whole = PAUSE.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(PAUSE_MAX);
    let at = (tries as usize).wrapping_mul(2) % digest.len();
    let jitter = u16::from_le_bytes([digest[at], digest[at + 1]]);
    whole / 2 + (whole / 2).mul_f64(f64::from(jitter) / f64::from(u16::MAX))
}

/// The pause that the server asks for by `Retry-After`: seconds, or a date. A date is read against
/// the `Date` of the same answer, so that the two clocks need not agree; without it, it is ignored.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_grows_and_is_spread() {
        let digest = |byte: u8| [byte; 32];
        assert_eq!(pause(&digest(0), 1), Duration::from_millis(125));
        assert_eq!(pause(&digest(255), 1), Duration::from_millis(250));
        assert_eq!(pause(&digest(0), 2), Duration::from_millis(250));
        assert_eq!(pause(&digest(255), 60), PAUSE_MAX);
        assert_ne!(pause(&digest(1), 1), pause(&digest(2), 1));
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let headers = |pairs: &[(reqwest::header::HeaderName, &str)]| {
            pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
        };
        let date = (DATE, "Sun, 06 Nov 1994 08:49:30 GMT");
        let later = (RETRY_AFTER, "Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |pairs: &[_]| retry_after(&headers(pairs)).map(|pause| pause.as_secs());
        assert_eq!(seconds(&[(RETRY_AFTER, " 3 ")]), Some(3));
        assert_eq!(seconds(&[date.clone(), later.clone()]), Some(7));
        assert_eq!(seconds(&[(DATE, "Sun, 06 Nov 1994 08:50:00 GMT"), later.clone()]), Some(0));
        assert_eq!(seconds(&[later]), None, "there is no date to read it against");
        assert_eq!(seconds(&[(RETRY_AFTER, "-1")]), None);
        assert_eq!(seconds(&[date]), None);
    }
}
