/// <reference types="node" />

/**
 * spanlog: a message-log storage engine inside your program.
 *
 * **Numbers.** Positions and queue offsets are `bigint` wherever they come out, and go in as
 * `bigint` or as whole numbers up to 2^53 - 1. Times (milliseconds since 1970), sizes and counts
 * are `number`.
 *
 * **Waiting.** What cannot wait for a disk or for somebody else is synchronous; the rest returns
 * a promise. With `durability: 'group'` every `append` waits for its flush, so use
 * `appendDurable` there.
 *
 * **Errors.** The engine's are {@link SpanlogError}. Arguments of a wrong type are `TypeError`s and
 * numbers out of range `RangeError`s, both with `code: 'SPANLOG_INVALID'`. Functions that return a
 * promise never throw: they reject.
 *
 * **Threads.** A handle belongs to the thread that made it. {@link Store.token} and {@link attach}
 * give another thread a handle of its own on the same store, which closes with the last handle.
 */

/** What to do about a failure; see the fields for the place. */
export type ErrorCode =
  /** An argument or option is unusable: fix it. Nothing was changed. */
  | 'SPANLOG_INVALID'
  /** The message is larger than a limit. Nothing was written. */
  | 'SPANLOG_TOO_LARGE'
  /** No writable directory has room: wait for cleaning, or add space. Reads go on. */
  | 'SPANLOG_FULL'
  /** Retention dropped the range: go on at `limit`. */
  | 'SPANLOG_GONE'
  /** The range lies on a directory that is not there. */
  | 'SPANLOG_OFFLINE'
  /** A directory belongs to another store. */
  | 'SPANLOG_FOREIGN'
  /** Another process, or another handle of this one, has the store open. */
  | 'SPANLOG_LOCKED'
  /** The files were written by a later release. */
  | 'SPANLOG_VERSION'
  /** Bytes on disk are not what was written: see `path` and `offset`. */
  | 'SPANLOG_CORRUPT'
  /** An operation of the system failed and changed nothing: see `errno`. */
  | 'SPANLOG_IO'
  /** A flush failed earlier, so nothing more can be promised: reopen the store. */
  | 'SPANLOG_POISONED'
  /** The handle was closed. */
  | 'SPANLOG_CLOSED'
  /** A fault of spanlog's own. */
  | 'SPANLOG_INTERNAL';

/** An error of the engine. Its code is the contract, its message is for people. */
export class SpanlogError extends Error {
  readonly name: 'SpanlogError';
  readonly code: ErrorCode;
  /** The file or directory concerned. */
  readonly path?: string;
  /** The byte in the file, or the position of the log. */
  readonly offset?: bigint;
  /** The limit that was passed; with `SPANLOG_GONE` where the log starts now. */
  readonly limit?: bigint;
  /** The range of the log concerned. */
  readonly range?: Range;
  /** The system's error number. */
  readonly errno?: number;
}

/** A position or a queue offset, going in. */
export type Offset = bigint | number;

/** Half-open: `end` is no part of it. */
export interface Range {
  readonly start: bigint;
  readonly end: bigint;
}

/** A message to append. */
export interface NewMessage {
  /** 1 to 255 of letters, digits, `%`, `|`, `_` and `-`. */
  topic: string;
  /** The queue within the topic, up to 2^31 - 1. Default 0. */
  queue?: number;
  /** The payload; text is stored as UTF-8. */
  body: string | NodeJS.ArrayBufferView | ArrayBuffer;
  /** What readers filter by. */
  tags?: string;
  /** What the message is found by; no key holds a space. */
  keys?: readonly string[];
  /** Further names and values. */
  properties?: Readonly<Record<string, string>>;
  /** A number of the caller's own, of 32 bits. Default 0. */
  flag?: number;
  /** RocketMQ's system flags. Default 0. */
  sysFlag?: number;
  /** When the message was made; default the time of storing. */
  bornMs?: number;
  /** Who made it, `address:port`. Default `127.0.0.1:0`. */
  bornHost?: string;
  /** How often consumers gave it back. Default 0. */
  reconsumeTimes?: number;
  /** With a committed transaction: the position of its prepared message. */
  preparedPosition?: Offset;
}

/** Where a message, or the first one of several, was put. */
export interface Receipt {
  /** Where its record begins in the log. */
  position: bigint;
  /** Its number within its queue; those appended together follow each other. */
  queueOffset: bigint;
  /** The position after the last record. */
  end: bigint;
  storeMs: number;
}

