//! Errors of the disk, the database and git, in words for the user.

use std::fmt::Display;

use heph_wire::{CallError, ErrorKind};

/// A sentence about an error. Its text starts as it does, since that may be with the name of a file.
pub fn failed(error: impl Display) -> String {
    // Some say whole sentences.
    format!("That could not be done: {}.", error.to_string().trim_end_matches('.'))
}

/// An answer to a call that the disk, the database or git failed.
pub fn internal(error: impl Display) -> CallError {
    CallError::new(ErrorKind::Internal, failed(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_is_said_as_it_is_written() {
        assert_eq!(failed("b.txt cannot be read"), "That could not be done: b.txt cannot be read.");
        assert_eq!(failed("The network is down."), "That could not be done: The network is down.");
    }
}
