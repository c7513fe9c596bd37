//! RocketMQ's offset message id: who stored a message, and where.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::unwrap_used))]

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use super::view::MessageView;
use crate::base::bytes::array;
use crate::error::{Error, ErrorKind};

/// The address of a store and a position in its log, as text: the address's 4 or 16 bytes, the
/// port in four and the position in eight, in upper-case hexadecimal digits. A unique id may look
/// the same.
///
/// ```
/// use spanlog::record::OffsetId;
/// let id: OffsetId = "0A00000500002A9F0000000040000000".parse()?;
/// assert_eq!((id.host.to_string().as_str(), id.position), ("10.0.0.5:10911", 0x4000_0000));
/// # Ok::<(), spanlog::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OffsetId {
    /// The store's address.
    pub host: SocketAddr,
    /// Where the record begins.
    pub position: u64,
}

impl OffsetId {
    /// The id of a record.
    #[must_use]
    pub fn of(view: &MessageView<'_>) -> Self {
        Self { host: view.store_host(), position: view.position() }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let width = bytes.len().checked_sub(12)?;
        let address = match width {
            4 => IpAddr::from(array::<4>(bytes, 0)?),
            16 => IpAddr::from(array::<16>(bytes, 0)?),
            _ => return None,
        };
        let port = u16::try_from(u32::from_be_bytes(array(bytes, width)?)).ok()?;
        let position = u64::from_be_bytes(array(bytes, width + 4)?);
        Some(Self { host: SocketAddr::new(address, port), position })
    }
}

impl fmt::Display for OffsetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.ip() {
            IpAddr::V4(address) => write!(f, "{:08X}", address.to_bits())?,
            IpAddr::V6(address) => write!(f, "{:032X}", address.to_bits())?,
        }
        write!(f, "{:08X}{:016X}", self.host.port(), self.position)
    }
}

impl FromStr for OffsetId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.bytes().map(|digit| char::from(digit).to_digit(16));
        let nibbles: Option<Vec<u8>> = digits.map(|digit| digit.map(|digit| digit as u8)).collect();
        let bytes = nibbles.filter(|nibbles| nibbles.len().is_multiple_of(2)).map(|nibbles| {
            let pairs = nibbles.as_chunks::<2>().0.iter();
            pairs.map(|[high, low]| high << 4 | low).collect::<Vec<u8>>()
        });
        bytes.and_then(|bytes| Self::decode(&bytes)).ok_or_else(|| {
            let text = format!("{text:?} is no message id: 32 or 56 hexadecimal digits");
            Error::new(ErrorKind::Invalid, text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_there_and_back() {
        let four = "0A00000500002A9F0000000040000000";
        let six = "20010DB8000000000000000000000001000000010000000000000007";
        for text in [four, six] {
            assert_eq!(text.parse::<OffsetId>().unwrap().to_string(), text);
            assert_eq!(text.to_lowercase().parse::<OffsetId>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_none() {
        let long_port = "0A000005FFFFFFFF0000000040000000";
        for text in ["", "0A", "0A00000500002A9F000000004000000G", long_port, "order-7"] {
            assert_eq!(text.parse::<OffsetId>().unwrap_err().kind(), ErrorKind::Invalid, "{text}");
        }
    }
}
