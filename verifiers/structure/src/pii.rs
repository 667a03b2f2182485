//! Personal data by its form: e-mail addresses, telephone numbers, IBANs, payment cards, IP addresses and
//! US social security numbers. Numbers with a check digit are checked.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use crate::fold::is_invisible;

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An e-mail address.
    Email,
    /// An IBAN (ISO 13616) whose length and checksum (ISO 7064, mod 97-10) fit.
    Iban,
    /// A payment card number (ISO/IEC 7812) whose Luhn digit fits.
    Card,
    /// A US social security number, as `ddd-dd-dddd`.
    Ssn,
    /// An IP address, version 4 or 6.
    Ip,
    /// A telephone number with a country code, or in groups.
    Phone,
}

/// Lengths of IBANs by country (SWIFT registry, release 99).
const IBANS: &str = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18\
     FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27\
     MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23\
     ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30";

/// The personal data of a text, in order; of places that overlap the first kind counts. Blanks and dashes of
/// any kind, full-width signs and invisible ones hide none. Linear in the text.
pub fn find(text: &str) -> Vec<(Kind, Range<usize>)> {
    if text.bytes().all(|byte| byte.is_ascii() && byte != b'\t') {
        return find_plain(text);
    }
    // The plain text, and where the sign of each of its bytes ends in the text.
    let (mut plain, mut starts, mut ends) = (String::with_capacity(text.len()), vec![], vec![]);
    for (at, c) in text.char_indices().filter(|(_, c)| !is_invisible(*c)) {
        let c = match c {
            '\n' | '\r' => c,
            '‐'..='―' | '−' => '-',
            // Full-width forms stand as far from those of ASCII.
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            c if c.is_whitespace() => ' ',
            c => c,
        };
        plain.push(c);
        starts.resize(plain.len(), at);
        ends.resize(plain.len(), text.ceil_char_boundary(at + 1));
    }
    let place =
        |span: Range<usize>| Some(*starts.get(span.start)?..*ends.get(span.end.checked_sub(1)?)?);
    let found = find_plain(&plain).into_iter();
    found.filter_map(|(kind, span)| Some((kind, place(span)?))).collect()
}

fn find_plain(text: &str) -> Vec<(Kind, Range<usize>)> {
    let mut found: Vec<(Kind, Range<usize>)> = Vec::new();
    let emails = text.match_indices('@').filter_map(|(at, _)| email(text, at));
    found.extend(emails.map(|span| (Kind::Email, span)));
    for run in runs(text) {
        if let Some((kind, span)) = number(text, run) {
            found.push((kind, span));
        }
    }
    found.extend(words(text).filter_map(|span| ip(text, span)).map(|span| (Kind::Ip, span)));
    found.sort_by_key(|(kind, span)| (span.start, *kind));
    let mut end = 0;
    found.retain(|(_, span)| {
        let is_new = span.start >= end;
        end = end.max(span.end);
        is_new
    });
    found
}

fn email(text: &str, at: usize) -> Option<Range<usize>> {
    let local = |c: char| c.is_alphanumeric() || "._%+-'".contains(c);
    let head = &text[..at];
    let start = head.rfind(|c| !local(c)).map_or(0, |end| head.ceil_char_boundary(end + 1));
    let start = start + head[start..].len() - head[start..].trim_start_matches(['.', '\'']).len();
    let tail = &text[at + 1..];
    let length =
        tail.find(|c: char| !(c.is_alphanumeric() || ".-".contains(c))).unwrap_or(tail.len());
    let domain = tail[..length].trim_end_matches(['.', '-']);
    let (_, top) = domain.rsplit_once('.')?;
    let is_good = top.chars().count() >= 2
        && top.chars().all(char::is_alphabetic)
        && domain.split('.').all(|label| !label.is_empty() && !label.starts_with('-'));
    (is_good && start < at).then_some(start..at + 1 + domain.len())
}

/// Runs between blanks and punctuation.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ":.".contains(c);
    text.split(move |c| !is_part(c)).map(|word| {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let bare = word.trim_end_matches('.');
        // `2001:db8::` is an address.
        let bare = if bare.ends_with("::") { bare } else { bare.trim_end_matches([':', '.']) };
        start..start + bare.len()
    })
}

/// The address in a word, which a label may precede and a port follow: `host:10.0.0.1:8080`.
fn ip(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let written = &text[word.clone()];
    let is_v6 = written.matches(':').count() >= 2 && written.len() > 4;
    if is_v6 && written.parse::<Ipv6Addr>().is_ok() {
        return Some(word);
    }
    let mut start = word.start;
    written.split(':').find_map(|part| {
        let span = start..start + part.len();
        start = span.end + 1;
        let is_v4 = part.matches('.').count() == 3
            && part.parse::<Ipv4Addr>().is_ok_and(|address| !address.is_unspecified());
        (is_v4 && !is_version(&text[..span.start], &text[span.end..])).then_some(span)
    })
}

/// Whether four numbers with dots are a version: `version 1.2.3.4`, `Chrome/120.0.0.0`, `tool-1.2.3.4`,
/// `tool==1.2.3.4`, `1.2.3.4-beta`.
fn is_version(before: &str, after: &str) -> bool {
    const NAMES: [&str; 6] = ["v", "ver", "version", "versions", "release", "build"];
    let goes_on = after
        .strip_prefix(['-', '+', '_'])
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    let is_named = before
        .strip_suffix(['/', '-', '_'])
        .is_some_and(|head| head.ends_with(|c: char| c.is_ascii_alphabetic()));
    let lead = before.trim_end_matches([' ', ':', '.', '=', '"', '\'']);
    let head = lead.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let name = &lead[head.len()..];
    goes_on
        || is_named
        || before.ends_with("==")
        || NAMES.iter().any(|one| one.eq_ignore_ascii_case(name))
}