/** A message that was read. Its fields are cut out of the batch's memory when asked for. */
export class Message {
  private constructor();
  readonly topic: string;
  readonly queue: number;
  readonly queueOffset: bigint;
  readonly position: bigint;
  /** How often a cursor delivered it, from 1; 0 if it was read otherwise. */
  readonly attempt: number;
  /** The payload: a view of the batch's memory, which lives as long as the view. */
  readonly body: Buffer;
  readonly tags: string | undefined;
  readonly keys: string[];
  /** The identifier that the producer, or else the store, gave. */
  readonly uniqueId: string | undefined;
  /** All properties, tags and keys among them; of two with one name the last. */
  readonly properties: Record<string, string>;
  readonly flag: number;
  readonly sysFlag: number;
  readonly bornMs: number;
  readonly storeMs: number;
  readonly bornHost: string;
  readonly storeHost: string;
  readonly reconsumeTimes: number;
  readonly preparedPosition: bigint;
  /** The whole record, as it stands in the log. */
  readonly record: Buffer;
  /** The payload as UTF-8. */
  text(): string;
}

/** What a read found, and so where to go on. */
export type ReadStatus =
  /** Messages. */
  | 'found'
  /** The queue never had a message; go on at 0. */
  | 'no_queue'
  /** Nothing was ever readable in the queue; go on at 0. */
  | 'empty'
  /** Retention dropped the offset; go on at the queue's minimum. */
  | 'too_small'
  /** The offset is the next to come; ask again. */
  | 'at_end'
  /** The offset is behind the next to come; go on at the maximum. */
  | 'too_large'
  /** The messages at the offset are gone or lost; go on behind them. */
  | 'removed'
  /** No message is one that was asked for; go on behind those that were looked at. */
  | 'no_match';

/** The first message kept, and one past the last that can be read. */
export interface Bounds {
  readonly min: bigint;
  readonly max: bigint;
}

/** The messages of one read, in one block of memory. It may outlive the store. */
export class Batch implements Iterable<Message> {
  private constructor();
  readonly status: ReadStatus;
  /** Where to read on. */
  readonly next: bigint;
  /** The queue's, as of this read. */
  readonly bounds: Bounds;
  /** Number of messages. */
  readonly length: number;
  /** What is wrong with the message at `next`, if it is damaged: a read from there throws it. */
  readonly damage?: SpanlogError;
  /** Message number `at`, from 0; from the end if it is negative. */
  at(at: number): Message | undefined;
  [Symbol.iterator](): Generator<Message, void, undefined>;
}

/** Retention dropped messages that a cursor had not acknowledged; it goes on behind them. */
export interface Overtaken {
  queue: number;
  gone: Range;
}

/** Messages of one poll, those of a queue side by side and in order. */
export class Delivery implements Iterable<Message> {
  private constructor();
  readonly length: number;
  /** What retention took from the cursor: told once. */
  readonly overtaken: readonly Overtaken[];
  /** What could not be read, while other messages could: seek past what is damaged. */
  readonly failures: readonly { queue: number; error: SpanlogError }[];
  /** Message number `index`, from 0; from the end if it is negative. */
  at(index: number): Message | undefined;
  [Symbol.iterator](): Iterator<Message>;
}

export interface Limits {
  /** Default 256, from 1. */
  maxMessages?: number;
  /** Bytes of whole records; at least one message is read whatever its size. Default 1 MiB. */
  maxBytes?: number;
  /** Whether messages are checked against their checksums. Default true. */
  verify?: boolean;
}

export interface ReadOptions extends Limits {
  /** Only messages with one of these tags: `A || B`. Default all. */
  tags?: string;
}

export interface WaitOptions {
  /** Default none: as long as it takes. 0 looks and settles. */
  timeoutMs?: number;
  /** Ends the wait. */
  signal?: AbortSignal;
  /** Whether waiting keeps the process alive, if nothing else does. Default true. */
  persistent?: boolean;
}

export type FollowOptions = ReadOptions & Omit<WaitOptions, 'timeoutMs'>;

export interface QueryOptions {
  /** What the key is. Default `key`: one of the message's keys. */
  kind?: 'key' | 'unique_id' | 'tag';
  /** The oldest store time, and the youngest, itself included. Default all. */
  fromMs?: number;
  toMs?: number;
  /** Default 32, from 1. */
  maxMessages?: number;
  verify?: boolean;
}

/** How a cursor is opened. Its hold, and whether it is about all queues, are kept with it. */
export interface CursorOptions {
  /** The queues it is about; default all of the topic's, also those to come. */
  queues?: readonly number[];
  /** Whether a new cursor begins at the end of its queues. Default false. */
  fromEnd?: boolean;
  /** After how long a message that was not acknowledged comes again. Default 30,000. */
  visibilityMs?: number;
  /** How many messages of a queue may wait to be acknowledged, 1 to 3600. Default 1024. */
  maxPending?: number;
  /** Keeps segments with messages it did not commit, so long and so many bytes of them. */
  hold?: Hold;
}

