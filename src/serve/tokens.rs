//! Who is let in: bearer tokens (RFC 6750), compared in constant time.

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use crate::data::BOM;

/// The tokens that are let in, as digests: neither a log nor a core dump of this has a token, and all
/// comparisons take the same time.
#[derive(Clone, Default)]
pub struct AccessTokens {
    digests: Vec<[u8; 32]>,
}

impl std::fmt::Debug for AccessTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} tokens", self.digests.len())
    }
}

impl AccessTokens {
    /// These tokens.
    ///
    /// # Errors
    /// Where there is none, or one that no header can have: a token is printable ASCII without blanks.
    pub fn new<'a>(tokens: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, String> {
        Self::named("token", "", tokens.into_iter().enumerate())
    }

    /// These tokens, each with its place from 0, of which an error tells the number and what is `allowed`.
    fn named<'a>(
        name: &str,
        allowed: &str,
        tokens: impl Iterator<Item = (usize, &'a [u8])>,
    ) -> Result<Self, String> {
        let digest = |(at, token): (usize, &[u8])| {
            if token.iter().all(u8::is_ascii_graphic) {
                return Ok(Sha256::digest(token).into());
            }
            Err(format!("{name} {}: expected printable ASCII without blanks{allowed}", at + 1))
        };
        let digests: Vec<_> = tokens.map(digest).collect::<Result<_, _>>()?;
        if digests.is_empty() { Err("no token".to_owned()) } else { Ok(Self { digests }) }
    }

    /// The tokens of a file, one a line. Lines that start with `#` are comments, and blank ones are
    /// left out.
    ///
    /// # Errors
    /// As for [`AccessTokens::new`].
    pub fn of_lines(text: &[u8]) -> Result<Self, String> {
        let text = text.strip_prefix(BOM).unwrap_or(text);
        let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).enumerate();
        let tokens = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
        Self::named("line", "; a comment begins the line with #", tokens)
    }

    /// These and others.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.digests.extend(others.digests);
        self
    }

    /// Whether nobody is asked for a token.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty()
    }

    /// Whether a request is let in.
    pub(crate) fn admit(&self, headers: &HeaderMap) -> bool {
        if self.digests.is_empty() {
            return true;
        }
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return false };
        let Some((scheme, token)) = value.to_str().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return false;
        }
        let digest: [u8; 32] = Sha256::digest(token.trim()).into();
        let equal = |known: &[u8; 32]| known.ct_eq(&digest);
        self.digests.iter().map(equal).fold(Choice::from(0), |any, one| any | one).into()
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn admits(tokens: &str, given: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in given {
            headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        }
        AccessTokens::of_lines(tokens.as_bytes()).unwrap().admit(&headers)
    }

    #[test]
    fn one_of_the_tokens_as_a_bearer_is_let_in() {
        let tokens = "\u{feff}# mine\nfirst\r\n\n second \nthird";
        for token in ["first", "second", "third"] {
            assert!(admits(tokens, &[&format!("Bearer {token}")]));
            assert!(admits(tokens, &[&format!("bearer {token}")]));
        }
        for given in [&[][..], &["Bearer"], &["Bearer "], &["first"], &["Basic first"]] {
            assert!(!admits(tokens, given), "{given:?}");
        }
        for given in ["Bearer firs", "Bearer first second", "Bearer #", "Bearer mine"] {
            assert!(!admits(tokens, &[given]), "{given}");
        }
        assert!(!admits(tokens, &["Bearer first", "Bearer first"]));
        assert!(AccessTokens::default().admit(&HeaderMap::new()));
    }

    #[test]
    fn what_no_client_can_send_is_no_token() {
        for text in [&b"two words\n"[..], b"token # of whom\n", b"\xff\xfef\0", b"k\xc3\xa9y"] {
            assert!(AccessTokens::of_lines(text).unwrap_err().starts_with("line 1: "), "{text:?}");
        }
        let third = AccessTokens::of_lines(b"# ours\n\ntwo words\n").unwrap_err();
        assert!(third.starts_with("line 3: ") && third.contains('#'), "{third}");
        let second = AccessTokens::new([&b"first"[..], b"two words"]).unwrap_err();
        assert!(second.starts_with("token 2: "), "{second}");
        for text in [&b""[..], b"\n \n", b"# first\n"] {
            assert_eq!(AccessTokens::of_lines(text).unwrap_err(), "no token");
        }
    }

    #[test]
    fn tokens_are_not_shown() {
        let tokens = AccessTokens::of_lines(b"secret").unwrap();
        assert_eq!(format!("{tokens:?}"), "1 tokens");
    }
}
