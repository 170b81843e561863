//! What a turn asks for, carried out: git, gates and apply, each answered by an input.

use std::{collections::BTreeMap, ffi::OsString, path::Path, time::Duration};

use heph_core::{
    compose::{self, FileOutcome, Misfit},
    diff::{self, FileHunks, Hunk},
    file::File,
    id::{HunkId, TreeId},
    path::RepoPath,
    rationale::{EditNote, attribute},
    rename,
    review::EditedFile,
    turn::{GateResult, GateRun, Index, Input, TakenOut, Written},
};
use heph_exec::{CommandSpec, Exit};
use heph_git::{ApplyError, GitError, PrivateRepo};
use tokio_util::sync::CancellationToken;

use crate::{failure::failed, settings::Gate};

/// So much of a gate's output is kept.
const OUTPUT_LIMIT: usize = 1 << 20;

/// Why something could not be done. The turn is held then, as it was.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A snapshot, tree or worktree.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The apply.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// What follows an apply, whose files are written.
    #[error("all is written to your files, but Heph could not go on from there: {0}")]
    AfterApply(#[source] GitError),
    /// The accepted state.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// The work was not begun, for this reason in words for the user.
    #[error("{0}")]
    CannotStart(String),
    /// Heph's own code failed at it.
    #[error("Heph itself failed, and its log says where")]
    Panicked,
}

impl WorkError {
    /// Whether something is in the user's files all the same.
    pub fn has_written(&self) -> bool {
        matches!(self, WorkError::AfterApply(_) | WorkError::Apply(ApplyError::Stopped { .. }))
    }

    /// A sentence for the user.
    pub fn sentence(self) -> String {
        match self {
            WorkError::CannotStart(words) => words,
            error => failed(error),
        }
    }
}

/// Where one session works.
#[derive(Clone)]
pub struct Workplace {
    /// The private repository.
    pub private: PrivateRepo,
    /// The session.
    pub session: String,
}

/// What a gate does, as it does it.
pub enum GateProgress {
    /// It started.
    Start,
    /// It printed this.
    Output(String),
    /// It ended.
    End(GateRun),
}

impl Workplace {
    /// Records the user's tree, and makes the worktree hold it.
    pub fn begin(&self) -> Result<Input, WorkError> {
        self.private.mirror_refs()?;
        let base = self.private.snapshot(&self.session)?;
        self.show(&base, &base, "base")?;
        Ok(Input::Begun { base })
    }

    /// Reads the worktree and compares it with the accepted state. `notes` are the round's edits.
    pub fn read(&self, base: &TreeId, accepted: &TreeId, notes: &[EditNote]) -> Result<Input, WorkError> {
        let state = self.private.worktree(&self.session)?.snapshot(base)?;
        self.private.commit(&self.session, &state.tree, "proposed")?;
        let files = self.compare(accepted, &state.tree, notes)?;
        // Builds write under ignored paths all the time; what is told is what the model's own tools wrote.
        let ignored = state.ignored.into_iter().filter(|path| notes.iter().any(|note| note.path == *path));
        Ok(Input::Read { tree: state.tree, files, ignored: ignored.collect() })
    }

    /// What the state `tree` has at `path`; nothing where it has no such file.
    pub fn old_file(&self, tree: &TreeId, path: &RepoPath) -> Result<Vec<u8>, WorkError> {
        let file = self.private.file(tree, path)?;
        Ok(file.map(|file| file.bytes.0).unwrap_or_default())
    }

    /// Makes the worktree hold `onto` with these hunks of its diff, and with the user's own files.
    pub fn compose(
        &self,
        base: &TreeId,
        onto: &TreeId,
        hunks: &[Hunk],
        edited: &[EditedFile],
    ) -> Result<Input, WorkError> {
        let mut outcomes = self.outcomes_of(onto, hunks)?;
        for EditedFile { path, old_path, file } in edited {
            let gone = old_path.iter().map(|old| FileOutcome { path: old.clone(), file: None });
            outcomes.extend(gone);
            outcomes.push(FileOutcome { path: path.clone(), file: Some(file.clone()) });
        }
        let tree = self.private.compose(onto, &outcomes)?;
        self.show(base, &tree, "accepted")?;
        Ok(Input::Composed { tree })
    }

    /// What becomes of the files of `onto` that `hunks` change.
    fn outcomes_of(&self, onto: &TreeId, hunks: &[Hunk]) -> Result<Vec<FileOutcome>, WorkError> {
        let mut by_source: BTreeMap<&RepoPath, Vec<&Hunk>> = BTreeMap::new();
        for hunk in hunks {
            by_source.entry(hunk.source()).or_default().push(hunk);
        }
        let mut outcomes = Vec::new();
        for (source, hunks) in by_source {
            outcomes.extend(compose::outcomes(source, self.private.file(onto, source)?.as_ref(), &hunks)?);
        }
        Ok(outcomes)
    }

