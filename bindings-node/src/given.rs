//! What JavaScript asks, as JSON: options and the arguments of calls that are not made per
//! message. Positions and offsets are decimal text, since its numbers have 53 bits.

use std::str::FromStr;
use std::time::Duration;

use serde_json::{Map, Value};
use spanlog::{
    Boundary, CursorOptions, DirectoryOptions, Durability, Error, Hold, KeyKind, KeyQuery, OnFull,
    Options, Position, QueueDurability, QueueOffset, QueueOptions, ReadLimits, Result, Seek,
    Thresholds, Usage,
};

use crate::failure::invalid;

/// The fields of an object; names that nobody asks for are the caller's to check.
pub struct Given(Map<String, Value>);

/// One field.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    name: &'a str,
    value: &'a Value,
}

impl Given {
    pub fn parse(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            _ => Err(invalid("options are an object")),
        }
    }

    /// A field, if it is given.
    pub fn get<'a>(&'a self, name: &'a str) -> Option<Field<'a>> {
        let value = self.0.get(name).filter(|value| !value.is_null())?;
        Some(Field { name, value })
    }

    /// A field that must be given.
    pub fn need<'a>(&'a self, name: &'a str) -> Result<Field<'a>> {
        self.get(name).ok_or_else(|| invalid(format!("{name} is missing")))
    }

    pub fn text<'a>(&'a self, name: &'a str) -> Result<&'a str> {
        self.need(name)?.text()
    }

    pub fn queue(&self) -> Result<u32> {
        self.need("queue")?.narrow()
    }

    pub fn offset(&self, name: &str) -> Result<QueueOffset> {
        self.need(name)?.whole().map(QueueOffset::new)
    }

    pub fn position(&self, name: &str) -> Result<Position> {
        self.need(name)?.whole().map(Position::new)
    }

    pub fn limits(&self) -> Result<ReadLimits> {
        let mut limits = ReadLimits::default();
        if let Some(most) = self.get("maxMessages") {
            limits.max_messages = most.narrow()? as usize;
        }
        self.get("maxBytes").map_or(Ok(()), |most| most.set(&mut limits.max_bytes))?;
        Ok(limits)
    }

    /// Whether messages are checked against their checksums.
    pub fn verify(&self) -> Result<bool> {
        self.get("verify").map_or(Ok(true), Field::switch)
    }

    pub fn cursor(&self) -> Result<CursorOptions> {
        let mut options = CursorOptions::default();
        let whole = |field: Field<'_>| field.whole();
        if let Some(queues) = self.get("queues") {
            options.queues = Some(queues.numbers()?);
        }
        if let Some(hold) = self.get("hold") {
            let hold = hold.object()?;
            let limit = |name: &str| hold.get(name).map(whole).transpose();
            let (max_age_ms, max_bytes) = (limit("maxAgeMs")?, limit("maxBytes")?);
            options.hold = Some(Hold { max_age_ms, max_bytes });
        }
        options.from_end = self.get("fromEnd").map_or(Ok(false), Field::switch)?;
        self.get("visibilityMs").map_or(Ok(()), |time| time.set(&mut options.visibility_ms))?;
        if let Some(most) = self.get("maxPending") {
            options.max_pending = most.narrow()? as usize;
        }
        Ok(options)
    }

    pub fn seek(&self) -> Result<Seek> {
        if let Some(time) = self.get("timeMs") {
            return Ok(Seek::Time { time_ms: time.whole()? as i64 });
        }
        let Some(to) = self.get("to") else {
            return Ok(Seek::Offset { queue: self.queue()?, offset: self.offset("offset")? });
        };
        let mut seek = Seek::Start;
        to.choose(&[("start", Seek::Start), ("end", Seek::End)], &mut seek)?;
        Ok(seek)
    }

    pub fn usage(&self) -> Result<Option<Usage>> {
        let Some(used) = self.get("usedBytes") else { return Ok(None) };
        Ok(Usage::new(used.whole()?, self.need("availableBytes")?.whole()?))
    }

    pub fn query(&self) -> Result<KeyQuery> {
        let mut query = KeyQuery::default();
        let time = |name: &str| self.get(name).map(|field| field.whole()).transpose();
        query.from_ms = time("fromMs")?.map_or(query.from_ms, |ms| ms as i64);
        query.to_ms = time("toMs")?.map_or(query.to_ms, |ms| ms as i64);
        if let Some(most) = self.get("maxMessages") {
            query.max_messages = most.narrow()? as usize;
        }
        let kinds =
            [("key", KeyKind::Key), ("unique_id", KeyKind::UniqueId), ("tag", KeyKind::Tag)];
        self.get("kind").map_or(Ok(()), |kind| kind.choose(&kinds, &mut query.kind))?;
        Ok(query)
    }

    pub fn boundary(&self) -> Result<Boundary> {
        let mut boundary = Boundary::Lower;
        let words = [("lower", Boundary::Lower), ("upper", Boundary::Upper)];
        self.get("boundary").map_or(Ok(()), |word| word.choose(&words, &mut boundary))?;
        Ok(boundary)
    }
}