export interface Hold {
  maxAgeMs?: number;
  maxBytes?: number;
}

/**
 * Where to go on: at the start or the end of every queue, at an offset of one, or at the first
 * message of each that was stored at or after a time.
 */
export type Seek = 'start' | 'end' | { queue: number; offset: Offset } | { timeMs: number };

/** What is not acknowledged. */
export interface Lag {
  messages: number;
  bytes: number;
  /** How old the oldest is. */
  ageMs?: number;
}

/** Where a cursor stands in one queue. */
export interface CursorQueue {
  queue: number;
  /** Everything below is acknowledged. */
  acknowledged: bigint;
  /** Everything below is acknowledged, durably. */
  committed: bigint;
  /** The first message that was not delivered yet. */
  next: bigint;
  bounds: Bounds;
  lag: Lag;
}

export interface CursorReport {
  topic: string;
  name: string;
  isOpen: boolean;
  hold?: Hold;
  queues: CursorQueue[];
  /** Over all queues. */
  lag: Lag;
  /** Why its file cannot be used, if it cannot: see {@link Store.resetCursor}. */
  damage?: string;
}

export type PollOptions = Limits & WaitOptions;

/**
 * A named consumer of a topic, open in one thread. What was acknowledged is durable once `commit`
 * settled; closing the cursor or its store commits. After a crash, what was not committed comes
 * again.
 */
export class Cursor implements AsyncIterable<Message> {
  private constructor();
  readonly name: string;
  readonly topic: string;
  /** When a message that was not acknowledged is due again, if there is one. */
  readonly nextDueMs: number | undefined;

  /**
   * Messages of its queues in fair shares: those that are due again, then new ones. Settles as
   * soon as there is one or retention has overtaken the cursor, and with an empty delivery after
   * the timeout. Rejects as {@link Store.wait}, and with what reading throws where no queue can be
   * read.
   */
  poll(options?: PollOptions): Promise<Delivery>;
  /** As {@link Cursor.poll}, of what is there now. */
  pollNow(options?: Limits): Delivery;
  /**
   * Polls without end. Where retention was faster it throws `SPANLOG_GONE` once; going through it
   * again goes on behind that, and so it does with what was not taken of a poll.
   */
  messages(
    options?: Limits & Omit<WaitOptions, 'timeoutMs'>,
  ): AsyncGenerator<Message, never, undefined>;
  /** {@link Cursor.messages}. */
  [Symbol.asyncIterator](): AsyncGenerator<Message, never, undefined>;

  /** Acknowledges a message that was delivered, in any order; doing so twice is fine. */
  ack(message: Message): void;
  ackAt(queue: number, offset: Offset): void;
  /** Acknowledges every message of a queue below `end`. */
  ackUpTo(queue: number, end: Offset): void;
  /** Settles once what was acknowledged so far is durable. */
  commit(): Promise<void>;
  /**
   * Goes on elsewhere; what was delivered and not acknowledged is forgotten. `SPANLOG_GONE` below
   * what is kept, `SPANLOG_INVALID` behind the end, each with the bound as `limit`.
   */
  seek(to: Seek): void;
  /** What is not acknowledged, over all its queues. */
  lag(): Lag;
  report(): CursorReport;

