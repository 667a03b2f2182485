//! Bounds on a TOML text before it is parsed: its tables and values take hundreds of times their bytes.

/// The most tables that headers and dotted keys may make.
const TABLES_MAX: usize = 10_000;
/// The most signs that may start a value, a list or an inline table.
const VALUES_MAX: usize = 100_000;

/// What there is too much of in a text; lines and signs within a string count as well.
pub fn excess(text: &str) -> Option<String> {
    if tables(text) > TABLES_MAX {
        return Some(format!("more than {TABLES_MAX} tables"));
    }
    let values = text.bytes().filter(|byte| matches!(byte, b'=' | b'[' | b'{')).count();
    (values > VALUES_MAX).then(|| format!("more than {VALUES_MAX} values"))
}

fn tables(text: &str) -> usize {
    let of = |line: &str| match line.trim_start() {
        header if header.starts_with('[') => 1 + header.matches('.').count(),
        line => line.split_once('=').map_or(0, |(key, _)| key.matches('.').count()),
    };
    text.lines().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_much_memory_is_counted() {
        assert_eq!(excess(&"a = 1\n".repeat(10_000)), None);
        assert_eq!(excess(&"[[a]]\n".repeat(10_000)), None);
        for tables in
            ["[[a]]\n".repeat(10_001), "[a.b.c]\n".repeat(4000), "a.b.c.d = 1\n".repeat(4000)]
        {
            assert_eq!(excess(&tables).unwrap(), "more than 10000 tables");
        }
        for values in
            ["a=[]\n".repeat(60_000), format!("a=[{}]", "[],".repeat(100_000)), "{".repeat(100_001)]
        {
            assert_eq!(excess(&values).unwrap(), "more than 100000 values");
        }
    }
}