    /// Writes the difference between two trees into the user's, and takes what is there then as the
    /// new base.
    pub fn apply(&self, base: &TreeId, accepted: &TreeId, index: Index) -> Result<Input, WorkError> {
        let mut report = match index {
            Index::Untouched => self.private.apply(base, accepted)?,
            Index::Follows => self.private.apply_with_index(base, accepted)?,
        };
        // What stays staged is told as what stays in the file is.
        for staged in std::mem::take(&mut report.index) {
            let file =
                report.files.iter_mut().find(|file| file.path == staged.path && file.set_aside.is_none());
            if let (Some(file), Some(aside)) = (file, staged.set_aside) {
                file.set_aside = Some(aside);
            }
        }
        let base = self.private.snapshot(&self.session).map_err(WorkError::AfterApply)?;
        self.show(&base, &base, "applied").map_err(WorkError::AfterApply)?;
        let written = report.has_written().then_some(Written { before: report.before, after: report.after });
        Ok(Input::Applied { files: report.files, base, written })
    }

    /// Records the user's own tree, and compares it with a revision.
    pub fn read_tree(&self, rev: Option<&str>) -> Result<Input, WorkError> {
        let tree = self.private.snapshot(&self.session)?;
        let against = self.private.committed(rev, &tree)?;
        let files = self.compare(&against, &tree, &[])?;
        Ok(Input::TreeRead { against, tree, files })
    }

    /// Composes the user's own tree without what they rejected of it. No worktree holds it.
    pub fn take_out(&self, against: &TreeId, tree: &TreeId, files: &[TakenOut]) -> Result<Input, WorkError> {
        let mut outcomes = Vec::new();
        for TakenOut { kept, out } in files {
            let Some(any) = out.first().or(kept.first()) else { continue };
            let kept = self.outcomes_of(against, kept)?;
            // A file that nothing is kept of is as it was before, by the name it had before.
            for path in [&any.path, any.source()] {
                if !kept.iter().any(|outcome| outcome.path == *path) {
                    outcomes
                        .push(FileOutcome { path: path.clone(), file: self.private.file(against, path)? });
                }
            }
            outcomes.extend(kept);
        }
        Ok(Input::Composed { tree: self.private.compose(tree, &outcomes)? })
    }

    /// Compares all that was accepted with the base.
    pub fn reopen(&self, base: &TreeId, accepted: &TreeId, notes: &[EditNote]) -> Result<Input, WorkError> {
        Ok(Input::Reopened { files: self.compare(base, accepted, notes)? })
    }

    /// What is proposed, compared with what was accepted without `taken`: a hunk of the difference between
    /// the two accepted states.
    pub fn take_back(
        &self,
        states: (&TreeId, &TreeId),
        proposed: &[Hunk],
        taken: &HunkId,
        notes: &[EditNote],
    ) -> Result<Option<Input>, WorkError> {
        let (base, accepted) = states;
        let files = self.compare(base, accepted, notes)?;
        let mut kept: Vec<Hunk> = files.into_iter().flat_map(|file| file.hunks).collect();
        let Some(place) = kept.iter().position(|hunk| hunk.id == *taken) else { return Ok(None) };
        let hunk = kept.remove(place);
        let without = self.private.compose(base, &self.outcomes_of(base, &kept)?)?;
        let proposed = self.private.compose(accepted, &self.outcomes_of(accepted, proposed)?)?;
        let files = self.compare(&without, &proposed, notes)?;
        self.private.commit(&self.session, &without, "taken back")?;
        Ok(Some(Input::TakenBack { hunk, accepted: without, files }))
    }

    /// The difference between two trees, as hunks with their reasons.
    pub fn compare(
        &self,
        old: &TreeId,
        new: &TreeId,
        notes: &[EditNote],
    ) -> Result<Vec<FileHunks>, WorkError> {
        let bytes = |file: &Option<File>| file.as_ref().map(|file| file.bytes.0.clone()).unwrap_or_default();
        let changes = rename::pair(self.private.diff(old, new)?);
        let files = changes.iter().map(|change| {
            let mut file = diff::hunks(change);
            attribute(&mut file, &bytes(&change.old), &bytes(&change.new), notes);
            file
        });
        Ok(files.collect())
    }

    fn show(&self, base: &TreeId, tree: &TreeId, label: &str) -> Result<(), GitError> {
        self.private.commit(&self.session, tree, label)?;
        self.private.worktree(&self.session)?.move_to(base, tree)
    }

    /// Runs gates on a tree, one after the other, and leaves the worktree as `standing`, whatever they
    /// wrote.
    pub async fn run_gates(
        self,
        base: TreeId,
        tree: TreeId,
        standing: TreeId,
        gates: Vec<Gate>,
        mut progress: impl FnMut(&str, GateProgress) + Send,
        cancel: CancellationToken,
    ) -> Result<Input, WorkError> {
        let worktree = self.private.worktree(&self.session)?;
        self.hold(base.clone(), tree.clone()).await?;
        let mut runs = Vec::new();
        for gate in gates {
            let (ran, put_back) = if cancel.is_cancelled() {
                (Ran { result: GateResult::Stopped, seconds: 0.0, output: String::new() }, Vec::new())
            } else {
                progress(&gate.name, GateProgress::Start);
                let command = Command { shell: gate.run.clone(), time_limit: gate.time_limit() };
                let mut output = |text| progress(&gate.name, GateProgress::Output(text));
                let ran = command.run_in(worktree.path(), &mut output, &cancel).await;
                (ran, self.put_back(&base, &tree).await?)
            };
            let Ran { result, seconds, output } = ran;
            let run = GateRun { name: gate.name.clone(), result, seconds, output, put_back };
            progress(&gate.name, GateProgress::End(run.clone()));
            runs.push(run);
        }
        if standing != tree {
            self.hold(base, standing).await?;
        }
        Ok(Input::GatesRan { tree, runs })
    }

