//! The three-way plan against `git merge-file`, on thousands of small texts.

use std::{collections::BTreeMap, fs, path::Path, process::Command, thread};

use heph_core::apply::{Write, plan_file};

use crate::support::file;

const CASES: u64 = 6000;

/// Three texts as lines without ends, and how the sides end theirs.
struct Case {
    base: Vec<String>,
    accepted: Vec<String>,
    user: Vec<String>,
    /// Whether the last line of base, accepted state and user's file has an end.
    final_newlines: [bool; 3],
    /// Whether the user turned all line ends into CRLF.
    converted: bool,
}

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }

    fn line(&mut self, equal: bool, name: &str) -> String {
        match equal && self.roll(3) == 0 {
            true => ["x", "x", "}", ""][self.roll(4)].to_owned(),
            false => format!("{name} {}", self.roll(1000)),
        }
    }

    fn edit(&mut self, lines: &mut Vec<String>, equal: bool, name: &str) {
        let at = self.roll(lines.len() + 1);
        if self.roll(3) == 0 || at == lines.len() {
            let line = self.line(equal, name);
            lines.insert(at, line);
        } else if self.roll(2) == 0 {
            lines.remove(at);
        } else {
            lines[at] = self.line(equal, name);
        }
    }

    fn case(&mut self) -> Case {
        let equal = self.roll(2) == 0;
        let base: Vec<String> = (0..self.roll(24)).map(|_| self.line(equal, "base")).collect();
        let mut both = base.clone();
        if self.roll(6) == 0 {
            self.edit(&mut both, equal, "both");
        }
        let (mut accepted, mut user) = (both.clone(), both);
        for _ in 0..=self.roll(2) {
            self.edit(&mut accepted, equal, "accepted");
        }
        for _ in 0..=self.roll(2) {
            self.edit(&mut user, equal, "user");
        }
        let before = self.roll(8) != 0;
        let wanted = [before, before ^ (self.roll(12) == 0), before ^ (self.roll(12) == 0)];
        // An empty line without an end is no line.
        let sides = [&base, &accepted, &user].map(|lines| lines.last().is_none_or(|line| line.is_empty()));
        let final_newlines = [0, 1, 2].map(|side| wanted[side] || sides[side]);
        Case { base, accepted, user, final_newlines, converted: self.roll(12) == 0 }
    }
}

fn text(lines: &[String], end: &str, final_newline: bool) -> String {
    let mut text: String = lines.iter().map(|line| format!("{line}{end}")).collect();
    if !final_newline {
        text.truncate(text.len() - end.len());
    }
    text
}

/// Where a side changed the base, over all its shortest differences at once. A place is a gap between two
/// lines of the base, its start or its end; it is changed where lines came there, or a line beside it went.
struct Changed {
    somehow: Vec<bool>,
    always: Vec<bool>,
    /// For each line of the base whether it goes, somehow.
    gone: Vec<bool>,
    /// For each place the lines that come there, somehow.
    come: Vec<Vec<String>>,
}

fn changed(base: &[String], side: &[String]) -> Changed {
    let (n, m) = (base.len(), side.len());
    let mut before = vec![vec![0; m + 1]; n + 1];
    let mut after = before.clone();
    for i in 0..n {
        for j in 0..m {
            before[i + 1][j + 1] = match base[i] == side[j] {
                true => before[i][j] + 1,
                false => before[i][j + 1].max(before[i + 1][j]),
            };
        }
    }
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            after[i][j] = match base[i] == side[j] {
                true => after[i + 1][j + 1] + 1,
                false => after[i][j + 1].max(after[i + 1][j]),
            };
        }
    }
    let longest = before[n][m];
    let goes = |i: usize| (0..=m).any(|j| before[i][j] + after[i + 1][j] == longest);
    let come = |i: usize| -> Vec<String> {
        let comes = (0..m).filter(|&j| before[i][j] + after[i][j + 1] == longest);
        comes.map(|j| side[j].clone()).collect()
    };
    // The lines around the gap are both kept, and next to each other.
    let kept = |i: usize| {
        (0..=m).any(|j| {
            let above = i == 0 && j == 0 || i > 0 && j > 0 && base[i - 1] == side[j - 1];
            let below = i == n && j == m || i < n && j < m && base[i] == side[j];
            let (up, down) = (usize::from(i > 0), usize::from(i < n));
            above && below && before[i - up][j - up] + up + down + after[i + down][j + down] == longest
        })
    };
    Changed {
        somehow: (0..=n).map(|i| i > 0 && goes(i - 1) || i < n && goes(i) || !come(i).is_empty()).collect(),
        always: (0..=n).map(|i| !kept(i)).collect(),
        gone: (0..n).map(goes).collect(),
        come: (0..=n).map(come).collect(),
    }
}

/// What the specification says of a case, told from the texts alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Expected {
    /// However the sides are compared with the base, no change of one touches one of the other.
    Lands,
    /// However they are compared, one does: it is set aside, or there already where both made it.
    Touches,
    /// Equal lines leave it open where the changes are.
    Open,
}

/// Whether both sides dropped the same line, or added equal lines at one place.
fn both_made_some(case: &Case) -> bool {
    let (ours, theirs) = (changed(&case.base, &case.accepted), changed(&case.base, &case.user));
    let same = |one: &Vec<String>, other: &Vec<String>| one.iter().any(|line| other.contains(line));
    ours.gone.iter().zip(&theirs.gone).any(|(one, other)| *one && *other)
        || ours.come.iter().zip(&theirs.come).any(|(one, other)| same(one, other))
}

