//! The context of a number: whether the text around it makes it an answer.

use std::collections::VecDeque;
use std::ops::Range;

use super::digits::Notation;
use super::scan::{self, Found, SLASHES, is_superscript};
use crate::extract::qualify::{self, Qualifier};
use crate::extract::{is_one_of, offers, repeats_in_words, stands};
use crate::language::{connect, remark, suppose};
use crate::math::syntax::is_minus;

/// Commands of LaTeX around words, and around answers.
const DRESS: [&str; 10] =
    assay_math::words::list("text textrm textbf mathrm mathbf textit quad boxed fbox underline");
/// Functions that are called with brackets.
const FUNCTIONS: [&str; 14] = [
    "sin", "cos", "tan", "log", "ln", "exp", "sqrt", "gcd", "lcm", "max", "min", "abs", "floor",
    "ceil",
];
/// Functions that stand before a number without brackets: "log 42".
const CALLED: [&str; 10] = ["sin", "cos", "tan", "cot", "log", "ln", "lg", "exp", "sqrt", "arctan"];
/// The most words between two numbers that are looked at.
const WORDS_MAX: usize = 8;
/// Bytes of the sentence behind a number that are looked at.
const BEHIND_MAX: usize = 200;

/// Numbers at the end of a text of which the last that counts is taken.
const LOOKED_AT_MAX: usize = 16;

/// The last numbers at or after `from`, in order.
fn last_few(text: &str, from: usize, notation: Notation) -> Vec<Found> {
    let mut kept: VecDeque<Found> = VecDeque::new();
    let mut at = from;
    while let Some(found) = scan::first(text, at, notation) {
        at = found.end;
        if kept.len() == LOOKED_AT_MAX {
            kept.pop_front();
        }
        kept.push_back(found);
    }
    kept.into()
}

/// The last number at or after `from` that may be an answer; an error if there is none, or if it is
/// one of several on offer.
pub(super) fn last(text: &str, from: usize, notation: Notation) -> Result<Found, &'static str> {
    last_before(text, from..text.len(), notation)
}

/// The same of numbers in a part of a text, with what stands behind it.
pub(super) fn last_before(
    text: &str,
    part: Range<usize>,
    notation: Notation,
) -> Result<Found, &'static str> {
    let near = Near { text, from: part.start };
    let within = &text[..part.end];
    let mut numbers = last_few(within, part.start, notation);
    let at = numbers.iter().rposition(|found| near.may_answer(found)).ok_or("nothing-found")?;
    numbers.truncate(at + 1);
    if near.is_one_of_several(&numbers) {
        Err("hedge")
    } else {
        numbers.pop().ok_or("nothing-found")
    }
}

/// The number of a reference: the last one, unless it is one of two, or the text is nothing but several:
/// "3, 4", "1.234,56".
pub(super) fn reference(text: &str, notation: Notation) -> Option<Found> {
    let mut numbers = last_few(text, 0, notation);
    let near = Near { text, from: 0 };
    let several = match numbers.as_slice() {
        [.., one, two] => match near.joint(one, two) {
            Joint::Word => true,
            Joint::Sign => !text.contains(char::is_alphabetic),
            Joint::None => false,
        },
        _ => false,
    };
    numbers.pop().filter(|_| !several)
}

/// Whether another number is offered behind this one.
pub(super) fn is_hedged(text: &str, found: &Found, notation: Notation) -> bool {
    let near = &text[..text.floor_char_boundary(found.end + BEHIND_MAX)];
    let next = scan::first(near, found.end, notation);
    next.is_some_and(|next| Near { text, from: 0 }.is_one_of_several(&[found.clone(), next]))
}

/// A text, and where the part of it begins in which numbers are looked for.
#[derive(Clone, Copy)]
pub(super) struct Near<'a> {
    pub(super) text: &'a str,
    pub(super) from: usize,
}

