//! `assay cache`: what is kept between runs.

use std::path::PathBuf;

use assay::engine::{Cache, CacheStats};
use assay::setup::Environment;
use clap::{Args as ClapArgs, Subcommand};
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::output::{self, count};

/// What is kept between runs.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
    /// The cache folder; by default the user's (or `ASSAY_CACHE_DIR`)
    #[arg(long, value_name = "DIR", global = true)]
    cache_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say how much is kept
    Stats,
    /// Check the digest of every entry; exit with 1 where one does not fit
    Verify {
        /// Remove the entries whose digest does not fit
        #[arg(long)]
        remove: bool,
    },
    /// Remove every entry
    Clear,
}

#[derive(Serialize)]
struct Told {
    dir: String,
    #[serde(flatten)]
    stats: CacheStats,
    bad: Vec<String>,
    removed: u64,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let known = [&args.cache_dir, &environment.cache_dir, &environment.user_cache];
    let dir = known.into_iter().flatten().next().cloned().ok_or_else(|| {
        Failure::usage("no cache folder is known: HOME is not set; name one with --cache-dir")
    })?;
    let cache = Cache::new(&dir);
    let shown = dir.display();
    let fail = Failure::io(&dir);
    let (stats, bad) = cache.verify().map_err(&fail)?;
    let mut removed = 0;
    match args.what {
        What::Clear => removed = cache.clear().map_err(&fail)?,
        What::Verify { remove: true } => {
            for path in &bad {
                std::fs::remove_file(path).map_err(&fail)?;
                removed += 1;
            }
        }
        What::Stats | What::Verify { remove: false } => {}
    }
    let bad = bad.iter().map(|path| path.display().to_string()).collect();
    let told = Told { dir: shown.to_string(), stats, bad, removed };
    if args.json {
        output::json(&told)?;
    } else {
        tell(&args.what, &told);
    }
    let corrupt = matches!(args.what, What::Verify { .. }) && told.stats.corrupt > 0;
    Ok(if corrupt { Exit::Threshold } else { Exit::Ok })
}

fn tell(what: &What, told: &Told) {
    if matches!(what, What::Clear) {
        output::line(&format!("{}: {} files removed", told.dir, count(told.removed)));
        return;
    }
    let CacheStats { entries, bytes, corrupt, stale } = told.stats;
    output::line(&format!(
        "{}: {} entries, {} bytes, {} corrupt, {} left by stopped processes",
        told.dir,
        count(entries),
        count(bytes),
        count(corrupt),
        count(stale)
    ));
    if let What::Verify { remove } = what {
        for path in &told.bad {
            output::line(&format!("  {}{path}", if *remove { "removed " } else { "" }));
        }
    }
}
