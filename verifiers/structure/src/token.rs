//! The words of an answer with the marks that carry meaning: `-5`, `>5`, `$5`, `5%`, `.5`, `3-5`, `1/2`,
//! `10:30`, `5^2`, `C++`, `C#`, `B-`. Other marks are left out.

use crate::fold::{fold, words};

/// Signs of money.
const MONEY: [char; 9] = ['$', '€', '£', '¥', '₹', '₽', '₩', '₿', '¢'];
/// Signs that make another value of what follows them.
const BOUNDS: [char; 7] = ['<', '>', '≤', '≥', '≠', '±', '√'];
/// Marks that join two numbers to another value.
const JOINS: [&str; 11] = ["-", "/", ":", "^", "^-", "*", "**", "×", "·", "÷", "+"];
/// The fewest digits of a number that hyphens only part: of a telephone, of a book.
const PARTED_MIN: usize = 7;

/// The tokens of a text, folded. Linear in the text.
pub(crate) fn tokens(text: &str, accents: bool) -> Vec<String> {
    let folded = fold(&spelled(text), accents);
    let folded = folded.replace('_', " ").replace('⁄', "/");
    let folded = folded.replace("<=", "≤").replace(">=", "≥").replace("!=", "≠");
    let mut found: Vec<String> = Vec::new();
    let (mut end, mut are_initials) = (0, false);
    for (start, word) in words(&folded) {
        let gap = &folded[end..start];
        end = start + word.len();
        let word = word.replace('\'', "");
        let mut parts = commas(&word);
        let first = if parts.is_empty() { String::new() } else { parts.remove(0) };
        let is_letter = first.chars().count() == 1 && first.starts_with(char::is_alphabetic);
        match found.last_mut() {
            // "U.S.A."
            Some(last) if are_initials && is_letter && gap == "." => last.push_str(&first),
            Some(last) if let Some(join) = join(last, gap, &first) => {
                last.push_str(&join);
                last.push_str(&first);
            }
            last => {
                let has_last = last.is_some();
                let gap = last.map_or(gap, |last| close(last, gap, true));
                found.push(open(gap, &first, has_last));
            }
        }
        found.extend(parts);
        are_initials = is_letter;
    }
    if let Some(last) = found.last_mut() {
        close(last, &folded[end..], false);
    }
    found.iter_mut().for_each(unparted);
    found
}

/// Tokens in a row without the blanks that carry no meaning: those but between two digits.
pub(crate) fn joined(tokens: &[String]) -> String {
    let mut out = String::new();
    for token in tokens {
        if out.ends_with(|c: char| c.is_numeric()) && token.starts_with(char::is_numeric) {
            out.push(' ');
        }
        out.push_str(token);
    }
    out
}

/// Tokens with groups of three digits joined to one number: `10 000`.
pub(crate) fn grouped(tokens: &[String]) -> Vec<String> {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mut out: Vec<String> = Vec::new();
    let mut may_go_on = false;
    for token in tokens {
        let goes_on = may_go_on && token.len() == 3 && is_number(token);
        if let Some(last) = out.last_mut().filter(|_| goes_on) {
            last.push_str(token);
        } else {
            may_go_on = (1..=3).contains(&token.len()) && is_number(token);
            out.push(token.clone());
        }
    }
    out
}

/// A text with exponents, fractions and infinity as ASCII has them: `5²` is `5^2`, `1½` is `1 ½`.
fn spelled(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let is_raised = |c: char| matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁻');
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        match c {
            c if is_raised(c) && (before.is_ascii_digit() || before == ')') => out.push('^'),
            '¼'..='¾' | '⅐'..='⅞' if before.is_ascii_digit() => out.push(' '),
            _ => {}
        }
        match c {
            '∞' => out.push_str("infinity"),
            '⁻' => out.push('-'),
            c => out.push(c),
        }
        before = c;
    }
    out
}

fn ends_in_digit(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_digit())
}

fn begins_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) || text == "infinity"
}

/// A word without the separators of its thousands, or what its commas part: `1,000`, `1,2`.
fn commas(word: &str) -> Vec<String> {
    let (whole, fraction) = word.split_once('.').unwrap_or((word, ""));
    let groups: Vec<&str> = whole.split(',').collect();
    let is_grouped = match groups.as_slice() {
        [first, between @ .., last] => {
            (1..=3).contains(&first.len())
                && last.bytes().take_while(u8::is_ascii_digit).count() == 3
                && between.iter().all(|group| (2..=3).contains(&group.len()))
        }
        _ => true,
    };
    if is_grouped && !fraction.contains(',') {
        vec![word.replace(',', "")]
    } else {
        word.split(',').map(str::to_owned).collect()
    }
}