/// The longest run of letters, digits and separators that is one number.
const RUN_BYTES_MAX: usize = 60;

/// Runs that begin with a digit, a plus, a bracket or two capitals and two digits, and go on over single
/// separators.
fn runs(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let before = text[..text.floor_char_boundary(at)].chars().next_back();
        let is_apart =
            before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == '.' && at > 1));
        let is_iban = matches!(rest, [a, b, c, d, ..] if a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_digit() && d.is_ascii_digit());
        let is_number = matches!(rest, [b'+' | b'(', b'0'..=b'9', ..] | [b'0'..=b'9', ..]);
        if !(is_apart && (is_iban || is_number)) {
            at += 1;
            continue;
        }
        let goes_on = |byte: u8| byte.is_ascii_digit() || is_iban && byte.is_ascii_uppercase();
        let mut end = 1;
        while let Some(byte) = rest.get(end).filter(|_| end < RUN_BYTES_MAX) {
            let next = rest.get(end + 1).copied().unwrap_or(b'\n');
            let next_but_one = rest.get(end + 2).copied().unwrap_or(b'\n');
            let joins = b" -./()".contains(byte)
                && (goes_on(next) || b"(-) ".contains(&next) && goes_on(next_but_one));
            if !(goes_on(*byte) || joins) {
                break;
            }
            end += 1;
        }
        found.push(at..at + end);
        at += end;
    }
    found
}

fn number(text: &str, run: Range<usize>) -> Option<(Kind, Range<usize>)> {
    let written = &text[run.clone()];
    let compact: String = written.chars().filter(char::is_ascii_alphanumeric).collect();
    let after = text[run.end..].chars().next();
    if after.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    if written.starts_with(|c: char| c.is_ascii_uppercase()) {
        // What follows an IBAN in capitals is no part of it.
        let length = iban_length(&compact).filter(|length| compact.len() >= *length)?;
        let is_good = mod_97(compact.get(..length)?) == 1;
        return is_good.then_some((Kind::Iban, run));
    }
    let groups: Vec<usize> = written
        .split(|c: char| !c.is_ascii_digit())
        .map(str::len)
        .filter(|length| *length > 0)
        .collect();
    let kind = if is_ssn(written) {
        Kind::Ssn
    } else if is_card(&compact, &groups) && !written.contains(['.', '/', '(']) {
        Kind::Card
    } else if is_phone(written, &compact, &groups) {
        Kind::Phone
    } else {
        return None;
    };
    Some((kind, run))
}

fn iban_length(compact: &str) -> Option<usize> {
    let country = compact.get(..2)?;
    let at = (0..IBANS.len()).step_by(4).find(|at| IBANS.get(*at..at + 2) == Some(country))?;
    IBANS.get(at + 2..at + 4)?.parse().ok()
}

/// The remainder of an IBAN, its first four signs at the end and letters as numbers from 10.
fn mod_97(iban: &str) -> u32 {
    let turned = iban.chars().skip(4).chain(iban.chars().take(4));
    turned
        .filter_map(|c| c.to_digit(36))
        .fold(0, |rest, digit| (rest * if digit > 9 { 100 } else { 10 } + digit) % 97)
}

fn is_ssn(written: &str) -> bool {
    let parts: Vec<&str> = written.split(['-', ' ']).collect();
    let [area, group, serial] = parts.as_slice() else { return false };
    let has = |text: &str, length: usize| {
        text.len() == length
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.bytes().any(|byte| byte != b'0')
    };
    has(area, 3) && has(group, 2) && has(serial, 4) && *area != "666" && !area.starts_with('9')
}

fn is_card(digits: &str, groups: &[usize]) -> bool {
    let doubled = |(at, digit): (usize, u32)| match (at % 2, digit * 2) {
        (0, _) => digit,
        (_, double) => double / 10 + double % 10,
    };
    let sum: u32 =
        digits.chars().rev().filter_map(|c| c.to_digit(10)).enumerate().map(doubled).sum();
    // One group, or groups of four to six as on cards.
    let is_grouped =
        groups.len() == 1 || groups.iter().rev().skip(1).all(|length| (4..=6).contains(length));
    (13..=19).contains(&digits.len())
        && digits.starts_with(['2', '3', '4', '5', '6'])
        && sum.is_multiple_of(10)
        && is_grouped
}

fn is_phone(written: &str, digits: &str, groups: &[usize]) -> bool {
    let count = digits.len();
    if written.starts_with('+') {
        return (8..=15).contains(&count) && !written.starts_with("+0");
    }
    // North America: 555-123-4567, (555) 123-4567, 1-555-123-4567. Elsewhere a trunk 0 and groups.
    let is_nanp = matches!(groups, [3, 3, 4] | [1, 3, 3, 4])
        && !written.contains('/')
        && (groups.len() == 3 || digits.starts_with('1'));
    let is_trunk = digits.starts_with('0')
        && (2..=6).contains(&groups.len())
        && (9..=12).contains(&count)
        && groups.iter().all(|length| (2..=8).contains(length));
    let is_date = matches!(groups, [4, 2, 2] | [1 | 2, 2, 4] | [2, 1, 4]);
    (is_nanp || is_trunk) && !is_date && !(written.contains('.') && groups.len() == 4)
}
