//! Every subset of a file's hunks makes what `git apply` makes of a patch that holds just these.
//!
//! The patches are printed here, from the hunks, as a unified diff has them; git is the oracle.

use std::{
    collections::BTreeMap, fs, io::Write as _, os::unix::fs::PermissionsExt as _, path::Path, process::Stdio,
};

use heph_core::{
    compose::{FileOutcome, outcomes},
    diff::{Edit, Hunk, Item, LineRange, edits, hunks},
    file::{File, FileChange, Mode},
    path::RepoPath,
    split::{split, split_rows},
    text::{Bytes, lines},
};

/// Files in one call of git: starting it costs more than what it does.
const BATCH: usize = 250;
const BATCHES: usize = 32;

/// A small generator of numbers (xorshift64*), so that a failure can be had again.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn line(&mut self, ends: &[&str]) -> String {
        let text =
            self.one_of(&["alpha", "beta", "gamma", "}", "", "\tindented", "x", "+ plus", "- minus", "é 测"]);
        format!("{text}{}", self.one_of(ends))
    }

    /// A file: repeated lines, line ends of one kind or mixed, with or without one at the end; or empty.
    fn file(&mut self) -> Vec<String> {
        let ends: &[&str] = match self.below(4) {
            0 => &["\r\n"],
            1 => &["\n", "\r\n"],
            _ => &["\n"],
        };
        let count = if self.below(12) == 0 { 0 } else { self.below(40) };
        let mut file: Vec<String> = (0..count).map(|_| self.line(ends)).collect();
        self.end(&mut file);
        file
    }

    /// Takes the end of the last line away, sometimes.
    fn end(&mut self, file: &mut Vec<String>) {
        if let Some(last) = file.last_mut()
            && self.below(4) == 0
        {
            *last = last.trim_end_matches(['\r', '\n']).to_owned();
            if last.is_empty() {
                file.pop();
            }
        }
    }

    /// A change of the file at `from`, which may move to `to`: of its lines, its mode or only its line ends; or
    /// it comes or goes.
    fn change(&mut self, from: RepoPath, to: RepoPath) -> FileChange {
        let old = self.file();
        let new = match self.below(12) {
            0 => old.iter().map(|line| line.replace("\r\n", "\n").replace('\n', "\r\n")).collect(),
            1 => old.clone(),
            _ => self.changed(&old),
        };
        let mut side = |lines: Vec<String>| {
            let mode = if self.below(4) == 0 { Mode::Executable } else { Mode::Regular };
            File { mode, bytes: Bytes(lines.concat().into_bytes()) }
        };
        let (old, new) = (side(old), side(new));
        match self.below(24) {
            0 => FileChange { path: from, old_path: None, old: None, new: Some(new) },
            1 => FileChange { path: from, old_path: None, old: Some(old), new: None },
            2..8 => FileChange { path: to, old_path: Some(from), old: Some(old), new: Some(new) },
            _ => FileChange { path: from, old_path: None, old: Some(old), new: Some(new) },
        }
    }

    /// The file as somebody changed it: here and there, side by side, or from top to bottom.
    fn changed(&mut self, old: &[String]) -> Vec<String> {
        if self.below(15) == 0 {
            return self.file();
        }
        let mut new = old.to_vec();
        for _ in 0..1 + self.below(6) {
            let at = self.below(new.len() + 1);
            match self.below(3) {
                0 if at < new.len() => drop(new.remove(at)),
                1 if at < new.len() => new[at] = self.line(&["\n"]),
                _ => {
                    // A line that had no end cannot have another below it.
                    if at > 0 && !new[at - 1].ends_with('\n') {
                        new[at - 1].push('\n');
                    }
                    new.insert(at, self.line(&["\n"]));
                }
            }
        }
        let last = new.len();
        for line in new.iter_mut().take(last.saturating_sub(1)).filter(|line| !line.ends_with('\n')) {
            line.push('\n');
        }
        self.end(&mut new);
        new
    }
}

