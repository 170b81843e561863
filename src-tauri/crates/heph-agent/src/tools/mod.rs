//! The tools of the built-in agent: one file each, and the confinement that they share.

mod delete;
mod edit;
mod error;
mod find;
mod list;
mod move_file;
mod read;
mod run;
mod search;
mod walk;
mod worktree;
mod write;

use std::{sync::Arc, time::Duration};

use heph_core::{path::RepoPath, rationale::EditNote, text::Bytes};
use serde::{Deserialize, Deserializer};
use tokio_util::sync::CancellationToken;

use crate::model::ToolCall;
pub(crate) use error::ToolError;
pub(crate) use worktree::Worktree;

/// A call that was carried out, as it is shown to the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolDone {
    /// The tool, as the model named it.
    pub name: String,
    /// What it was used on: a path, a pattern, a command.
    pub target: String,
    /// In a few words: `112 lines`, `exit 0`, `4 matches in 3 files`, or the error.
    pub outcome: String,
    /// Whether it did not do what it was called for; a command that exits with anything but 0
    /// counts.
    pub failed: bool,
    /// The model's reason, of a tool that edits.
    pub rationale: Option<String>,
    /// Lines that the call added.
    pub added: u32,
    /// Lines that the call took away.
    pub removed: u32,
    /// The whole text that the model was told.
    pub detail: String,
    /// From the call to the result.
    pub elapsed: Duration,
    /// Each file that the call changed, before and after.
    pub notes: Vec<EditNote>,
}

/// A call whose arguments are in order.
#[derive(Debug)]
pub(crate) enum Call {
    List(list::List),
    Find(find::Find),
    Search(search::Search),
    Read(read::Read),
    Edit(edit::Edit),
    Write(write::Write),
    Move(move_file::Move),
    Delete(delete::Delete),
    Run(run::Run),
}

impl Call {
    /// The call of the tool `name`, or `None` where there is no such tool.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        name: &str,
        arguments: D,
    ) -> Option<Result<Call, D::Error>> {
        Some(match name {
            "list" => Deserialize::deserialize(arguments).map(Call::List),
            "find" => Deserialize::deserialize(arguments).map(Call::Find),
            "search" => Deserialize::deserialize(arguments).map(Call::Search),
            "read" => Deserialize::deserialize(arguments).map(Call::Read),
            "edit" => Deserialize::deserialize(arguments).map(Call::Edit),
            "write" => Deserialize::deserialize(arguments).map(Call::Write),
            "move" => Deserialize::deserialize(arguments).map(Call::Move),
            "delete" => Deserialize::deserialize(arguments).map(Call::Delete),
            "run" => Deserialize::deserialize(arguments).map(Call::Run),
            _ => return None,
        })
    }

    fn target(&self) -> &str {
        match self {
            Call::List(list) => &list.path,
            Call::Find(find) => &find.pattern,
            Call::Search(search) => &search.pattern,
            Call::Read(read) => &read.path,
            Call::Edit(edit) => &edit.path,
            Call::Write(write) => &write.path,
            Call::Move(moved) => &moved.path,
            Call::Delete(delete) => &delete.path,
            Call::Run(run) => &run.command,
        }
    }
}

/// Why the model makes an edit: one sentence, never empty.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Rationale(String);

impl TryFrom<String> for Rationale {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Rationale, Self::Error> {
        match text.trim() {
            "" => Err("`rationale` is empty: say in one sentence why you make this change"),
            _ => Ok(Rationale(text)),
        }
    }
}

/// What a tool did.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// For the user, in a few words.
    outcome: String,
    /// For the model.
    content: String,
    /// Whether it counts as failed all the same.
    failed: bool,
    /// Of a tool that edits.
    rationale: Option<String>,
    added: u32,
    removed: u32,
    notes: Vec<EditNote>,
}

impl Done {
    /// A tool that changed nothing.
    fn looked(outcome: String, content: String) -> Done {
        Done { outcome, content, ..Done::default() }
    }

