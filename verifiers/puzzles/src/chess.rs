//! Moves and positions of chess. The crate `cozy-chess` knows which moves are legal; notation is read here.

use std::ops::Range;

use cozy_chess::util::display_uci_move;
use cozy_chess::{Board, Color, GameStatus, Move, Piece, get_king_moves};

/// The most half-moves of a line.
pub const PLIES_MAX: usize = 512;

/// The longest move, in bytes: `Qa1xb2e.p.+!?`.
const MOVE_BYTES_MAX: usize = 16;

/// A position that the rules allow.
#[derive(Clone, Debug)]
pub struct Position(Board);

/// A legal move.
#[derive(Clone, Debug)]
pub struct Step {
    /// The move as UCI writes it: castling is `e1g1`.
    pub uci: String,
    /// The position after it.
    pub after: Position,
}

/// The moves that a text offers.
#[derive(Debug, Default)]
pub struct Offer {
    /// The first moves side by side, without marks of captures, checks and comments.
    pub moves: Vec<String>,
    /// Their place.
    pub span: Range<usize>,
    /// There are words beside moves.
    pub words: bool,
    /// Words follow, and behind them another move than these. A square is none: it may be a place.
    pub others: bool,
}

/// The moves of a text, in SAN or UCI, until words follow. Linear.
pub fn offered(text: &str) -> Offer {
    let (mut offer, mut is_closed, mut at) = (Offer::default(), false, 0);
    let parts = |c: char| {
        c.is_whitespace() || !c.is_ascii() && c != '–' || ",;{}$*`\"'|[]<>\\/_".contains(c)
    };
    for word in text.split(parts) {
        let start = at;
        at += word.len() + text[start + word.len()..].chars().next().map_or(0, char::len_utf8);
        let bare = bare(word);
        if !is_move(&bare) {
            let is_word = !is_neutral(&bare);
            offer.words |= is_word;
            is_closed |= is_word && !offer.moves.is_empty();
        } else if is_closed {
            offer.others |= bare.len() > 2 && !offer.moves.contains(&bare);
        } else if offer.moves.len() <= PLIES_MAX {
            if offer.moves.is_empty() {
                offer.span.start = start;
            }
            offer.span.end = start + word.trim_end_matches('.').len();
            offer.moves.push(bare);
        }
    }
    offer
}

/// A word without the number of its move and the marks that say nothing of where a piece goes.
fn bare(word: &str) -> String {
    let numbered = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let word = if numbered.starts_with('.') { numbered } else { word }.trim_matches(['.', ':']);
    if word.len() > MOVE_BYTES_MAX {
        return word.to_owned();
    }
    let word = word.strip_suffix("e.p").or_else(|| word.strip_suffix("ep")).unwrap_or(word);
    let marks = |c: &char| !"x+#!?=()-–:.".contains(*c);
    let bare: String = word.chars().filter(marks).collect();
    let is_castling = matches!(bare.as_str(), "00" | "000") && bare.len() < word.len();
    if is_castling { bare.replace('0', "O") } else { bare }
}

/// Whether a bare word is a move by its form.
fn is_move(bare: &str) -> bool {
    let squares = bare.strip_prefix(['K', 'Q', 'R', 'B', 'N']).unwrap_or(bare);
    let promotion = ['q', 'r', 'b', 'n', 'Q', 'R', 'B', 'N'];
    let squares = squares.strip_suffix(promotion).unwrap_or(squares);
    let is_source = |source: &[u8]| match source {
        [] => true,
        [b'a'..=b'h', rest @ ..] | rest => matches!(rest, [] | [b'1'..=b'8']),
    };
    let is_squares = match squares.as_bytes() {
        [source @ .., b'a'..=b'h', b'1'..=b'8'] => is_source(source),
        _ => false,
    };
    is_squares || matches!(bare, "OO" | "OOO")
}

/// Whether a bare word may stand between moves: numbers, results, dashes.
fn is_neutral(bare: &str) -> bool {
    bare.bytes().all(|byte| byte.is_ascii_digit())
        || ["or", "and", "then", "text"].contains(&bare.to_ascii_lowercase().as_str())
}

/// The positions that a text shows as FEN. Linear.
pub fn positions(text: &str) -> Vec<Position> {
    let parts = |c: char| c.is_whitespace() || "`\"'{}*,;$<>[]".contains(c);
    let words: Vec<&str> = text.split(parts).filter(|word| !word.is_empty()).collect();
    let clock = |word: &&&str| word.trim_end_matches('.').parse::<u16>().is_ok();
    let found = words.iter().enumerate().filter(|(_, word)| word.matches('/').count() == 7);
    found
        .filter_map(|(at, _)| {
            let rest = words.get(at..)?;
            let clocks = rest.iter().skip(4).take(2).take_while(clock).count();
            Position::read(rest.get(..4 + clocks)?.join(" ").trim_end_matches('.'))
        })
        .collect()
}

