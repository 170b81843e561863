//! What was set aside, as text.

use crate::{apply::FileReport, diff::Edit};

/// The set-aside changes of one file as a unified diff without context; empty where it has none.
pub fn set_aside(file: &FileReport) -> String {
    let changes = file.set_aside.iter().flat_map(|aside| &aside.change);
    let hunks: String = changes.map(|meant| hunk(&meant.edit)).collect();
    if hunks.is_empty() {
        return hunks;
    }
    let path = file.path.display();
    format!("--- a/{path}\n+++ b/{path}\n{hunks}")
}

fn hunk(edit: &Edit) -> String {
    // A range without lines names the line before it.
    let range =
        |start: usize, count: usize| format!("{},{count}", if count == 0 { start } else { start + 1 });
    let (old, new) = (range(edit.old_start, edit.old.len()), range(edit.new_start, edit.new.len()));
    let mut out = format!("@@ -{old} +{new} @@\n");
    for (sign, lines) in [('-', &edit.old), ('+', &edit.new)] {
        for line in lines {
            out.push(sign);
            out.push_str(&String::from_utf8_lossy(line.0.strip_suffix(b"\n").unwrap_or(&line.0)));
            out.push('\n');
            if !line.0.ends_with(b"\n") {
                out.push_str("\\ No newline at end of file\n");
            }
        }
    }
    out
}