/// A hunk as a unified diff has it; `shift` is by how many lines the hunks before it have moved it.
fn print(hunk: &Hunk, shift: isize, out: &mut Vec<u8>) {
    let Item::Lines { edits, old, unchanged, .. } = &hunk.item else { panic!("lines") };
    let added: usize = edits.iter().map(|edit| edit.new.len()).sum();
    let removed: usize = edits.iter().map(|edit| edit.old.len()).sum();
    let count = old.count + added - removed;
    let before = if old.count == 0 { old.first } else { old.first - 1 };
    let start = before.saturating_add_signed(shift);
    let first = if count == 0 { start } else { start + 1 };
    out.extend_from_slice(format!("@@ -{},{} +{first},{count} @@\n", old.first, old.count).as_bytes());
    let mut unchanged = unchanged.iter();
    let mut line = before;
    let mut put = |sign: u8, line: &Bytes| {
        out.push(sign);
        out.extend_from_slice(&line.0);
        if !line.0.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    };
    for Edit { old_start, old, new, .. } in edits {
        for context in unchanged.by_ref().take(old_start - line) {
            put(b' ', context);
        }
        old.iter().for_each(|gone| put(b'-', gone));
        new.iter().for_each(|come| put(b'+', come));
        line = old_start + old.len();
    }
    unchanged.for_each(|context| put(b' ', context));
}

/// A patch of just these hunks of the file at `source`.
fn patch(source: &RepoPath, hunks: &[&Hunk]) -> Vec<u8> {
    let is_rename = |hunk: &&&Hunk| hunk.item == Item::Rename;
    let target = hunks.iter().find(is_rename).map_or(source, |hunk| &hunk.path);
    let (from, to) = (source.display(), target.display());
    let mut head = format!("diff --git a/{from} b/{to}\n");
    let (mut from_line, mut to_line) = (format!("--- a/{from}\n"), format!("+++ b/{to}\n"));
    let mut body: Vec<Hunk> = Vec::new();
    for hunk in hunks {
        // The bytes of both sides, where the item is a change of all of them.
        let (old, new): (&[u8], &[u8]) = match &hunk.item {
            Item::Lines { .. } => {
                body.push((*hunk).clone());
                continue;
            }
            Item::Rename => {
                head += &format!("similarity index 50%\nrename from {from}\nrename to {to}\n");
                continue;
            }
            Item::Mode { from, to } => {
                head += &format!("old mode {:o}\nnew mode {:o}\n", from.bits(), to.bits());
                continue;
            }
            Item::Create(file) => {
                head += &format!("new file mode {:o}\nindex 0000000..e69de29\n", file.mode.bits());
                from_line = "--- /dev/null\n".into();
                (&[], &file.bytes.0)
            }
            Item::Delete(file) => {
                head += &format!("deleted file mode {:o}\nindex e69de29..0000000\n", file.mode.bits());
                to_line = "+++ /dev/null\n".into();
                (&file.bytes.0, &[])
            }
            Item::LineEndings { old, new } => (&old.bytes.0, &new.bytes.0),
            Item::Replace { .. } => panic!("all files here are texts"),
        };
        body.extend(edits(old, new).iter().map(|edit| alone(edit, hunk)));
    }
    let mut out = head.into_bytes();
    if !body.is_empty() {
        out.extend_from_slice((from_line + &to_line).as_bytes());
    }
    let mut shift = 0isize;
    for hunk in &body {
        print(hunk, shift, &mut out);
        shift +=
            hunk.edits().iter().map(|edit| edit.new.len() as isize - edit.old.len() as isize).sum::<isize>();
    }
    out
}

/// One edit of a hunk without context.
fn alone(edit: &Edit, of: &Hunk) -> Hunk {
    let range = |start: usize, lines: &[Bytes]| LineRange {
        first: if lines.is_empty() { start } else { start + 1 },
        count: lines.len(),
    };
    Hunk {
        item: Item::Lines {
            edits: vec![edit.clone()],
            old: range(edit.old_start, &edit.old),
            new: range(edit.new_start, &edit.new),
            unchanged: Vec::new(),
        },
        ..of.clone()
    }
}

/// The parts of a hunk share lines of context, which no patch may: each edit as a hunk without any.
fn without_context(hunks: &[&Hunk]) -> Vec<Hunk> {
    let parts = hunks.iter().flat_map(|hunk| match &hunk.item {
        Item::Lines { edits, .. } => edits.iter().map(|edit| alone(edit, hunk)).collect(),
        _ => vec![(*hunk).clone()],
    });
    parts.collect()
}

type Tree = BTreeMap<RepoPath, File>;

fn write(folder: &Path, tree: &Tree) {
    for (path, file) in tree {
        let place = folder.join(path.display());
        fs::write(&place, &file.bytes.0).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(file.mode.bits() & 0o777)).unwrap();
    }
}

fn read(folder: &Path) -> Tree {
    let files = fs::read_dir(folder).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let is_executable = entry.metadata().unwrap().permissions().mode() & 0o100 != 0;
        let mode = if is_executable { Mode::Executable } else { Mode::Regular };
        let path = RepoPath::new(entry.file_name().into_encoded_bytes()).unwrap();
        (path, File { mode, bytes: Bytes(fs::read(entry.path()).unwrap()) })
    });
    files.collect()
}

