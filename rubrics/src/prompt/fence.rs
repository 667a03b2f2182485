//! The fence around material: a code that no text within can hold.

use assay_verifiers::canonical;

/// A code that is the SHA-256 of the texts that it encloses, and of all others of its request.
///
/// A text cannot foresee the digest of what it is a part of, so it can neither close the fence nor
/// write a verdict that carries the code. The same request has the same code, so it can be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    hex: String,
}

impl Fence {
    /// The digits of the code that a reply must repeat.
    const CODE_DIGITS: usize = 8;

    /// The fence of a request of these texts.
    pub fn of(texts: &[&str]) -> Self {
        let mut round = 0_u64;
        loop {
            let count = round.to_le_bytes();
            let mut parts: Vec<&[u8]> = vec![b"assay fence 1", &count];
            parts.extend(texts.iter().map(|text| text.as_bytes()));
            let hex = canonical::hex(&canonical::digest_parts(&parts));
            let fence = Self { hex };
            // No text holds it but by a chance that never comes.
            if !texts.iter().any(|text| text.contains(fence.code())) || round == 16 {
                return fence;
            }
            round += 1;
        }
    }

    /// The code that a reply must repeat: a verdict without it was copied from somewhere.
    pub fn code(&self) -> &str {
        &self.hex[..Self::CODE_DIGITS]
    }

    /// A text between its two lines.
    pub fn around(&self, label: &str, text: &str) -> String {
        let hex = &self.hex;
        format!("BEGIN {label} {hex}\n{text}\nEND {label} {hex}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_moves_the_code_and_borders_count() {
        let one = Fence::of(&["task", "response"]);
        assert_eq!(one, Fence::of(&["task", "response"]));
        assert_ne!(one, Fence::of(&["task", "response "]));
        assert_ne!(Fence::of(&["ab", "c"]), Fence::of(&["a", "bc"]));
        assert_eq!(one.code().len(), 8);
    }

    #[test]
    fn a_text_that_holds_a_code_gets_another() {
        let code = Fence::of(&["x"]).code().to_owned();
        let fence = Fence::of(&[&code]);
        assert!(!fence.around("A", &code).contains(&format!("{code}\n{code}\n")));
        assert_eq!(fence.around("A", "t"), format!("BEGIN A {0}\nt\nEND A {0}", fence.hex));
    }
}
