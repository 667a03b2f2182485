//! The characters that the lexer knows as symbols and letters, as tables.

use super::ast::Rel;
use super::token::Tok;

/// Whether a character is a minus sign, or a dash that is typed for one.
pub fn is_minus(c: char) -> bool {
    matches!(c, '-' | '−' | '–' | '—' | '‒' | '―' | '‑' | '‐' | '﹣' | '－')
}

/// The meaning of a symbol of one character.
pub(crate) fn symbol(c: char) -> Option<Tok<'static>> {
    Some(match c {
        '+' | '＋' | '﹢' => Tok::Plus,
        c if is_minus(c) => Tok::Minus,
        '±' => Tok::PlusMinus,
        '*' | '×' | '·' | '⋅' | '∙' | '•' => Tok::Times,
        '/' | '÷' | '⁄' | '∕' => Tok::Slash,
        '^' => Tok::Caret,
        '_' => Tok::Under,
        '!' => Tok::Bang,
        '%' | '％' => Tok::Percent,
        '°' | 'º' | '˚' => Tok::Degree,
        '\'' | '′' | '’' => Tok::Prime,
        ',' | '，' | '、' => Tok::Comma,
        ';' | '；' => Tok::Semi,
        ':' | '：' | '∶' => Tok::Colon,
        '&' => Tok::Amp,
        '=' | '＝' | '≡' => Tok::Rel(Rel::Equal),
        '≠' => Tok::Rel(Rel::Unequal),
        '<' | '＜' => Tok::Rel(Rel::Less),
        '≤' | '⩽' | '≦' => Tok::Rel(Rel::LessEqual),
        '>' | '＞' => Tok::Rel(Rel::More),
        '≥' | '⩾' | '≧' => Tok::Rel(Rel::MoreEqual),
        '≈' | '≃' => Tok::Rel(Rel::Approx),
        '∈' => Tok::Rel(Rel::In),
        '→' => Tok::Rel(Rel::To),
        '∑' => Tok::Big("sum"),
        '∏' => Tok::Big("prod"),
        '∫' => Tok::Big("int"),
        '∪' => Tok::Cup,
        '∩' => Tok::Cap,
        '∖' => Tok::Setminus,
        '|' | '∣' => Tok::Bar,
        '(' | '（' => Tok::LParen,
        ')' | '）' => Tok::RParen,
        '[' => Tok::LBracket,
        ']' => Tok::RBracket,
        '{' => Tok::LBrace,
        '}' => Tok::RBrace,
        '⌊' => Tok::LFloor,
        '⌋' => Tok::RFloor,
        '⌈' => Tok::LCeil,
        '⌉' => Tok::RCeil,
        '√' => Tok::Sqrt,
        '€' => Tok::Currency("euro"),
        '£' => Tok::Currency("gbp"),
        '¥' => Tok::Currency("yen"),
        '₹' => Tok::Currency("rupee"),
        '₽' => Tok::Currency("ruble"),
        '₩' => Tok::Currency("won"),
        '¢' => Tok::Currency("cent"),
        '∞' => Tok::Infinity,
        '∅' | '⌀' => Tok::EmptySet,
        'ℝ' => Tok::Reals,
        'π' => Tok::Pi,
        '…' => Tok::Dots,
        '℃' => Tok::Word("℃"),
        '℉' => Tok::Word("℉"),
        '∨' => Tok::Or,
        '∧' => Tok::And,
        _ => return None,
    })
}

/// A Greek letter typed as one character.
pub(crate) fn greek_char(c: char) -> Option<Tok<'static>> {
    const NAMES: &[(char, &str)] = &[
        ('α', "alpha"),
        ('β', "beta"),
        ('γ', "gamma"),
        ('δ', "delta"),
        ('ε', "epsilon"),
        ('θ', "theta"),
        ('λ', "lambda"),
        ('μ', "mu"),
        ('ρ', "rho"),
        ('σ', "sigma"),
        ('τ', "tau"),
        ('φ', "phi"),
        ('ϕ', "phi"),
        ('ω', "omega"),
        ('ψ', "psi"),
        ('η', "eta"),
        ('ξ', "xi"),
        ('κ', "kappa"),
        ('Δ', "Delta"),
        ('Ω', "Omega"),
        ('Σ', "Sigma"),
        ('∂', "partial"),
    ];
    NAMES.iter().find(|(have, _)| *have == c).map(|(_, name)| Tok::Letter(name))
}
