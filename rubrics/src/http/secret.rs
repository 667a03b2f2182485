//! A key that is never shown.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// What stands for a key wherever it would be shown.
const MASK: &str = "***";

/// Keys shorter than this are placeholders, such as `EMPTY`. They are not looked for in texts,
/// because they may be words of them.
const MASKED_BYTES_MIN: usize = 8;

/// A key. No format of it shows it.
///
/// ```
/// use assay_rubrics::http::Secret;
///
/// let key = Secret::new("sk-123456789");
/// assert_eq!(format!("{key} {key:?}"), "*** Secret(***)");
/// ```
#[derive(Clone)]
pub struct Secret(Arc<str>);

impl Secret {
    /// A key; white space around it is not a part of it.
    pub fn new(key: &str) -> Self {
        Self(Arc::from(key.trim()))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// `text` without the key.
    pub(crate) fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.0.len() < MASKED_BYTES_MIN || !text.contains(&*self.0) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.replace(&*self.0, MASK))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({MASK})")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_format_shows_the_key() {
        let key = Secret::new(" sk-planted-secret\n");
        assert_eq!(key.expose(), "sk-planted-secret");
        let shown = format!("{key} {key:?} {}", serde_json::to_string(&key).unwrap());
        assert_eq!(shown, "*** Secret(***) \"***\"");
    }

    #[test]
    fn a_text_that_holds_the_key_is_masked() {
        let key = Secret::new("sk-planted-secret");
        assert_eq!(key.mask("bad key sk-planted-secret!"), "bad key ***!");
        assert_eq!(Secret::new("EMPTY").mask("EMPTY"), "EMPTY", "a placeholder is no secret");
    }
}