    /// A tool that changed files: each one's path, bytes before and bytes after.
    fn edited(outcome: &str, content: String, why: &Rationale, files: Vec<EditedFile>) -> Done {
        let notes: Vec<EditNote> = files
            .into_iter()
            .map(|(path, before, after)| EditNote {
                path,
                before: before.map(Bytes),
                after: after.map(Bytes),
                rationale: why.0.clone(),
            })
            .collect();
        let (added, removed) = changed_lines(&notes);
        let rationale = Some(why.0.clone());
        Done { outcome: outcome.to_owned(), content, failed: false, rationale, added, removed, notes }
    }
}

type EditedFile = (RepoPath, Option<Vec<u8>>, Option<Vec<u8>>);

/// Carries `call` out in `worktree`. Never fails: what went wrong is the result.
pub(crate) async fn carry_out(
    call: &ToolCall,
    worktree: &Arc<Worktree>,
    cancel: &CancellationToken,
) -> ToolDone {
    let (target, done) = match Call::read(&call.name, &call.arguments) {
        None => (String::new(), Err(ToolError::UnknownTool(call.name.clone()))),
        Some(Err(error)) => (named_target(&call.arguments), Err(ToolError::Arguments(error.to_string()))),
        Some(Ok(parsed)) => (parsed.target().to_owned(), dispatch(parsed, worktree, cancel).await),
    };
    let done = done.unwrap_or_else(|error| {
        let error = error.to_string();
        Done {
            outcome: error.lines().next().unwrap_or_default().to_owned(),
            content: error,
            failed: true,
            ..Done::default()
        }
    });
    ToolDone {
        name: call.name.clone(),
        target,
        outcome: done.outcome,
        failed: done.failed,
        rationale: done.rationale,
        added: done.added,
        removed: done.removed,
        detail: done.content,
        elapsed: Duration::ZERO,
        notes: done.notes,
    }
}

async fn dispatch(
    call: Call,
    worktree: &Arc<Worktree>,
    cancel: &CancellationToken,
) -> Result<Done, ToolError> {
    let (tree, stop) = (Arc::clone(worktree), cancel.clone());
    let work: Box<dyn FnOnce() -> Result<Done, ToolError> + Send> = match call {
        Call::Run(run) => return run.carry_out(worktree, cancel).await,
        Call::List(list) => Box::new(move || list.carry_out(&tree)),
        Call::Find(find) => Box::new(move || find.carry_out(&tree, &stop)),
        Call::Search(search) => Box::new(move || search.carry_out(&tree, &stop)),
        Call::Read(read) => Box::new(move || read.carry_out(&tree)),
        Call::Edit(edit) => Box::new(move || edit.carry_out(&tree)),
        Call::Write(write) => Box::new(move || write.carry_out(&tree)),
        Call::Move(moved) => Box::new(move || moved.carry_out(&tree)),
        Call::Delete(delete) => Box::new(move || delete.carry_out(&tree)),
    };
    // Disks are slow, and the runtime has few threads. A dropped future leaves an edit to its end
    // rather than half written.
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|panic| Err(ToolError::Broken(panic.to_string())))
}

/// What a call with faulty arguments was probably meant for.
fn named_target(arguments: &serde_json::Value) -> String {
    let named = ["path", "pattern", "command"].iter().find_map(|&name| arguments.get(name)?.as_str());
    named.unwrap_or_default().to_owned()
}

/// How many lines the edits added and took away.
fn changed_lines(notes: &[EditNote]) -> (u32, u32) {
    let (mut added, mut removed) = (0, 0);
    for note in notes {
        let lines = |side: &Option<Bytes>| side.clone().unwrap_or_default();
        let (before, after) = (lines(&note.before), lines(&note.after));
        // The figures are for show: in huge files they may be rough rather than slow.
        let mut config = similar::TextDiff::configure();
        let diff =
            config.timeout(Duration::from_millis(200)).diff_lines(before.0.as_slice(), after.0.as_slice());
        for change in diff.iter_all_changes() {
            match change.tag() {
                similar::ChangeTag::Insert => added += 1,
                similar::ChangeTag::Delete => removed += 1,
                similar::ChangeTag::Equal => {}
            }
        }
    }
    (added, removed)
}

/// `1 line`, `2 lines`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
