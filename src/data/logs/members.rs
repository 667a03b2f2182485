//! An object of JSON, followed as its bytes come: which member of its first level a byte belongs to.

/// Where a byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the value of [`Members::key`].
    Value,
    /// Elsewhere: a key, a colon, a comma, a bracket of the object.
    Frame,
}

/// Follows an object.
#[derive(Default)]
pub(super) struct Members {
    depth: usize,
    /// Within a text, and whether the next byte is escaped.
    text: Option<bool>,
    key: Vec<u8>,
    is_within: bool,
    has_ended: bool,
}

impl Members {
    /// The name of the member, as it is written.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// Whether the next byte may be one of a value.
    pub(super) fn is_within(&self) -> bool {
        self.is_within
    }

    /// Whether the object has its end.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Takes a byte.
    pub(super) fn step(&mut self, byte: u8) -> Place {
        let place = if self.is_within { Place::Value } else { Place::Frame };
        if let Some(is_escaped) = self.text {
            let is_end = byte == b'"' && !is_escaped;
            self.text = (!is_end).then_some(byte == b'\\' && !is_escaped);
            if !self.is_within && !is_end {
                self.key.push(byte);
            }
            return place;
        }
        match byte {
            b'"' => {
                self.text = Some(false);
                if !self.is_within {
                    self.key.clear();
                }
            }
            b':' if self.depth == 1 => self.is_within = true,
            b',' if self.depth == 1 => {
                self.is_within = false;
                return Place::Frame;
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    (self.is_within, self.has_ended) = (false, true);
                    return Place::Frame;
                }
            }
            _ => {}
        }
        place
    }
}
