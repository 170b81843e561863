//! `search {pattern, path?}`: lines that a regular expression matches, by ripgrep's own library.

use std::path::PathBuf;

use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, SearcherBuilder, sinks::Lossy};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{
    Done, ToolError, Worktree, counted, walk,
    worktree::{folder_named, std_path},
};

/// After so many matching lines the search is over.
const MOST: usize = 200;

/// Of a longer line only so many characters are shown.
const LINE: usize = 300;

/// A line of more bytes than this ends the search in its file.
const HEAP: usize = 8 * 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    pub(super) pattern: String,
    path: Option<String>,
}

impl Search {
    pub(super) fn carry_out(
        self,
        worktree: &Worktree,
        cancel: &CancellationToken,
    ) -> Result<Done, ToolError> {
        // Lines are matched one by one, whichever end they have: `$` stands before a CRLF too.
        let matcher = RegexMatcherBuilder::new()
            .multi_line(true)
            .crlf(true)
            .line_terminator(None)
            .build(&self.pattern)
            .map_err(|error| ToolError::Pattern(error.to_string()))?;
        let start = match self.path.as_deref().and_then(folder_named) {
            None => PathBuf::new(),
            Some(given) => {
                let path = worktree.resolve(given)?;
                worktree.entry(&path)?.ok_or_else(|| ToolError::Missing(path.display()))?;
                std_path(&path).to_path_buf()
            }
        };
        let mut searcher =
            SearcherBuilder::new().binary_detection(BinaryDetection::quit(0)).heap_limit(Some(HEAP)).build();
        let mut found: Vec<String> = Vec::new();
        let mut files = 0;
        for path in walk::files(worktree, &start) {
            if cancel.is_cancelled() {
                return Err(ToolError::Cancelled);
            }
            let before = found.len();
            let sink = Lossy(|number, line| {
                found.push(format!("{}:{number}: {}", path.display(), shortened(line)));
                Ok(found.len() <= MOST)
            });
            // A file that cannot be read is passed over, as ripgrep does; what it gave is kept.
            let _ = searcher.search_path(&matcher, worktree.root().join(&path), sink);
            files += usize::from(found.len() > before);
            if found.len() > MOST {
                break;
            }
        }
        if found.is_empty() {
            return Ok(Done::looked(
                "no match".into(),
                format!("nothing matches {}; ignored files are not searched", self.pattern),
            ));
        }
        if found.len() > MOST {
            found.truncate(MOST);
            found.push(format!("[... more than {MOST} matches; name a path or use a narrower pattern ...]"));
            return Ok(Done::looked(format!("more than {MOST} matches"), found.join("\n")));
        }
        let outcome =
            format!("{} in {}", counted(found.len(), "match", "matches"), counted(files, "file", "files"));
        Ok(Done::looked(outcome, found.join("\n")))
    }
}

fn shortened(line: &str) -> String {
    let line = line.trim_end_matches(['\r', '\n']);
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{} [... cut ...]", &line[..end]),
        None => line.to_owned(),
    }
}