  /** Commits, and lets others open the cursor. Closing twice is fine. */
  close(): Promise<void>;
  /** As {@link Cursor.close}, in this thread. */
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** How far a verification is. */
export interface Progress {
  part: string;
  done: number;
  total: number;
}

export interface Finding {
  kind: string;
  /** Whether something is lost or wrong; else it is only worth knowing. */
  isDamage: boolean;
  path: string;
  offset: bigint;
  lenBytes: number;
  range?: Range;
  text: string;
}

export interface VerifyOptions {
  /** Ends it between two steps. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** What a verification found. */
export interface Verification {
  /** Whether there is no damage. */
  isSound: boolean;
  records: number;
  range: Range;
  wasClosed: boolean;
  findings: Finding[];
  /** How many more there are than are listed. */
  moreFindings: number;
}

/** One thing that mending takes. */
export interface RepairAction {
  action:
    | 'resize' | 'set_aside' | 'pad' | 'cut_tail' | 'rebuild_queues' | 'rewrite_registry'
    | 'rewrite_marks' | 'rebuild_keys' | 'mend_cursor';
  path?: string;
  range?: Range;
  /** For people. */
  text: string;
}

/** What a repair did. */
export interface Repaired {
  /** Files with what was cut or written over, as it stood there. */
  saved: string[];
  /** What opening the store found and did then. */
  recovery: Recovery;
}

/** What mending a store takes. Nothing is done before {@link RepairPlan.apply}. */
export class RepairPlan {
  private constructor();
  /** What was found. */
  readonly verification: Verification;
  /** What will be done, in order. */
  readonly actions: readonly RepairAction[];
  /** What was found and cannot be mended here. */
  readonly beyond: readonly Finding[];
  /** Whether there is nothing to do. */
  readonly isEmpty: boolean;
  /**
   * Does it, once, and opens and closes the store. After a `resize` another plan is needed: what
   * the file lacked is told by that. `SPANLOG_LOCKED` while somebody has the store open.
   */
  apply(): Promise<Repaired>;
}

/** The marks of a disk, as used ratios. */
export interface Thresholds {
  /** Above it expired segments leave at once. Default 0.75. */
  clean?: number;
  /** Above it the directory takes no new segment while another can. Default 0.85. */
  force?: number;
  /** Above it on all disks, appends are refused. Default 0.90. */
  refuse?: number;
  /** Free bytes to keep. Default 0. */
  floorBytes?: number;
  /** How far below a mark usage must fall before it is no longer in force. Default 0.01. */
  hysteresis?: number;
}

/** What a directory is for. */
export type Role = 'read-write' | 'draining' | 'read-only';

/** A directory of segments. */
export interface Directory {
  path: string | URL;
  /** Default what the store remembers, and `read-write` for a new directory. */
  role?: Role;
  /** Its own marks; default the store's. */
  thresholds?: Thresholds;
}

/** How a store is opened and run. What is out of range is refused, and so is an unknown name. */
export interface Options {
  /** Directories of segments; default those the store remembers, or `commitlog` in its root. */
  paths?: readonly (string | URL | Directory)[];
  /** Which directory takes the next segment. Default `rocketmq`. */
  placement?: 'rocketmq' | 'free-space' | 'hash';
  /** Of a new store. Default 1 GiB, from 4096 to 2^31 - 1. */
  segmentLenBytes?: number;
  /** A multiple of 20. Default 6,000,000. */
  queueFileLenBytes?: number;
  /**
   * Whether messages can be looked up by key without reading the log. Default true; with false no
   * index is written, and looking up reads the log.
   */
  keyIndex?: boolean;
  /** Slots of an index file; another number than a store has builds its index anew. */
  indexSlots?: number;
  /** Entries of an index file, likewise. */
  indexEntries?: number;
  /** When appended bytes are flushed. Default `async`, every 500 ms or 16 MiB. */
  durability?: 'async' | 'group' | { intervalMs?: number; bytes?: number };
  /** The marks of disks, where a directory has none of its own. */
  thresholds?: Thresholds;
  /** Of how many disks usage must be above `clean`. Default `any`. */
  cleanOn?: 'any' | 'all';
  /** Of how many disks usage must be above `force`. Default `all`. */
  forceOn?: 'any' | 'all';
  /** Of how many disks usage must be above `refuse`. Default `all`. */
  refuseOn?: 'any' | 'all';
  /** How long a segment is kept after its last record was stored. Default 72 h. */
  retentionMs?: number;
  /** Hours of the day, such as `4;16`, or `never`. Default `4`. */
  deleteHours?: string;
  /** Whether segments that are not expired are dropped when disks are full. Default true. */
  forcedClean?: boolean;
  /** Default 10, from 1. */
  maxForcedPerRound?: number;
  /** Default 100. */
  cleanPauseMs?: number;
  /** Time between two looks at the disks. Default 10,000, from 10. */
  probeIntervalMs?: number;
  /** Time between two rounds of cleaning. Default 10,000, from 10. */
  cleanIntervalMs?: number;
  /** Default false. */
  refuseReadsWhenFull?: boolean;
  /** Whether each record carries a checksum over all of it. Default true. */
  recordChecksum?: boolean;
  /** Default 4 MiB. */
  maxBodyBytes?: number;
  /** The address in records, `address:port`. Default `127.0.0.1:10911`. */
  storeHost?: string;
  /** How many files are mapped or open at most. Default 1024. */
  maxMaps?: number;
  /** What to do about damage. Default `refuse`. */
  onDamage?: 'refuse' | 'skip' | 'cut';
  /** Whether a store opens without directories that are not there. Default false. */
  allowOffline?: boolean;
  /** Whether a root whose registry is lost takes over the directories that are named. */
  adopt?: boolean;
  /** Whether the store is opened for reading alone. Default false. */
  readOnly?: boolean;
  /** Whether a store that does not exist is created. Default true. */
  create?: boolean;
  /** Default 1000, from 10. */
  checkpointIntervalMs?: number;
  /** How many bytes ahead of the writer pages are made ready. Default 64 MiB. */
  prepareBytes?: number;
  /** Whether threads run the store's steps; see {@link Store.run}. Default true. */
  background?: boolean;
}

/** The positions that tell how far a store has come. */
export interface Watermarks {
  /** First byte still kept. */
  start: bigint;
  /** Everything below is durable. */
  flushed: bigint;
  /** Everything below is in the queues. */
  indexed: bigint;
  /** Everything below is written. */
  appended: bigint;
}

/** One directory, measured. */
export interface DiskReport {
  path: string;
  role: Role;
  /** The file system it is on: directories with the same number share their space. */
  device: bigint;
  thresholds: Required<Thresholds>;
  usedBytes?: number;
  availableBytes?: number;
  usedRatio?: number;
  pressure: 'none' | 'clean' | 'force' | 'refuse';
  /** Why it cannot be used, if it cannot. */
  offline?: string;
  /** Whether the next segment may go there. */
  takesSegments: boolean;
  segments: number;
  segmentBytes: number;
}

export interface SegmentReport {
  /** First position it covers. */
  base: bigint;
  lenBytes: number;
  path: string;
  /** Store time of its last record, where somebody has read it. */
  lastStoreMs?: number;
  /** Whether a reader holds it. */
  held: boolean;
  /** Whether retention dropped it. */
  dropped: boolean;
}

export interface QueueReport {
  topic: string;
  queue: number;
  bounds: Bounds;
}

/** A picture of a whole store. */
export interface Inspection {
  watermarks: Watermarks;
  segmentLenBytes: number;
  directories: DiskReport[];
  segments: SegmentReport[];
  queues: QueueReport[];
  /** Ranges on directories that are not there. */
  offline: Range[];
  /** Files mapped now. */
  maps: number;
  /** Why appends are refused, if they are. */
  refused?: string;
  /** Why nothing more can be promised, if that is so. */
  poisoned?: string;
}

/** What happens to one segment, and why. */
export interface Fate {
  base: bigint;
  lenBytes: number;
  lastStoreMs?: number;
  held: boolean;
  /** Whether it leaves the log. */
  drops: boolean;
  reason:
    | 'expired' | 'forced' | 'kept_last' | 'kept_behind' | 'kept_read_only' | 'kept_young'
    | 'kept_undated' | 'kept_no_pressure' | 'kept_round_limit' | 'kept_for_cursor';
  /** The reason for people. */
  text: string;
}

export interface CleanPlan {
  /** How many segments leave, from the front. */
  drop: number;
  /** Where the log will start, if anything leaves. */
  start?: bigint;
  /** Of each segment, in order. */
  fates: Fate[];
}

/** A segment that cleaning dropped. */
export interface Dropped {
  base: bigint;
  path: string;
  atMs: number;
  /** For people. */
  reason: string;
}

/** What opening the store found and did. */
export interface Recovery {
  wasClean: boolean;
  /** Where reading began. */
  scannedFrom: bigint;
  /** Where the log ends. */
  end: bigint;
  /** Records that were read. */
  records: number;
  rebuiltQueues: boolean;
  /** What stood at the end and was no record. It was cut off. */
  tornTail?: Range;
  /** Whole records behind the cut, saved in a file beside the store. */
  salvagedRecords: number;
  salvagedPath?: string;
  /** Damaged ranges that were passed over. */
  skipped: Range[];
  offline: Range[];
  /** Files in the segment directories that are none of the store's. */
  ignored: string[];
}

/** A step of a store without threads. */
export type Step = 'flush' | 'index' | 'checkpoint' | 'probe' | 'clean' | 'prepare';

/** A handle on an open store. */
export class Store {
  private constructor();

