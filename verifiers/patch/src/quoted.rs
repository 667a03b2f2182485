//! Paths as git quotes them.

/// The path in quotes at the start of a text, and what is after it: `"a/\303\244.py"`.
pub(crate) fn quoted(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = text.strip_prefix('"')?;
    loop {
        let mut chars = rest.chars();
        let c = chars.next()?;
        rest = chars.as_str();
        match c {
            '"' => return Some((String::from_utf8(bytes).ok()?, rest)),
            '\\' => {
                let (byte, behind) = escaped(rest)?;
                bytes.push(byte);
                rest = behind;
            }
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

fn escaped(text: &str) -> Option<(u8, &str)> {
    let mut chars = text.chars();
    let byte = match chars.next()? {
        'a' => 7,
        'b' => 8,
        't' => b'\t',
        'n' => b'\n',
        'v' => 11,
        'f' => 12,
        'r' => b'\r',
        c @ ('"' | '\\') => c as u8,
        '0'..='3' => {
            let (digits, behind) = text.split_at_checked(3)?;
            return Some((u8::from_str_radix(digits, 8).ok()?, behind));
        }
        _ => return None,
    };
    Some((byte, chars.as_str()))
}
