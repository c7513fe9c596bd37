//! `spanlog query` and `spanlog get`: messages by key, by id or by position.

use clap::{Args, value_parser};
use spanlog::{ErrorKind, KeyKind, KeyQuery, MessageView, Position};

use crate::failure::Outcome;
use crate::message::{MessageLine, text_line, time_ms};
use crate::opening::StoreArgs;
use crate::output::Output;

const QUERY_HELP: &str = "\
Examples:
  spanlog query --root /data/log --topic orders order-17
  spanlog query --conf broker.conf --topic orders --by tag paid --count 5
  spanlog query --root /data/log --topic orders order-17 --from-time 2026-11-30T08:00:00Z --json

Messages come newest first, in JSON as `spanlog read` shows them. Times are those of storing. The
index files of the store are used, RocketMQ's too; where they hold nothing, the log is read. That
nothing was found is no failure.";

const GET_HELP: &str = "\
Examples:
  spanlog get --root /data/log 41984
  spanlog get --root /data/log --topic orders 0A00000500002A9F0000000040000000
  spanlog get --root /data/log 41984 --body > body.bin";

/// What to look for.
#[derive(Args, Debug)]
#[command(after_help = QUERY_HELP)]
pub struct QueryArgs {
    /// The key: one word of a message's keys, or what --by says
    #[arg(value_name = "KEY")]
    pub key: String,
    /// The topic
    #[arg(long)]
    pub topic: String,
    /// What the key is
    #[arg(long, value_name = "WHAT", value_parser = ["key", "id", "tag"], default_value = "key")]
    pub by: String,
    /// Only messages stored at this time or later: RFC 3339, or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = time_ms, allow_hyphen_values = true)]
    pub from_time: Option<i64>,
    /// Only messages stored at this time or earlier
    #[arg(long, value_name = "TIME", value_parser = time_ms, allow_hyphen_values = true)]
    pub to_time: Option<i64>,
    /// Ends after so many messages
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..),
        default_value = "32")]
    pub count: u32,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Which message.
#[derive(Args, Debug)]
#[command(after_help = GET_HELP)]
pub struct GetArgs {
    /// Its position, or with --topic its id: the unique id, or RocketMQ's message id
    #[arg(value_name = "POSITION|ID")]
    pub place: String,
    /// The topic of the message with that id
    #[arg(long)]
    pub topic: Option<String>,
    /// Prints the body alone, as it is
    #[arg(long, conflicts_with = "json")]
    pub body: bool,
    /// The store.
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Looks messages up by key.
///
/// # Errors
/// What the store says.
pub fn query(args: &QueryArgs, output: &mut Output) -> Outcome<()> {
    let store = args.store.target()?.open_to_read(output)?;
    let kind = match args.by.as_str() {
        "id" => KeyKind::UniqueId,
        "tag" => KeyKind::Tag,
        _ => KeyKind::Key,
    };
    let query = KeyQuery {
        from_ms: args.from_time.unwrap_or(i64::MIN),
        to_ms: args.to_time.unwrap_or(i64::MAX),
        max_messages: args.count as usize,
        kind,
    };
    let batch = store.query(&args.topic, &args.key, &query)?;
    for stored in batch.iter() {
        show(&stored.decode_verified()?, output)?;
    }
    Ok(())
}

/// Shows one message.
///
/// # Errors
/// What the store says; `invalid` if there is no such message.
pub fn get(args: &GetArgs, output: &mut Output) -> Outcome<()> {
    let store = args.store.target()?.open_to_read(output)?;
    if let Some(topic) = &args.topic {
        let batch = store.find_by_id(topic, &args.place)?;
        let stored = batch.get(0).ok_or_else(|| {
            let text = format!("topic {topic} has no message with id {}", args.place);
            spanlog::Error::new(ErrorKind::Invalid, text).at(store.root())
        })?;
        return args.show(&stored.decode_verified()?, output);
    }
    let position = args.place.parse().map_err(|_| {
        let text = format!("{:?} is no position; an id needs --topic", args.place);
        spanlog::Error::new(ErrorKind::Invalid, text)
    })?;
    let record = store.get(Position::new(position))?;
    let checked = MessageView::parse(&record).and_then(|view| view.verify().map(|()| view));
    let view = checked.map_err(|damage| {
        let text = format!("the record is damaged: {damage}");
        spanlog::Error::new(ErrorKind::Corrupt, text).at(store.root()).with_offset(position)
    })?;
    args.show(&view, output)
}

impl GetArgs {
    fn show(&self, view: &MessageView<'_>, output: &mut Output) -> Outcome<()> {
        if self.body { output.bytes(view.body()) } else { show(view, output) }
    }
}

fn show(view: &MessageView<'_>, output: &mut Output) -> Outcome<()> {
    if output.is_json() {
        return output.object(&MessageLine::new(view));
    }
    let line = text_line(view, output);
    output.line(line)
}