impl<'a> Field<'a> {
    fn refused(self, wanted: &str) -> Error {
        invalid(format!("{} is {}: it must be {wanted}", self.name, self.value))
    }

    pub fn text(self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.refused("a string"))
    }

    /// A whole number of 64 bits.
    pub fn whole(self) -> Result<u64> {
        let number = match self.value {
            Value::String(digits) => digits.parse().ok(),
            value => value.as_u64(),
        };
        number.ok_or_else(|| self.refused("a whole number from 0 to 2^53 - 1"))
    }

    pub fn narrow(self) -> Result<u32> {
        u32::try_from(self.whole()?).map_err(|_| self.refused("a whole number of 32 bits"))
    }

    pub fn switch(self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.refused("true or false"))
    }

    /// A word of the engine's.
    pub fn word<T: FromStr<Err = Error>>(self) -> Result<T> {
        self.text()?.parse()
    }

    fn numbers(self) -> Result<Vec<u32>> {
        let number = |value| Field { name: self.name, value }.narrow();
        self.rows()?.iter().map(number).collect()
    }

    fn rows(self) -> Result<&'a Vec<Value>> {
        self.value.as_array().ok_or_else(|| self.refused("an array"))
    }

    pub fn object(self) -> Result<Given> {
        let fields = self.value.as_object().ok_or_else(|| self.refused("an object"))?;
        Ok(Given(fields.clone()))
    }

    fn choose<T: Copy>(self, words: &[(&str, T)], chosen: &mut T) -> Result<()> {
        let found = words.iter().find(|(word, _)| self.value == word);
        let names: Vec<&str> = words.iter().map(|row| row.0).collect();
        *chosen = found.ok_or_else(|| self.refused(&names.join(" or ")))?.1;
        Ok(())
    }

    fn set(self, number: &mut u64) -> Result<()> {
        *number = self.whole()?;
        Ok(())
    }
}

/// The engine's options. A name that no option has is a mistake.
pub fn options(given: &Given) -> Result<Options> {
    let mut options = Options::new();
    for (name, value) in &given.0 {
        let field = Field { name, value };
        match &**name {
            _ if value.is_null() => {}
            "placement" => options.placement = field.word()?,
            "durability" => options.durability = durability(field)?,
            "thresholds" => options.thresholds = thresholds(field, options.thresholds)?,
            "cleanOn" => options.clean_on = field.word()?,
            "forceOn" => options.force_on = field.word()?,
            "refuseOn" => options.refuse_on = field.word()?,
            "deleteHours" => options.delete_hours = field.word()?,
            "onDamage" => options.on_damage = field.word()?,
            "storeHost" => options.store_host = host(field)?,
            "segmentLenBytes" => options.segment_len_bytes = field.whole()?,
            "queueFileLenBytes" => options.queue_file_len_bytes = field.whole()?,
            "keyIndex" => options.key_index = field.switch()?,
            "indexSlots" => options.index_slots = Some(field.narrow()?),
            "indexEntries" => options.index_entries = Some(field.narrow()?),
            "retentionMs" => options.retention_ms = field.whole()?,
            "maxForcedPerRound" => options.max_forced_per_round = field.narrow()?,
            "cleanPauseMs" => options.clean_pause_ms = field.whole()?,
            "probeIntervalMs" => options.probe_interval_ms = field.whole()?,
            "cleanIntervalMs" => options.clean_interval_ms = field.whole()?,
            "maxBodyBytes" => options.max_body_bytes = field.whole()?,
            "maxMaps" => options.max_maps = field.narrow()? as usize,
            "checkpointIntervalMs" => options.checkpoint_interval_ms = field.whole()?,
            "prepareBytes" => options.prepare_bytes = field.whole()?,
            "forcedClean" => options.forced_clean = field.switch()?,
            "refuseReadsWhenFull" => options.refuse_reads_when_full = field.switch()?,
            "recordChecksum" => options.record_checksum = field.switch()?,
            "allowOffline" => options.allow_offline = field.switch()?,
            "adopt" => options.adopt = field.switch()?,
            "readOnly" => options.read_only = field.switch()?,
            "create" => options.create = field.switch()?,
            "background" => options.background = field.switch()?,
            "paths" => {} // They take over the marks of the store, which may come later.
            _ => return Err(invalid(format!("there is no option {name}"))),
        }
    }
    options.directories = directories(given, options.thresholds)?;
    Ok(options)
}