impl Position {
    /// The position of a FEN, whose clocks may be left out. `None` where the rules allow none such.
    pub fn read(fen: &str) -> Option<Self> {
        let fields: Vec<&str> = fen.split_whitespace().collect();
        let (first, clocks) = fields.split_at_checked(4)?;
        let clock = |at: usize| clocks.get(at).map_or(Ok(at), |clock| clock.parse::<usize>());
        let (half, full) = (clock(0).ok()?.min(100), clock(1).ok()?.clamp(1, 65_535));
        if clocks.len() > 2 || first.first()?.matches('/').count() != 7 {
            return None;
        }
        let board: Board = format!("{} {half} {full}", first.join(" ")).parse().ok()?;
        let near = get_king_moves(board.king(Color::White)).has(board.king(Color::Black));
        (!near).then_some(Self(board))
    }

    /// The position as FEN.
    pub fn fen(&self) -> String {
        self.0.to_string()
    }

    /// Whether pieces, side, castling and what may be taken en passant are the same; and the clocks.
    pub fn is_same(&self, other: &Self, clocks: bool) -> bool {
        let own = |board: &Board| (board.halfmove_clock(), board.fullmove_number());
        self.0.same_position(&other.0) && !(clocks && own(&self.0) != own(&other.0))
    }

    /// Whether the side to move is mated.
    pub fn is_mate(&self) -> bool {
        self.0.status() == GameStatus::Won
    }

    /// Every legal move.
    pub fn steps(&self) -> Vec<Step> {
        let mut moves = Vec::new();
        self.0.generate_moves(|own| {
            moves.extend(own);
            false
        });
        moves.into_iter().map(|own| self.step(own)).collect()
    }

    fn step(&self, own: Move) -> Step {
        let mut after = self.0.clone();
        after.play_unchecked(own);
        Step { uci: display_uci_move(&self.0, own).to_string(), after: Self(after) }
    }

    /// The legal move that a bare word names, or why there is none.
    pub fn find(&self, bare: &str) -> Result<Step, &'static str> {
        let mut found = Vec::new();
        self.0.generate_moves(|moves| {
            let piece = moves.piece;
            found.extend(moves.into_iter().filter(|own| self.is_written(bare, piece, *own)));
            false
        });
        match found.as_slice() {
            [one] => Ok(self.step(*one)),
            [] => Err("illegal"),
            _ => Err("ambiguous"),
        }
    }

    /// Whether a bare word names a legal move: by both squares, or by its piece, its target, and what
    /// there is of its source.
    fn is_written(&self, bare: &str, piece: Piece, own: Move) -> bool {
        let (from, to) = (own.from.to_string(), own.to.to_string());
        // Castling is a move of the king onto its own rook.
        if self.0.colors(self.0.side_to_move()).has(own.to) {
            let name = if own.from.file() < own.to.file() { "OO" } else { "OOO" };
            let uci = display_uci_move(&self.0, own).to_string();
            return [name, &uci, &format!("{from}{to}")].contains(&bare);
        }
        let letter = match piece {
            Piece::Pawn => String::new(),
            piece => piece.to_string().to_ascii_uppercase(),
        };
        let promotion = own.promotion.map_or_else(String::new, |piece| piece.to_string());
        let (rest, is_named) =
            bare.strip_prefix(&letter).map_or((bare, false), |rest| (rest, true));
        let source = rest.len().checked_sub(promotion.len()).and_then(|end| {
            let (rest, last) = rest.split_at_checked(end)?;
            last.eq_ignore_ascii_case(&promotion).then(|| rest.strip_suffix(&to)).flatten()
        });
        let is_capture = piece == Piece::Pawn && own.from.file() != own.to.file();
        // UCI names no piece, and a pawn that takes is named by its file.
        source.is_some_and(|source| match source.len() {
            0 => is_named && !is_capture,
            1 => is_named && from.contains(source) && !(is_capture && from.ends_with(source)),
            _ => from == source,
        })
    }

    /// Plays moves, one after the other; the same move in two notations is one.
    ///
    /// # Errors
    /// Why one cannot be played; `several` where it is another move of the side that moves first.
    pub fn play(&self, moves: &[String]) -> Result<Vec<Step>, &'static str> {
        let (mut steps, mut before): (Vec<Step>, Self) = (Vec::new(), self.clone());
        for bare in moves {
            let position = steps.last().map_or(self, |last| &last.after).clone();
            match position.find(bare) {
                Ok(step) => steps.push(step),
                Err(reason) => match (before.find(bare), steps.last()) {
                    (Ok(again), Some(last)) if again.uci == last.uci => continue,
                    (Ok(_), Some(_)) => return Err("several"),
                    _ => return Err(reason),
                },
            }
            before = position;
        }
        Ok(steps)
    }

    /// Whether the side to move is mated, or will be by one of the next `moves` moves of the other,
    /// whatever it plays.
    pub fn is_lost<E>(
        &self,
        moves: usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<bool, E> {
        pay(1000)?;
        if moves == 0 || self.is_mate() {
            return Ok(self.is_mate());
        }
        let replies = self.steps();
        pay(400 * replies.len() as u64)?;
        for reply in &replies {
            let own = reply.after.steps();
            pay(400 * own.len() as u64)?;
            let mut is_won = false;
            for step in own {
                is_won = step.after.is_lost(moves - 1, pay)?;
                if is_won {
                    break;
                }
            }
            if !is_won {
                return Ok(false);
            }
        }
        Ok(!replies.is_empty())
    }
}