    /// Makes the worktree hold `tree`.
    pub async fn hold(&self, base: TreeId, tree: TreeId) -> Result<(), WorkError> {
        let place = self.clone();
        blocking(move || Ok(place.private.worktree(&place.session)?.move_to(&base, &tree)?)).await
    }

    /// Makes the worktree hold `tree` again, and names the files that were not as there.
    async fn put_back(&self, base: &TreeId, tree: &TreeId) -> Result<Vec<RepoPath>, WorkError> {
        let (place, base, tree) = (self.clone(), base.clone(), tree.clone());
        blocking(move || {
            let worktree = place.private.worktree(&place.session)?;
            let now = worktree.snapshot(&base)?.tree;
            if now == tree {
                return Ok(Vec::new());
            }
            let changed = place.private.diff(&tree, &now)?.into_iter().map(|change| change.path).collect();
            worktree.move_to(&base, &tree)?;
            Ok(changed)
        })
        .await
    }
}

/// Does work that blocks, in a thread for such work.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkError> + Send + 'static,
) -> Result<T, WorkError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// A gate's command, or a setup's.
pub struct Command {
    /// For the platform's shell.
    pub shell: String,
    /// How long it may run.
    pub time_limit: Duration,
}

/// What came of a command.
pub struct Ran {
    /// As a gate's result.
    pub result: GateResult,
    /// How long it took.
    pub seconds: f64,
    /// What it printed.
    pub output: String,
}

impl Command {
    /// Runs it in the worktree, and hands on what it prints.
    pub async fn run_in(
        self,
        worktree: &Path,
        output: &mut (dyn FnMut(String) + Send),
        cancel: &CancellationToken,
    ) -> Ran {
        let could_not = |reason: String| GateResult::CouldNotRun { reason };
        let temp = match tempfile::tempdir() {
            Ok(temp) => temp,
            Err(error) => {
                let result = could_not(format!("no temporary folder: {error}"));
                return Ran { result, seconds: 0.0, output: String::new() };
            }
        };
        let mut env = heph_exec::listed_environment(temp.path());
        if let Some(parent) = worktree.parent() {
            // Git never looks for a repository above the worktree, even when that has vanished.
            env.push((OsString::from("GIT_CEILING_DIRECTORIES"), parent.into()));
        }
        let limit = self.time_limit;
        let spec = CommandSpec {
            shell: self.shell,
            cwd: worktree.to_owned(),
            env,
            time_limit: Some(limit),
            output_limit: OUTPUT_LIMIT,
        };
        let mut pieces = Pieces::default();
        let mut on_output = |bytes: &[u8]| output(pieces.take(bytes));
        let done = heph_exec::run(spec, &mut on_output, cancel.clone()).await;
        let result = match done.exit {
            Exit::Code(0) => GateResult::Green,
            // The shell's own words for "found, but cannot be run" and "not found" (POSIX, 2.8.2).
            Exit::Code(code @ (126 | 127)) => {
                could_not(format!("its command could not be run (exit {code})"))
            }
            Exit::Code(exit) => GateResult::Red { exit },
            Exit::Signal(signal) => GateResult::Red { exit: 128 + signal },
            Exit::TimeLimit => could_not(format!("it ran longer than {} s", limit.as_secs())),
            Exit::Cancelled => GateResult::Stopped,
            Exit::CouldNotStart(reason) => could_not(reason),
        };
        let output = String::from_utf8_lossy(&done.output).into_owned();
        Ran { result, seconds: done.elapsed.as_secs_f64(), output }
    }
}

/// Bytes that come in pieces, as text: a character that is cut in two waits for its rest.
#[derive(Default)]
struct Pieces(Vec<u8>);

impl Pieces {
    fn take(&mut self, bytes: &[u8]) -> String {
        self.0.extend_from_slice(bytes);
        let cut = self.0.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
        let is_cut = std::str::from_utf8(cut).is_err_and(|error| error.error_len().is_none());
        let rest = self.0.split_off(self.0.len() - if is_cut { cut.len() } else { 0 });
        String::from_utf8_lossy(&std::mem::replace(&mut self.0, rest)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_comes_in_two_pieces_is_one() {
        let mut pieces = Pieces::default();
        let [a, b] = ["é".as_bytes()[0], "é".as_bytes()[1]];
        assert_eq!(pieces.take(&[b'a', a]), "a");
        assert_eq!(pieces.take(&[b, b'b']), "éb");
        assert_eq!(pieces.take(&[0xff, b'c', a]), "\u{fffd}c", "what is no text is shown as such at once");
        assert_eq!(pieces.take(&[b]), "é");
    }
}
