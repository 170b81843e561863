//! Every subset of a file's hunks makes what `git apply` makes of a patch that holds just these.
//!
//! The patches are printed here, from the hunks, as a unified diff has them; git is the oracle.

use std::{fs, io::Write as _, path::Path, process::Stdio};

use heph_core::{
    compose::compose,
    diff::{Edit, Hunk, Item, hunks},
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

fn patch(name: &str, hunks: &[&Hunk]) -> Vec<u8> {
    let mut out = format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n").into_bytes();
    let mut shift = 0isize;
    for hunk in hunks {
        print(hunk, shift, &mut out);
        shift +=
            hunk.edits().iter().map(|edit| edit.new.len() as isize - edit.old.len() as isize).sum::<isize>();
    }
    out
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

#[test]
fn every_subset_of_hunks_makes_what_git_makes_of_a_patch_of_just_these() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut ran, mut parts_ran) = (0, 0);
    for _ in 0..BATCHES {
        let folder = tempfile::tempdir().unwrap();
        let (mut patches, mut expected) = (Vec::new(), Vec::new());
        while expected.len() < BATCH {
            let old = numbers.file();
            let (old, new) = (old.concat(), numbers.changed(&old).concat());
            let side = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
            let change = FileChange {
                path: RepoPath::new("f").unwrap(),
                old_path: None,
                old: Some(side(&old)),
                new: Some(side(&new)),
            };
            let mut all = hunks(&change).hunks;
            if all.iter().any(|hunk| hunk.edits().is_empty()) {
                // Line ends alone: an item that no patch of lines could hold in part.
                continue;
            }
            let is_split = numbers.below(2) == 0;
            if is_split {
                all = all
                    .into_iter()
                    .flat_map(|hunk| split(&hunk, &split_rows(&hunk)).unwrap_or_else(|| vec![hunk]))
                    .collect();
            }
            let some: Vec<&Hunk> = all.iter().filter(|_| numbers.below(3) > 0).collect();
            let composed = compose(Some(&side(&old)), &some).unwrap().unwrap();
            let name = format!("f{}", expected.len());
            fs::write(folder.path().join(&name), &old).unwrap();
            if !some.is_empty() {
                patches.extend(match is_split {
                    // The parts of a hunk share lines of context, which no patch may: they go without.
                    true => without_context(&name, &some),
                    false => patch(&name, &some),
                });
            }
            parts_ran += usize::from(is_split);
            expected.push((name, old, new, composed.bytes.0));
        }
        git_apply(folder.path(), &patches);
        for (name, old, new, composed) in expected {
            let applied = fs::read(folder.path().join(&name)).unwrap();
            assert!(
                applied == composed,
                "of {old:?} to {new:?}:\ngit  {:?}\nheph {:?}",
                String::from_utf8_lossy(&applied),
                String::from_utf8_lossy(&composed)
            );
            ran += 1;
        }
    }
    println!("{ran} subsets compared with git apply, {parts_ran} of them of split hunks");
    assert_eq!(ran, BATCH * BATCHES);
}

/// The same hunks without context, each edit as a hunk of its own.
fn without_context(name: &str, hunks: &[&Hunk]) -> Vec<u8> {
    let alone = |edit: &Edit| {
        let range = |start: usize, lines: &[Bytes]| heph_core::diff::LineRange {
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
            ..hunks[0].clone()
        }
    };
    let alone: Vec<Hunk> = hunks.iter().flat_map(|hunk| hunk.edits()).map(alone).collect();
    patch(name, &alone.iter().collect::<Vec<_>>())
}

#[test]
fn the_printed_patches_are_those_that_git_prints() {
    // The oracle is only as good as the patches: one of them is read by eye here.
    let (old, new) = ("a\nb\nc\nd\ne\nf\ng\nh", "a\nB\nc\nd\ne\nf\ng\nh\ni\n");
    let side = |text: &str| File { mode: Mode::Regular, bytes: Bytes(text.into()) };
    let path = RepoPath::new("f").unwrap();
    let change = FileChange { path, old_path: None, old: Some(side(old)), new: Some(side(new)) };
    let all = hunks(&change).hunks;
    let text = String::from_utf8(patch("f", &all.iter().collect::<Vec<_>>())).unwrap();
    let hunk = "@@ -1,8 +1,9 @@\n a\n-b\n+B\n c\n d\n e\n f\n g\n-h\n\\ No newline at end of file\n+h\n+i\n";
    assert_eq!(text, format!("diff --git a/f b/f\n--- a/f\n+++ b/f\n{hunk}"));
    assert_eq!(lines(old.as_bytes()).len(), 8);
}
