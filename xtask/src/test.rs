use std::{fs, path::Path, process::ExitCode, time::Instant};

use anyhow::{Context, Result, bail};

use crate::{bindings, install, process, tidy, ui};

/// How many checks and tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
}

impl Tally {
    const ONE_PASSED: Tally = Tally { passed: 1, failed: 0 };
    const ONE_FAILED: Tally = Tally { passed: 0, failed: 1 };

    fn add(&mut self, other: Tally) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    /// The tally of a program that ran tests: one that failed without a failed test (it did not compile, it
    /// crashed) and one that ran no test at all are failures too.
    fn of_program(self, succeeded: bool) -> Tally {
        match self {
            Tally { failed: 0, passed } if !succeeded || passed == 0 => Tally { passed, failed: 1 },
            counted => counted,
        }
    }
}

type Part = (&'static str, fn(&Path) -> Result<Tally>);

/// The end-to-end test is the last: it is slowest, and what the parts before it find is easier to read.
const PARTS: &[Part] = &[
    ("user interface: build", |root| {
        ui::install(root)?;
        ui::build(root)?;
        Ok(Tally::ONE_PASSED)
    }),
    ("rustfmt", |root| check(process::cargo(root).args(["fmt", "--all", "--check"]))),
    ("clippy", clippy),
    ("tidy", |root| tidy::tidy(root).map(|()| Tally::ONE_PASSED)),
    ("bindings", |root| bindings::check(root).map(|()| Tally::ONE_PASSED)),
    ("svelte-check", |root| check(process::npm(root).args(["run", "check"]))),
    ("user interface: unit tests", vitest),
    ("Rust tests", |root| rust_tests(root, &[])),
    ("end-to-end test", |root| rust_tests(root, &["--test", "e2e"])),
];

/// Runs every part, also after one has failed. The last line it prints is `N passed, N failed`.
///
/// # Errors
/// None of its own: what goes wrong is counted and printed.
pub fn test(root: &Path) -> Result<ExitCode> {
    let mut lines = Vec::new();
    let mut total = Tally::default();
    if let Err(error) = prepare() {
        eprintln!("{error:#}");
        total = Tally::ONE_FAILED;
    } else {
        for (name, part) in PARTS {
            println!("\n== {name}");
            let start = Instant::now();
            let tally = part(root).unwrap_or_else(|error| {
                eprintln!("{name}: {error:#}");
                Tally::ONE_FAILED
            });
            let seconds = start.elapsed().as_secs();
            lines.push(format!(
                "{name:<28}{:>5} passed {:>5} failed {seconds:>6} s\n",
                tally.passed, tally.failed
            ));
            total.add(tally);
        }
    }
    println!("\n{}{} passed, {} failed", lines.concat(), total.passed, total.failed);
    Ok(if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Installs what the parts need; without it none of them says anything.
fn prepare() -> Result<()> {
    install::packages(&[install::TO_BUILD, install::TO_TEST].concat())?;
    install::rust_components()?;
    install::node()
}

fn check(command: &mut std::process::Command) -> Result<Tally> {
    process::run(command).map(|()| Tally::ONE_PASSED)
}

fn clippy(root: &Path) -> Result<Tally> {
    // `--all-targets` leaves out the end-to-end test, which `cargo test` does not run by itself.
    for targets in [&["--all-targets"][..], &["--test", "e2e"]] {
        let mut clippy = process::cargo(root);
        process::run(clippy.args(["clippy", "--workspace"]).args(targets).args(["--", "-D", "warnings"]))?;
    }
    Ok(Tally::ONE_PASSED)
}

fn vitest(root: &Path) -> Result<Tally> {
    let report = root.join("target/vitest.json");
    if report.exists() {
        fs::remove_file(&report)?;
    }
    let mut vitest = process::npm(root);
    vitest.args(["run", "test", "--", "--reporter=default", "--reporter=json"]);
    vitest.arg(format!("--outputFile.json={}", report.display()));
    let succeeded = process::follow(&mut vitest, |_| ())?;
    let report = fs::read_to_string(&report).context("the unit tests left no report")?;
    Ok(vitest_tally(&report)?.of_program(succeeded))
}

fn vitest_tally(report: &str) -> Result<Tally> {
    let report: serde_json::Value = serde_json::from_str(report)?;
    match (report["numPassedTests"].as_u64(), report["numFailedTests"].as_u64()) {
        (Some(passed), Some(failed)) => Ok(Tally { passed, failed }),
        _ => bail!("the report of the unit tests holds no counts"),
    }
}

fn rust_tests(root: &Path, targets: &[&str]) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut tests = process::cargo(root);
    tests.args(["test", "--workspace", "--no-fail-fast"]).args(targets);
    let succeeded = process::follow(&mut tests, |line| {
        if let Some(counted) = rust_tally(line) {
            tally.add(counted);
        }
    })?;
    Ok(tally.of_program(succeeded))
}

/// Reads the line with which a Rust test program ends.
fn rust_tally(line: &str) -> Option<Tally> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word: &str| {
        let part = counts.split("; ").find_map(|part| part.strip_suffix(word))?;
        part.trim().parse().ok()
    };
    Some(Tally { passed: count("passed")?, failed: count("failed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_a_rust_test_program_are_read_from_its_last_line() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s";
        assert_eq!(rust_tally(line), Some(Tally { passed: 12, failed: 3 }));
        assert_eq!(rust_tally("test the_result ... ok"), None);
    }

    #[test]
    fn the_counts_of_the_unit_tests_are_read_from_their_report() {
        let report = r#"{"numTotalTests":9,"numPassedTests":7,"numFailedTests":2,"success":false}"#;
        assert_eq!(vitest_tally(report).unwrap(), Tally { passed: 7, failed: 2 });
        assert!(vitest_tally("{}").is_err());
    }

    #[test]
    fn tests_that_did_not_compile_or_did_not_run_count_as_failed() {
        assert_eq!(Tally::default().of_program(false), Tally::ONE_FAILED);
        assert_eq!(Tally::default().of_program(true), Tally::ONE_FAILED);
        assert_eq!(Tally { passed: 4, failed: 0 }.of_program(false), Tally { passed: 4, failed: 1 });
        assert_eq!(Tally { passed: 4, failed: 2 }.of_program(false), Tally { passed: 4, failed: 2 });
        assert_eq!(Tally { passed: 4, failed: 0 }.of_program(true), Tally { passed: 4, failed: 0 });
    }
}
