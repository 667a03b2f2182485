//! The assignment of one list to another of greatest total weight, in any order or in order.

/// For each of `rows`, the column that it is assigned to, each column at most once, so that the sum of
/// weights is greatest (Kuhn 1955, Hungarian method with potentials). Weights are zero or more; pairs
/// of weight zero are left unassigned. Pays a unit for each pair that is looked at: at most the square
/// of the shorter side times the longer one.
///
/// # Errors
/// What `pay` refuses.
#[expect(clippy::indexing_slicing, reason = "indices are below the lengths of square tables")]
pub fn best<E>(
    rows: usize,
    columns: usize,
    weight: &dyn Fn(usize, usize) -> f64,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Vec<Option<usize>>, E> {
    if rows > columns {
        let turned = best(columns, rows, &|row, column| weight(column, row), pay)?;
        let mut out = vec![None; rows];
        for (column, row) in turned.into_iter().enumerate() {
            if let Some(row) = row {
                out[row] = Some(column);
            }
        }
        return Ok(out);
    }
    // Rows and columns count from 1: column 0 is that of the row which is being placed.
    let (mut up, mut across) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    let mut owner = vec![0_usize; columns + 1];
    let mut way = vec![0_usize; columns + 1];
    for row in 1..=rows {
        owner[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut used = vec![false; columns + 1];
        while owner[column] != 0 {
            pay(2 * columns as u64)?;
            used[column] = true;
            let (from, mut delta, mut next) = (owner[column], f64::INFINITY, 0);
            for to in (1..=columns).filter(|to| !used[*to]) {
                let cost = -weight(from - 1, to - 1) - up[from] - across[to];
                if cost < least[to] {
                    (least[to], way[to]) = (cost, column);
                }
                if least[to] < delta {
                    (delta, next) = (least[to], to);
                }
            }
            for to in 0..=columns {
                if used[to] {
                    up[owner[to]] += delta;
                    across[to] -= delta;
                } else {
                    least[to] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            owner[column] = owner[way[column]];
            column = way[column];
        }
    }
    let mut out = vec![None; rows];
    for (column, row) in owner.into_iter().enumerate().skip(1).filter(|(_, row)| *row > 0) {
        out[row - 1] = Some(column - 1).filter(|column| weight(row - 1, *column) > 0.0);
    }
    Ok(out)
}

/// The same where the assignment keeps the order of both lists (Needleman and Wunsch 1970 without gap
/// costs). Pays a unit for each pair.
///
/// # Errors
/// What `pay` refuses.
#[expect(clippy::indexing_slicing, reason = "indices are below the lengths of the table")]
pub fn in_order<E>(
    rows: usize,
    columns: usize,
    weight: &dyn Fn(usize, usize) -> f64,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Vec<Option<usize>>, E> {
    let wide = columns + 1;
    pay(4 * (rows as u64 + 1).saturating_mul(wide as u64))?;
    // The best total of what follows each pair.
    let mut total = vec![0.0_f64; (rows + 1) * wide];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let skipped = total[(row + 1) * wide + column].max(total[row * wide + column + 1]);
            let taken = weight(row, column) + total[(row + 1) * wide + column + 1];
            total[row * wide + column] = skipped.max(taken);
        }
    }
    let mut out = vec![None; rows];
    let (mut row, mut column) = (0, 0);
    while row < rows && column < columns {
        let here = total[row * wide + column];
        if here <= total[(row + 1) * wide + column] {
            row += 1;
        } else if here <= total[row * wide + column + 1] {
            column += 1;
        } else {
            out[row] = Some(column);
            (row, column) = (row + 1, column + 1);
        }
    }
    Ok(out)
}