  /** Its root directory. */
  readonly root: string;
  /** What opening the store found and did. */
  readonly recovery: Recovery;
  /** What names the store to {@link attach}, in any thread of this process. */
  readonly token: number;

  /**
   * Appends one message. When it returns, the message is in the log and survives the end of this
   * process; with `durability: 'group'` also the loss of power.
   */
  append(message: NewMessage): Receipt;
  /** Appends messages of one topic and queue, all or none of them, side by side. */
  appendMany(messages: Iterable<NewMessage>): Receipt;
  /**
   * Appends one message and settles when it is durable. Messages are appended in the order of the
   * calls; those of one moment share a flush.
   */
  appendDurable(message: NewMessage): Promise<Receipt>;
  /** As {@link Store.appendMany}, and settles when all of it is durable. */
  appendManyDurable(messages: Iterable<NewMessage>): Promise<Receipt>;

  /**
   * Reads messages of a queue from `from` on, at least one if there is one. A message can be read
   * once it is visible and indexed: see {@link Store.catchUp}. Messages that stand before a damaged
   * one are returned, with {@link Batch.damage}; a read that begins with it throws that.
   */
  read(topic: string, queue: number, from: Offset, options?: ReadOptions): Batch;
  /** The message whose record begins at `position`. */
  get(position: Offset): Message;
  /** The messages of a topic with that key, newest first. */
  query(topic: string, key: string, options?: QueryOptions): Batch;
  /** The messages of a topic with that unique id, or RocketMQ's message id. */
  findById(topic: string, id: string, options?: { verify?: boolean }): Batch;
  /**
   * The offset in a queue of the message stored at a time: `lower` is the first at or after it,
   * `upper` the last at or before it. Default `lower`.
   */
  offsetAt(topic: string, queue: number, timeMs: number, boundary?: 'lower' | 'upper'): bigint;
  /** Of a queue; nothing for one that never had a message. */
  bounds(topic: string, queue?: number): Bounds | undefined;

