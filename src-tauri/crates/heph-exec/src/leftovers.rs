//! Commands that outlived the program which started them.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

use rustix::process::{Pid, Signal, kill_process};

/// Kills every process of this user's whose environment says `variable` with a path in `folder`: what a
/// killed program had started, and could not end. Returns how many there were.
///
/// Processes are known by `/proc` (Linux); elsewhere none is found.
pub fn end_leftovers(variable: &str, folder: &Path) -> usize {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let start = [variable.as_bytes(), b"="].concat();
    let mut ended = 0;
    for process in processes.flatten() {
        let number = process.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = number.and_then(Pid::from_raw) else { continue };
        // Another user's processes cannot be read, and are none of ours.
        let Ok(environment) = fs::read(process.path().join("environ")) else { continue };
        let is_ours = environment
            .split(|byte| *byte == 0)
            .filter_map(|entry| entry.strip_prefix(start.as_slice()))
            .any(|value| Path::new(OsStr::from_bytes(value)).starts_with(folder));
        if is_ours && kill_process(pid, Signal::KILL).is_ok() {
            ended += 1;
        }
    }
    ended
}