impl Near<'_> {
    /// Whether a number may be the answer: not denied, a bound, a name or a question, not part of a
    /// term, and not in a remark.
    pub(super) fn may_answer(&self, found: &Found) -> bool {
        let (before, after) = self.around(found);
        let behind = &after[..after.floor_char_boundary(BEHIND_MAX)];
        // An arrow is no relation.
        let lead = before.trim_end_matches(' ');
        let lead = ["->", "=>", "⇒", "→"].iter().find_map(|arrow| lead.strip_suffix(arrow));
        !is_part(before, after)
            && !self.is_second_operand(found)
            && !is_asked(behind)
            && !self.is_aside(found)
            && match qualify::qualifier(lead.unwrap_or(before), behind) {
                None => true,
                // "18 or 18".
                Some(why) => why == Qualifier::Hedged && self.is_repeated_at_once(found),
            }
            && !is_doubted(before)
            && (stands(behind) || self.is_repeated(found))
            && qualify::qualifier("", behind_unit(behind)) != Some(Qualifier::Bounded)
    }

    /// Whether a number is one of a list: no part of a term and, where `said` of an answer, not denied, a
    /// bound or a name. Of a list, others are no hedge.
    #[cfg(feature = "tasks")]
    pub(super) fn may_be_listed(&self, found: &Found, said: bool) -> bool {
        let (before, after) = self.around(found);
        let behind = &after[..after.floor_char_boundary(BEHIND_MAX)];
        let why = qualify::qualifier(before, behind);
        let is_said = !is_doubted(before) && why.is_none_or(|why| why == Qualifier::Hedged);
        // "A(3, 4)" is a point.
        let name = before.strip_suffix('(').map(|head| {
            let (_, name) = head.split_at(head.trim_end_matches(char::is_alphabetic).len());
            name
        });
        let is_pair = behind.split(')').next().is_some_and(|inner| inner.contains(','));
        let is_point = is_pair && name.is_some_and(|name| name.chars().count() == 1);
        let lead = if is_point { "" } else { before };
        !is_part(lead, after) && !self.is_second_operand(found) && (is_said || !said)
    }

    /// Whether the next number is the same one: "0.5 (or 1/2)".
    fn is_repeated(&self, found: &Found) -> bool {
        let notation =
            Notation { decimal_comma: false, blank_separates: false, percent_is_fraction: false };
        let near = self.text.get(..self.text.floor_char_boundary(found.end + BEHIND_MAX));
        let next = near.and_then(|near| scan::first(near, found.end, notation));
        next.is_some_and(|next| next.value == found.value)
            || repeats_in_words(self.around(found).1, &found.value.to_string())
    }

    /// Whether nothing but "or" stands between it and the same number.
    fn is_repeated_at_once(&self, found: &Found) -> bool {
        let behind = self.around(found).1.trim_start_matches([' ', '}', '$']);
        behind
            .strip_prefix("or ")
            .is_some_and(|rest| rest.starts_with(|c: char| !c.is_alphabetic()))
            && self.is_repeated(found)
    }

    /// Whether the sign of a number is a binary operator: "9 + 9", "x - 3".
    fn is_second_operand(&self, found: &Found) -> bool {
        let text = &self.text[found.start..found.end];
        let lead = self.around(found).0.trim_end();
        let head = lead.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        // The letter of "it's" is none.
        let is_variable = lead.len() == head.len() + 1
            && !lead.ends_with(['a', 'A', 'I'])
            && !head.ends_with(['\'', '’']);
        let is_added = text.starts_with("+ ") && !lead.is_empty();
        is_added
            || text.starts_with(|c| c == '+' || is_minus(c))
                && (lead.ends_with(|c: char| c.is_ascii_digit() || ")}".contains(c)) || is_variable)
    }

    fn around(&self, found: &Found) -> (&str, &str) {
        // The word of a sign may begin before the part: "negative 5".
        let before = &self.text[self.from.min(found.start)..found.start];
        (before, &self.text[found.end..])
    }

    /// Whether the last of these numbers is offered together with the one before it: "17 or 18",
    /// "17-18", "1 2 3".
    fn is_one_of_several(&self, numbers: &[Found]) -> bool {
        let [.., one, two] = numbers else { return false };
        if one.value == two.value {
            return false;
        }
        match self.joint(one, two) {
            Joint::Word => true,
            Joint::None => false,
            Joint::Sign => {
                let run = numbers.windows(2).rev().take_while(|pair| {
                    matches!(pair, [one, two] if matches!(self.joint(one, two), Joint::Sign))
                });
                let length = 1 + run.count();
                let first = numbers.len().checked_sub(length).and_then(|at| numbers.get(at));
                let lead = first.map_or("", |first| self.around(first).0).trim_end();
                let lead = lead.trim_end_matches(['$', '(', '[', '{', '*', ' ', '\'', '"']);
                let ends = !self.around(two).1.trim_start().starts_with(char::is_alphabetic);
                let leads = lead.is_empty() || lead.ends_with([':', '=']) || lead.ends_with(" is");
                length > 2 || (leads && ends)
            }
        }
    }

    fn joint(&self, one: &Found, two: &Found) -> Joint {
        let between = &self.text[one.end..two.start];
        let is_apart = |c: char| c.is_whitespace() || "$€£¥%*\\(),;{}[]/|、，；'\"“”‘’".contains(c);
        let words = between.split(is_apart);
        let words: Vec<&str> = words
            .filter(|word| !word.is_empty() && !DRESS.contains(word))
            .take(WORDS_MAX)
            .collect();
        match words.as_slice() {
            // "25 + 17", and the sum on a line of its own.
            [] if self.is_second_operand(one) => Joint::None,
            [] => Joint::Sign,
            [word] if is_one_of(connect::BETWEEN, word) => Joint::Word,
            words if offers(words.iter().copied().filter(|word| *word != ".")) => Joint::Word,
            words if words.iter().any(|word| is_one_of(connect::OTHERWISE, word)) => Joint::Word,
            [first, rest @ ..]
                if is_one_of(suppose::CONJUNCTIONS, first)
                    && rest.iter().any(|word| is_one_of(connect::CONTINUING, word)) =>
            {
                Joint::Word
            }
            words if is_one_of(connect::TOGETHER, &words.join(" ")) => Joint::Word,
            _ => Joint::None,
        }
    }

    /// Whether the text ends in brackets that hold the number and a remark: "18. (That is 9 times
    /// 2.)", "18 (see page 8)".
    fn is_aside(&self, found: &Found) -> bool {
        let body = self.text.trim_end().trim_end_matches(['.', '*']);
        let Some(open) = body.strip_suffix(')').and_then(|inner| inner.rfind('(')) else {
            return false;
        };
        let Some(lead) = self.text.get(self.from..open).map(str::trim_end) else { return false };
        let inner = &body[open + 1..];
        let word = inner.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
        let remark = is_one_of(remark::ASIDES, word);
        // "18 dollars (9 dollars each)", but not "eighteen (18)" and "9 + 9 (= 18)".
        let sentence = lead.rsplit(['.', '\n']).next().unwrap_or_default();
        let told = inner.contains(|c: char| c.is_alphabetic())
            && !inner.contains('=')
            && sentence.contains(|c: char| c.is_ascii_digit());
        let ended = lead.ends_with(['.', '!', '\n']);
        found.start > open && !lead.is_empty() && (remark || ended || told)
    }
}

