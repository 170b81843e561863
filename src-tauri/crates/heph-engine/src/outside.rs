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
    path: WirePath,
    before: Vec<u8>,
    after: Vec<u8>,
    folder: TempDir,
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
            let outcome = wait_for(&editor, &place).await.and_then(|()| {
                let after = std::fs::read(&place).map_err(internal)?;
                Ok(OutsideEdit { path, before: file.bytes.0, after, folder })
            });
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
        if let Err(error) = self.edit(session, &edit.path, Some(edit.after)) {
            // The text is the user's, and nothing else holds it.
            let kept = edit.folder.keep();
            let message = format!("{} What you wrote is kept in {}.", error.message, kept.display());
            self.complain(session, message);
        }
    }
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