fn expected(case: &Case) -> Expected {
    let (ours, theirs) = (changed(&case.base, &case.accepted), changed(&case.base, &case.user));
    let meet = |ours: &[bool], theirs: &[bool]| ours.iter().zip(theirs).any(|(one, other)| *one && *other);
    if !meet(&ours.somehow, &theirs.somehow) {
        Expected::Lands
    } else if meet(&ours.always, &theirs.always) {
        Expected::Touches
    } else {
        Expected::Open
    }
}

/// What git makes of it; `None` where there are conflicts.
fn merge_file(folder: &Path, case: &Case) -> Option<String> {
    for (name, lines) in [("user", &case.user), ("base", &case.base), ("accepted", &case.accepted)] {
        fs::write(folder.join(name), text(lines, "\n", true)).unwrap();
    }
    let mut git = Command::new("git");
    git.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    let output = git.args(["merge-file", "-p", "user", "base", "accepted"]).output().unwrap();
    let conflicts = output.status.code().unwrap();
    assert!(conflicts < 128, "{}", String::from_utf8_lossy(&output.stderr));
    (conflicts == 0).then(|| String::from_utf8(output.stdout).unwrap())
}

fn check(folder: &Path, case: &Case) -> (Expected, &'static str) {
    let end = if case.converted { "\r\n" } else { "\n" };
    let [base, accepted, user] = [(&case.base, "\n"), (&case.accepted, "\n"), (&case.user, end)];
    let [before, wanted, mine] = case.final_newlines;
    let sides =
        [text(base.0, base.1, before), text(accepted.0, accepted.1, wanted), text(user.0, user.1, mine)];
    let shown = format!("{sides:#?}");
    let converted = sides[2].contains("\r\n");
    let [base, accepted, user] = sides.map(file);
    let plan = plan_file(base.as_ref(), accepted.as_ref(), user.as_ref());
    let result = match &plan.write {
        Write::Put(file) => String::from_utf8(file.bytes.0.clone()).unwrap(),
        Write::Leave => String::from_utf8(user.unwrap().bytes.0).unwrap(),
        Write::Delete => panic!("{shown}"),
    };
    // Line ends and the final newline are attributes of their own: git is asked about texts without them.
    let ends = result.matches('\n').count();
    assert!(!converted || ends == result.matches("\r\n").count(), "{shown}\n{result:?}");
    let result = result.replace("\r\n", "\n");
    let completed =
        if result.is_empty() || result.ends_with('\n') { result.clone() } else { result.clone() + "\n" };
    let ends_empty = completed.is_empty() || completed.ends_with("\n\n") || completed == "\n";
    if before != mine && !ends_empty && !case.user.is_empty() {
        assert_eq!(result.ends_with('\n'), mine, "{shown}\nthe final newline is the user's: {result:?}");
    }
    // A hunk that is nothing but a final newline, at an end that the user changed.
    let only_newline = before != wanted
        && mine == before
        && changed(&case.base, &case.user).somehow.last() == Some(&true)
        && plan.set_aside.as_ref().is_some_and(|aside| aside.hunks == 1);
    let git = merge_file(folder, case);
    let expected = expected(case);
    let outcome = match (expected, &git, &plan.set_aside) {
        (Expected::Lands, Some(git), None) => {
            assert_eq!(&completed, git, "{shown}");
            "clean in both"
        }
        (Expected::Lands, Some(_), Some(_)) if only_newline => "a final newline set aside",
        (Expected::Touches, None, Some(_)) => "conflict, set aside",
        (Expected::Touches, Some(git), None) => {
            assert_eq!(&completed, git, "{shown}");
            "both made it, already there"
        }
        // Git keeps what both made of it; a hunk is there as a whole, or not.
        (Expected::Touches, Some(_), Some(_)) if both_made_some(case) => "both made some of it, set aside",
        (Expected::Open, _, Some(_)) => "open, set aside",
        (Expected::Open, Some(git), None) if completed == *git => "open, as git",
        (Expected::Open, _, None) => "open, not as git",
        (expected, git, aside) => {
            panic!("{shown}\n{expected:?}\ngit: {git:?}\nset aside: {aside:?}\n{result:?}")
        }
    };
    (expected, outcome)
}

#[test]
fn hunks_land_where_git_merges_them_and_are_set_aside_where_it_cannot() {
    let run = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let mut dice = Dice(seed);
        let mut counts: BTreeMap<(Expected, &str), u64> = BTreeMap::new();
        for _ in 0..CASES / 2 {
            *counts.entry(check(folder.path(), &dice.case())).or_default() += 1;
        }
        counts
    };
    let [one, other] = thread::scope(|scope| {
        [1, 2].map(|seed| scope.spawn(move || run(seed))).map(|thread| thread.join().unwrap())
    });
    let mut counts = one;
    other.into_iter().for_each(|(outcome, count)| *counts.entry(outcome).or_default() += count);
    println!("{counts:#?}");
    let all = |expected| counts.iter().filter(|((is, _), _)| *is == expected).map(|(_, n)| n).sum::<u64>();
    assert!(all(Expected::Lands) > CASES / 4 && all(Expected::Touches) > CASES / 4, "{counts:?}");
}