/// The text behind the unit of a number: "18 (dollars) or less", `18\text{ cm}`.
fn behind_unit(behind: &str) -> &str {
    let unit = behind.trim_start_matches([' ', '~']);
    let unit = ["\\,", "\\;", "\\ "].iter().find_map(|gap| unit.strip_prefix(gap)).unwrap_or(unit);
    let set = ["\\text{", "\\mathrm{"].iter().find_map(|set| unit.strip_prefix(set));
    if let Some((name, rest)) = set.and_then(|set| set.split_once('}')) {
        return if name.contains(|c: char| c.is_ascii_digit()) { behind } else { rest };
    }
    unit.trim_start_matches(char::is_alphabetic)
}

/// The text between two numbers.
enum Joint {
    /// A word that offers both, or a dash.
    Word,
    /// Blanks and signs alone.
    Sign,
    None,
}

/// Whether the words before a number doubt it: "I doubt 42", but not "no doubt 42".
fn is_doubted(before: &str) -> bool {
    let lead = before.trim_end_matches([' ', '$', '\\', '(', '{', '*']);
    let head = suppose::DOUBTS.iter().find_map(|word| lead.strip_suffix(word));
    head.is_some_and(|head| {
        let mut words = head.split_whitespace().rev();
        !words.next().is_some_and(|word| is_one_of(suppose::UNDOUBTED, word))
    })
}

