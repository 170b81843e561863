//! The first and the last part of an output of any length.

use std::collections::VecDeque;

/// Keeps the first and the last half of `limit` bytes.
pub(crate) struct Kept {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: usize,
}

impl Kept {
    pub(crate) fn new(limit: usize) -> Kept {
        Kept { half: limit / 2, head: Vec::new(), tail: VecDeque::new(), left_out: 0 }
    }

    pub(crate) fn take(&mut self, piece: &[u8]) {
        let (first, rest) = piece.split_at(piece.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.left_out += over;
    }

    /// What was kept. Where something was left out, the cut is widened to whole lines, if there are
    /// any, and a line of its own says how many bytes are missing.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        let mut tail = Vec::from(self.tail);
        if self.left_out > 0 {
            if let Some(end) = self.head.iter().rposition(|&b| b == b'\n') {
                self.left_out += self.head.len() - (end + 1);
                self.head.truncate(end + 1);
            } else if !self.head.is_empty() {
                self.head.push(b'\n');
            }
            if let Some(end) = tail.iter().position(|&b| b == b'\n') {
                self.left_out += end + 1;
                tail.drain(..=end);
            }
            self.head.extend_from_slice(format!("[... {} bytes left out ...]\n", self.left_out).as_bytes());
        }
        self.head.append(&mut tail);
        self.head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(limit: usize, pieces: &[&str]) -> String {
        let mut kept = Kept::new(limit);
        pieces.iter().for_each(|piece| kept.take(piece.as_bytes()));
        String::from_utf8(kept.into_bytes()).unwrap()
    }

    #[test]
    fn an_output_within_the_limit_is_kept_whole() {
        assert_eq!(kept(10, &["one\n", "two", "\nab"]), "one\ntwo\nab");
    }

    #[test]
    fn of_a_long_output_whole_first_and_last_lines_are_kept() {
        assert_eq!(
            kept(16, &["first\nsecond\nthi", "rd\nfourth\nlast\n"]),
            "first\n[... 20 bytes left out ...]\nlast\n"
        );
    }

    #[test]
    fn one_endless_line_is_cut_where_the_limit_falls() {
        assert_eq!(kept(8, &["abcdefghijklmnop"]), "abcd\n[... 8 bytes left out ...]\nmnop");
    }
}
