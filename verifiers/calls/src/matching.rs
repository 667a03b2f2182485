//! Matchings: the best assignment of rows to columns, and how many pairs are out of order.

/// The assignment of rows to columns with the greatest sum of weights, each in 0 to 1: for each row
/// its column. Among assignments of one sum, the one closest to the order of both is taken. By
/// shortest augmenting paths (Kuhn, Munkres; Jonker and Volgenant), from a start in which rows have
/// their best columns where no two rows have one: `pay` is asked for a step for each pair, and for each
/// column of each row on a path.
///
/// # Errors
/// What `pay` refuses.
pub(crate) fn assign<E>(
    (rows, columns): (usize, usize),
    weight: &dyn Fn(usize, usize) -> f64,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Vec<Option<usize>>, E> {
    if rows == columns && (0..rows).all(|at| weight(at, at) >= 1.0) {
        return Ok((0..rows).map(Some).collect());
    }
    let is_wide = columns >= rows;
    let (short, long) = if is_wide { (rows, columns) } else { (columns, rows) };
    let cost = |one: usize, two: usize| {
        #[expect(clippy::cast_possible_truncation, reason = "a weight is in 0 to 1")]
        let weight = (if is_wide { weight(one, two) } else { weight(two, one) } * SCALE) as i128;
        let away = one.abs_diff(two) as i128;
        away * away - (weight << TIE_BITS)
    };
    let partners = shortest_paths(short, long, &cost, pay)?;
    let mut assigned = vec![None; rows];
    for (two, one) in partners.into_iter().enumerate() {
        let Some(one) = one else { continue };
        let (row, column) = if is_wide { (one, two) } else { (two, one) };
        if let Some(place) = assigned.get_mut(row) {
            *place = Some(column);
        }
    }
    Ok(assigned)
}

/// Weights as integers, and the bits that the order has below them.
const SCALE: f64 = 1_073_741_824.0;
const TIE_BITS: u32 = 60;

/// For each of `long` columns the row of `short` rows, where the sum of costs is least and every
/// row has a column. `short` is at most `long`.
#[expect(
    clippy::indexing_slicing,
    reason = "rows are below `short`, columns below `long`, and index `long` is the extra place of each list"
)]
fn shortest_paths<E>(
    short: usize,
    long: usize,
    cost: &dyn Fn(usize, usize) -> i128,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Vec<Option<usize>>, E> {
    let (mut of_rows, mut of_columns) = (vec![0_i128; short], vec![0_i128; long + 1]);
    let mut partner: Vec<Option<usize>> = vec![None; long + 1];
    let mut free = Vec::new();
    for (row, of_row) in of_rows.iter_mut().enumerate() {
        pay(2 * long as u64)?;
        let costs = (0..long).map(|column| (cost(row, column), column));
        let Some((least, column)) = costs.min() else { continue };
        *of_row = least;
        match partner[column] {
            None => partner[column] = Some(row),
            Some(_) => free.push(row),
        }
    }
    for row in free {
        // The free row enters at the extra column.
        partner[long] = Some(row);
        let mut at = long;
        let mut least = vec![i128::MAX; long];
        let mut from = vec![long; long];
        let mut is_used = vec![false; long + 1];
        while let Some(own) = partner[at] {
            pay(4 * long as u64)?;
            is_used[at] = true;
            let (mut step, mut next) = (i128::MAX, at);
            for column in 0..long {
                if is_used[column] {
                    continue;
                }
                let reduced = cost(own, column) - of_rows[own] - of_columns[column];
                if reduced < least[column] {
                    (least[column], from[column]) = (reduced, at);
                }
                if least[column] < step {
                    (step, next) = (least[column], column);
                }
            }
            for column in 0..=long {
                match (is_used[column], partner[column]) {
                    (true, Some(row)) => {
                        of_rows[row] += step;
                        of_columns[column] -= step;
                    }
                    _ if column < long => least[column] -= step,
                    _ => {}
                }
            }
            at = next;
        }
        while at != long {
            let before = from[at];
            partner[at] = partner[before];
            at = before;
        }
    }
    partner.truncate(long);
    Ok(partner)
}

/// How many pairs stand in the wrong order: `stage` is less and `place` greater. `n log n`.
pub(crate) fn inversions(pairs: &mut [(usize, usize)]) -> u64 {
    pairs.sort_unstable();
    let mut places: Vec<usize> = pairs.iter().map(|(_, place)| *place).collect();
    count(&mut places)
}

/// Sorts, and counts the pairs that were out of order. The depth is logarithmic.
fn count(places: &mut [usize]) -> u64 {
    if places.len() < 2 {
        return 0;
    }
    let (left, right) = places.split_at_mut(places.len() / 2);
    let mut inverted = count(left) + count(right);
    let mut rest = left.iter().peekable();
    for place in right.iter() {
        while rest.next_if(|own| *own <= place).is_some() {}
        inverted += rest.len() as u64;
    }
    places.sort_unstable();
    inverted
}
