//! Who is let in: bearer tokens (RFC 6750), compared in constant time.

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

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
    /// The tokens of a text, separated by white space. Lines that start with `#` are comments.
    pub fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let tokens = lines.flat_map(str::split_whitespace);
        Self { digests: tokens.map(|token| Sha256::digest(token).into()).collect() }
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
        AccessTokens::parse(tokens).admit(&headers)
    }

    #[test]
    fn one_of_the_tokens_as_a_bearer_is_let_in() {
        let tokens = "# mine\nfirst\n second third\n";
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
        assert!(admits("", &[]));
    }

    #[test]
    fn tokens_are_not_shown() {
        assert_eq!(format!("{:?}", AccessTokens::parse("secret")), "1 tokens");
    }
}