/// Whether the sentence behind a number ends in a question mark.
fn is_asked(after: &str) -> bool {
    let end = after.char_indices().find(|(at, c)| match c {
        '?' | '？' | '!' | '\n' | '。' => true,
        '.' => {
            !after.get(at + 1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }
        _ => false,
    });
    matches!(end, Some((_, '?' | '？')))
}

/// Whether a number is a part of a term whose value is another: `x^{18}`, `\sqrt{18}`, `18!`, `3
/// \times 18`, `18x`.
fn is_part(before: &str, after: &str) -> bool {
    // A box that is not closed was truncated, and its number may be incomplete.
    let open = before.trim_end_matches([' ', '$']).ends_with("boxed{") && !after.contains('}');
    // "42 over 2", and nothing behind it.
    let ends = after.trim_matches(['.', ' ', '\n', '$']).is_empty();
    let divides = before.trim_end().strip_suffix("over").is_some_and(|head| {
        head.ends_with(' ') && head.trim_end().ends_with(|c: char| c.is_ascii_digit())
    });
    open || (ends && divides) || is_operand_behind(before) || is_operand_before(before, after)
}

/// Whether the text before a number makes it part of a term.
fn is_operand_behind(before: &str) -> bool {
    let bare = before.trim_end_matches(['{', ' ']);
    let braced = before.trim_end_matches(' ').ends_with('{');
    let name = bare.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let command = name.strip_suffix('\\').map(|_| &bare[name.len()..]);
    if let Some(command) = command {
        let calls = braced && !DRESS.contains(&command) || FUNCTIONS.contains(&command);
        return calls
            || ["times", "cdot", "div", "pm", "mp", "neq", "ne", "sim"].contains(&command);
    }
    let word = &bare[name.len()..];
    let parted = !name.ends_with(|c: char| c.is_alphanumeric());
    if parted && before.ends_with(' ') && CALLED.contains(&word) {
        return true;
    }
    if let Some(called) = before.strip_suffix('(') {
        let word = called.trim_end_matches(|c: char| c.is_alphabetic());
        let name = &called[word.len()..];
        return name.chars().count() == 1 || FUNCTIONS.contains(&name);
    }
    let marks = bare.len() - bare.trim_end_matches('*').len();
    let operand = |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || ")}".contains(c));
    let stars = &bare[..bare.len() - marks];
    let multiplied = match marks {
        0 => false,
        // Between blanks it multiplies; otherwise it may open what is bold.
        1 if before.ends_with(' ') => operand(stars.trim_end()),
        _ => stars.ends_with(|c: char| c.is_ascii_digit() || c == ')'),
    };
    let subscript =
        bare.strip_suffix('_').is_some_and(|head| head.ends_with(|c: char| c.is_alphanumeric()));
    let signed = bare.ends_with(['^', '√', '×', '÷', '·', '⋅', '∗', '∙', '±', '≠'])
        || bare.ends_with(SLASHES);
    let spelled = [" x", " X", " :"].iter().any(|sign| {
        let head = bare.strip_suffix(sign).filter(|_| before.ends_with(' '));
        head.is_some_and(|head| head.ends_with(|c: char| c.is_ascii_digit()))
    });
    let added = bare.strip_suffix('+').is_some_and(|head| operand(head.trim_end()));
    let second = braced && bare.ends_with(['}', ']']);
    multiplied || subscript || signed || spelled || added || second
}

/// Whether the text behind a number makes it part of a term.
fn is_operand_before(before: &str, after: &str) -> bool {
    let mut chars = after.chars();
    let (first, second) = (chars.next(), chars.next());
    let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    match first {
        Some('!') if before.trim().is_empty() || before.ends_with('{') || letter(second) => {
            return true;
        }
        Some('^') if !is_degrees(after) => return true,
        Some('_') if letter(second) || second == Some('{') => return true,
        Some('π' | '√') => return true,
        // 17 and more.
        Some('+') if after.get(1..).is_some_and(is_closed) => return true,
        Some(c) if is_superscript(c) => return true,
        // A lone letter that is rather a variable than a unit.
        Some(c) if "xyznabi".contains(c) && !letter(second) => return true,
        _ => {}
    }
    let rest = after.trim_start_matches(' ');
    let measured = |c: char| matches!(c, '\'' | '’' | '′' | '"' | '″');
    // 5'6 is no number, and neither is 42**2.
    let digit = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    if after.strip_prefix(measured).is_some_and(digit)
        || rest.strip_prefix("**").is_some_and(|rest| digit(rest) && !before.ends_with('*'))
    {
        return true;
    }
    let commands = [
        "\\pi", "\\sqrt", "\\times", "\\cdot", "\\div", "\\over", "\\pm", "\\mp", "\\log", "\\ln",
        "\\sin", "\\cos", "+/-", "+-", "(±", "(+/-",
    ];
    if commands.iter().any(|command| rest.starts_with(command)) || is_constant(rest) {
        return true;
    }
    let behind_unit = behind_unit(rest).trim_start_matches([' ', '$']);
    let signs = ["\\neq", "\\ne", "\\lor", "\\vee", "\\land", "\\wedge", "\\bmod", "≠", "∨", "∧"];
    is_followed(behind_unit, &signs, |_| true)
        || is_followed(behind_unit, &["\\times", "\\cdot", "\\div", "×", "÷", "⋅"], |operand| {
            operand.starts_with(|c: char| c.is_ascii_digit() || c == '\\')
        })
        || is_operated(before, after)
        || is_subtracted_or_divided(after)
}