fn git_apply(folder: &Path, patch: &[u8]) {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "--unidiff-zero", "-"]);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap());
    git.current_dir(folder).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut running = git.spawn().unwrap();
    running.stdin.take().unwrap().write_all(patch).unwrap();
    let done = running.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// What was compared, so that a kind of change which is never met does not go unseen.
#[derive(Debug, Default)]
struct Tally {
    subsets: usize,
    split: usize,
    hunks: usize,
    renames: usize,
    modes: usize,
    line_endings: usize,
    created: usize,
    deleted: usize,
}

impl Tally {
    fn count(&mut self, some: &[&Hunk]) {
        self.subsets += 1;
        for hunk in some {
            *match &hunk.item {
                Item::Lines { .. } => &mut self.hunks,
                Item::Rename => &mut self.renames,
                Item::Mode { .. } => &mut self.modes,
                Item::LineEndings { .. } => &mut self.line_endings,
                Item::Create(_) => &mut self.created,
                Item::Delete(_) => &mut self.deleted,
                Item::Replace { .. } => panic!("all files here are texts"),
            } += 1;
        }
    }
}

#[test]
fn every_subset_of_hunks_makes_what_git_makes_of_a_patch_of_just_these() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut tally = Tally::default();
    for _ in 0..BATCHES {
        let folder = tempfile::tempdir().unwrap();
        let (mut before, mut composed, mut patches) = (Tree::new(), Tree::new(), Vec::new());
        let mut changes: BTreeMap<RepoPath, FileChange> = BTreeMap::new();
        for number in 0..BATCH {
            let [from, to] = ["f", "g"].map(|name| RepoPath::new(format!("{name}{number}")).unwrap());
            let change = numbers.change(from.clone(), to);
            let mut all = hunks(&change).hunks;
            let is_split = numbers.below(2) == 0;
            if is_split {
                let parts = |hunk: Hunk| split(&hunk, &split_rows(&hunk)).unwrap_or_else(|| vec![hunk]);
                all = all.into_iter().flat_map(parts).collect();
            }
            let some: Vec<&Hunk> = all.iter().filter(|_| numbers.below(3) > 0).collect();
            before.extend(change.old.clone().map(|old| (from.clone(), old)));
            for FileOutcome { path, file } in outcomes(&from, change.old.as_ref(), &some).unwrap() {
                composed.extend(file.map(|file| (path, file)));
            }
            match &some[..] {
                [] => {}
                some if is_split => {
                    patches.extend(patch(&from, &without_context(some).iter().collect::<Vec<_>>()));
                }
                some => patches.extend(patch(&from, some)),
            }
            tally.count(&some);
            tally.split += usize::from(is_split);
            changes.insert(from, change);
        }
        write(folder.path(), &before);
        git_apply(folder.path(), &patches);
        let applied = read(folder.path());
        for (from, change) in &changes {
            for path in [from, &change.path] {
                assert_eq!(composed.get(path), applied.get(path), "heph, git: {path} of {change:?}");
            }
        }
        assert_eq!(composed.len(), applied.len(), "and there is nothing else");
    }
    println!("compared with git apply: {tally:?}");
    assert_eq!(tally.subsets, BATCH * BATCHES);
    let Tally { split, hunks, renames, modes, line_endings, created, deleted, .. } = tally;
    assert!([split, hunks, renames, modes, line_endings, created, deleted].iter().all(|count| *count > 100));
}

#[test]
fn the_printed_patches_are_those_that_git_prints() {
    // The oracle is only as good as the patches: one of them is read by eye here.
    let (old, new) = ("a\nb\nc\nd\ne\nf\ng\nh", "a\nB\nc\nd\ne\nf\ng\nh\ni\n");
    let side = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
    let path = RepoPath::new("f").unwrap();
    let change =
        FileChange { path: path.clone(), old_path: None, old: Some(side(old)), new: Some(side(new)) };
    let all = hunks(&change).hunks;
    let text = String::from_utf8(patch(&path, &all.iter().collect::<Vec<_>>())).unwrap();
    let hunk = "@@ -1,8 +1,9 @@\n a\n-b\n+B\n c\n d\n e\n f\n g\n-h\n\\ No newline at end of file\n+h\n+i\n";
    assert_eq!(text, format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n{hunk}"));
    assert_eq!(lines(old.as_bytes()).len(), 8);
}
