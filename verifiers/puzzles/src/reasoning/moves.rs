//! Rules of reasoning-gym for answers that are moves.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::entry::{Judged, Marked, Puzzle};
use crate::number::count;

/// A list of texts in JSON.
fn moves(text: &str) -> Option<Vec<String>> {
    serde_json::from_str(text).ok()
}

/// Jugs that are filled, emptied and poured, until one has the target.
pub(super) fn jugs(puzzle: &Puzzle<'_>) -> Judged {
    let capacities = puzzle.numbers("puzzle.jug_capacities")?;
    let target = puzzle.number("puzzle.target")?;
    let jug = |name: &str| match name.as_bytes() {
        [letter @ b'A'..=b'Z'] => {
            Some(usize::from(letter - b'A')).filter(|at| *at < capacities.len())
        }
        _ => None,
    };
    let mut state = vec![0_i64; capacities.len()];
    let mut apply = |text: &str| -> Option<()> {
        let mut words = text.split_whitespace();
        let (verb, what) = (words.next()?, words.next()?);
        if verb == "pour" {
            let (from, to) = what.split_once("->")?;
            let (from, to) = (jug(from)?, jug(to)?);
            let (room, held) = (*capacities.get(to)? - *state.get(to)?, *state.get(from)?);
            *state.get_mut(from)? -= held.min(room);
            *state.get_mut(to)? += held.min(room);
        } else {
            let at = jug(what)?;
            let full = *capacities.get(at)?;
            let level = [("fill", full), ("empty", 0)].into_iter().find(|one| one.0 == verb)?.1;
            *state.get_mut(at)? = level;
        }
        Some(())
    };
    let Some(list) = moves(puzzle.answer) else {
        // Python reads the letters of a text, and the keys of an object, as moves.
        let is_empty = matches!(
            serde_json::from_str(puzzle.answer),
            Ok(Value::Object(map)) if map.is_empty()
        );
        return Ok(Marked::wrong(if is_empty || puzzle.answer == "\"\"" { 0.01 } else { 0.0 }));
    };
    if list.iter().any(|text| apply(text).is_none()) {
        return Ok(Marked::wrong(0.0));
    }
    Ok(Marked::floor(state.contains(&target), 0.01))
}

/// Disks on pegs. A detour earns its share of the shortest way.
pub(super) fn hanoi(puzzle: &Puzzle<'_>) -> Judged {
    let (disks, pegs) = (puzzle.number("num_disks")?, puzzle.number("num_pegs")?);
    let (start, target) = (puzzle.number("start_peg")?, puzzle.number("target_peg")?);
    if !(1..=64).contains(&disks) {
        return Err("`num_disks` of the metadata is not from 1 to 64".to_owned());
    }
    let mut state: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    state.insert(start, (1..=disks).rev().collect());
    let mut made = 0;
    for line in puzzle.answer.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        let ["Move", "disk", disk, "from", "Peg", from, "to", "Peg", to] = words.as_slice() else {
            return Ok(Marked::wrong(0.0));
        };
        let number = |text: &str| text.parse::<i64>().ok();
        let moved = number(disk).zip(number(from).zip(number(to))).filter(|(disk, (from, to))| {
            let top = |peg: &i64| state.get(peg).and_then(|disks| disks.last());
            (1..=pegs).contains(to)
                && top(from) == Some(disk)
                && top(to).is_none_or(|below| below >= disk)
        });
        let Some((disk, (from, to))) = moved else { return Ok(Marked::wrong(0.0)) };
        state.entry(from).or_default().pop();
        state.entry(to).or_default().push(disk);
        made += 1;
    }
    let solved = state.get(&target).is_some_and(|own| own.iter().copied().eq((1..=disks).rev()));
    if !solved {
        return Ok(Marked::wrong(if puzzle.answer.is_empty() { 0.0 } else { 0.05 }));
    }
    let best = puzzle.number("solution_length").ok().and_then(|best| usize::try_from(best).ok());
    let published = best.map_or(1.0, |best| (count(best) / count(made.max(1))).min(1.0));
    Ok(Marked { published, right: true })
}

