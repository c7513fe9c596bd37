//! Lines of a file or of standard input, read by a thread of its own: so that a command that
//! waits for a line still sees a signal, and can finish what it has while no more comes.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::failure::{Failure, Outcome};

const CHUNK_BYTES: usize = 1 << 16;

/// Chunks read ahead.
const AHEAD: usize = 8;

/// After so long without a line, the source is idle.
const PATIENCE: Duration = Duration::from_millis(50);

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A line without its `\n`. A carriage return before it belongs to the line.
    Line(Vec<u8>),
    /// Nothing for now.
    Idle,
    /// No more.
    End,
}

/// A source of lines.
#[derive(Debug)]
pub struct Lines {
    name: PathBuf,
    chunks: Receiver<io::Result<Vec<u8>>>,
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer, and up to where there is no end of it.
    start: usize,
    searched: usize,
    longest: u64,
    len: Option<u64>,
    has_ended: bool,
    number: u64,
}

impl Lines {
    /// The lines of a file, or with `-` of standard input; none may be longer than `longest`.
    pub fn open(path: &Path, longest: u64) -> Outcome<Self> {
        if path == Path::new("-") {
            return Self::of(Box::new(io::stdin()), "standard input".into(), None, longest);
        }
        let failed = |error: &io::Error| Failure::file("read the lines", path, error);
        let file = File::open(path).map_err(|error| failed(&error))?;
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if metadata.is_dir() {
            return Err(failed(&io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let len = metadata.is_file().then_some(metadata.len());
        Self::of(Box::new(file), path.to_owned(), len, longest)
    }

    fn of(
        source: Box<dyn Read + Send>,
        name: PathBuf,
        len: Option<u64>,
        longest: u64,
    ) -> Outcome<Self> {
        let (sender, chunks) = sync_channel(AHEAD);
        thread::Builder::new()
            .name("lines".into())
            .spawn(move || pump(source, &sender))
            .map_err(|error| Failure::other("start a thread", &error))?;
        let buffer = Vec::new();
        let (start, searched, number) = (0, 0, 0);
        Ok(Self { name, chunks, buffer, start, searched, longest, len, has_ended: false, number })
    }

    /// Length of the whole source in bytes, if known.
    pub fn len_bytes(&self) -> Option<u64> {
        self.len
    }

    /// Where the line given last stands, for errors.
    pub fn place(&self) -> String {
        format!("line {} of {}", self.number, self.name.display())
    }

    /// The next line, if it comes soon.
    ///
    /// # Errors
    /// What reading says; `too_large` for a line that has no end in sight.
    pub fn next(&mut self) -> Outcome<Event> {
        loop {
            if let Some(line) = self.take_line() {
                return self.numbered(line);
            }
            if self.has_ended {
                let rest = self.buffer.split_off(self.start);
                (self.start, self.searched) = (0, 0);
                self.buffer.clear();
                return if rest.is_empty() { Ok(Event::End) } else { self.numbered(rest) };
            }
            self.check_length(self.buffer.len() - self.start)?;
            match self.chunks.recv_timeout(PATIENCE) {
                Ok(Ok(chunk)) => self.add(&chunk),
                Ok(Err(error)) => return Err(Failure::file("read the lines", &self.name, &error)),
                Err(RecvTimeoutError::Timeout) => return Ok(Event::Idle),
                Err(RecvTimeoutError::Disconnected) => self.has_ended = true,
            }
        }
    }

    fn numbered(&mut self, line: Vec<u8>) -> Outcome<Event> {
        self.check_length(line.len())?;
        self.number += 1;
        Ok(Event::Line(line))
    }

    fn check_length(&self, len: usize) -> Outcome<()> {
        if len as u64 <= self.longest {
            return Ok(());
        }
        let text = format!("a body of {len} bytes or more, {} are allowed", self.longest);
        let error = spanlog::Error::new(spanlog::ErrorKind::TooLarge, text)
            .with_offset(len as u64)
            .with_limit(self.longest);
        let (line, name) = (self.number + 1, self.name.display());
        Err(Failure::from(error).during(format!("line {line} of {name}")))
    }

    fn take_line(&mut self) -> Option<Vec<u8>> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(at) = unsearched.iter().position(|&byte| byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched + at;
        let line = self.buffer[self.start..end].to_vec();
        (self.start, self.searched) = (end + 1, end + 1);
        Some(line)
    }

    fn add(&mut self, chunk: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(chunk);
    }
}

/// Reads until the end, an error, or until nobody wants more.
fn pump(mut source: Box<dyn Read + Send>, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK_BYTES];
        let outcome = match source.read(&mut chunk) {
            Ok(0) => return,
            Ok(len) => {
                chunk.truncate(len);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = outcome.is_err();
        if chunks.send(outcome).is_err() || is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Cause;

    fn lines(text: &[u8], longest: u64) -> Outcome<Vec<Vec<u8>>> {
        let source = Box::new(io::Cursor::new(text.to_vec()));
        let mut lines = Lines::of(source, "test".into(), None, longest)?;
        let mut all = Vec::new();
        loop {
            match lines.next()? {
                Event::Line(line) => all.push(line),
                Event::Idle => {}
                Event::End => return Ok(all),
            }
        }
    }

    #[test]
    fn lines_are_what_lies_between_newlines() {
        let rows: [(&[u8], &[&[u8]]); 6] = [
            (b"", &[]),
            (b"a", &[b"a"]),
            (b"a\n", &[b"a"]),
            (b"\n\n", &[b"", b""]),
            (b"a\r\nb\0\xFF\n", &[b"a\r", b"b\0\xFF"]),
            (b"a\n\nb", &[b"a", b"", b"b"]),
        ];
        for (text, expected) in rows {
            assert_eq!(lines(text, 10).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_longer_than_a_chunk_are_whole() {
        let long = vec![b'x'; 3 * CHUNK_BYTES + 5];
        let text = [&long[..], b"\n", &long, b"\nend"].concat();
        let found = lines(&text, 1 << 20).unwrap();
        assert_eq!(found, [long.clone(), long, b"end".to_vec()]);
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_memory() {
        let failure = lines(&vec![b'x'; 2 * CHUNK_BYTES], 100).unwrap_err();
        assert_eq!(failure.cause, Cause::Store(spanlog::ErrorKind::TooLarge));
        assert!(failure.to_string().contains("line 1 of test"), "{failure}");
    }
}
