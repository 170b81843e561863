//! The user's own editor, on a file of the review.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
};

use heph_core::file::File;
use heph_wire::{CallError, ErrorKind, WirePath};
use tempfile::TempDir;

use crate::{
    failure::internal,
    run::{Event, Loop},
};

/// What the user left in their editor.
pub struct OutsideEdit {
    pub(crate) path: WirePath,
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    pub(crate) folder: TempDir,
}

impl Loop {
    /// Opens `file` in `$VISUAL`, or else `$EDITOR`. What is there once that has ended is an edit.
    pub(crate) fn edit_outside(
        &mut self,
        session: String,
        path: WirePath,
        file: File,
    ) -> Result<(), CallError> {
        let editor = editor().ok_or_else(|| {
            let message = "Neither VISUAL nor EDITOR is set. Set one of them to a command that waits until \
                           the file is closed, as `code --wait`, and start Heph again.";
            CallError::new(ErrorKind::Refused, message)
        })?;
        let folder = tempfile::tempdir().map_err(internal)?;
        let name = path.display();
        let place = folder.path().join(Path::new(&name).file_name().unwrap_or_default());
        std::fs::write(&place, &file.bytes.0).map_err(internal)?;
        let events = self.events.clone();
        self.tasks.spawn(async move {
            let before = file.bytes.0;
            let outcome = match (wait_for(&editor, &place).await, std::fs::read(&place)) {
                (Ok(()), Ok(after)) => Ok(OutsideEdit { path, before, after, folder }),
                (Ok(()), Err(error)) => Err(internal(error)),
                (Err(error), Ok(after)) if after != before => Err(kept(error, folder)),
                (Err(error), _) => Err(error),
            };
            let _ = events.send(Event::EditedOutside { session, outcome });
        });
        Ok(())
    }

    pub(crate) fn on_edited_outside(&mut self, session: &str, outcome: Result<OutsideEdit, CallError>) {
        let edit = match outcome {
            Ok(edit) if edit.before == edit.after => return,
            Ok(edit) => edit,
            Err(error) => return self.complain(session, error.message),
        };
        let OutsideEdit { path, before, after, folder } = edit;
        let taken = match self.reviewed_file(session, &path) {
            Ok(file) if file.shown().bytes.0 == before => self.edit(session, &path, Some(after)).map(drop),
            Ok(_) => {
                let message = format!("{} is not as it was when you opened it.", path.display());
                Err(CallError::new(ErrorKind::Stale, message))
            }
            Err(error) => Err(error),
        };
        if let Err(error) = taken {
            self.complain(session, kept(error, folder).message);
        }
    }
}

/// Keeps a file of the user's that nothing else holds, and says where.
fn kept(error: CallError, folder: TempDir) -> CallError {
    let message = format!("{} What you wrote is kept in {}.", error.message, folder.keep().display());
    CallError { message, ..error }
}

fn editor() -> Option<OsString> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

/// Runs the editor as the user's shell would: its command may have options.
async fn wait_for(editor: &OsString, file: &PathBuf) -> Result<(), CallError> {
    let mut command = OsString::from(editor);
    command.push(" \"$1\"");
    let mut shell = tokio::process::Command::new("sh");
    shell.arg("-c").arg(command).arg("sh").arg(file);
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let ended = shell.status().await.map_err(internal)?;
    if ended.success() {
        return Ok(());
    }
    let message = format!("Your editor ended with an error ({ended}). Nothing was changed.");
    Err(CallError::new(ErrorKind::Refused, message))
}
