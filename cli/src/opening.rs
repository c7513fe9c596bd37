//! Which store a command is about, and how it is opened.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use spanlog::{DeleteHours, Durability, OnDamage, Options, Placement, Store, quantity};

use crate::conf::Conf;
use crate::directory::DirectoryArg;
use crate::failure::{Failure, Outcome};
use crate::output::Output;

/// The store.
#[derive(Args, Debug)]
#[command(next_help_heading = "Store")]
pub struct StoreArgs {
    /// The store's root directory: queues and marks, and `commitlog` unless --path is given
    #[arg(long, value_name = "DIR", conflicts_with = "conf")]
    pub root: Option<PathBuf>,
    /// A directory of segments; repeat it for each. A SETTING is a role (read-write, draining,
    /// read-only) or a mark of its own (clean:75%, force:85%, refuse:90%, floor:10GiB). Needed to
    /// make a store over several directories and to change a role: a store remembers directories
    /// and roles; marks hold for one command
    #[arg(long = "path", value_name = "DIR[=SETTING,...]", requires = "root",
        value_parser = OsStringValueParser::new().try_map(|text| DirectoryArg::parse(&text)))]
    pub paths: Vec<DirectoryArg>,
    /// Takes root, directories, sizes, marks and retention from a RocketMQ broker's
    /// configuration; options given here win over it
    #[arg(long, value_name = "FILE")]
    pub conf: Option<PathBuf>,
    /// How the store is opened.
    #[command(flatten)]
    pub options: OptionArgs,
}

/// How a store is opened: what is not given is the store's, the file's or the default.
#[derive(Args, Debug)]
#[command(next_help_heading = "Store options")]
pub struct OptionArgs {
    /// Which directory takes the next segment
    #[arg(long, value_parser = named::<Placement>(&["rocketmq", "free-space", "hash"]))]
    pub placement: Option<Placement>,
    /// Length of a new store's segment files, as in 64MiB [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub segment_size: Option<u64>,
    /// Length of a new store's queue files, a multiple of 20 [default: 6MB]
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub queue_file_size: Option<u64>,
    /// Above it expired segments go at once, as in 75% or 0.75
    #[arg(long, value_name = "RATIO", alias = "clean", value_parser = quantity::parse_ratio)]
    pub clean_ratio: Option<f64>,
    /// Above it a directory takes no new segment; when all are, segments go before their age
    #[arg(long, value_name = "RATIO", alias = "force", value_parser = quantity::parse_ratio)]
    pub force_ratio: Option<f64>,
    /// When all directories are above it, appends are refused
    #[arg(long, value_name = "RATIO", alias = "refuse", value_parser = quantity::parse_ratio)]
    pub refuse_ratio: Option<f64>,
    /// Free bytes to keep on every disk, as in 10GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub floor: Option<u64>,
    /// How long a segment is kept after its last message, as in 72h
    #[arg(long, value_name = "DURATION", value_parser = quantity::parse_duration_ms)]
    pub retention: Option<u64>,
    /// Hours of the day in which expired segments go without pressure, as in '4;16', or never
    #[arg(long, value_name = "HOURS", value_parser = DeleteHours::from_str)]
    pub hours: Option<DeleteHours>,
    /// Refuse appends rather than drop segments before their age
    #[arg(long)]
    pub no_forced_clean: bool,
    /// What to do about damage below what was flushed
    #[arg(long, value_name = "CHOICE",
        value_parser = named::<OnDamage>(&["refuse", "skip", "cut"]))]
    pub on_damage: Option<OnDamage>,
    /// Serve what is there although directories are missing
    #[arg(long)]
    pub allow_offline: bool,
    /// Take the directories given with --path over from a root that was lost, or whose registry
    /// is damaged
    #[arg(long)]
    pub adopt: bool,
    /// Change nothing on disk; `read`, `inspect`, `disks` and dry runs never do
    #[arg(long)]
    pub read_only: bool,
    /// When appends are durable: async soon after, group before they return
    #[arg(long, value_name = "CHOICE", value_parser = PossibleValuesParser::new(["async", "group"])
        .map(|name| if name == "group" { Durability::Group } else { Durability::default() }))]
    pub durability: Option<Durability>,
    /// The largest body, as in 4MiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::parse_size_bytes)]
    pub max_body: Option<u64>,
}

/// A parser for a value that has one of these names.
fn named<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = spanlog::Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.iter().copied()).try_map(|name| name.parse::<T>())
}

/// A store's place and options, not yet opened.
#[derive(Debug)]
pub struct Target {
    /// Where it is.
    pub root: PathBuf,
    /// How it is opened.
    pub options: Options,
}

impl StoreArgs {
    /// Whether a store is named at all.
    pub fn is_named(&self) -> bool {
        self.root.is_some() || self.conf.is_some()
    }

    /// The store that is named.
    ///
    /// # Errors
    /// A usage error if none is; what the configuration says.
    pub fn target(&self) -> Outcome<Target> {
        match (&self.root, &self.conf) {
            (Some(root), _) => self.target_at(root),
            (None, Some(path)) => self.target_of(path),
            (None, None) => Err(Failure::usage("name the store: --root DIR or --conf FILE")),
        }
    }

    /// The store at a root.
    pub fn target_at(&self, root: &Path) -> Outcome<Target> {
        let mut options = Options::new();
        self.options.apply(&mut options);
        let thresholds = options.thresholds;
        options.directories = self.paths.iter().map(|path| path.options(thresholds)).collect();
        Ok(Target { root: root.to_owned(), options })
    }

    fn target_of(&self, path: &Path) -> Outcome<Target> {
        let conf = Conf::read(path)?;
        let mut options = conf.options.clone();
        self.options.apply(&mut options);
        conf.check_order(&options.thresholds)?;
        Ok(Target { root: conf.root, options })
    }
}

fn set<T: Copy>(slot: &mut T, given: Option<T>) {
    *slot = given.unwrap_or(*slot);
}

impl OptionArgs {
    fn apply(&self, options: &mut Options) {
        set(&mut options.placement, self.placement);
        set(&mut options.segment_len_bytes, self.segment_size);
        set(&mut options.queue_file_len_bytes, self.queue_file_size);
        set(&mut options.thresholds.clean, self.clean_ratio);
        set(&mut options.thresholds.force, self.force_ratio);
        set(&mut options.thresholds.refuse, self.refuse_ratio);
        set(&mut options.thresholds.floor_bytes, self.floor);
        set(&mut options.retention_ms, self.retention);
        set(&mut options.delete_hours, self.hours);
        set(&mut options.on_damage, self.on_damage);
        set(&mut options.durability, self.durability);
        set(&mut options.max_body_bytes, self.max_body);
        options.forced_clean &= !self.no_forced_clean;
        options.allow_offline |= self.allow_offline;
        options.adopt |= self.adopt;
        options.read_only |= self.read_only;
    }
}

impl Target {
    /// Opens the store, or makes it.
    pub fn open(self, output: &Output) -> Outcome<Store> {
        let spinner = output.spinner("opening the store");
        let store = Store::open(self.root, self.options);
        spinner.finish_and_clear();
        Ok(store?)
    }

    /// Opens a store that is there.
    pub fn open_existing(self, output: &Output) -> Outcome<Store> {
        Self { options: self.options.create(false), ..self }.open(output)
    }

    /// Opens it without changing anything: beside a writer, and on read-only media.
    pub fn open_to_read(self, output: &Output) -> Outcome<Store> {
        Self { options: self.options.read_only(true), ..self }.open(output)
    }
}
