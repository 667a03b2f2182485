//! The tasks of reasoning-gym 0.1.25, scored as published or as right or wrong.
//!
//! Left out are `boxnet`, `codeio`, `composite`, `intermediate_integration` and `rubiks_cube`.

mod amounts;
mod cells;
mod logic;
mod moves;
mod words;

use std::ops::Range;

use cells::Written;
use words::{contained, same};

use crate::entry::{Judged, Marked, Puzzle};

/// How a task is scored.
type Rule = fn(&Puzzle<'_>) -> Judged;

/// The tasks with rules of their own, sorted by name.
const TASKS: &[(&str, Rule)] = &[
    ("ab", |puzzle| same(puzzle, words::verbatim, 0.0)),
    ("advanced_geometry", amounts::geometry),
    ("arc_agi", cells::arc),
    ("binary_matrix", |puzzle| cells::or_list(puzzle, Written::Lines, 0.1)),
    ("bitwise_arithmetic", amounts::any_base),
    ("calendar_arithmetic", amounts::calendar),
    ("chain_sum", amounts::decimal_or_contained),
    ("circuit_logic", words::circuit),
    ("coin_flip", amounts::probability),
    ("color_cube_rotation", |puzzle| same(puzzle, words::trimmed, 0.01)),
    ("complex_arithmetic", amounts::complex),
    ("countdown", logic::countdown),
    ("cryptarithm", logic::cryptarithm),
    ("decimal_arithmetic", amounts::decimal_near),
    ("decimal_chain_sum", amounts::decimal),
    ("dice", |puzzle| same(puzzle, words::one_line, 0.0)),
    ("emoji_mystery", words::emoji),
    ("family_relationships", |puzzle| same(puzzle, words::trimmed, 0.0)),
    ("figlet_font", words::figlet),
    ("fraction_simplification", amounts::fraction),
    ("futoshiki", cells::board),
    ("game_of_life", cells::cells),
    ("game_of_life_halting", words::halting),
    ("graph_color", logic::coloring),
    ("group_anagrams", words::groups),
    ("gsm_symbolic", amounts::first_number),
    ("jugs", moves::jugs),
    ("kakurasu", cells::kakurasu),
    ("knight_swap", moves::knights),
    ("knights_knaves", logic::roles),
    ("letter_jumble", words::letter_jumble),
    ("manipulate_matrix", cells::matrix),
    ("mini_sudoku", cells::board),
    ("n_queens", cells::queens),
    ("needle_haystack", |puzzle| same(puzzle, words::spaceless, 0.0)),
    ("number_format", amounts::number_format),
    ("number_sorting", amounts::sorted_numbers),
    ("palindrome_generation", words::palindrome),
    ("palindrome_partitioning", words::partitions),
    ("path_star", |puzzle| same(puzzle, words::collapsed, 0.0)),
    ("polynomial_equations", amounts::roots),
    ("polynomial_multiplication", logic::product),
    ("pool_matrix", cells::pooled),
    ("power_function", amounts::three_digits),
    ("prime_factorization", amounts::factors),
    ("products", amounts::decimal_or_contained),
    ("propositional_logic", logic::conclusion),
    ("puzzle24", logic::twenty_four),
    ("quantum_lock", moves::lock),
    ("rearc", cells::arc),
    ("rectangle_count", amounts::near_count),
    ("rush_hour", moves::rush_hour),
    ("self_reference", |puzzle| same(puzzle, words::verbatim, 0.0)),
    ("sentence_reordering", words::sentence),
    ("shortest_path", moves::way),
    ("simple_integration", logic::integral),
    ("sokoban", moves::sokoban),
    ("spell_backward", words::spell_backward),
    ("spiral_matrix", |puzzle| cells::or_list(puzzle, Written::Words, 0.1)),
    ("string_insertion", |puzzle| cells::or_list(puzzle, Written::Joined, 0.1)),
    ("sudoku", cells::board),
    ("survo", cells::survo),
    ("time_intervals", amounts::interval),
    ("tower_of_hanoi", moves::hanoi),
    ("tsumego", words::tsumego),
    ("word_ladder", words::ladder),
    ("word_sorting", words::word_sorting),
    ("zebra_puzzles", |puzzle| same(puzzle, words::one_line, 0.0)),
];

/// The tasks with the rule of the base class: the answer is the published one, or contains it.
const CONTAINED: &str = " acre aiw arc_1d base_conversion basic_arithmetic bf binary_alternation \
    caesar_cipher count_bits count_primes course_schedule gcd isomorphic_strings largest_island lcm \
    leg_counting letter_counting list_functions mahjong_puzzle maze modulo_grid number_filtering \
    number_sequence ransom_note rotate_matrix rotten_oranges simple_equations simple_geometry \
    string_manipulation string_splitting string_synthesis syllogism word_sequence_reversal ";

/// Marks the answer to a puzzle of a task; an answer that is missing is `None`.
///
/// Time is linear in the answer, the reference and the metadata, but for `propositional_logic`, where
/// it may be 1024 times the length of the formulas; [`steps`] says how much to pay before.
///
/// # Errors
/// A task that is not known, and a row that cannot be judged by.
pub fn mark(task: &str, answer: Option<&str>, puzzle: &Puzzle<'_>) -> Judged {
    let own = TASKS.binary_search_by_key(&task, |(name, _)| name).ok().and_then(|at| TASKS.get(at));
    let is_contained = !task.contains(' ') && CONTAINED.contains(&format!(" {task} "));
    let rule: Rule = match own {
        Some((_, rule)) => *rule,
        None if is_contained => contained,
        None => return Err(format!("reasoning-gym has no task \"{task}\" that is judged here")),
    };
    let Some(answer) = answer else {
        let pays_nothing = matches!(task, "countdown" | "fraction_simplification" | "puzzle24");
        return Ok(Marked::wrong(if pays_nothing { 0.01 } else { 0.0 }));
    };
    rule(&Puzzle { answer, ..*puzzle })
}

/// What a mark costs, in elementary steps for each byte of the answer and of the row.
pub fn steps(task: &str) -> u64 {
    if task == "propositional_logic" { 3000 } else { 20 }
}

/// The bytes of the last answer tag without blanks around them, as reasoning-gym takes it: between the
/// first `<answer>` that is not closed before and the next `</answer>`. Linear in the text.
pub fn last_answer(text: &str) -> Option<Range<usize>> {
    const MARK: &str = "<answer>";
    let (mut at, mut last) = (0, None);
    while let Some(open) = text[at..].find(MARK).map(|open| at + open + MARK.len()) {
        let Some(length) = text[open..].find("</answer>") else { break };
        let inner = &text[open..open + length];
        let start = open + length - inner.trim_start().len();
        last = Some(start..start + inner.trim().len());
        at = open + length;
    }
    last
}