/// A queue's options.
pub fn queue_options(given: &Given) -> Result<QueueOptions> {
    let mut options = QueueOptions::new();
    for (name, value) in &given.0 {
        let field = Field { name, value };
        match &**name {
            _ if value.is_null() => {}
            "placement" => options.placement = field.word()?,
            "durability" => options.durability = queue_durability(field)?,
            "thresholds" => options.thresholds = thresholds(field, options.thresholds)?,
            "onFull" => options.on_full = on_full(field)?,
            "segmentLenBytes" => options.segment_len_bytes = field.whole()?,
            "capacitySegments" => options.capacity_segments = field.whole()?,
            "capacityBytes" => options.capacity_bytes = field.whole()?,
            "maxRecordBytes" => options.max_record_bytes = field.whole()?,
            "maxInMemorySegments" => options.max_in_memory_segments = field.whole()?,
            "probeIntervalMs" => options.probe_interval_ms = field.whole()?,
            "create" => options.create = field.switch()?,
            "background" => options.background = field.switch()?,
            "paths" => {} // As above.
            _ => return Err(invalid(format!("there is no option {name}"))),
        }
    }
    options.directories = directories(given, options.thresholds)?;
    Ok(options)
}

fn directories(given: &Given, marks: Thresholds) -> Result<Vec<DirectoryOptions>> {
    let named = |value| directory(Field { name: "paths", value }, marks);
    given.get("paths").map_or(Ok(&Vec::new()), Field::rows)?.iter().map(named).collect()
}

/// A directory: its path, or an object; `marks` are those of the store.
pub fn directory(field: Field<'_>, marks: Thresholds) -> Result<DirectoryOptions> {
    if let Ok(path) = field.text() {
        return Ok(DirectoryOptions::new(path));
    }
    let given = field.object()?;
    let mut directory = DirectoryOptions::new(given.text("path")?);
    directory.role = given.get("role").map(Field::word).transpose()?;
    directory.thresholds = given.get("thresholds").map(|own| thresholds(own, marks)).transpose()?;
    Ok(directory)
}

fn thresholds(field: Field<'_>, mut marks: Thresholds) -> Result<Thresholds> {
    for (name, value) in &field.object()?.0 {
        let mark = Field { name, value };
        let ratio = || value.as_f64().ok_or_else(|| mark.refused("a ratio"));
        match &**name {
            "clean" => marks.clean = ratio()?,
            "force" => marks.force = ratio()?,
            "refuse" => marks.refuse = ratio()?,
            "hysteresis" => marks.hysteresis = ratio()?,
            "floorBytes" => marks.floor_bytes = mark.whole()?,
            _ => return Err(invalid(format!("there is no threshold {name}"))),
        }
    }
    Ok(marks)
}

fn durability(field: Field<'_>) -> Result<Durability> {
    match (field.value.as_str(), Durability::default()) {
        (Some("group"), _) => Ok(Durability::Group),
        (Some("async"), usual) => Ok(usual),
        (None, Durability::Async { mut interval_ms, mut bytes }) => {
            let given = field.object()?;
            given.get("intervalMs").map_or(Ok(()), |limit| limit.set(&mut interval_ms))?;
            given.get("bytes").map_or(Ok(()), |limit| limit.set(&mut bytes))?;
            Ok(Durability::Async { interval_ms, bytes })
        }
        _ => Err(field.refused("async or group")),
    }
}

fn queue_durability(field: Field<'_>) -> Result<QueueDurability> {
    match (field.value.as_str(), QueueDurability::default()) {
        (Some("none"), _) => Ok(QueueDurability::None),
        (Some("interval"), usual) => Ok(usual),
        (Some("group"), _) => Ok(QueueDurability::Group),
        (Some("each"), _) => Ok(QueueDurability::Each),
        (None, QueueDurability::Interval { mut interval_ms, mut records }) => {
            let given = field.object()?;
            given.get("intervalMs").map_or(Ok(()), |limit| limit.set(&mut interval_ms))?;
            given.get("records").map_or(Ok(()), |limit| limit.set(&mut records))?;
            Ok(QueueDurability::Interval { interval_ms, records })
        }
        _ => Err(field.refused("none, interval, group or each")),
    }
}

fn on_full(field: Field<'_>) -> Result<OnFull> {
    match field.value.as_str() {
        Some("refuse") => Ok(OnFull::Refuse),
        Some("drop-oldest") => Ok(OnFull::DropOldest),
        Some(_) => Err(field.refused("refuse, drop-oldest or { blockMs }")),
        None => {
            let time_ms = field.object()?.need("blockMs")?.whole()?;
            Ok(OnFull::Block(Duration::from_millis(time_ms)))
        }
    }
}

fn host<T: FromStr>(field: Field<'_>) -> Result<T> {
    field.text()?.parse().map_err(|_| field.refused("address:port"))
}
