//! Correlations of rewards: with each other, and with whatever else a row has.
//!
//! Rows in which either side is missing are left out. Within groups, each value is taken relative to
//! its group: what a trainer sees, as it compares rollouts of one prompt alone.

use assay_verifiers::stats::{CorrelationSums, complete, ranks};

use crate::prelude::*;

/// How far two series go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Correlation {
    /// Pearson's correlation, -1 to 1; `null` where a side has no spread.
    pub pearson: Option<f64>,
    /// Spearman's: Pearson's of the ranks.
    pub spearman: Option<f64>,
    /// The least-squares slope of the second on the first; `null` where the first has no spread.
    pub slope: Option<f64>,
    /// Rows in which both are present.
    pub rows: usize,
}

/// Correlations of every pair of series.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CorrelationMatrix {
    /// The names of the series.
    pub names: Vec<String>,
    /// Pearson's correlations, a row a series. The diagonal is 1 where the series has spread.
    pub pearson: Vec<Vec<Option<f64>>>,
    /// Spearman's.
    pub spearman: Vec<Vec<Option<f64>>>,
    /// Rows in which both are present.
    pub rows: Vec<Vec<usize>>,
}

/// The correlation of two series over all rows.
pub fn correlation(x: &[f64], y: &[f64]) -> Correlation {
    let (x, y) = complete(x, y);
    let sums = CorrelationSums::of(&x, &y);
    let spearman = CorrelationSums::of(&ranks(&x), &ranks(&y)).pearson();
    Correlation { pearson: sums.pearson(), spearman, slope: sums.slope(), rows: x.len() }
}

/// The correlation of two series relative to their groups: of deviations from the means of the
/// groups; Spearman's, of deviations of the ranks that rows have within their groups. Groups with one
/// row that has both count in nothing.
///
/// # Errors
/// Not one value for each row of the groups.
pub fn correlation_within(
    groups: &Groups,
    x: &[f64],
    y: &[f64],
) -> Result<Correlation, TrainerError> {
    groups.along("the first series", x.len())?;
    groups.along("the second series", y.len())?;
    let (mut own_x, mut own_y) = (Vec::new(), Vec::new());
    let (mut values, mut ranked) = (CorrelationSums::default(), CorrelationSums::default());
    let mut rows = 0;
    for members in groups.iter() {
        let (x, y) = complete(members.values(x, &mut own_x), members.values(y, &mut own_y));
        if x.len() > 1 {
            values.add(&x, &y);
            ranked.add(&ranks(&x), &ranks(&y));
            rows += x.len();
        }
    }
    let (pearson, slope) = (values.pearson(), values.slope());
    Ok(Correlation { pearson, spearman: ranked.pearson(), slope, rows })
}

/// The correlations of every pair of named series over all rows.
pub fn correlations(series: &[(&str, &[f64])]) -> CorrelationMatrix {
    matrix(series, |x, y| Ok(correlation(x, y))).unwrap_or_default()
}

/// The same relative to groups.
///
/// # Errors
/// A series with other than one value for each row of the groups.
pub fn correlations_within(
    groups: &Groups,
    series: &[(&str, &[f64])],
) -> Result<CorrelationMatrix, TrainerError> {
    matrix(series, |x, y| correlation_within(groups, x, y))
}

fn matrix(
    series: &[(&str, &[f64])],
    of: impl Fn(&[f64], &[f64]) -> Result<Correlation, TrainerError>,
) -> Result<CorrelationMatrix, TrainerError> {
    let mut found = CorrelationMatrix {
        names: series.iter().map(|(name, _)| (*name).to_owned()).collect(),
        ..CorrelationMatrix::default()
    };
    for (_, x) in series {
        let row = series.iter().map(|(_, y)| of(x, y)).collect::<Result<Vec<_>, _>>()?;
        found.pearson.push(row.iter().map(|cell| cell.pearson).collect());
        found.spearman.push(row.iter().map(|cell| cell.spearman).collect());
        found.rows.push(row.iter().map(|cell| cell.rows).collect());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        // Deviations x: -1, 0, 1; y: -1, 1, 0: Pearson 1/2, slope 1/2, and so the ranks.
        let found = correlation(&[1.0, 2.0, 3.0, f64::NAN], &[0.0, 2.0, 1.0, 9.0]);
        let near_half = |value: Option<f64>| (value.unwrap() - 0.5).abs() < 1e-12;
        assert!(near_half(found.pearson) && near_half(found.slope) && near_half(found.spearman));
        assert_eq!(found.rows, 3);
        assert_eq!(correlation(&[0.1, 0.1, 0.1], &[1.0, 2.0, 3.0]).pearson, None);
    }

    #[test]
    fn within_groups_the_level_of_the_prompt_is_gone() {
        // Over all rows the two rise together; within each prompt they oppose each other.
        let (x, y) = ([0.0, 1.0, 10.0, 11.0], [1.0, 0.0, 11.0, 10.0]);
        let groups = Groups::of_size(4, 2).unwrap();
        assert!(correlation(&x, &y).pearson.unwrap() > 0.9);
        let within = correlation_within(&groups, &x, &y).unwrap();
        assert_eq!((within.pearson, within.spearman, within.rows), (Some(-1.0), Some(-1.0), 4));
        assert!(correlation_within(&groups, &x, &y[..3]).is_err());
        let matrix = correlations_within(&groups, &[("x", &x), ("y", &y)]).unwrap();
        assert_eq!(matrix.pearson, [[Some(1.0), Some(-1.0)], [Some(-1.0), Some(1.0)]]);
        assert_eq!(correlations(&[("x", &x)]).rows, [[4]]);
    }

    proptest! {
        #[test]
        fn scale_and_shift_change_nothing(
            rows in prop::collection::vec((-1e3..1e3, -1e3..1e3), 3..20),
            scale in 0.1..10.0,
            shift in -10.0..10.0,
        ) {
            let (x, y): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
            let moved: Vec<f64> = x.iter().map(|x| scale * x + shift).collect();
            let (before, after) = (correlation(&x, &y), correlation(&moved, &y));
            if let (Some(before), Some(after)) = (before.pearson, after.pearson) {
                prop_assert!((before - after).abs() < 1e-8);
                prop_assert!((-1.0..=1.0).contains(&before));
            }
        }
    }
}
