//! A hunk of several groups of changes, taken apart where unchanged lines lie between them.

use crate::{
    diff::{CONTEXT, Edit, Hunk, Item, LineRange, digest},
    rationale::joined,
    text::Bytes,
};

/// The rows at which a hunk can be split, counted from 0 through all of its rows: one in each gap between
/// two groups of changes.
pub fn split_rows(hunk: &Hunk) -> Vec<usize> {
    gaps(hunk).into_iter().map(|gap| gap.start).collect()
}

/// The hunks that `hunk` falls into at these rows, each of them an unchanged row in a gap of its own; `None`
/// where one is not, or there is none.
pub fn split(hunk: &Hunk, at: &[usize]) -> Option<Vec<Hunk>> {
    let edits = hunk.edits();
    let (first_line, old_lines) = hunk.old_lines()?;
    let gaps = gaps(hunk);
    let mut cuts: Vec<usize> = Vec::new();
    for row in at {
        cuts.push(gaps.iter().position(|gap| gap.contains(row))? + 1);
    }
    cuts.sort_unstable();
    cuts.dedup();
    if cuts.is_empty() {
        return None;
    }
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([edits.len()]);
    let parts = starts.zip(ends).map(|(start, end)| {
        let own = &edits[start..end];
        let bounds = Bounds {
            after: start.checked_sub(1).map_or(first_line, |before| edits[before].old_range().end),
            before: edits.get(end).map_or(first_line + old_lines.len(), |next| next.old_start),
        };
        let reasons = hunk.reasons.get(start..end).unwrap_or_default().to_vec();
        Hunk { rationale: joined(&reasons), reasons, ..part(hunk, own, bounds, first_line, &old_lines) }
    });
    Some(parts.collect())
}

/// The unchanged rows between each two edits, as rows of the hunk.
fn gaps(hunk: &Hunk) -> Vec<std::ops::Range<usize>> {
    // Without the lines between them its changes cannot be told apart.
    let Some((first_line, _)) = hunk.old_lines() else { return Vec::new() };
    let mut added = 0;
    hunk.edits()
        .windows(2)
        .map(|pair| {
            added += pair[0].new.len();
            let row = |line: usize| line - first_line + added;
            row(pair[0].old_range().end)..row(pair[1].old_start)
        })
        .collect()
}

/// The old lines among which a part's context lies.
struct Bounds {
    after: usize,
    before: usize,
}