  /**
   * Settles with true once a message at or after `from` can be read from the queue, which need not
   * exist yet; with false after the timeout. Rejects with the signal's reason when it is aborted,
   * and with `SPANLOG_CLOSED` when the handle is closed.
   */
  wait(topic: string, queue: number, from: Offset, options?: WaitOptions): Promise<boolean>;
  /** As {@link Store.wait}, for any record behind a position of the log. */
  waitAppended(after: Offset, options?: WaitOptions): Promise<boolean>;
  /**
   * Messages of a queue from `from` on, one by one, and those that are yet to come. What retention
   * drops meanwhile is passed over. Ends by an error: the signal's reason, `SPANLOG_CLOSED`, or
   * what {@link Store.read} throws.
   */
  follow(
    topic: string,
    queue: number,
    from: Offset,
    options?: FollowOptions,
  ): AsyncGenerator<Message, never, undefined>;

  /**
   * Opens the cursor of that name, or makes it, durably. `SPANLOG_LOCKED` while it is open,
   * `SPANLOG_CORRUPT` if its file is damaged.
   */
  cursor(name: string, topic: string, options?: CursorOptions): Promise<Cursor>;
  /** All cursors, by topic and name. */
  cursors(): CursorReport[];
  /** Makes a cursor of the same topic with what another one has acknowledged, durably. */
  copyCursor(topic: string, name: string, to: string): Promise<void>;
  /** Puts a cursor that is not open elsewhere, durably; also one whose file is damaged. */
  resetCursor(topic: string, name: string, to: Seek): Promise<void>;
  /** Deletes a cursor that is not open, durably. */
  deleteCursor(topic: string, name: string): Promise<void>;
  /** Makes a cursor for each group and topic of a RocketMQ broker's `consumerOffset.json`. */
  importConsumerOffsets(text: string | Uint8Array): Promise<number>;
  /** What every cursor has acknowledged, as a RocketMQ broker's `consumerOffset.json`. */
  exportConsumerOffsets(): string;

  watermarks(): Watermarks;
  /** Everything at once. */
  inspect(): Inspection;
  /** The directories, measured now. */
  disks(): DiskReport[];
  queues(): QueueReport[];
  segments(): SegmentReport[];
  /** What cleaning dropped since the store was opened, newest last, at most a thousand. */
  dropped(): Dropped[];

  /** Reads and compares everything, while the store is in use. */
  verify(options?: VerifyOptions): Promise<Verification>;

  /** What a round of cleaning would do now with each segment, and why. Changes nothing. */
  planClean(options?: { manual?: boolean }): CleanPlan;
  /**
   * Takes up what the process that writes the store did meanwhile, in a store opened with
   * `readOnly`. Says whether there is anything new. Waits and `follow` do it by themselves.
   */
  refresh(): boolean;
  /** Asks for a round of cleaning now: segments past their age go, at any hour. */
  cleanNow(): void;
  /** Runs one piece of background work, in a store opened with `background: false`. */
  run(step: Step): 'again' | 'soon' | 'idle' | number;

  /** Settles once everything appended so far is durable. */
  flush(): Promise<void>;
  /** Settles once everything appended so far can be read from its queue. */
  catchUp(): Promise<void>;

  /** Adds a directory to the open store. */
  addDirectory(directory: string | URL | Directory): Promise<void>;
  /** Changes what a directory is for: draining ends new segments there. */
  setRole(path: string | URL, role: Role): Promise<void>;
  /**
   * Tells how full a directory is, in place of what its file system says: for a quota that the
   * system does not report. Without a usage the file system's counts again.
   */
  setUsage(
    path: string | URL,
    usage?: { usedBytes: number; availableBytes: number },
  ): Promise<void>;
  /** Takes an empty directory off the store. */
  removeDirectory(path: string | URL): Promise<void>;