/// Boxes pushed to their goals. Published: letters other than L, R, U and D are skipped.
pub(super) fn sokoban(puzzle: &Puzzle<'_>) -> Judged {
    let text = puzzle.text("gamestr")?.replace(' ', "");
    let mut grid: Vec<Vec<u8>> = text.trim().lines().map(|row| row.bytes().collect()).collect();
    let find = |grid: &[Vec<u8>]| {
        let place = |(y, row): (usize, &Vec<u8>)| {
            row.iter().position(|cell| matches!(cell, b'*' | b'%')).map(|x| (y, x))
        };
        grid.iter().enumerate().find_map(place)
    };
    let mut at = find(&grid).ok_or("`gamestr` of the metadata has no player")?;
    for step in puzzle.answer.chars() {
        let (down, right) = match step {
            'U' => (-1, 0),
            'D' => (1, 0),
            'L' => (0, -1),
            'R' => (0, 1),
            _ => continue,
        };
        let next =
            |at: (usize, usize)| at.0.checked_add_signed(down).zip(at.1.checked_add_signed(right));
        let Some(moved) = step_to(&mut grid, at, next) else { continue };
        at = moved;
    }
    let solved = !grid.iter().flatten().any(|cell| *cell == b'@');
    let is_clean = puzzle.answer.chars().all(|c| "LRUD".contains(c) || c.is_whitespace());
    Ok(Marked { published: f64::from(u8::from(solved)), right: solved && is_clean })
}

/// Moves the player, and the box before it, unless a wall or a second box is in the way.
fn step_to(
    grid: &mut [Vec<u8>],
    at: (usize, usize),
    next: impl Fn((usize, usize)) -> Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let cell = |grid: &[Vec<u8>], at: (usize, usize)| grid.get(at.0)?.get(at.1).copied();
    let put = |grid: &mut [Vec<u8>], at: (usize, usize), free: u8, goal: u8| {
        if let Some(cell) = grid.get_mut(at.0).and_then(|row| row.get_mut(at.1)) {
            *cell = if matches!(cell, b'X' | b'$' | b'%') { goal } else { free };
        }
    };
    let to = next(at)?;
    match cell(grid, to)? {
        b'+' => return None,
        b'@' | b'$' => {
            let behind = next(to)?;
            if !matches!(cell(grid, behind)?, b'-' | b'X') {
                return None;
            }
            put(grid, behind, b'@', b'$');
        }
        _ => {}
    }
    put(grid, at, b'-', b'X');
    put(grid, to, b'*', b'%');
    Some(to)
}

/// Buttons of a lock. Published: any letters A, B and C of the answer are buttons.
pub(super) fn lock(puzzle: &Puzzle<'_>) -> Judged {
    let pressed = |text: &str| -> Vec<char> {
        text.to_uppercase().chars().filter(|c| matches!(c, 'A'..='C')).collect()
    };
    let (gold, own) = (pressed(&puzzle.gold()?), pressed(puzzle.answer));
    let buttons = puzzle.list("buttons")?;
    if buttons.len() > 26 {
        return Err("`buttons` of the metadata are more than letters".to_owned());
    }
    let target = puzzle.number("target_value")?;
    let mut state = Some(puzzle.number("initial_value")?);
    let mut color = puzzle.text("initial_state")?;
    let field =
        |button: &'_ Value, key: &str| button.get(key).and_then(Value::as_str).map(str::to_owned);
    for letter in &own {
        // The last button of a name counts.
        let named = |button: &&Value| field(button, "name") == Some(letter.to_string());
        let Some(button) = buttons.iter().rfind(named) else { continue };
        let active = field(button, "active_state");
        if active.as_deref() != Some("any") && active.as_deref() != Some(color) {
            continue;
        }
        let value = button.get("value").and_then(Value::as_i64);
        let value = value.ok_or("a button of the metadata has no value")?;
        state = state.and_then(|state| match field(button, "type").as_deref() {
            Some("add") => state.checked_add(value),
            Some("subtract") => state.checked_sub(value),
            Some("multiply") => state.checked_mul(value),
            _ => Some(state),
        });
        color = if color == "red" { "green" } else { "red" };
    }
    let is_reached = state == Some(target);
    let right = own == gold || is_reached && own.len() == gold.len();
    let published = if right { 1.0 } else { f64::from(u8::from(is_reached)) * 0.5 };
    let is_clean = !puzzle.answer.chars().any(|c| c.is_alphanumeric() && !"ABCabc".contains(c));
    Ok(Marked { published, right: right && is_clean })
}