fn part(hunk: &Hunk, edits: &[Edit], bounds: Bounds, first_line: usize, old_lines: &[&[u8]]) -> Hunk {
    let (first, last) = (&edits[0], &edits[edits.len() - 1]);
    let above = CONTEXT.min(first.old_start - bounds.after);
    let below = CONTEXT.min(bounds.before - last.old_range().end);
    let range = first.old_start - above..last.old_range().end + below;
    let is_changed = |line: &usize| edits.iter().any(|edit| edit.old_range().contains(line));
    let unchanged = range.clone().filter(|line| !is_changed(line));
    let item = Item::Lines {
        edits: edits.to_vec(),
        new: LineRange::of(first.new_start - above..last.new_range().end + below),
        unchanged: unchanged.map(|line| Bytes(old_lines[line - first_line].to_vec())).collect(),
        old: LineRange::of(range),
    };
    // The name is made of neighbouring lines, which are counted from where the hunk's own begin.
    let moved: Vec<Edit> =
        edits.iter().map(|edit| Edit { old_start: edit.old_start - first_line, ..edit.clone() }).collect();
    let here = Item::Lines {
        edits: moved,
        old: LineRange::of(0..0),
        new: LineRange::of(0..0),
        unchanged: Vec::new(),
    };
    Hunk { id: digest(&hunk.path, hunk.source(), &here, old_lines), item, ..hunk.clone() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        compose::compose,
        diff::hunks,
        file::{File, FileChange, Mode},
        path::RepoPath,
        text::lines,
    };

    fn file(text: &str) -> File {
        File { mode: Mode::Regular, bytes: Bytes(text.into()) }
    }

    fn change(old: &str, new: &str) -> Vec<Hunk> {
        let path = RepoPath::new("a").unwrap();
        hunks(&FileChange { path, old_path: None, old: Some(file(old)), new: Some(file(new)) }).hunks
    }

    #[test]
    fn a_hunk_is_split_where_unchanged_lines_lie_inside_it_and_nowhere_else() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\nfive\nfive and a half\n").replace("\n9\n", "\nnine\n");
        let hunk = &change(&old, &new)[0];
        // 2 3 4 -5 +five +five and a half 6 7 8 -9 +nine 10 11 12
        assert_eq!(split_rows(hunk), [6]);
        for row in [0, 3, 5, 9, 11, 13, 40] {
            assert_eq!(split(hunk, &[row]), None, "{row}");
        }
        assert_eq!(split(hunk, &[]), None);
        for row in 6..9 {
            let parts: Vec<String> = split(hunk, &[row]).unwrap().iter().map(Hunk::what).collect();
            assert_eq!(parts, ["lines 2-9", "lines 7-13"]);
        }
        let alone = new.replace("\nnine\n", "\n9\n");
        assert_eq!(split(hunk, &[6]).unwrap()[0].id, change(&old, &alone)[0].id, "it is named as if alone");
    }

    #[test]
    fn a_hunk_of_an_old_log_without_its_unchanged_lines_is_left_whole() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\nfive\n").replace("\n9\n", "\nnine\n");
        let mut hunk = change(&old, &new).remove(0);
        let Item::Lines { unchanged, .. } = &mut hunk.item else { panic!("lines") };
        unchanged.clear();
        assert!(split_rows(&hunk).is_empty());
        assert_eq!(split(&hunk, &[5]), None);
    }

    fn texts() -> impl Strategy<Value = String> {
        let line = prop_oneof![Just("a\n"), Just("b\n"), Just("\n"), Just("}\n"), Just("c")];
        prop::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn any_parts_of_split_hunks_make_what_their_changes_make(
            old in texts(), new in texts(), picks in prop::collection::vec(any::<bool>(), 20),
            cuts in prop::collection::vec(any::<bool>(), 20)
        ) {
            let edits = |hunks: &[Hunk]| hunks.iter().flat_map(|hunk| hunk.edits().to_vec()).collect::<Vec<_>>();
            let whole = change(&old, &new);
            let mut parts: Vec<Hunk> = Vec::new();
            for hunk in &whole {
                let at: Vec<usize> =
                    split_rows(hunk).into_iter().zip(&cuts).filter(|(_, cut)| **cut).map(|(row, _)| row).collect();
                let some = split(hunk, &at).unwrap_or_else(|| vec![hunk.clone()]);
                prop_assert_eq!(some.len(), at.len() + 1);
                // A part can be split on.
                let all: Vec<Hunk> =
                    some.iter().flat_map(|part| split(part, &split_rows(part)).unwrap_or_else(|| vec![part.clone()])).collect();
                prop_assert!(all.iter().all(|part| part.edits().len() == 1));
                prop_assert_eq!(edits(&all), edits(&some));
                parts.extend(some);
            }
            prop_assert_eq!(edits(&parts), edits(&whole), "no change is lost");
            let old_lines = lines(old.as_bytes());
            for part in &parts {
                let (first, own) = part.old_lines().unwrap();
                prop_assert_eq!(&own[..], &old_lines[first..first + own.len()], "its lines are those of its range");
            }
            let some: Vec<&Hunk> = parts.iter().zip(&picks).filter(|(_, pick)| **pick).map(|(part, _)| part).collect();
            let composed = compose(Some(&file(&old)), &some).unwrap().unwrap();
            let rest = change(std::str::from_utf8(&composed.bytes.0).unwrap(), &new);
            let rest: Vec<&Hunk> = rest.iter().collect();
            prop_assert_eq!(compose(Some(&composed), &rest).unwrap().unwrap(), file(&new), "some, then the rest");
        }
    }
}