  /**
   * Closes this handle, and with the last handle the store: everything is flushed and indexed, so
   * that the next opening need not recover. Batches stay valid. Closing twice is fine.
   */
  close(): Promise<void>;
  /** As {@link Store.close}, in this thread: for `using`. */
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/** How a queue is opened and run. What is out of range is refused, and so is an unknown name. */
export interface QueueOptions {
  /** Directories of segments; default those the queue remembers, or `segments` in its root. */
  paths?: readonly (string | URL | Directory)[];
  placement?: 'rocketmq' | 'free-space' | 'hash';
  /** Whole pages of 4096 bytes, up to 1 GiB. A queue that exists keeps its own. Default 256 KiB. */
  segmentLenBytes?: number;
  /** The most segment files there may be, from 4 to 2^24. Default 2000. */
  capacitySegments?: number;
  /** The most bytes of segment files. Default 0: no such limit. */
  capacityBytes?: number;
  /** The longest record. Default 4 MiB, or what fits. */
  maxRecordBytes?: number;
  /** The most segments that are mapped at a time, from 4. Default 64. */
  maxInMemorySegments?: number;
  /** What a push does when the queue is full. Default `refuse`: it fails with `SPANLOG_FULL`. */
  onFull?: 'refuse' | 'drop-oldest' | { blockMs: number };
  /** When records are flushed. Default `interval`, every second or 10,000 records. */
  durability?:
    | 'none' | 'interval' | 'group' | 'each'
    | { intervalMs?: number; records?: number };
  /** The marks of disks, as of a store. */
  thresholds?: Thresholds;
  /** Default 10,000, from 10. */
  probeIntervalMs?: number;
  /** Whether a queue that does not exist is created. Default true. */
  create?: boolean;
  /** Whether threads run the queue's steps; see {@link Queue.run}. Default true. */
  background?: boolean;
}

/** What a record of a queue is made of; text is stored as UTF-8. */
export type QueueBody = string | NodeJS.ArrayBufferView | ArrayBuffer;

/** A record that was popped. Its bytes are a copy, and live as long as it. */
export class QueueRecord {
  private constructor();
  readonly body: Buffer;
  /** How many records were pushed before it. */
  readonly number: bigint;
  /** Where it begins on the queue's line. */
  readonly position: bigint;
  /** Where it ends on the queue's line: committing up to there commits it. */
  readonly end: bigint;
  /** The body as UTF-8. */
  text(): string;
}

export interface PopLimits {
  /** Default 256, from 1. */
  maxRecords?: number;
  /** Bytes of bodies; at least one record is popped whatever its size. Default 1 MiB. */
  maxBytes?: number;
}

/**
 * A reader of a queue, with a place of its own, which handles of one name share. What it has popped
 * and not committed it gets again after `rewind`, and when the queue is opened again. It holds the
 * space of what it did not commit until {@link Queue.removeReader}.
 */
export class QueueReader implements AsyncIterable<QueueRecord> {
  private constructor();
  readonly name: string;
  /**
   * Pops the next record, waiting for one; nothing after the timeout. Rejects with `SPANLOG_GONE`
   * once when a full queue dropped what was not read, and with `SPANLOG_CORRUPT` where no whole
   * record stands.
   */
  pop(options?: WaitOptions): Promise<QueueRecord | undefined>;
  /** As {@link QueueReader.pop}, without waiting. */
  popNow(): QueueRecord | undefined;
  /** Pops as many records as there are and the limits allow, waiting for one. */
  popMany(options?: PopLimits & WaitOptions): Promise<QueueRecord[]>;
  /** As {@link QueueReader.popMany}, without waiting. */
  popManyNow(options?: PopLimits): QueueRecord[];
  /** The next record, which stays the next. */
  peek(): QueueRecord | undefined;
  /** Pops without end, as {@link QueueReader.pop}. */
  records(
    options?: Omit<WaitOptions, 'timeoutMs'>,
  ): AsyncGenerator<QueueRecord, never, undefined>;
  /** {@link QueueReader.records}. */
  [Symbol.asyncIterator](): AsyncGenerator<QueueRecord, never, undefined>;
  /** Notes that everything up to the end of a popped record is done. A kill does not undo it. */
  commit(record: QueueRecord): void;
  /** Notes that everything before a position is done: where a popped record ends. */
  commitTo(end: Offset): void;
  /** Goes back to the first record that is not committed. */
  rewind(): void;
  /** What waits to be popped: records, and bytes of the line. */
  backlog(): { records: number; bytes: number };
  /** Passes over bytes that are no record, and returns their range, if there are any. */
  skipDamaged(): Range | undefined;
}

/** A reader at one moment. */
export interface ReaderStat {
  name: string;
  /** Everything before is committed. */
  committed: bigint;
  /** What it pops next. */
  reading: bigint;
  /** Records that it has not committed. */
  records: number;
  unreadBytes: number;
}

/** A queue at one moment. */
export interface QueueStat {
  /** Where the first record kept begins, where the last one ends, and what is durable. */
  start: bigint;
  end: bigint;
  flushed: bigint;
  /** Records pushed since the queue was made. */
  pushed: number;
  /** Records kept. */
  records: number;
  /** Bytes from start to end. */
  bytes: number;
  /** Records that were dropped because the queue was full. */
  dropped: number;
  segmentLenBytes: number;
  capacitySegments: number;
  segments: number;
  mappedSegments: number;
  readers: ReaderStat[];
}

/** What opening a queue found and did. */
export interface QueueRecovery {
  wasClean: boolean;
  /** Whether the meta page was lost, so that everything was found by reading. */
  metaLost: boolean;
  /** Records behind what was known to be durable. */
  foundRecords: number;
  /** Readers that were brought back to the end. */
  clamped: string[];
  ignored: string[];
}

/** What reading all of a queue found. */
export interface QueueVerification {
  isSound: boolean;
  records: number;
  payloadBytes: number;
  damaged: { range: Range; path: string; reason: string }[];
}

/** A handle on an open queue: a persistent line of records with a fixed budget. */
export class Queue {
  private constructor();
  readonly root: string;
  readonly recovery: QueueRecovery;
  /** What names the queue to {@link attachQueue}, in any thread of this process. */
  readonly token: number;