/// Directions through a grid from `*` to `#`. A way that is not the shortest earns half.
pub(super) fn way(puzzle: &Puzzle<'_>) -> Judged {
    let gold = puzzle.gold()?;
    let row = |row: &'_ Value| -> Option<Vec<String>> {
        row.as_array()?.iter().map(|cell| cell.as_str().map(str::to_owned)).collect()
    };
    let grid: Option<Vec<Vec<String>>> = puzzle.list("matrix")?.iter().map(row).collect();
    let grid = grid.ok_or("`matrix` of the metadata is not rows of texts")?;
    let find = |mark: &str| {
        let place = |(y, row): (usize, &Vec<String>)| {
            row.iter().position(|cell| cell == mark).map(|x| (y, x))
        };
        grid.iter().enumerate().find_map(place)
    };
    let (start, end) = find("*").zip(find("#")).ok_or("`matrix` has no start or no end")?;
    let words: Vec<&str> = puzzle.answer.split_whitespace().collect();
    let step = |at: (usize, usize), word: &&str| -> Option<(usize, usize)> {
        let (down, right) = match *word {
            "up" => (-1, 0),
            "down" => (1, 0),
            "left" => (0, -1),
            "right" => (0, 1),
            _ => return None,
        };
        let to = (at.0.checked_add_signed(down)?, at.1.checked_add_signed(right)?);
        grid.get(to.0)?.get(to.1).filter(|cell| *cell != "X").map(|_| to)
    };
    if !puzzle.answer.is_empty() && puzzle.answer.trim() == gold.trim() {
        return Ok(Marked::exact(true));
    }
    let arrives = !puzzle.answer.is_empty() && words.iter().try_fold(start, step) == Some(end);
    let shortest = arrives && words.len() == gold.split_whitespace().count();
    Ok(Marked::floor(shortest, if arrives { 0.5 } else { 0.0 }))
}

/// Knights that change places, in turns. A detour earns its share of the shortest way.
pub(super) fn knights(puzzle: &Puzzle<'_>) -> Judged {
    let answer = puzzle.answer.trim();
    let possible = puzzle.part("is_possible")?.as_bool();
    if !possible.ok_or("`is_possible` of the metadata is not true or false")? {
        return Ok(Marked::exact(answer.to_lowercase() == "no"));
    }
    let board = puzzle.part("board")?;
    let pieces = puzzle.part("pieces")?.as_object().ok_or("`pieces` is not an object")?;
    let start: BTreeMap<&str, &str> =
        pieces.iter().filter_map(|(at, piece)| Some((at.as_str(), piece.as_str()?))).collect();
    let mut own: BTreeMap<String, &str> =
        start.iter().map(|(at, piece)| ((*at).to_owned(), *piece)).collect();
    let mut turn = puzzle.text("start_turn")?;
    let Some(list) = moves(answer).filter(|_| answer.to_lowercase() != "no") else {
        return Ok(Marked::wrong(0.0));
    };
    for text in &list {
        let parts: Vec<&str> = text.split(',').collect();
        let [color, from, to] = parts.as_slice() else { return Ok(Marked::wrong(0.0)) };
        let reaches = board
            .get(*from)
            .and_then(Value::as_array)
            .is_some_and(|ends| ends.iter().any(|end| end.as_str() == Some(to)));
        let is_own = *color == turn && own.get(*from) == Some(color);
        if !reaches || !is_own || own.contains_key(*to) {
            return Ok(Marked::wrong(0.0));
        }
        own.remove(*from);
        own.insert((*to).to_owned(), turn);
        turn = if turn == "w" { "B" } else { "w" };
    }
    let places = |map: &mut dyn Iterator<Item = (&str, &str)>, of: &str| -> Vec<String> {
        map.filter(|(_, piece)| *piece == of).map(|(at, _)| at.to_owned()).collect()
    };
    let now = |of| places(&mut own.iter().map(|(at, piece)| (at.as_str(), *piece)), of);
    let then = |of| places(&mut start.iter().map(|(at, piece)| (*at, *piece)), of);
    if now("w") != then("B") || now("B") != then("w") {
        return Ok(Marked::wrong(0.05));
    }
    let best = puzzle.list("solution")?.len();
    let published = (count(best) / count(list.len().max(1))).min(1.0);
    Ok(Marked { published, right: true })
}

