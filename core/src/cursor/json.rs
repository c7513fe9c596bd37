//! RocketMQ's `config/consumerOffset.json`. It is written by fastjson, which leaves the quotes
//! off keys that are numbers (`{0:123}`): that is no JSON, and a strict parser refuses it.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, Result};

/// Values inside each other: more is no file of RocketMQ's.
const MOST_DEPTH: u32 = 32;

/// Between a topic and a group.
const SEPARATOR: char = '@';

/// What one consumer group will read next, of each queue of one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOffsets {
    /// The topic.
    pub topic: String,
    /// The group.
    pub group: String,
    /// The next offset of each queue.
    pub offsets: BTreeMap<u32, u64>,
}

/// Reads the file's offsets; what else it holds is passed over.
///
/// # Errors
/// `Invalid`, with the byte at which it is not what RocketMQ writes.
pub fn parse_offsets(text: &[u8]) -> Result<Vec<GroupOffsets>> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let mut found = BTreeMap::new();
    parser.object(&mut |parser, member| match member {
        "offsetTable" => parser.table(&mut found),
        _ => parser.value(),
    })?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.fault("something follows its end"));
    }
    Ok(found.into_values().collect())
}

/// The file's text, as RocketMQ writes it.
#[must_use]
pub fn write_offsets(all: &[GroupOffsets]) -> String {
    let group = |group: &GroupOffsets| {
        let offset = |(queue, offset): (&u32, &u64)| format!("{queue}:{offset}");
        let offsets: Vec<_> = group.offsets.iter().map(offset).collect();
        let name = escaped(&format!("{}{SEPARATOR}{}", group.topic, group.group));
        format!("\n\t\t\"{name}\":{{{}\n\t\t}}", offsets.join(","))
    };
    let groups: Vec<_> = all.iter().map(group).collect();
    format!("{{\n\t\"offsetTable\":{{{}\n\t}}\n}}", groups.join(","))
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            c if u32::from(c) < 0x20 => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Stands somewhere in the text.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

type Member<'a, 'b> = dyn FnMut(&mut Parser<'a>, &str) -> Result<()> + 'b;

impl<'a> Parser<'a> {
    fn fault(&self, what: &str) -> Error {
        let text = format!("this is no consumerOffset.json of RocketMQ's: {what}");
        Error::new(ErrorKind::Invalid, text).with_offset(self.at as u64)
    }

    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// The next byte that is not blank.
    fn peek(&mut self) -> Option<u8> {
        self.blanks();
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        match self.takes(byte) {
            true => Ok(()),
            false => Err(self.fault(&format!("{:?} is missing", char::from(byte)))),
        }
    }

    /// Visits the members of an object; `member` reads each value.
    fn object(&mut self, member: &mut Member<'a, '_>) -> Result<()> {
        self.expect(b'{')?;
        self.list(b'}', &mut |parser| {
            let key = match parser.peek() {
                Some(b'"') => parser.string()?,
                _ => parser.word()?.to_owned(),
            };
            parser.expect(b':')?;
            member(parser, &key)
        })
    }

    /// Visits what commas part, up to `end`.
    fn list(
        &mut self,
        end: u8,
        entry: &mut dyn FnMut(&mut Parser<'a>) -> Result<()>,
    ) -> Result<()> {
        if self.depth == MOST_DEPTH {
            return Err(self.fault("it is nested too deeply"));
        }
        self.depth += 1;
        if !self.takes(end) {
            entry(self)?;
            while self.takes(b',') {
                entry(self)?;
            }
            self.expect(end)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Passes over any value.
    fn value(&mut self) -> Result<()> {
        match self.peek() {
            Some(b'{') => self.object(&mut |parser, _| parser.value()),
            Some(b'[') => {
                self.at += 1;
                self.list(b']', &mut |parser| parser.value())
            }
            Some(b'"') => self.string().map(drop),
            _ => self.word().map(drop),
        }
    }

    /// A number or a name without quotes.
    fn word(&mut self) -> Result<&'a str> {
        self.blanks();
        let rest = &self.text[self.at..];
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
        let len = rest.iter().take_while(is_part).count();
        let word = std::str::from_utf8(&rest[..len]).expect("ASCII");
        match word {
            "" => Err(self.fault("a value is missing")),
            _ => {
                self.at += len;
                Ok(word)
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        self.expect(b'"')?;
        let mut out = Vec::new();
        loop {
            let byte = *self.text.get(self.at).ok_or_else(|| self.fault("a string has no end"))?;
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => self.escape(&mut out)?,
                byte => out.push(byte),
            }
        }
        String::from_utf8(out).map_err(|_| self.fault("a string is not UTF-8"))
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let byte = *self.text.get(self.at).ok_or_else(|| self.fault("a string has no end"))?;
        self.at += 1;
        let plain = match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\\' | b'/' => byte,
            b'u' => {
                let character = self.unicode()?;
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.fault("an escape is not known")),
        };
        out.push(plain);
        Ok(())
    }

    fn unicode(&mut self) -> Result<char> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let character = number.and_then(char::from_u32);
        self.at += 4;
        character.ok_or_else(|| self.fault("an escape is no character"))
    }

    /// The member that counts: `"topic@group":{queue:offset}`.
    fn table(&mut self, found: &mut BTreeMap<String, GroupOffsets>) -> Result<()> {
        self.object(&mut |parser, name| {
            let Some((topic, group)) = name.split_once(SEPARATOR) else {
                return Err(parser.fault(&format!("{name:?} is not topic@group")));
            };
            let mut offsets = BTreeMap::new();
            parser.object(&mut |parser, queue| {
                let at = parser.at;
                let offset = parser.word()?.parse::<i64>().ok().and_then(|o| u64::try_from(o).ok());
                let queue = queue.parse::<i32>().ok().and_then(|queue| u32::try_from(queue).ok());
                let Some((queue, offset)) = queue.zip(offset) else {
                    parser.at = at;
                    return Err(parser.fault("a queue or an offset is no number that can be"));
                };
                offsets.insert(queue, offset);
                Ok(())
            })?;
            let (topic, group) = (topic.to_owned(), group.to_owned());
            found.insert(name.to_owned(), GroupOffsets { topic, group, offsets });
            Ok(())
        })
    }
}
