//! Layer 1: the bytes of a record in the log, in RocketMQ's format. Pure: bytes in, values out.
//! Nothing here touches a disk, a clock, a thread or a lock, and reading allocates nothing.
//!
//! A segment is a plain row of records, closed by one padding. Writing takes two steps, so that
//! little happens under the append lock: [`encode`] builds a record from a [`Message`], and
//! [`stamp`] fills in what is known only there. Reading starts at [`at`], which says
//! what stands at a position; a record there is a [`MessageView`].
//!
//! The records of a queue ([`crate::Queue`]) have a format of their own, [`FrameHead`].

#[cfg(feature = "sql")]
mod condition;
mod encode;
mod frame;
mod layout;
mod message;
mod offset_id;
mod properties;
mod scan;
mod unique_id;
mod view;

#[cfg(test)]
mod golden_tests;

#[cfg(feature = "sql")]
pub use condition::PropertyFilter;
pub use encode::{Encoding, Stamp, encode, padding, stamp};
pub use frame::{
    FRAME_ALIGN_BYTES, FRAME_HEAD_BYTES, FrameHead, MAX_FRAME_PAYLOAD_BYTES, frame_bytes,
    frame_start,
};
pub use layout::{
    MAGIC_PADDING, MAGIC_V1, MAGIC_V2, MAX_PROPERTIES_BYTES, MAX_TOPIC_BYTES, MIN_RECORD_BYTES,
    PADDING_BYTES,
};
pub use message::{Message, Transaction, check_topic, sys_flag};
pub use offset_id::OffsetId;
pub use properties::{Properties, property};
pub use scan::{Check, Found, at, resync, resync_within};
pub use unique_id::{UniqueId, UniqueIds};
pub use view::{DELAY_TOPIC, Damage, MessageView, TIMED_BYTES, store_ms_of};