/// A car of Rush Hour: its first cell, its length, and the step from cell to cell; 1 is a wall.
struct Car {
    at: usize,
    size: usize,
    stride: usize,
}

impl Car {
    fn cells(&self) -> impl Iterator<Item = usize> {
        (0..self.size).map(|part| self.at + part * self.stride)
    }
}

/// Cars moved until the first one is at the exit. A move that is blocked is skipped.
pub(super) fn rush_hour(puzzle: &Puzzle<'_>) -> Judged {
    const BAD: &str = "`board_config` of the metadata is not a board of 6 by 6 cells";
    let text = puzzle.text("board_config")?.as_bytes();
    let mut places: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (at, label) in text.iter().enumerate().filter(|(_, label)| **label != b'o') {
        places.entry(*label).or_default().push(at);
    }
    let walls = places.remove(&b'x').unwrap_or_default();
    let mut cars = Vec::new();
    for cells in places.values() {
        let stride = match cells.as_slice() {
            [one, two] | [one, two, _] => two - one,
            _ => return Err(BAD.to_owned()),
        };
        let is_straight =
            cells.windows(2).all(|pair| matches!(pair, [one, two] if two - one == stride));
        if !matches!(stride, 1 | 6) || !is_straight {
            return Err(BAD.to_owned());
        }
        let at = cells.first().copied().ok_or(BAD)?;
        cars.push(Car { at, size: cells.len(), stride });
    }
    cars.extend(walls.into_iter().map(|at| Car { at, size: 1, stride: 1 }));
    if text.len() != 36 || cars.is_empty() {
        return Err(BAD.to_owned());
    }
    let mut taken: u64 = cars.iter().flat_map(Car::cells).fold(0, |mask, cell| mask | 1 << cell);
    if puzzle.answer.is_empty() {
        return Ok(Marked::wrong(0.0));
    }
    for (letter, forward, steps) in shifts(puzzle.answer) {
        let index = usize::from(letter - b'A');
        if index == cars.len() {
            return Ok(Marked::wrong(0.0));
        }
        let Some(car) = cars.get_mut(index).filter(|car| car.size > 1) else { continue };
        for _ in 0..steps {
            let last = car.at + (car.size - 1) * car.stride;
            let line = |cell: usize| if car.stride == 1 { cell % 6 } else { cell / 6 };
            let (edge, front, back) = if forward { (5, last, car.at) } else { (0, car.at, last) };
            if line(front) == edge {
                break;
            }
            let cell = if forward { front + car.stride } else { front - car.stride };
            if taken & (1 << cell) != 0 {
                break;
            }
            taken = taken & !(1 << back) | 1 << cell;
            car.at = if forward { car.at + car.stride } else { car.at - car.stride };
        }
    }
    Ok(Marked::floor(cars.first().is_some_and(|car| car.at == 16), 0.01))
}

/// The moves `F+1 K-2` of a text: a letter, whether it goes forward, and how far, up to 9.
fn shifts(text: &str) -> impl Iterator<Item = (u8, bool, u32)> {
    let bytes = text.as_bytes();
    bytes.windows(2).enumerate().filter_map(move |(at, pair)| match pair {
        [letter @ b'A'..=b'Z', sign @ (b'+' | b'-')] => {
            let rest = text.get(at + 2..)?;
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let digits = rest[..end].trim_start_matches('0');
            let steps = if digits.len() > 1 { 9 } else { digits.parse().unwrap_or(0) };
            (end > 0).then_some((*letter, *sign == b'+', steps))
        }
        _ => None,
    })
}
