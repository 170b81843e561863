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
                let cut = cut_short(&self.head);
                self.left_out += cut;
                self.head.truncate(self.head.len() - cut);
                self.head.push(b'\n');
            }
            let skipped = match tail.iter().position(|&b| b == b'\n') {
                Some(end) => end + 1,
                None => tail.iter().take_while(|&&b| continues(b)).count(),
            };
            self.left_out += skipped;
            tail.drain(..skipped);
            self.head.extend_from_slice(format!("[... {} bytes left out ...]\n", self.left_out).as_bytes());
        }
        self.head.append(&mut tail);
        self.head
    }
}

/// Whether a byte of UTF-8 goes on with a character.
fn continues(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// How many bytes at the end are the beginning of a character whose rest is missing.
fn cut_short(bytes: &[u8]) -> usize {
    let start = bytes.iter().rposition(|&b| !continues(b)).unwrap_or(bytes.len());
    let is_cut = std::str::from_utf8(&bytes[start..]).is_err_and(|error| error.error_len().is_none());
    if is_cut { bytes.len() - start } else { 0 }
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

    #[test]
    fn no_character_is_cut_in_two() {
        assert_eq!(kept(10, &["aaaaé–", "éééé"]), "aaaa\n[... 9 bytes left out ...]\néé");
        assert_eq!(kept(6, &["aaaa", "\u{10348}"]), "aaa\n[... 5 bytes left out ...]\n");
    }
}
