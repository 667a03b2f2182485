//! Words as data: lists of them, and enums whose variants have words.

/// Lists the variants of an enum, and gives each its word.
///
/// ```
/// #[derive(Clone, Copy)]
/// enum Side {
///     Left,
///     Right,
/// }
/// assay_math::words!(Side, name: Left "left", Right "right");
/// assert_eq!(Side::ALL.map(Side::name), ["left", "right"]);
/// ```
#[macro_export]
macro_rules! words {
    ($type:ident, $name:ident: $($variant:ident $word:literal),+ $(,)?) => {
        impl $type {
            /// All of them, in the order in which tables list them.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word for it, as files and messages have it.
            pub const fn $name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}

/// The words of a text, of which there are `N`.
///
/// ```
/// const SIDES: [&str; 2] = assay_math::words::list("left right");
/// assert_eq!(SIDES, ["left", "right"]);
/// ```
///
/// # Panics
/// There are more or fewer. A constant list is counted when it is compiled.
#[expect(clippy::indexing_slicing, reason = "each index is below the length")]
pub const fn list<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut words = [""; N];
    let (mut rest, mut at) = (text, 0);
    while at < N {
        let bytes = rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b' ' {
            end += 1;
        }
        assert!(end > 0, "fewer words");
        let (word, after) = rest.split_at(end);
        words[at] = word;
        rest = if after.is_empty() { after } else { after.split_at(1).1 };
        at += 1;
    }
    assert!(rest.is_empty(), "more words");
    words
}