  /**
   * Pushes one record, and returns where it ends. A kill does not undo it, a loss of power may
   * until the next flush. With `onFull: { blockMs }` or `durability` of `group` or `each` it waits
   * and holds up the event loop: see {@link Queue.pushAsync}.
   */
  push(body: QueueBody): bigint;
  /** Pushes records, all or none of them, and returns where the last one ends. */
  pushMany(bodies: Iterable<QueueBody>): bigint;
  /** As {@link Queue.push}, on a thread of Node's pool, in the order of the calls. */
  pushAsync(body: QueueBody): Promise<bigint>;
  /** As {@link Queue.pushMany}, on a thread of Node's pool. */
  pushManyAsync(bodies: Iterable<QueueBody>): Promise<bigint>;

  /**
   * The reader of that name, made where there is none: it begins with the oldest record kept. 1 to
   * 24 of letters, digits, `.`, `_` and `-`; at most 8. Default `default`.
   */
  reader(name?: string): QueueReader;
  /** Takes a reader off: it holds no space any more. */
  removeReader(name: string): void;

  stat(): QueueStat;
  /** Settles once everything pushed and committed so far is durable. */
  flush(): Promise<void>;
  /** Reads every record that is kept, and checks it. */
  verify(): Promise<QueueVerification>;
  /** Runs one piece of background work, in a queue opened with `background: false`. */
  run(step: 'prepare' | 'flush' | 'probe'): 'again' | 'soon' | 'idle' | number;

  /** Closes this handle, and with the last handle the queue. Closing twice is fine. */
  close(): Promise<void>;
  /** As {@link Queue.close}, in this thread. */
  [Symbol.dispose](): void;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens the store at `root`, or makes one. After a kill this reads what was not yet indexed, which
 * may take seconds: see {@link openAsync}.
 */
export function open(root: string | URL, options?: Options): Store;
/** As {@link open}, without holding up the thread. */
export function openAsync(root: string | URL, options?: Options): Promise<Store>;
/** A further handle on a store that is open in this process, for a worker thread. */
export function attach(token: number): Store;
/** Removes the store at `root`: what it made, in all its directories, and nothing else. */
export function destroy(root: string | URL, options?: Options): Promise<void>;
/** Reads and compares everything of the store at `root`, which is not changed. */
export function verify(root: string | URL, options?: Options & VerifyOptions): Promise<Verification>;
/**
 * What mending the store at `root` takes, by a verification of it. Nothing is changed before
 * {@link RepairPlan.apply}.
 */
export function planRepair(
  root: string | URL,
  options?: Options & VerifyOptions,
): Promise<RepairPlan>;

/** Opens the queue at `root`, or makes one. */
export function openQueue(root: string | URL, options?: QueueOptions): Queue;
/** As {@link openQueue}, without holding up the thread. */
export function openQueueAsync(root: string | URL, options?: QueueOptions): Promise<Queue>;
/** A further handle on a queue that is open in this process, for a worker thread. */
export function attachQueue(token: number): Queue;