/// The mark that joins a number to the one before it.
fn join(last: &str, gap: &str, word: &str) -> Option<String> {
    if !last.ends_with(|c: char| c.is_ascii_digit() || c == '%') {
        return None;
    }
    let compact: String = gap.chars().filter(|c| !" {}()".contains(*c)).collect();
    let mark = compact.trim_end_matches(MONEY);
    let is_number = begins_number(word) || mark == "^";
    let is_join = JOINS.contains(&mark) && (mark != ":" || gap == ":");
    // "3 -5" are two numbers.
    let is_sign = gap.ends_with('-') && gap.starts_with(' ');
    (is_number && is_join && !is_sign).then_some(compact)
}

/// Adds the marks behind a token to it, and gives the rest of the gap.
fn close<'t>(last: &mut String, gap: &'t str, has_next: bool) -> &'t str {
    let near = gap.trim_start();
    if ends_in_digit(last) {
        if let Some(rest) = near.strip_prefix('%') {
            last.push('%');
            return rest;
        }
        let money = near.chars().next().filter(|c| MONEY.contains(c));
        if let Some(sign) = money.filter(|_| !last.contains(MONEY)) {
            let rest = &near[sign.len_utf8()..];
            if !(has_next && rest.is_empty()) {
                let at = last.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
                last.insert(at, sign);
                return rest;
            }
        }
    }
    let plus = if has_next { near } else { gap };
    if plus.starts_with('+') {
        let rest = plus.trim_start_matches('+');
        last.push_str(&plus[..plus.len() - rest.len()]);
        return rest;
    }
    let is_name = last.ends_with(char::is_alphabetic);
    if let Some(rest) = gap.strip_prefix('#').filter(|_| is_name) {
        last.push('#');
        return rest;
    }
    // "B-", but neither "T-shirt" nor "pre- and post-war".
    let is_short = is_name && last.chars().count() <= 2;
    match gap.strip_prefix('-').filter(|rest| is_short && !(has_next && rest.is_empty())) {
        Some(rest) if !rest.starts_with(['-', '>']) => {
            last.push('-');
            rest
        }
        _ => gap,
    }
}

/// A word with the marks before it.
fn open(gap: &str, word: &str, has_last: bool) -> String {
    let is_apart = |head: &str| {
        let before = head.chars().next_back();
        before.map_or(!has_last, |c| !(c.is_alphanumeric() || c == '.' || c == '-'))
    };
    let (mut rest, mut money, mut sign, mut point) = (gap, String::new(), "", "");
    let is_number = begins_number(word);
    if is_number {
        if let Some(head) =
            rest.strip_suffix('.').filter(|head| !word.contains('.') && is_apart(head))
        {
            (rest, point) = (head, "0.");
        }
        for _ in 0..2 {
            if let Some(head) = rest.trim_end().strip_suffix(MONEY).filter(|_| money.is_empty()) {
                money = rest[head.len()..].trim_end().to_owned();
                rest = head;
            }
            if let Some(head) =
                rest.strip_suffix('-').filter(|head| sign.is_empty() && is_apart(head))
            {
                (rest, sign) = (head, "-");
            }
        }
    }
    let is_markup = rest.contains("</") || rest.contains('<') && rest.contains('>');
    let at = rest.rfind(BOUNDS).filter(|_| !is_markup);
    let bound = at.and_then(|at| rest[at..].chars().next()).filter(|sign| {
        let is_arrow = *sign == '>' && at.is_some_and(|at| rest[..at].ends_with(['-', '=']));
        !is_arrow && (is_number || has_last || *sign == '√')
    });
    let bound = bound.map(String::from).unwrap_or_default();
    [bound.as_str(), sign, &money, point, word].concat()
}

/// Leaves out the hyphens of a long number that they only part: `978-3-16-148410-0`.
fn unparted(token: &mut String) {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let hyphens = token.bytes().filter(|byte| *byte == b'-').count();
    let is_parted = hyphens >= 2 && digits >= PARTED_MIN && digits + hyphens == token.len();
    if is_parted && !token.starts_with('-') {
        token.retain(|c| c != '-');
    }
}
