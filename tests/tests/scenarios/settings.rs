//! The options of a scenario's stores. Their names are those of the engine's options.

use std::path::Path;
use std::str::FromStr;

use serde_json::Value;
use spanlog::{DirectoryOptions, Durability, Error, Options, Thresholds};

use crate::values::{number, text};

/// The options of an `open` or `destroy` step; paths begin at `world`. Without a word about it a
/// scenario's store has no threads, so that nothing happens but what the steps say.
///
/// # Errors
/// What reading a word says.
pub fn options(given: &Value, world: &Path) -> Result<Options, Error> {
    let mut options = Options::new().background(false);
    for (name, value) in given.as_object().into_iter().flatten() {
        options = set(options, name, value, world)?;
    }
    Ok(options)
}

fn word<T: FromStr<Err = Error>>(value: &Value) -> Result<T, Error> {
    value.as_str().expect("a word").parse()
}

fn set(options: Options, name: &str, value: &Value, world: &Path) -> Result<Options, Error> {
    let flag = || value.as_bool().expect("true or false");
    let count = || number(&serde_json::json!({ "value": value }), "value", 0);
    Ok(match name {
        "directories" => {
            let directories = value.as_array().expect("a list").iter();
            directories
                .map(|given| directory(given, world))
                .try_fold(options, |options, directory| {
                    Ok::<_, Error>(options.directory(directory?))
                })?
        }
        "placement" => options.placement(word(value)?),
        "segment_len_bytes" => options.segment_len_bytes(count()),
        "queue_file_len_bytes" => options.queue_file_len_bytes(count()),
        "durability" => options.durability(durability(value)),
        "thresholds" => options.thresholds(thresholds(value)),
        "clean_on" => options.clean_on(word(value)?),
        "force_on" => options.force_on(word(value)?),
        "refuse_on" => options.refuse_on(word(value)?),
        "retention_ms" => options.retention_ms(count()),
        "delete_hours" => options.delete_hours(word(value)?),
        "forced_clean" => options.forced_clean(flag()),
        "max_forced_per_round" => options.max_forced_per_round(count() as u32),
        "refuse_reads_when_full" => options.refuse_reads_when_full(flag()),
        "record_checksum" => options.record_checksum(flag()),
        "key_index" => options.key_index(flag()),
        "max_body_bytes" => options.max_body_bytes(count()),
        "on_damage" => options.on_damage(word(value)?),
        "allow_offline" => options.allow_offline(flag()),
        "adopt" => options.adopt(flag()),
        "read_only" => options.read_only(flag()),
        "create" => options.create(flag()),
        "background" => options.background(flag()),
        _ => panic!("there is no option {name}"),
    })
}

/// A path, or an object with path, role and thresholds.
///
/// # Errors
/// What reading a word says.
pub fn directory(given: &Value, world: &Path) -> Result<DirectoryOptions, Error> {
    let Some(path) = given.as_str() else {
        let mut directory = DirectoryOptions::new(world.join(text(given, "path")));
        if given["role"].is_string() {
            directory = directory.role(word(&given["role"])?);
        }
        if given["thresholds"].is_object() {
            directory = directory.thresholds(thresholds(&given["thresholds"]));
        }
        return Ok(directory);
    };
    Ok(DirectoryOptions::new(world.join(path)))
}

fn durability(value: &Value) -> Durability {
    match value.as_str() {
        Some("group") => Durability::Group,
        _ => Durability::Async {
            interval_ms: number(value, "interval_ms", 500),
            bytes: number(value, "bytes", 16 << 20),
        },
    }
}

fn thresholds(value: &Value) -> Thresholds {
    let default = Thresholds::default();
    let ratio = |name: &str, default| value[name].as_f64().unwrap_or(default);
    Thresholds {
        clean: ratio("clean", default.clean),
        force: ratio("force", default.force),
        refuse: ratio("refuse", default.refuse),
        floor_bytes: number(value, "floor_bytes", default.floor_bytes),
        hysteresis: ratio("hysteresis", default.hysteresis),
    }
}