/// Whether a text begins with one of these signs, and what follows is an operand.
fn is_followed(text: &str, signs: &[&str], is_operand: fn(&str) -> bool) -> bool {
    signs.iter().any(|sign| {
        let rest = text.strip_prefix(sign);
        let goes_on = |rest: &str| {
            sign.starts_with('\\') && rest.starts_with(|c: char| c.is_ascii_alphabetic())
        };
        rest.is_some_and(|rest| !goes_on(rest) && is_operand(rest.trim_start()))
    })
}

/// Whether a text begins with what closes a value, or is empty.
fn is_closed(text: &str) -> bool {
    text.is_empty() || text.starts_with(['}', '$', ')', '*', '.', ',', '\n'])
}

/// Whether the sign of degrees stands at the start of a text.
fn is_degrees(text: &str) -> bool {
    let signs = ["^\\circ", "^{\\circ", "^°", "^{°", "^\\degree"];
    signs.iter().any(|sign| text.starts_with(sign))
}

/// Whether a constant or a root stands at the start of a text, which is multiplied: "5 π", "5pi",
/// "5 sqrt(2)".
fn is_constant(text: &str) -> bool {
    let named = |name: &str| {
        let rest = text.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    text.starts_with(['π', '√', '±', '∓']) || named("pi") || named("sqrt")
}

/// Whether a text behind a number adds something or multiplies: "9 + 9".
fn is_operated(before: &str, after: &str) -> bool {
    // A unit may stand before the sign of a sum.
    let unit = behind_unit(after).trim_start_matches(' ');
    let summed =
        unit.strip_prefix("+ ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let rest = after.trim_start_matches(' ');
    let next = rest.chars().nth(1);
    let operator =
        rest.starts_with(['+', '×', '÷', '·', '⋅', '∗', '∙', '*']) && !before.ends_with('*');
    let spaced = next == Some(' ') && rest.len() < after.len();
    let operand = rest.chars().skip(1).find(|c| *c != ' ');
    let letter = next.is_some_and(char::is_alphanumeric);
    summed
        || operator
            && (spaced || letter || next == Some('√'))
            && operand.is_some_and(|c| c.is_alphanumeric() || "(\\√".contains(c))
}

/// Whether a text behind a number takes something away, divides, or raises: "10 - 2", "10 / 2", "5/0",
/// "10 x 2", "10 : 2", "10 ^ 2". A remark behind a dash does not: "18 - see below".
fn is_subtracted_or_divided(after: &str) -> bool {
    let rest = after.trim_start_matches([' ', '$']);
    let Some(sign) = rest.chars().next() else { return false };
    let tail = &rest[sign.len_utf8()..];
    let operand = tail.trim_start_matches([' ', '$', '€', '£', '(', '{']);
    let operand = operand.strip_prefix("\\$").unwrap_or(operand);
    let is_number = operand.starts_with(|c: char| c.is_ascii_digit());
    let is_spaced = rest.len() < after.len() && tail.starts_with(' ');
    let over = rest.strip_prefix("over ").map(|tail| tail.trim_start_matches(' '));
    let over = over.map(|tail| (tail, tail.trim_start_matches(|c: char| c.is_ascii_digit())));
    if let Some((tail, end)) = over
        && end.len() < tail.len()
        && end.trim_matches(['.', ' ', '\n', '$']).is_empty()
    {
        return true;
    }
    match sign {
        sign if SLASHES.contains(&sign) => {
            is_number || is_constant(operand) || operand.starts_with(['/', '\\'])
        }
        'x' | 'X' | ':' => is_number && is_spaced,
        '^' => !is_degrees(rest),
        sign if is_minus(sign) => {
            let variable = operand.starts_with(['x', 'y', 'z', 'n'])
                && !operand.get(1..).is_some_and(|rest| rest.starts_with(char::is_alphabetic));
            let command = ["\\frac", "\\dfrac", "\\sqrt", "\\pi"].iter();
            is_number
                || variable
                || is_constant(operand)
                || command.into_iter().any(|name| operand.starts_with(name))
        }
        _ => false,
    }
}
