/*
 * spanlog: one message log over many disks, inside another program.
 *
 * @file spanlog.h
 * @copyright Apache License 2.0
 *
 * Made from the crate `spanlog-ffi`; do not edit it. What follows holds for every function.
 *
 * CALLS. A function that can fail returns a spanlog_status: 0 for success, a positive number for
 * what is no error but not the usual either (nothing there, time is over, no room), a negative one
 * for an error. Its last parameter is a place for an error object, or NULL: one is written there if
 * and only if the status is negative, and whoever wants it frees it with spanlog_error_free().
 * Other results are written to the caller's places if and only if the status is not negative.
 *
 * HANDLES. spanlog_store and the like look like pointers and are numbers: never follow them. A
 * handle that is NULL, of another kind, closed, freed, or freed twice is answered with
 * SPANLOG_STATUS_INVALID or SPANLOG_STATUS_CLOSED, in any order and from any thread.
 *
 * THREADS. Any thread may call any function with any handle at any time. Freeing waits for the calls
 * at work with the handle. Only what a handle *lends* (messages, texts) must not be read by one thread
 * while another frees it.
 *
 * MEMORY. What a caller passes is copied before the call returns. What a call lends says how long it
 * lives; messages live as long as their batch, also after the store was closed. Nothing that the
 * library returns is freed with free().
 *
 * STRUCTURES whose first field is `struct_size` may grow in later releases. Initialise them with the
 * macro of their name (SPANLOG_OPTIONS_INIT) or with zeros and the size. A field that is 0 or NULL
 * stands for its default. The library takes structures of older and of newer releases; what it does
 * not know and is not 0 it refuses. Structures without `struct_size` never change.
 *
 * TEXTS end with NUL and are UTF-8; paths are the bytes of the system. spanlog_bytes do not end
 * with NUL.
 *
 * DEFECTS. A panic inside the library ends as SPANLOG_STATUS_INTERNAL; its words go to the standard
 * error and into the error object. A store that it was changing takes no more appends. The library
 * installs no signal handler, starts no thread but those of an open store, and reads no
 * environment.
 *
 * FORK. In a child, what was opened before the fork answers SPANLOG_STATUS_CLOSED, and closing it
 * there touches nothing of the parent's; batches, lists and errors stay what they are.
 */

#ifndef SPANLOG_H
#define SPANLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The release that is compiled against; spanlog_version() tells the one that runs. */
#define SPANLOG_VERSION "0.1.0"
/** As above, as spanlog_version_number() tells it. */
#define SPANLOG_VERSION_NUMBER 1000

/** The number 0 in a field where 0 stands for a default that is something else. */
#define SPANLOG_ZERO UINT64_MAX

#if defined(_WIN32)
#define SPANLOG_API __declspec(dllimport)
#elif defined(__GNUC__)
#define SPANLOG_API __attribute__((visibility("default")))
#else
#define SPANLOG_API
#endif

/* Where ignoring the outcome is a defect of the caller's. */
#if defined(__GNUC__)
#define SPANLOG_MUST_USE __attribute__((warn_unused_result))
#else
#define SPANLOG_MUST_USE
#endif

/* A structure of zeros that knows its size. */
#ifdef __cplusplus
extern "C++" {
template <typename Structure>
constexpr Structure spanlog_sized() {
    Structure structure = {};
    structure.struct_size = sizeof(Structure);
    return structure;
}
}
#define SPANLOG_SIZED(structure) (spanlog_sized<structure>())
#else
#define SPANLOG_SIZED(structure) { .struct_size = sizeof(structure) }
#endif


/**
 * The outcome of a call. 0 is success, a positive number is no error but not the usual outcome
 * either, a negative number is an error. Numbers are never reused; later releases may add some,
 * so treat an unknown negative number as an error like any other.
 */
enum spanlog_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Done. */
    SPANLOG_STATUS_OK = 0,
    /** Nothing there: no message to read now, or no more of what was asked for. */
    SPANLOG_STATUS_END = 1,
    /** The time to wait is over, and what was waited for did not happen. */
    SPANLOG_STATUS_TIMEOUT = 2,
    /** The caller's buffer is too small for the first message; how much it needs is told. */
    SPANLOG_STATUS_TOO_SMALL = 3,
    /** An argument or option is unusable: fix it. Nothing was changed. */
    SPANLOG_STATUS_INVALID = -1,
    /** The message is larger than a limit: split it or raise the limit. Nothing was written. */
    SPANLOG_STATUS_TOO_LARGE = -2,
    /** No writable directory has room: wait for cleaning, or add space. Reads go on. */
    SPANLOG_STATUS_FULL = -3,
    /** The range was dropped by retention: go on where spanlog_error_limit() says. */
    SPANLOG_STATUS_GONE = -4,
    /** The range lies on a directory that is not there. */
    SPANLOG_STATUS_OFFLINE = -5,
    /** A directory belongs to another store: give the right one. */
    SPANLOG_STATUS_FOREIGN = -6,
    /** Another process, or another handle of this one, has the store open. */
    SPANLOG_STATUS_LOCKED = -7,
    /** The files were written by a later release of spanlog. */
    SPANLOG_STATUS_VERSION = -8,
    /**
     * Bytes on disk are not what was written; spanlog_error_path() and spanlog_error_offset()
     * say where.
     */
    SPANLOG_STATUS_CORRUPT = -9,
    /** An operation of the system failed and changed nothing; spanlog_error_errno() says why. */
    SPANLOG_STATUS_IO = -10,
    /**
     * A flush failed earlier, or a call broke off in the middle, so nothing more can be promised:
     * close and reopen the store.
     */
    SPANLOG_STATUS_POISONED = -11,
    /** The handle was closed or freed, or was never one of this process. */
    SPANLOG_STATUS_CLOSED = -12,
    /** A defect of spanlog: a call broke off. A store that was being changed is poisoned. */
    SPANLOG_STATUS_INTERNAL = -99,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_status spanlog_status;
#else
typedef int32_t spanlog_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What one action of a repair does. */
enum spanlog_action_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Replaces a segment file of the wrong length by one of the right length with the same bytes.
     * What its records then lack is found by another verification.
     */
    SPANLOG_ACTION_KIND_RESIZE = 1,
    /** Sets a file aside that is no segment of the log. */
    SPANLOG_ACTION_KIND_SET_ASIDE = 2,
    /** Saves damaged bytes, and writes a padding over them that readers pass by. */
    SPANLOG_ACTION_KIND_PAD = 3,
    /** Saves what a crash left behind the log's end, and cuts it off. */
    SPANLOG_ACTION_KIND_CUT_TAIL = 4,
    /** Derives the queues anew from the log. */
    SPANLOG_ACTION_KIND_REBUILD_QUEUES = 5,
    /** Writes the registry anew; the directories are those that the options name. */
    SPANLOG_ACTION_KIND_REWRITE_REGISTRY = 6,
    /** Writes marks, offsets and checkpoint anew. */
    SPANLOG_ACTION_KIND_REWRITE_MARKS = 7,
    /** Builds the key index anew from the log. */
    SPANLOG_ACTION_KIND_REBUILD_KEYS = 8,
    /** Saves a cursor's file, and writes anew what is whole of it. */
    SPANLOG_ACTION_KIND_MEND_CURSOR = 9,
    /** Something that this interface has no name for yet. */
    SPANLOG_ACTION_KIND_OTHER = 99,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_action_kind spanlog_action_kind;
#else
typedef int32_t spanlog_action_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What a push does when the queue is full. */
enum spanlog_on_full
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** SPANLOG_ON_FULL_REFUSE. */
    SPANLOG_ON_FULL_DEFAULT = 0,
    /** Fails at once with SPANLOG_STATUS_FULL. */
    SPANLOG_ON_FULL_REFUSE = 1,
    /** Waits until readers commit, and fails with SPANLOG_STATUS_FULL after `block_ms`. */
    SPANLOG_ON_FULL_BLOCK = 2,
    /**
     * Drops the oldest segment with all its records, counts them, and tells the readers that
     * still had to read them, by SPANLOG_STATUS_GONE.
     */
    SPANLOG_ON_FULL_DROP_OLDEST = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_on_full spanlog_on_full;
#else
typedef int32_t spanlog_on_full;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * When what was pushed is flushed to the device. After a kill everything is there in any case;
 * after a loss of power, what was flushed.
 */
enum spanlog_queue_durability
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** SPANLOG_QUEUE_DURABILITY_INTERVAL. */
    SPANLOG_QUEUE_DURABILITY_DEFAULT = 0,
    /** When the system does it, and at spanlog_queue_flush() and spanlog_queue_close(). */
    SPANLOG_QUEUE_DURABILITY_NONE = 1,
    /** When `flush_interval_ms` or `flush_records` is passed since the last flush. */
    SPANLOG_QUEUE_DURABILITY_INTERVAL = 2,
    /**
     * A push returns once it is durable; those that wait at one time share a flush. Readers may
     * see a record a moment before.
     */
    SPANLOG_QUEUE_DURABILITY_GROUP = 3,
    /** A push flushes alone, and readers see its records once they are durable. */
    SPANLOG_QUEUE_DURABILITY_EACH = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_queue_durability spanlog_queue_durability;
#else
typedef int32_t spanlog_queue_durability;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** The background work of a queue, for those who run it themselves. */
enum spanlog_queue_task
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Makes the next segment ready, one per run. */
    SPANLOG_QUEUE_TASK_PREPARE = 1,
    /** Flushes at the interval, and writes down how far everything is. */
    SPANLOG_QUEUE_TASK_FLUSH = 2,
    /** Measures the disks and lets the policy judge. */
    SPANLOG_QUEUE_TASK_PROBE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_queue_task spanlog_queue_task;
#else
typedef int32_t spanlog_queue_task;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Where a cursor goes on. */
enum spanlog_seek_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** At the first message kept of every queue. */
    SPANLOG_SEEK_KIND_START = 1,
    /** Behind the last message of every queue. */
    SPANLOG_SEEK_KIND_END = 2,
    /** At `offset` of `queue`. */
    SPANLOG_SEEK_KIND_OFFSET = 3,
    /** At the first message of every queue that was stored at or after `time_ms`. */
    SPANLOG_SEEK_KIND_TIME = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_seek_kind spanlog_seek_kind;
#else
typedef int32_t spanlog_seek_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** When appended bytes are flushed to the device. */
enum spanlog_durability
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** SPANLOG_DURABILITY_ASYNC. */
    SPANLOG_DURABILITY_DEFAULT = 0,
    /** Appends return at once; a loss of power may cost what was not flushed yet. */
    SPANLOG_DURABILITY_ASYNC = 1,
    /** Appends return once they are flushed; those that wait at one time share a flush. */
    SPANLOG_DURABILITY_GROUP = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_durability spanlog_durability;
#else
typedef int32_t spanlog_durability;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What is not as it should be. */
enum spanlog_finding_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Bytes that should be a record and are none. */
    SPANLOG_FINDING_KIND_RECORD = 1,
    /** What a crash left at the end of the log. */
    SPANLOG_FINDING_KIND_TORN_TAIL = 2,
    /** Bytes behind the end of the log. */
    SPANLOG_FINDING_KIND_LEFTOVER = 3,
    /** A segment file that is not what its name and length say. */
    SPANLOG_FINDING_KIND_SEGMENT = 4,
    /** A range of the log that no directory holds. */
    SPANLOG_FINDING_KIND_MISSING = 5,
    /** Bytes that the disk does not give. */
    SPANLOG_FINDING_KIND_UNREADABLE = 6,
    /** A unit of a queue that does not fit its record. */
    SPANLOG_FINDING_KIND_UNIT = 7,
    /** A file of a queue that is not what its name and length say. */
    SPANLOG_FINDING_KIND_QUEUE_FILE = 8,
    /** The registry of directories. */
    SPANLOG_FINDING_KIND_REGISTRY = 9,
    /** The marks of how far the log is durable. */
    SPANLOG_FINDING_KIND_MARKS = 10,
    /** The ledger of how far the queues are. */
    SPANLOG_FINDING_KIND_LEDGER = 11,
    /** RocketMQ's checkpoint. */
    SPANLOG_FINDING_KIND_CHECKPOINT = 12,
    /** An entry, slot or header of the key index that does not fit the log. */
    SPANLOG_FINDING_KIND_KEY = 13,
    /** A file of the key index that cannot be used. */
    SPANLOG_FINDING_KIND_KEY_FILE = 14,
    /** The file of a named consumer. */
    SPANLOG_FINDING_KIND_CURSOR = 15,
    /** Something that this interface has no name for yet. */
    SPANLOG_FINDING_KIND_OTHER = 99,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_finding_kind spanlog_finding_kind;
#else
typedef int32_t spanlog_finding_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Which message stands for a time that several have, or none. */
enum spanlog_boundary
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** The first at or after the time; one past the last if all are earlier. */
    SPANLOG_BOUNDARY_LOWER = 1,
    /** The last at or before the time; the first if all are later. */
    SPANLOG_BOUNDARY_UPPER = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_boundary spanlog_boundary;
#else
typedef int32_t spanlog_boundary;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What a key is. */
enum spanlog_key_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** SPANLOG_KEY_KIND_KEY. */
    SPANLOG_KEY_KIND_DEFAULT = 0,
    /** One of the message's keys. */
    SPANLOG_KEY_KIND_KEY = 1,
    /** The message's identifier. */
    SPANLOG_KEY_KIND_UNIQUE_ID = 2,
    /** The message's tags. */
    SPANLOG_KEY_KIND_TAG = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_key_kind spanlog_key_kind;
#else
typedef int32_t spanlog_key_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What opening does about damage below what was flushed. */
enum spanlog_on_damage
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** SPANLOG_ON_DAMAGE_REFUSE. */
    SPANLOG_ON_DAMAGE_DEFAULT = 0,
    /** Fails with SPANLOG_STATUS_CORRUPT. */
    SPANLOG_ON_DAMAGE_REFUSE = 1,
    /** Serves both sides of the damage. */
    SPANLOG_ON_DAMAGE_SKIP = 2,
    /** Ends the log before the damage: what lies behind it is lost. */
    SPANLOG_ON_DAMAGE_CUT = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_on_damage spanlog_on_damage;
#else
typedef int32_t spanlog_on_damage;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What is verified at the moment. */
enum spanlog_part
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Every record, with its checksums. */
    SPANLOG_PART_LOG = 1,
    /** Every unit of every queue. */
    SPANLOG_PART_QUEUES = 2,
    /** The small files that say how far the store has come. */
    SPANLOG_PART_MARKS = 3,
    /** Something that this interface has no name for yet. */
    SPANLOG_PART_OTHER = 99,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_part spanlog_part;
#else
typedef int32_t spanlog_part;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Which directory takes the next segment. */
enum spanlog_placement
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** SPANLOG_PLACEMENT_ROCKETMQ. */
    SPANLOG_PLACEMENT_DEFAULT = 0,
    /** Each directory in turn, as RocketMQ does. */
    SPANLOG_PLACEMENT_ROCKETMQ = 1,
    /** In proportion to the free bytes, so that unequal disks fill together. */
    SPANLOG_PLACEMENT_FREE_SPACE = 2,
    /** By a hash: adding a directory changes few choices. */
    SPANLOG_PLACEMENT_HASH = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_placement spanlog_placement;
#else
typedef int32_t spanlog_placement;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** The highest mark that is in force on a disk. Each includes those below it. */
enum spanlog_pressure
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Below all marks, or the usage is not known. */
    SPANLOG_PRESSURE_NONE = 0,
    /** Expired segments leave at once. */
    SPANLOG_PRESSURE_CLEAN = 1,
    /** No new segment goes here while another directory can take it. */
    SPANLOG_PRESSURE_FORCE = 2,
    /** No new segment goes here. */
    SPANLOG_PRESSURE_REFUSE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_pressure spanlog_pressure;
#else
typedef int32_t spanlog_pressure;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Of how many disks something must be true. */
enum spanlog_quantifier
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Each option says which it is. */
    SPANLOG_QUANTIFIER_DEFAULT = 0,
    /** One is enough. */
    SPANLOG_QUANTIFIER_ANY = 1,
    /** Every one. */
    SPANLOG_QUANTIFIER_ALL = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_quantifier spanlog_quantifier;
#else
typedef int32_t spanlog_quantifier;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What a range is that was reported. */
enum spanlog_range_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** What a crash left at the end and was no record; it was cut off. */
    SPANLOG_RANGE_KIND_TORN = 1,
    /** Damage that was passed over, with the option that allows it. */
    SPANLOG_RANGE_KIND_SKIPPED = 2,
    /** It lies on a directory that is not there. */
    SPANLOG_RANGE_KIND_OFFLINE = 3,
    /** What reading all of a queue found to be no record. */
    SPANLOG_RANGE_KIND_DAMAGED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_range_kind spanlog_range_kind;
#else
typedef int32_t spanlog_range_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What a read found, and so where to go on. */
enum spanlog_read_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Messages. */
    SPANLOG_READ_STATUS_FOUND = 1,
    /** The queue never had a message; go on at 0. */
    SPANLOG_READ_STATUS_NO_QUEUE = 2,
    /** Nothing was ever readable in the queue; go on at 0. */
    SPANLOG_READ_STATUS_EMPTY = 3,
    /** Retention dropped the offset; go on at the queue's minimum. */
    SPANLOG_READ_STATUS_TOO_SMALL = 4,
    /** The offset is the next to come; ask again. */
    SPANLOG_READ_STATUS_AT_END = 5,
    /** The offset is behind the next to come; go on at the maximum, never at the start. */
    SPANLOG_READ_STATUS_TOO_LARGE = 6,
    /** The messages at the offset are gone or lost; go on behind them. */
    SPANLOG_READ_STATUS_REMOVED = 7,
    /**
     * There are messages at the offset, and none of them has the tags that were asked for; go on
     * behind them.
     */
    SPANLOG_READ_STATUS_NO_MATCH = 8,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_read_status spanlog_read_status;
#else
typedef int32_t spanlog_read_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** Why a segment leaves or stays. */
enum spanlog_reason
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Leaves: it is past its age. */
    SPANLOG_REASON_EXPIRED = 1,
    /** Leaves although it is not past its age, because disks are full. */
    SPANLOG_REASON_FORCED = 2,
    /** Stays: it is the last, where appends go. */
    SPANLOG_REASON_KEPT_LAST = 3,
    /** Stays: one before it stays, and the log has no holes. */
    SPANLOG_REASON_KEPT_BEHIND = 4,
    /** Stays: its directory is read-only. */
    SPANLOG_REASON_KEPT_READ_ONLY = 5,
    /** Stays: it is not past its age. */
    SPANLOG_REASON_KEPT_YOUNG = 6,
    /** Stays: its age is not known. */
    SPANLOG_REASON_KEPT_UNDATED = 7,
    /** Stays: it is past its age, but nothing calls for cleaning. */
    SPANLOG_REASON_KEPT_NO_PRESSURE = 8,
    /** Stays for this round: enough were dropped before their age. */
    SPANLOG_REASON_KEPT_ROUND_LIMIT = 9,
    /** Stays: a cursor has not acknowledged all of it, and may hold it. */
    SPANLOG_REASON_KEPT_FOR_CURSOR = 10,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_reason spanlog_reason;
#else
typedef int32_t spanlog_reason;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** What a directory is for. */
enum spanlog_role
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** What the store remembers; for a new directory SPANLOG_ROLE_READ_WRITE. */
    SPANLOG_ROLE_DEFAULT = 0,
    /** Takes new segments. */
    SPANLOG_ROLE_READ_WRITE = 1,
    /** Takes no new segment; those it has are served, and leave by retention. */
    SPANLOG_ROLE_DRAINING = 2,
    /** Nothing in it changes: a mount that cannot be written. */
    SPANLOG_ROLE_READ_ONLY = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_role spanlog_role;
#else
typedef int32_t spanlog_role;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** A choice of yes or no whose default is told beside it. */
enum spanlog_switch
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** As told beside it. */
    SPANLOG_SWITCH_DEFAULT = 0,
    /** Yes. */
    SPANLOG_SWITCH_ON = 1,
    /** No. */
    SPANLOG_SWITCH_OFF = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_switch spanlog_switch;
#else
typedef int32_t spanlog_switch;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/** The background work of a store, for those who run it themselves. */
enum spanlog_task
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /** Makes appended bytes durable, at the store's interval. */
    SPANLOG_TASK_FLUSH = 1,
    /** Adds visible records to their queues. */
    SPANLOG_TASK_INDEX = 2,
    /** Writes down how far log and queues are durable. */
    SPANLOG_TASK_CHECKPOINT = 3,
    /** Measures the disks and lets the policy judge. */
    SPANLOG_TASK_PROBE = 4,
    /** Drops segments that the policy lets go, one per run. */
    SPANLOG_TASK_CLEAN = 5,
    /** Makes the next pages and the next segment ready. */
    SPANLOG_TASK_PREPARE = 6,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum spanlog_task spanlog_task;
#else
typedef int32_t spanlog_task;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Messages that one call found. It keeps their bytes for as long as it lives, also after the
 * store was closed or retention dropped them. To be freed with spanlog_batch_free(); only one
 * thread at a time may free it, any may read it meanwhile.
 */
typedef struct spanlog_batch spanlog_batch;

/**
 * A named consumer of a topic, open. Threads that poll at once share its messages. What was
 * acknowledged is durable once spanlog_cursor_commit() returned, and closing the cursor or its
 * store commits; after a crash, what was not committed comes again. To be closed with
 * spanlog_cursor_close().
 */
typedef struct spanlog_cursor spanlog_cursor;

/**
 * What one poll gave. It keeps the bytes of its messages for as long as it lives, also after the
 * store was closed. To be freed with spanlog_delivery_free().
 */
typedef struct spanlog_delivery spanlog_delivery;

/**
 * Why a call failed. Made only when a place for it was given and the call failed; to be freed
 * with spanlog_error_free().
 */
typedef struct spanlog_error spanlog_error;

/**
 * A list that one call made, of one kind of element. To be freed with spanlog_list_free(); what
 * its elements point to lives as long.
 */
typedef struct spanlog_list spanlog_list;

/**
 * An open queue: a persistent line of records with a fixed budget of memory and disk. Any thread
 * may call any function with it at any time; pushes take turns. A record is kept until every
 * reader has committed it; without any reader, until there is one.
 */
typedef struct spanlog_queue spanlog_queue;

/**
 * A named reader of a queue. It pops what was pushed, in order; what it has popped and not
 * committed it gets again after spanlog_reader_rewind() and when the queue is opened again.
 * Handles of one name share one place. To be freed with spanlog_reader_free(), which changes
 * nothing of the reader; it may outlive the queue.
 */
typedef struct spanlog_reader spanlog_reader;

/**
 * Records that one call popped. It keeps their bytes for as long as it lives, also after they were
 * committed or the queue was closed; until then their files count against the capacity. To be
 * freed with spanlog_records_free().
 */
typedef struct spanlog_records spanlog_records;

/**
 * What mending a store takes. Nothing is done before spanlog_repair_apply(). To be freed with
 * spanlog_repair_free(), unless it was applied.
 */
typedef struct spanlog_repair spanlog_repair;

/** An open store. Any thread may call any function with it at any time; appends take turns. */
typedef struct spanlog_store spanlog_store;

/**
 * A look at everything of a store, in bounded steps. To be freed with
 * spanlog_verification_free(). Calls with one of them take turns.
 */
typedef struct spanlog_verification spanlog_verification;

/**
 * Tells whether there is more than was seen. Any number of them costs no thread. To be freed with
 * spanlog_watch_free(); it may outlive the store.
 */
typedef struct spanlog_watch spanlog_watch;

/** A name and a value, in UTF-8. */
typedef struct spanlog_property {
    /** The name. */
    const char *name;
    /** The value. */
    const char *value;
} spanlog_property;

/**
 * A message to append. Begin with SPANLOG_MESSAGE_INIT. Everything is copied before the call
 * returns. Texts are UTF-8 and end with NUL.
 */
typedef struct spanlog_message {
    /** sizeof(spanlog_message). */
    size_t struct_size;
    /** The topic: 1 to 255 of letters, digits, '%', '|', '_' and '-'. */
    const char *topic;
    /** The payload; NULL for an empty one. */
    const void *body;
    /** How many bytes it has. */
    size_t body_len;
    /** What consumers filter by; NULL for none. */
    const char *tags;
    /** What the message is found by; NULL for nothing. */
    const char *const *keys;
    /** How many keys there are. */
    size_t key_count;
    /** Further properties; NULL for none. */
    const struct spanlog_property *properties;
    /** How many there are. */
    size_t property_count;
    /** Who made the message, "ip:port"; NULL for "127.0.0.1:0". */
    const char *born_host;
    /** When the message was made, in ms since 1970; 0 for now. */
    int64_t born_ms;
    /** With a committed transaction: the position of its prepared message. */
    uint64_t prepared_position;
    /** The queue within the topic, at most 2^31-1. */
    uint32_t queue;
    /** A number of the caller's own. */
    int32_t flag;
    /** System flags, as RocketMQ's MessageSysFlag. */
    int32_t sys_flag;
    /** How often consumers gave it back. */
    int32_t reconsume_times;
    /** Must be 0. */
    int32_t reserved;
    /** Must be 0. */
    int32_t reserved2;
} spanlog_message;

/** Where a message, or the first one of a batch, was put. */
typedef struct spanlog_receipt {
    /** Where its record begins in the log. */
    uint64_t position;
    /** Its number within its queue; those of a batch follow each other. */
    uint64_t queue_offset;
    /** The position after the last record. */
    uint64_t end;
    /** When it was stored, in ms since 1970. */
    int64_t store_ms;
} spanlog_receipt;

/**
 * Bytes or text that belong to something else, which says how long they live. `data` may be NULL
 * where `len` is 0, and text does not end with NUL.
 */
typedef struct spanlog_bytes {
    /** The first byte. */
    const char *data;
    /** How many there are. */
    size_t len;
} spanlog_bytes;

/**
 * A message that was read. What it points to belongs to the batch, or lies in the caller's
 * buffer.
 */
typedef struct spanlog_message_view {
    /** The topic. */
    struct spanlog_bytes topic;
    /** The payload. */
    struct spanlog_bytes body;
    /** What consumers filter by; `data` is NULL if there is nothing. */
    struct spanlog_bytes tags;
    /** What the message is found by, separated by spaces; `data` is NULL if there is nothing. */
    struct spanlog_bytes keys;
    /** The identifier that the producer, or else the store, gave; `data` is NULL without one. */
    struct spanlog_bytes unique_id;
    /** The whole record, as it stands on disk. */
    struct spanlog_bytes record;
    /** Its number within its queue. */
    uint64_t queue_offset;
    /** Where its record begins in the log. */
    uint64_t position;
    /** With a committed transaction: the position of its prepared message. */
    uint64_t prepared_position;
    /** When it was made, in ms since 1970, by the producer's clock. */
    int64_t born_ms;
    /** When it was stored, in ms since 1970, by the store's clock. */
    int64_t store_ms;
    /** The queue within the topic. */
    uint32_t queue;
    /** The caller's own number. */
    int32_t flag;
    /** System flags, as RocketMQ's MessageSysFlag. */
    int32_t sys_flag;
    /** How often consumers gave it back. */
    int32_t reconsume_times;
} spanlog_message_view;

/** What a read found besides messages. */
typedef struct spanlog_batch_info {
    /** sizeof(spanlog_batch_info). */
    size_t struct_size;
    /** Number of messages. */
    uint64_t count;
    /** Where to read on. */
    uint64_t next;
    /** The queue's first message kept, as of this read. */
    uint64_t min;
    /** One past its last. */
    uint64_t max;
    /** With SPANLOG_STATUS_TOO_SMALL: the bytes that the first message takes. */
    uint64_t needed_bytes;
    /** A spanlog_read_status. */
    int32_t status;
    /** 0. */
    int32_t reserved;
} spanlog_batch_info;

/** How a cursor is opened. Its hold, and whether it is about all queues, are kept with it. */
typedef struct spanlog_cursor_options {
    /** sizeof(spanlog_cursor_options). */
    size_t struct_size;
    /** The queues that it is about; NULL for all of the topic's, also those to come. */
    const uint32_t *queues;
    /** How many there are. */
    size_t queue_count;
    /** After how long a message that was not acknowledged comes again, in ms. Default 30,000. */
    uint64_t visibility_ms;
    /** How many messages of one queue may wait to be acknowledged. Default 1024, up to 3600. */
    uint64_t max_pending;
    /**
     * Keeps segments from being dropped that it has not acknowledged, until they are so old, in
     * ms. Default: no such hold.
     */
    uint64_t hold_age_ms;
    /**
     * As above, until they begin so many bytes below the log's end. Default: no such hold. With
     * both, what comes first ends it.
     */
    uint64_t hold_bytes;
    /**
     * Whether a cursor that is made now begins at the end of its queues: a spanlog_switch, off by
     * default: at their start.
     */
    int32_t from_end;
    /** Must be 0. */
    int32_t reserved;
} spanlog_cursor_options;

/** How much one read may return. At least one message is returned whatever its size. */
typedef struct spanlog_read_options {
    /** sizeof(spanlog_read_options). */
    size_t struct_size;
    /** Number of messages. Default 256. */
    uint64_t max_messages;
    /** Bytes of whole records. Default 1 MiB. */
    uint64_t max_bytes;
    /**
     * Whether the checksums of each message are checked: a spanlog_switch, on by default. Without
     * it only the structure of records is.
     */
    int32_t verify;
    /** Must be 0. */
    int32_t reserved;
} spanlog_read_options;

/** Where a cursor goes on. */
typedef struct spanlog_seek {
    /** sizeof(spanlog_seek). */
    size_t struct_size;
    /** With SPANLOG_SEEK_KIND_OFFSET: within what is kept, or at its end. */
    uint64_t offset;
    /** With SPANLOG_SEEK_KIND_TIME: ms since 1970. */
    int64_t time_ms;
    /** With SPANLOG_SEEK_KIND_OFFSET: the queue. */
    uint32_t queue;
    /** A spanlog_seek_kind; there is no default. */
    int32_t kind;
} spanlog_seek;

/** What a cursor has not acknowledged, over all its queues. */
typedef struct spanlog_lag {
    /** sizeof(spanlog_lag). */
    size_t struct_size;
    /** Messages. */
    uint64_t messages;
    /** Bytes of their records. */
    uint64_t bytes;
    /** Since when the oldest of them has been stored, in ms, if `has_age`. */
    uint64_t age_ms;
    /** 1 if the age is known: there is a message. */
    int32_t has_age;
    /** 0. */
    int32_t reserved;
} spanlog_lag;

/** A cursor of a store. */
typedef struct spanlog_cursor_info {
    /** sizeof(spanlog_cursor_info). */
    size_t struct_size;
    /** Its topic. */
    const char *topic;
    /** Its name. */
    const char *name;
    /** Why its file cannot be used; NULL if it can. */
    const char *damage;
    /** How old segments may be that it keeps from being dropped, in ms; 0 without such a hold. */
    uint64_t hold_age_ms;
    /** How far below the log's end they may begin, in bytes; 0 without such a hold. */
    uint64_t hold_bytes;
    /** How many queues spanlog_store_cursor_queues() lists. */
    uint64_t queues;
    /** Messages that are not acknowledged, over all queues. */
    uint64_t lag_messages;
    /** Bytes of their records. */
    uint64_t lag_bytes;
    /** Since when the oldest of them has been stored, in ms; 0 without any. */
    uint64_t lag_age_ms;
    /** 1 if it is open in this process. */
    int32_t is_open;
    /** 0. */
    int32_t reserved;
} spanlog_cursor_info;

/** Where a cursor stands in one queue. */
typedef struct spanlog_cursor_queue {
    /** sizeof(spanlog_cursor_queue). */
    size_t struct_size;
    /** Everything below is acknowledged. */
    uint64_t acknowledged;
    /** Everything below is acknowledged, durably. */
    uint64_t committed;
    /** The first message that was not delivered yet. */
    uint64_t next;
    /** The queue's first message kept. */
    uint64_t min;
    /** One past its last. */
    uint64_t max;
    /** Messages that are not acknowledged. */
    uint64_t lag_messages;
    /** Bytes of their records. */
    uint64_t lag_bytes;
    /** Since when the oldest of them has been stored, in ms; 0 without any. */
    uint64_t lag_age_ms;
    /** The queue. */
    uint32_t queue;
    /** 0. */
    int32_t reserved;
} spanlog_cursor_queue;

/** A message that was delivered. */
typedef struct spanlog_delivered {
    /** The message; acknowledge its `queue` and `queue_offset`. */
    struct spanlog_message_view message;
    /**
     * How often it was delivered, from 1; counted from 2 on for what was delivered before the
     * store was opened.
     */
    uint32_t attempt;
    /** 0. */
    int32_t reserved;
} spanlog_delivered;

/** Retention dropped messages that a cursor had not acknowledged. It goes on behind them. */
typedef struct spanlog_overtaken {
    /** The first offset that is gone. */
    uint64_t from;
    /** One past the last: where the queue starts now. */
    uint64_t to;
    /** The queue. */
    uint32_t queue;
    /** 0. */
    int32_t reserved;
} spanlog_overtaken;

/**
 * A queue, or a message of it, that could not be read while others could. The next poll tries the
 * queue again, and a message once it is due; seek past what is damaged, or acknowledge it.
 */
typedef struct spanlog_failure {
    /** What is wrong, in words. */
    const char *text;
    /** The file, in the system's bytes; NULL if there is none. */
    const char *path;
    /** The byte in the file, or the position of the log; 0 if it is not known. */
    uint64_t offset;
    /** The queue. */
    uint32_t queue;
    /** A spanlog_status, as reading the queue would return it. */
    int32_t status;
} spanlog_failure;

/** The marks of a disk, as used ratios from 0 to 1. 0 stands for the default. */
typedef struct spanlog_thresholds {
    /** sizeof(spanlog_thresholds). */
    size_t struct_size;
    /** Above it segments past their age leave at once. Default 0.75, from 0.10 to 0.95. */
    double clean;
    /**
     * Above it the directory takes no new segment while another can; when all are above it,
     * segments are dropped regardless of age. Default 0.85, from 0.30 to 0.85.
     */
    double force;
    /**
     * Above it the directory takes no new segment at all; when all are above it, appends are
     * refused. Default 0.90, from 0.35 to 0.90.
     */
    double refuse;
    /**
     * How far usage must fall below a mark to end it. Default 0.01, up to 0.05; a negative number
     * stands for none.
     */
    double hysteresis;
    /** Free bytes to keep: with fewer the directory counts as above `force`. Default none. */
    uint64_t floor_bytes;
} spanlog_thresholds;

/** A directory of segments. */
typedef struct spanlog_directory_options {
    /** sizeof(spanlog_directory_options). */
    size_t struct_size;
    /** Where it is, in the system's bytes. */
    const char *path;
    /** Its own marks; NULL for the store's. */
    const struct spanlog_thresholds *thresholds;
    /** A spanlog_role. */
    int32_t role;
    /** Must be 0. */
    int32_t reserved;
} spanlog_directory_options;

/** A directory of a store. */
typedef struct spanlog_disk {
    /** sizeof(spanlog_disk). */
    size_t struct_size;
    /** Where it is, in the system's bytes. */
    const char *path;
    /** Why it cannot be used; NULL if it can. */
    const char *offline;
    /** The file system it is on: directories with the same number share their space. */
    uint64_t device;
    /** Bytes in use, if `has_usage`. */
    uint64_t used_bytes;
    /** Bytes this process could still write, if `has_usage`. */
    uint64_t available_bytes;
    /** Number of segments it holds. */
    uint64_t segments;
    /** Bytes of segments it holds. */
    uint64_t segment_bytes;
    /** Used / (used + available), from 0 to 1, if `has_usage`; else 0. */
    double used_ratio;
    /** Its marks, as in spanlog_thresholds. */
    double clean;
    /** As above. */
    double force;
    /** As above. */
    double refuse;
    /** As above. */
    double hysteresis;
    /** As above. */
    uint64_t floor_bytes;
    /** A spanlog_role. */
    int32_t role;
    /** A spanlog_pressure. */
    int32_t pressure;
    /** 1 if the next segment may go there. */
    int32_t takes_segments;
    /** 1 if its disk's usage is known. */
    int32_t has_usage;
} spanlog_disk;

/** A segment of the log. */
typedef struct spanlog_segment {
    /** sizeof(spanlog_segment). */
    size_t struct_size;
    /** Its file, in the system's bytes. */
    const char *path;
    /** First position it covers. */
    uint64_t base;
    /** Length in bytes. */
    uint64_t len_bytes;
    /** Store time of its last record, in ms since 1970; 0 where nobody has read it. */
    int64_t last_store_ms;
    /** 1 if a batch holds it. */
    int32_t held;
    /** 1 if retention dropped it; its space comes back when it is released. */
    int32_t dropped;
} spanlog_segment;

/** A queue of a topic. */
typedef struct spanlog_queue_info {
    /** sizeof(spanlog_queue_info). */
    size_t struct_size;
    /** The topic. */
    const char *topic;
    /** The first message kept. */
    uint64_t min;
    /** One past the last that can be read. */
    uint64_t max;
    /** The queue's number. */
    uint32_t queue;
    /** 0. */
    int32_t reserved;
} spanlog_queue_info;

/** What a round of cleaning would do with a segment. */
typedef struct spanlog_fate {
    /** sizeof(spanlog_fate). */
    size_t struct_size;
    /** The reason in words. */
    const char *text;
    /** The segment's first position. */
    uint64_t base;
    /** Its length in bytes. */
    uint64_t len_bytes;
    /** A spanlog_reason. */
    int32_t reason;
    /** 1 if it leaves. */
    int32_t drops;
} spanlog_fate;

/** A segment that cleaning dropped since the store was opened. */
typedef struct spanlog_dropped {
    /** sizeof(spanlog_dropped). */
    size_t struct_size;
    /** Its file, in the system's bytes. */
    const char *path;
    /** Why, in words. */
    const char *reason;
    /** Its first position. */
    uint64_t base;
    /** When, in ms since 1970. */
    int64_t at_ms;
} spanlog_dropped;

/** A range of a log, or of a queue's line, that opening or verifying reported. */
typedef struct spanlog_range {
    /** sizeof(spanlog_range). */
    size_t struct_size;
    /** The file it begins in, in the system's bytes; NULL if it is not there. */
    const char *path;
    /** What is wrong, in words. */
    const char *reason;
    /** Its first position. */
    uint64_t from;
    /** One past its last. */
    uint64_t to;
    /** A spanlog_range_kind. */
    int32_t kind;
    /** 0. */
    int32_t reserved;
} spanlog_range;

/** Something of a store that is not as it should be. */
typedef struct spanlog_finding {
    /** sizeof(spanlog_finding). */
    size_t struct_size;
    /** The file, in the system's bytes. */
    const char *path;
    /** What is wrong, in words. */
    const char *text;
    /** The byte in the file where it begins. */
    uint64_t offset;
    /** How many bytes it concerns. */
    uint64_t len_bytes;
    /** The first position of the log that is concerned; both are 0 if none is. */
    uint64_t from;
    /** One past the last. */
    uint64_t to;
    /** A spanlog_finding_kind. */
    int32_t kind;
    /** 1 if it is damage; 0 for what a crash leaves and opening puts right. */
    int32_t is_damage;
} spanlog_finding;

/** Which messages with a key are wanted. */
typedef struct spanlog_query_options {
    /** sizeof(spanlog_query_options). */
    size_t struct_size;
    /** The oldest store time, in ms since 1970; 0 for the oldest there is. */
    int64_t from_ms;
    /** The youngest store time, itself included; 0 for the youngest there is. */
    int64_t to_ms;
    /** Number of messages. Default 32. */
    uint64_t max_messages;
    /** A spanlog_key_kind. */
    int32_t kind;
    /** Must be 0. */
    int32_t reserved;
} spanlog_query_options;

/**
 * How a queue is opened. Begin with SPANLOG_QUEUE_OPTIONS_INIT: every field that is 0 or NULL
 * stands for its default, and SPANLOG_ZERO for the number 0 where that is something else. Values
 * out of range are refused, never clamped.
 */
typedef struct spanlog_queue_options {
    /** sizeof(spanlog_queue_options). */
    size_t struct_size;
    /**
     * The directories of segments; NULL for those that the queue remembers, or for a new queue
     * "segments" under its root.
     */
    const struct spanlog_directory_options *directories;
    /** How many there are. */
    size_t directory_count;
    /**
     * The marks where a directory has none of its own; NULL for 75, 85 and 90 %. Above `force` a
     * disk takes no new segment, above `refuse` pushes are refused.
     */
    const struct spanlog_thresholds *thresholds;
    /**
     * Length of every segment: whole pages of 4096 bytes, up to 1 GiB. A queue that exists keeps
     * its own. Default 256 KiB.
     */
    uint64_t segment_len_bytes;
    /**
     * The most segment files there may be, from 4 to 2^24. Default 2000. It may be changed at any
     * opening, but not to less than is in use.
     */
    uint64_t capacity_segments;
    /**
     * The most bytes of segment files; where it allows fewer segments than `capacity_segments`,
     * it counts. Default: no such limit.
     */
    uint64_t capacity_bytes;
    /**
     * The longest record, in bytes; it may be longer than a segment. Default 4 MiB, or what fits.
     */
    uint64_t max_record_bytes;
    /** The most segments that are mapped at a time, at least 4. Default 64. */
    uint64_t max_in_memory_segments;
    /** With SPANLOG_ON_FULL_BLOCK: how long a push waits, in ms. Default for ever. */
    uint64_t block_ms;
    /**
     * With SPANLOG_QUEUE_DURABILITY_INTERVAL: ms between two flushes. Default 1000, up to a day.
     */
    uint64_t flush_interval_ms;
    /** With SPANLOG_QUEUE_DURABILITY_INTERVAL: records between two flushes. Default 10,000. */
    uint64_t flush_records;
    /** Time between two looks at the disks, in ms. Default 10,000, from 10 to a day. */
    uint64_t probe_interval_ms;
    /** A spanlog_placement: which directory takes the next new segment. */
    int32_t placement;
    /** A spanlog_on_full. */
    int32_t on_full;
    /** A spanlog_queue_durability. */
    int32_t durability;
    /** Whether a queue that does not exist is created: a spanlog_switch, on by default. */
    int32_t create;
    /**
     * Whether threads prepare segments and flush. On by default; with off nobody does but
     * spanlog_queue_run().
     */
    int32_t background;
    /** Must be 0. */
    int32_t reserved;
} spanlog_queue_options;

/** A queue at one moment. */
typedef struct spanlog_queue_figures {
    /** sizeof(spanlog_queue_figures). */
    size_t struct_size;
    /** Where the first record kept begins. */
    uint64_t start;
    /** Where the last record ends. */
    uint64_t end;
    /** Everything before is durable. */
    uint64_t flushed;
    /** Records pushed since the queue was made, but for those that were lost with power. */
    uint64_t pushed;
    /** Records kept, until the slowest reader commits them. */
    uint64_t records;
    /** Bytes from start to end, heads included. */
    uint64_t bytes;
    /** Records that were dropped because the queue was full. */
    uint64_t dropped;
    /** Length of every segment in bytes. */
    uint64_t segment_len_bytes;
    /** The most segment files there may be. */
    uint64_t capacity_segments;
    /** Segment files there are. */
    uint64_t segments;
    /** Segments that are mapped. */
    uint64_t mapped_segments;
    /** Records that opening found behind what was known to be durable. */
    uint64_t found_records;
    /** 1 if the queue had been closed when it was opened. */
    int32_t was_clean;
    /** 1 if its meta page was lost then, so that everything was found by reading. */
    int32_t was_meta_lost;
} spanlog_queue_figures;

/** A reader at one moment. */
typedef struct spanlog_reader_info {
    /** sizeof(spanlog_reader_info). */
    size_t struct_size;
    /** Its name. */
    const char *name;
    /** Everything before is committed. */
    uint64_t committed;
    /** What it pops next. */
    uint64_t reading;
    /** Records that it has not committed. */
    uint64_t records;
    /** Bytes that it has not popped, heads included. */
    uint64_t unread_bytes;
} spanlog_reader_info;

/** What reading all of a queue found. */
typedef struct spanlog_queue_verdict {
    /** sizeof(spanlog_queue_verdict). */
    size_t struct_size;
    /** Whole records. */
    uint64_t records;
    /** Bytes of their payloads. */
    uint64_t payload_bytes;
    /** Ranges that are no records. */
    uint64_t damaged;
} spanlog_queue_verdict;

/** Which messages of a queue are there. */
typedef struct spanlog_bounds {
    /** The first message kept. */
    uint64_t min;
    /** One past the last that can be read. */
    uint64_t max;
} spanlog_bounds;

/** A record of a queue. */
typedef struct spanlog_record {
    /** Its bytes. */
    struct spanlog_bytes payload;
    /** Where it begins on the queue's line. */
    uint64_t position;
    /** Where it ends: committing up to there commits it. */
    uint64_t end;
    /** How many records were pushed before it. */
    uint64_t number;
} spanlog_record;

/** One thing that mending a store takes. */
typedef struct spanlog_action {
    /** sizeof(spanlog_action). */
    size_t struct_size;
    /** What will be done, in words. */
    const char *text;
    /** The file, in the system's bytes; NULL if it is about none. */
    const char *path;
    /** The first position of the log that is concerned; both are 0 if none is. */
    uint64_t from;
    /** One past the last. */
    uint64_t to;
    /** A spanlog_action_kind. */
    int32_t kind;
    /** 0. */
    int32_t reserved;
} spanlog_action;

/** A file with what a repair cut or wrote over, as it stood there. */
typedef struct spanlog_saved {
    /** sizeof(spanlog_saved). */
    size_t struct_size;
    /** Where it is, in the system's bytes. */
    const char *path;
} spanlog_saved;

/** The positions that tell how far a store has come. */
typedef struct spanlog_watermarks {
    /** First byte still kept. */
    uint64_t start;
    /** Everything below is durable. */
    uint64_t flushed;
    /** Everything below is in the queues. */
    uint64_t indexed;
    /** Everything below is written. */
    uint64_t appended;
} spanlog_watermarks;

/** A store in numbers. */
typedef struct spanlog_stats {
    /** sizeof(spanlog_stats). */
    size_t struct_size;
    /** The positions. */
    struct spanlog_watermarks watermarks;
    /** Length of every segment in bytes. */
    uint64_t segment_len_bytes;
    /** Number of directories. */
    uint64_t directories;
    /** Number of segments, those included that are dropped and still held. */
    uint64_t segments;
    /** Number of queues. */
    uint64_t queues;
    /** Files mapped now. */
    uint64_t maps;
    /** 1 if appends are refused now; an append tells why. */
    int32_t refused;
    /** 1 if a flush failed, so that nothing more can be promised. */
    int32_t poisoned;
} spanlog_stats;

/** What opening a store found and did. */
typedef struct spanlog_recovery {
    /** sizeof(spanlog_recovery). */
    size_t struct_size;
    /** Where reading began: everything below was known. */
    uint64_t scanned_from;
    /** Where the log ends. */
    uint64_t end;
    /** Records that were read. */
    uint64_t records;
    /** Whole records behind the cut, saved beside the store. */
    uint64_t salvaged_records;
    /** Files in the segment directories that are none of the store's, left alone. */
    uint64_t ignored_files;
    /** 1 if the store had been closed cleanly. */
    int32_t was_clean;
    /** 1 if the queues were derived anew from the whole log. */
    int32_t rebuilt_queues;
} spanlog_recovery;

/**
 * How a store is opened and run. Begin with SPANLOG_OPTIONS_INIT: every field that is 0 or NULL
 * stands for its default, and SPANLOG_ZERO stands for the number 0 where that is something else.
 * Values out of range are refused, never clamped.
 */
typedef struct spanlog_options {
    /** sizeof(spanlog_options). */
    size_t struct_size;
    /**
     * The directories of segments; NULL for those that the store remembers, or for a new store
     * "commitlog" under its root.
     */
    const struct spanlog_directory_options *directories;
    /** How many there are. */
    size_t directory_count;
    /** The marks where a directory has none of its own; NULL for 75, 85 and 90 %. */
    const struct spanlog_thresholds *thresholds;
    /**
     * Hours of the day, local time, in which expired segments are dropped without pressure:
     * "4;16", or "never". NULL for "4".
     */
    const char *delete_hours;
    /**
     * The address that goes into records as the one that stored them, "ip:port"; NULL for
     * "127.0.0.1:10911".
     */
    const char *store_host;
    /**
     * Length of a segment file of a store that has none yet. Default 1 GiB, from 4096 to 2^31-1.
     */
    uint64_t segment_len_bytes;
    /** Length of a queue file: a multiple of 20. Default 6,000,000, from 20 to 2^31-1. */
    uint64_t queue_file_len_bytes;
    /** With asynchronous durability, ms between two flushes. Default 500, up to a day. */
    uint64_t flush_interval_ms;
    /** With asynchronous durability, bytes between two flushes. Default 16 MiB. */
    uint64_t flush_bytes;
    /**
     * How long a segment is kept after its last record, in ms. Default 72 h; SPANLOG_ZERO keeps
     * none but the last.
     */
    uint64_t retention_ms;
    /**
     * Pause between two files that cleaning removes, in ms. Default 100, up to a minute;
     * SPANLOG_ZERO for none.
     */
    uint64_t clean_pause_ms;
    /** Time between two looks at the disks, in ms. Default 10,000, from 10 to a day. */
    uint64_t probe_interval_ms;
    /** Time between two rounds of cleaning, in ms. Default 10,000, from 10 to a day. */
    uint64_t clean_interval_ms;
    /** Time between two checkpoints, in ms. Default 1000, from 10 to a day. */
    uint64_t checkpoint_interval_ms;
    /** The largest body, in bytes. Default 4 MiB, up to 2^31-1. */
    uint64_t max_body_bytes;
    /**
     * How many bytes ahead of the writer pages are made ready. Default 64 MiB; SPANLOG_ZERO for
     * none.
     */
    uint64_t prepare_bytes;
    /** How many files are mapped or open at most. Default 1024, from 4 to 60,000. */
    uint64_t max_maps;
    /** How many segments that are not expired one round of cleaning may drop. Default 10. */
    uint32_t max_forced_per_round;
    /** A spanlog_placement. */
    int32_t placement;
    /** A spanlog_durability. */
    int32_t durability;
    /** Of how many disks usage must be above `clean`: a spanlog_quantifier, any by default. */
    int32_t clean_on;
    /** Of how many writable disks usage must be above `force`: all by default. */
    int32_t force_on;
    /** Of how many writable disks usage must be above `refuse`: all by default. */
    int32_t refuse_on;
    /** A spanlog_on_damage. */
    int32_t on_damage;
    /**
     * Whether segments that are not expired are dropped when disks are full: a spanlog_switch, on
     * by default.
     */
    int32_t forced_clean;
    /** Whether reads, too, are refused while the disks are full. Off by default. */
    int32_t refuse_reads_when_full;
    /** Whether each record carries a checksum over all of it. On by default. */
    int32_t record_checksum;
    /** Whether a store opens without directories that are not there. Off by default. */
    int32_t allow_offline;
    /** Whether a root that lost its registry takes over the directories named. Off by default. */
    int32_t adopt;
    /** Whether the store is opened for reading alone. Off by default. */
    int32_t read_only;
    /** Whether a store that does not exist is created. On by default. */
    int32_t create;
    /**
     * Whether threads run the store's steps. On by default; with off nobody runs them but
     * spanlog_store_run().
     */
    int32_t background;
    /**
     * Whether messages can be looked up by key without reading the log. On by default; with off
     * no index is written, and looking up reads the log.
     */
    int32_t key_index;
    /**
     * Number of slots in an index file. Default 5,000,000 with segments of 1 GiB, fewer with
     * shorter ones, and in a store that has an index what that has; another number builds it anew.
     */
    uint32_t index_slots;
    /**
     * Number of entries in an index file, likewise. Default 20,000,000 with segments of 1 GiB.
     */
    uint32_t index_entries;
} spanlog_options;

/** How far a part is verified. */
typedef struct spanlog_progress {
    /** What is done of it. */
    uint64_t done;
    /** What there is of it. */
    uint64_t total;
    /** A spanlog_part. */
    int32_t part;
    /** 0. */
    int32_t reserved;
} spanlog_progress;

/** What was verified, so far. */
typedef struct spanlog_verdict {
    /** sizeof(spanlog_verdict). */
    size_t struct_size;
    /** Records that were looked at. */
    uint64_t records;
    /** The first position that is verified. */
    uint64_t from;
    /** One past the last. */
    uint64_t to;
    /** How many findings spanlog_verification_findings() lists. */
    uint64_t findings;
    /** How many there are besides. */
    uint64_t more_findings;
    /** 1 if nothing that was found is damage. */
    int32_t is_sound;
    /** 1 if the store had been closed cleanly. */
    int32_t was_closed;
} spanlog_verdict;

#define SPANLOG_MESSAGE_INIT SPANLOG_SIZED(spanlog_message)
#define SPANLOG_BATCH_INFO_INIT SPANLOG_SIZED(spanlog_batch_info)
#define SPANLOG_CURSOR_OPTIONS_INIT SPANLOG_SIZED(spanlog_cursor_options)
#define SPANLOG_READ_OPTIONS_INIT SPANLOG_SIZED(spanlog_read_options)
#define SPANLOG_SEEK_INIT SPANLOG_SIZED(spanlog_seek)
#define SPANLOG_LAG_INIT SPANLOG_SIZED(spanlog_lag)
#define SPANLOG_CURSOR_INFO_INIT SPANLOG_SIZED(spanlog_cursor_info)
#define SPANLOG_CURSOR_QUEUE_INIT SPANLOG_SIZED(spanlog_cursor_queue)
#define SPANLOG_THRESHOLDS_INIT SPANLOG_SIZED(spanlog_thresholds)
#define SPANLOG_DIRECTORY_OPTIONS_INIT SPANLOG_SIZED(spanlog_directory_options)
#define SPANLOG_DISK_INIT SPANLOG_SIZED(spanlog_disk)
#define SPANLOG_SEGMENT_INIT SPANLOG_SIZED(spanlog_segment)
#define SPANLOG_QUEUE_INFO_INIT SPANLOG_SIZED(spanlog_queue_info)
#define SPANLOG_FATE_INIT SPANLOG_SIZED(spanlog_fate)
#define SPANLOG_DROPPED_INIT SPANLOG_SIZED(spanlog_dropped)
#define SPANLOG_RANGE_INIT SPANLOG_SIZED(spanlog_range)
#define SPANLOG_FINDING_INIT SPANLOG_SIZED(spanlog_finding)
#define SPANLOG_QUERY_OPTIONS_INIT SPANLOG_SIZED(spanlog_query_options)
#define SPANLOG_QUEUE_OPTIONS_INIT SPANLOG_SIZED(spanlog_queue_options)
#define SPANLOG_QUEUE_FIGURES_INIT SPANLOG_SIZED(spanlog_queue_figures)
#define SPANLOG_READER_INFO_INIT SPANLOG_SIZED(spanlog_reader_info)
#define SPANLOG_QUEUE_VERDICT_INIT SPANLOG_SIZED(spanlog_queue_verdict)
#define SPANLOG_ACTION_INIT SPANLOG_SIZED(spanlog_action)
#define SPANLOG_SAVED_INIT SPANLOG_SIZED(spanlog_saved)
#define SPANLOG_STATS_INIT SPANLOG_SIZED(spanlog_stats)
#define SPANLOG_RECOVERY_INIT SPANLOG_SIZED(spanlog_recovery)
#define SPANLOG_OPTIONS_INIT SPANLOG_SIZED(spanlog_options)
#define SPANLOG_VERDICT_INIT SPANLOG_SIZED(spanlog_verdict)

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Appends one message. When it returns, the message is in the log and survives the end of this
 * process; with SPANLOG_DURABILITY_GROUP it also survives the loss of power. `receipt` may be
 * NULL.
 *
 * SPANLOG_STATUS_INVALID or SPANLOG_STATUS_TOO_LARGE for the message; SPANLOG_STATUS_FULL when no
 * directory has room; SPANLOG_STATUS_POISONED after a failed flush; SPANLOG_STATUS_OFFLINE,
 * SPANLOG_STATUS_IO. Nothing was appended then, save that with group durability a failed flush
 * leaves open whether the message survives.
 *
 * @pre `message` is as long as it says, and its pointers lead to what they say; `receipt` and `error`
 * are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_store_append(struct spanlog_store *store,
                                    const struct spanlog_message *message,
                                    struct spanlog_receipt *receipt,
                                    struct spanlog_error **error);

/**
 * As spanlog_store_append(), but returns only when the message is durable, whatever the store's
 * durability.
 *
 * @pre As spanlog_store_append().
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_store_append_durable(struct spanlog_store *store,
                                            const struct spanlog_message *message,
                                            struct spanlog_receipt *receipt,
                                            struct spanlog_error **error);

/**
 * Appends messages of one topic and queue, all or none of them, side by side. The receipt, which
 * may be NULL, is the first one's. All have the size that the first one says.
 *
 * As spanlog_store_append(), and SPANLOG_STATUS_INVALID for none or for several queues.
 *
 * @pre There are `count` messages, each as spanlog_store_append() wants it.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_store_append_batch(struct spanlog_store *store,
                                          const struct spanlog_message *messages,
                                          size_t count,
                                          struct spanlog_receipt *receipt,
                                          struct spanlog_error **error);

/**
 * As spanlog_store_append_batch(), but returns only when all of it is durable.
 *
 * @pre As spanlog_store_append_batch().
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_store_append_batch_durable(struct spanlog_store *store,
                                                  const struct spanlog_message *messages,
                                                  size_t count,
                                                  struct spanlog_receipt *receipt,
                                                  struct spanlog_error **error);

/**
 * The messages of a batch, in the order in which they were found: `count` of them, one after the
 * other, until the batch is freed. NULL, and 0, for NULL or a batch that was freed.
 *
 * @pre `count` is NULL or can be written.
 */
SPANLOG_API
const struct spanlog_message_view *spanlog_batch_messages(const struct spanlog_batch *batch,
                                                          size_t *count);

/**
 * What was found besides messages.
 *
 * @pre `info` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_batch_get_info(const struct spanlog_batch *batch,
                                      struct spanlog_batch_info *info,
                                      struct spanlog_error **error);

/**
 * Frees a batch and lets go of its messages. NULL, and one that was freed before, are passed over.
 */
SPANLOG_API
void spanlog_batch_free(struct spanlog_batch *batch);

/**
 * The value of a property of a message, for as long as the message's bytes live; of several with
 * that name, the last one's. SPANLOG_STATUS_END if there is none.
 *
 * @pre `message` is one that was read, and its bytes are still there; `name` ends with NUL; `value` and
 * `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_message_property(const struct spanlog_message_view *message,
                                        const char *name,
                                        struct spanlog_bytes *value,
                                        struct spanlog_error **error);

/**
 * The property number `at` of a message, from 0, in the order of the record; tags, keys and unique
 * id are among them. SPANLOG_STATUS_END behind the last one.
 *
 * @pre As spanlog_message_property(); `name` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_message_property_at(const struct spanlog_message_view *message,
                                           size_t at,
                                           struct spanlog_bytes *name,
                                           struct spanlog_bytes *value,
                                           struct spanlog_error **error);

/**
 * Opens the cursor `name` of a topic, or makes it, durably: it begins at the start of its queues.
 * `options` may be NULL for the defaults.
 *
 * SPANLOG_STATUS_INVALID for a name, a topic or an option that cannot be, or in a store opened
 * for reading; SPANLOG_STATUS_LOCKED while it is open; SPANLOG_STATUS_CORRUPT if its file is
 * damaged: see spanlog_store_reset_cursor(); SPANLOG_STATUS_FULL, SPANLOG_STATUS_IO.
 *
 * @pre `name` and `topic` end with NUL; `options` is NULL or as long as it says, and its pointer leads
 * to what it says; `cursor` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_store_cursor(struct spanlog_store *store,
                                    const char *name,
                                    const char *topic,
                                    const struct spanlog_cursor_options *options,
                                    struct spanlog_cursor **cursor,
                                    struct spanlog_error **error);

/**
 * Commits, lets others open the cursor, and frees the handle, also when committing fails. Calls
 * of other threads with the handle end first, those that wait within 100 ms. After the store was
 * closed there is nothing to commit. NULL is passed over. In a child process of the one that
 * opened it, the handle is given up without touching the cursor.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_close(struct spanlog_cursor *cursor,
                                    struct spanlog_error **error);

/**
 * Messages of the cursor's queues in fair shares: those that are due again, then new ones, as many
 * as the options allow (NULL for the defaults). Returns SPANLOG_STATUS_OK as soon as there is one,
 * or retention has overtaken the cursor, and writes a delivery, to be freed with
 * spanlog_delivery_free(). SPANLOG_STATUS_TIMEOUT, and NULL for the delivery, after `timeout_ms`:
 * 0 looks and returns, a negative number waits for ever. What is not acknowledged in time comes
 * again.
 *
 * SPANLOG_STATUS_CLOSED, also when the store or the cursor is closed meanwhile; what
 * spanlog_store_read() says where no queue can be read.
 *
 * @pre `options` is NULL or as long as it says; `delivery` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_cursor_poll(struct spanlog_cursor *cursor,
                                   const struct spanlog_read_options *options,
                                   int64_t timeout_ms,
                                   struct spanlog_delivery **delivery,
                                   struct spanlog_error **error);

/**
 * Acknowledges one message that was delivered; doing so twice is fine. Any order will do.
 * SPANLOG_STATUS_INVALID for one that was not delivered.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_ack(struct spanlog_cursor *cursor,
                                  uint32_t queue,
                                  uint64_t offset,
                                  struct spanlog_error **error);

/**
 * Acknowledges every message of a queue below `end`. SPANLOG_STATUS_INVALID if some of them were
 * not delivered.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_ack_up_to(struct spanlog_cursor *cursor,
                                        uint32_t queue,
                                        uint64_t end,
                                        struct spanlog_error **error);

/**
 * Makes what was acknowledged so far durable. If it fails it is not, and may be tried again.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_cursor_commit(struct spanlog_cursor *cursor,
                                     struct spanlog_error **error);

/**
 * Goes on elsewhere; what was delivered and not acknowledged is forgotten. Durable with the next
 * commit. SPANLOG_STATUS_GONE below what is kept, SPANLOG_STATUS_INVALID behind the end: the
 * cursor stays where it was.
 *
 * @pre `to` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_seek(struct spanlog_cursor *cursor,
                                   const struct spanlog_seek *to,
                                   struct spanlog_error **error);

/**
 * What is not acknowledged, over all its queues.
 *
 * @pre `lag` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_lag(const struct spanlog_cursor *cursor,
                                  struct spanlog_lag *lag,
                                  struct spanlog_error **error);

/**
 * A watch over the cursor's topic, with a descriptor to poll; see spanlog_store_watch(). It is not
 * told when a message is due again: see spanlog_cursor_next_due().
 *
 * @pre `watch` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_watch(const struct spanlog_cursor *cursor,
                                    struct spanlog_watch **watch,
                                    struct spanlog_error **error);

/**
 * When the next message that was not acknowledged is due again, in ms since 1970.
 * SPANLOG_STATUS_END if none is.
 *
 * @pre `due_ms` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_next_due(const struct spanlog_cursor *cursor,
                                       int64_t *due_ms,
                                       struct spanlog_error **error);

/**
 * Where it stands in each queue: a list of spanlog_cursor_queue.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_cursor_queues(const struct spanlog_cursor *cursor,
                                     struct spanlog_list **list,
                                     struct spanlog_error **error);

/**
 * All cursors, by topic and name: a list of spanlog_cursor_info. In a store opened for reading, as
 * they were committed last.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_cursors(struct spanlog_store *store,
                                     struct spanlog_list **list,
                                     struct spanlog_error **error);

/**
 * Where a cursor stands in each queue, open or not: a list of spanlog_cursor_queue.
 * SPANLOG_STATUS_INVALID if there is none of that name.
 *
 * @pre `topic` and `name` end with NUL; `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_cursor_queues(struct spanlog_store *store,
                                           const char *topic,
                                           const char *name,
                                           struct spanlog_list **list,
                                           struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_store_cursors(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `cursor` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_cursor(const struct spanlog_list *list,
                                   size_t at,
                                   struct spanlog_cursor_info *cursor,
                                   struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_cursor_queues() or spanlog_store_cursor_queues(), from 0.
 * SPANLOG_STATUS_END behind the last.
 *
 * @pre `queue` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_cursor_queue(const struct spanlog_list *list,
                                         size_t at,
                                         struct spanlog_cursor_queue *queue,
                                         struct spanlog_error **error);

/**
 * Makes the cursor `to` of the same topic, with what `from` has acknowledged, durably.
 * SPANLOG_STATUS_INVALID if there is no `from`, or a `to` already.
 *
 * @pre `topic`, `from` and `to` end with NUL; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_copy_cursor(struct spanlog_store *store,
                                         const char *topic,
                                         const char *from,
                                         const char *to,
                                         struct spanlog_error **error);

/**
 * Puts a cursor that is not open elsewhere, durably; also one whose file is damaged.
 * SPANLOG_STATUS_INVALID if there is none, SPANLOG_STATUS_LOCKED while it is open; as
 * spanlog_cursor_seek() for where.
 *
 * @pre `topic` and `name` end with NUL; `to` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_reset_cursor(struct spanlog_store *store,
                                          const char *topic,
                                          const char *name,
                                          const struct spanlog_seek *to,
                                          struct spanlog_error **error);

/**
 * Deletes a cursor that is not open, durably. SPANLOG_STATUS_INVALID if there is none,
 * SPANLOG_STATUS_LOCKED while it is open.
 *
 * @pre `topic` and `name` end with NUL; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_delete_cursor(struct spanlog_store *store,
                                           const char *topic,
                                           const char *name,
                                           struct spanlog_error **error);

/**
 * Makes a cursor for each consumer group and topic in the text of a RocketMQ broker's
 * config/consumerOffset.json, durably, or puts the one of that name there. How many there were is
 * written to `count`, unless that is NULL. SPANLOG_STATUS_INVALID, with the byte, for what
 * RocketMQ does not write: nothing was changed then. SPANLOG_STATUS_LOCKED for a cursor that is
 * open.
 *
 * @pre `text` has `text_len` bytes; `count` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_import_consumer_offsets(struct spanlog_store *store,
                                                     const void *text,
                                                     size_t text_len,
                                                     uint64_t *count,
                                                     struct spanlog_error **error);

/**
 * What every cursor has acknowledged, as a RocketMQ broker's config/consumerOffset.json, copied to
 * `buffer` with a NUL behind it. `needed` is what it takes, that included: with
 * SPANLOG_STATUS_TOO_SMALL nothing is copied. `buffer` may be NULL where `buffer_len` is 0.
 *
 * @pre `buffer` has `buffer_len` bytes to be written; `needed` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_export_consumer_offsets(struct spanlog_store *store,
                                                     char *buffer,
                                                     size_t buffer_len,
                                                     size_t *needed,
                                                     struct spanlog_error **error);

/**
 * The messages of a delivery, those of a queue side by side and in order: `count` of them, until
 * the delivery is freed. NULL, and 0, for NULL or a delivery that was freed.
 *
 * @pre `count` is NULL or can be written.
 */
SPANLOG_API
const struct spanlog_delivered *spanlog_delivery_messages(const struct spanlog_delivery *delivery,
                                                          size_t *count);

/**
 * What retention took from the cursor before it came to it: told once. As
 * spanlog_delivery_messages().
 *
 * @pre `count` is NULL or can be written.
 */
SPANLOG_API
const struct spanlog_overtaken *spanlog_delivery_overtaken(const struct spanlog_delivery *delivery,
                                                           size_t *count);

/**
 * What could not be read while the rest could. As spanlog_delivery_messages().
 *
 * @pre `count` is NULL or can be written.
 */
SPANLOG_API
const struct spanlog_failure *spanlog_delivery_failures(const struct spanlog_delivery *delivery,
                                                        size_t *count);

/**
 * Frees a delivery and lets go of its messages. NULL, and one that was freed before, are passed
 * over.
 */
SPANLOG_API
void spanlog_delivery_free(struct spanlog_delivery *delivery);

/**
 * Adds a directory to the open store; it takes segments from the next one on.
 *
 * SPANLOG_STATUS_INVALID if it is one of the store's, or nested with one; SPANLOG_STATUS_FOREIGN
 * if it is another store's; SPANLOG_STATUS_IO.
 *
 * @pre `directory` is as long as it says, and its pointers lead to what they say; `error` is NULL or
 * can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_add_directory(struct spanlog_store *store,
                                           const struct spanlog_directory_options *directory,
                                           struct spanlog_error **error);

/**
 * Changes what a directory is for, a spanlog_role: draining ends new segments there.
 *
 * SPANLOG_STATUS_INVALID if the store has no such directory, or for making the one read-only that
 * holds the log's end; SPANLOG_STATUS_IO.
 *
 * @pre `path` ends with NUL; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_set_role(struct spanlog_store *store,
                                      const char *path,
                                      int32_t role,
                                      struct spanlog_error **error);

/**
 * Takes an empty directory off the store. SPANLOG_STATUS_INVALID if the store has no such
 * directory, if it is the only one, or while it holds segments; SPANLOG_STATUS_IO.
 *
 * @pre `path` ends with NUL; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_remove_directory(struct spanlog_store *store,
                                              const char *path,
                                              struct spanlog_error **error);

/**
 * Tells how full a directory is, in place of what its file system says: for a quota that the
 * system does not report. The directory counts as a disk of its own until both numbers are 0,
 * which ends it; nothing of it is remembered when the store is closed.
 *
 * @pre `path` ends with NUL; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_set_usage(struct spanlog_store *store,
                                       const char *path,
                                       uint64_t used_bytes,
                                       uint64_t available_bytes,
                                       struct spanlog_error **error);

/**
 * The status that the failed call returned; SPANLOG_STATUS_OK for NULL, SPANLOG_STATUS_CLOSED for
 * an object that was freed.
 */
SPANLOG_API
spanlog_status spanlog_error_code(const struct spanlog_error *error);

/**
 * What happened, in one sentence with the place, in UTF-8 but for bytes of a path that are not.
 * Never NULL. The text lives until the object is freed.
 */
SPANLOG_API
const char *spanlog_error_message(const struct spanlog_error *error);

/**
 * The file or directory concerned, as the system's bytes; NULL if there is none. The text lives
 * until the object is freed.
 */
SPANLOG_API
const char *spanlog_error_path(const struct spanlog_error *error);

/** The system's error number; 0 if it was not the system that refused. */
SPANLOG_API
int32_t spanlog_error_errno(const struct spanlog_error *error);

/**
 * The byte in the file, or the position of the log, that the error is about. Returns whether
 * there is one, and writes it to `offset` unless that is NULL.
 *
 * @pre `offset` is NULL or can be written.
 */
SPANLOG_API
bool spanlog_error_offset(const struct spanlog_error *error,
                          uint64_t *offset);

/**
 * The limit that was passed; with SPANLOG_STATUS_GONE, where the log starts now. Returns whether
 * there is one, and writes it to `limit` unless that is NULL.
 *
 * @pre `limit` is NULL or can be written.
 */
SPANLOG_API
bool spanlog_error_limit(const struct spanlog_error *error,
                         uint64_t *limit);

/**
 * The range of the log concerned: what is offline, damaged or gone. Returns whether there is
 * one, and writes its two ends unless their place is NULL.
 *
 * @pre `from` and `to` are NULL or can be written.
 */
SPANLOG_API
bool spanlog_error_range(const struct spanlog_error *error,
                         uint64_t *from,
                         uint64_t *to);

/**
 * Whether the same call may succeed later without anybody fixing anything: the store is full or
 * locked, or a directory is not there.
 */
SPANLOG_API
bool spanlog_error_is_retriable(const struct spanlog_error *error);

/** Whether the handle is of no use any more: close it. */
SPANLOG_API
bool spanlog_error_is_fatal(const struct spanlog_error *error);

/** Frees an error object. NULL, and one that was freed before, are passed over. */
SPANLOG_API
void spanlog_error_free(struct spanlog_error *error);

/** Number of elements; 0 for NULL or a list that was freed. */
SPANLOG_API
size_t spanlog_list_count(const struct spanlog_list *list);

/** Frees a list. NULL, and one that was freed before, are passed over. */
SPANLOG_API
void spanlog_list_free(struct spanlog_list *list);

/**
 * Element `at` of a list of spanlog_store_disks(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `disk` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_disk(const struct spanlog_list *list,
                                 size_t at,
                                 struct spanlog_disk *disk,
                                 struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_store_segments(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `segment` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_segment(const struct spanlog_list *list,
                                    size_t at,
                                    struct spanlog_segment *segment,
                                    struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_store_queues(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `queue` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_queue(const struct spanlog_list *list,
                                  size_t at,
                                  struct spanlog_queue_info *queue,
                                  struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_store_plan_clean(), from 0. SPANLOG_STATUS_END behind the
 * last.
 *
 * @pre `fate` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_fate(const struct spanlog_list *list,
                                 size_t at,
                                 struct spanlog_fate *fate,
                                 struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_store_dropped(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `dropped` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_dropped(const struct spanlog_list *list,
                                    size_t at,
                                    struct spanlog_dropped *dropped,
                                    struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_store_ranges() or spanlog_queue_verify(), from 0.
 * SPANLOG_STATUS_END behind the last.
 *
 * @pre `range` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_range(const struct spanlog_list *list,
                                  size_t at,
                                  struct spanlog_range *range,
                                  struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_verification_findings() or spanlog_repair_beyond(), from 0.
 * SPANLOG_STATUS_END behind the last.
 *
 * @pre `finding` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_finding(const struct spanlog_list *list,
                                    size_t at,
                                    struct spanlog_finding *finding,
                                    struct spanlog_error **error);

/**
 * As spanlog_store_read(), but only messages that have one of the tags in `tags`, "A || B"; all of
 * them with "*" or "". A batch without a message, and SPANLOG_STATUS_END, may still say where to
 * go on: with SPANLOG_READ_STATUS_NO_MATCH behind the messages that were looked at.
 *
 * @pre As spanlog_store_read(); `tags` ends with NUL.
 */
SPANLOG_API
spanlog_status spanlog_store_read_filtered(struct spanlog_store *store,
                                           const char *topic,
                                           uint32_t queue,
                                           uint64_t from,
                                           const char *tags,
                                           const struct spanlog_read_options *options,
                                           struct spanlog_batch **batch,
                                           struct spanlog_error **error);

/**
 * The messages of a topic that have a key, newest first, of all its queues: a batch to be freed,
 * also with SPANLOG_STATUS_END, when there is none. `options` may be NULL for the defaults.
 *
 * @pre `topic` and `key` end with NUL; `options` is NULL or as long as it says; `batch` and `error` are
 * NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_query(struct spanlog_store *store,
                                   const char *topic,
                                   const char *key,
                                   const struct spanlog_query_options *options,
                                   struct spanlog_batch **batch,
                                   struct spanlog_error **error);

/**
 * The message of a topic with an identifier, as its producer or the store gave it: a batch of it,
 * to be freed also with SPANLOG_STATUS_END, when there is none.
 *
 * @pre `topic` and `id` end with NUL; `batch` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_find_by_id(struct spanlog_store *store,
                                        const char *topic,
                                        const char *id,
                                        struct spanlog_batch **batch,
                                        struct spanlog_error **error);

/**
 * The offset in a queue of the message that was stored at a time, in ms since 1970; `boundary` is
 * a spanlog_boundary.
 *
 * @pre `topic` ends with NUL; `offset` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_offset_at(struct spanlog_store *store,
                                       const char *topic,
                                       uint32_t queue,
                                       int64_t time_ms,
                                       int32_t boundary,
                                       uint64_t *offset,
                                       struct spanlog_error **error);

/**
 * Opens the queue at `root`, or makes one. `options` may be NULL for the defaults. To be closed
 * with spanlog_queue_close().
 *
 * SPANLOG_STATUS_INVALID for options that cannot be, a capacity below what is in use, and a
 * directory with a store in it; SPANLOG_STATUS_LOCKED if somebody has it open;
 * SPANLOG_STATUS_OFFLINE for a directory or a segment that is not there; SPANLOG_STATUS_CORRUPT
 * for files that cannot be the queue's; SPANLOG_STATUS_FULL, SPANLOG_STATUS_IO.
 *
 * @pre `root` ends with NUL; `options` is NULL or as long as it says, and its pointers lead to what
 * they say; `queue` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_queue_open(const char *root,
                                  const struct spanlog_queue_options *options,
                                  struct spanlog_queue **queue,
                                  struct spanlog_error **error);

/**
 * Flushes and closes the queue and frees the handle, also when it fails: then the next opening
 * recovers. Those who wait are told by SPANLOG_STATUS_CLOSED. Records that were popped stay valid.
 * NULL is passed over. In a child process of the one that opened it, the handle is given up
 * without touching the queue.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_queue_close(struct spanlog_queue *queue,
                                   struct spanlog_error **error);

/**
 * Pushes one record. Where it ends on the queue's line is written to `end`, unless that is NULL.
 * When it returns, the record survives the end of this process.
 *
 * SPANLOG_STATUS_TOO_LARGE above the limit of the options or the capacity; SPANLOG_STATUS_FULL as
 * the options say, and when a disk has no room; SPANLOG_STATUS_POISONED after a flush that failed.
 * Nothing was pushed then.
 *
 * @pre `payload` has `payload_len` bytes; `end` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_queue_push(struct spanlog_queue *queue,
                                  const void *payload,
                                  size_t payload_len,
                                  uint64_t *end,
                                  struct spanlog_error **error);

/**
 * Pushes several records, all or none, also after a crash. Where the last one ends is written to
 * `end`, unless that is NULL. As spanlog_queue_push().
 *
 * @pre There are `count` payloads, each with as many bytes as it says; `end` and `error` are NULL or
 * can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_queue_push_many(struct spanlog_queue *queue,
                                       const struct spanlog_bytes *payloads,
                                       size_t count,
                                       uint64_t *end,
                                       struct spanlog_error **error);

/**
 * Takes a reader off: it holds no space any more. Its handles answer SPANLOG_STATUS_CLOSED from
 * now on. SPANLOG_STATUS_INVALID if there is none of that name.
 *
 * @pre `name` ends with NUL; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_queue_remove_reader(struct spanlog_queue *queue,
                                           const char *name,
                                           struct spanlog_error **error);

/**
 * Returns once everything pushed so far is durable, and what was committed.
 * SPANLOG_STATUS_POISONED or SPANLOG_STATUS_IO: then nothing more can be promised.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_queue_flush(struct spanlog_queue *queue,
                                   struct spanlog_error **error);

/**
 * Runs one piece of background work now, a spanlog_queue_task, as spanlog_store_run() does.
 *
 * @pre `next_ms` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_queue_run(struct spanlog_queue *queue,
                                 int32_t task,
                                 int64_t *next_ms,
                                 struct spanlog_error **error);

/**
 * The queue as it is now.
 *
 * @pre `figures` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_queue_stat(const struct spanlog_queue *queue,
                                  struct spanlog_queue_figures *figures,
                                  struct spanlog_error **error);

/**
 * The readers, in the order in which they were made: a list of spanlog_reader_info.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_queue_readers(const struct spanlog_queue *queue,
                                     struct spanlog_list **list,
                                     struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_queue_readers(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `reader` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_reader(const struct spanlog_list *list,
                                   size_t at,
                                   struct spanlog_reader_info *reader,
                                   struct spanlog_error **error);

/**
 * Reads every record that is kept and checks it; changes nothing, and may take long. `damaged`,
 * unless it is NULL, gets a list of spanlog_range: what is no record.
 *
 * @pre `verdict` is as long as it says; `damaged` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_queue_verify(struct spanlog_queue *queue,
                                    struct spanlog_queue_verdict *verdict,
                                    struct spanlog_list **damaged,
                                    struct spanlog_error **error);

/**
 * Reads messages of a queue from `from` on, as many as the options allow (NULL for the defaults),
 * and writes a batch of them to `batch`, to be freed with spanlog_batch_free(). With no message
 * the call returns SPANLOG_STATUS_END, and the batch, to be freed all the same, says why and
 * where to go on. A message can be read once it is indexed: see spanlog_store_catch_up().
 *
 * A damaged message ends the batch before it; the next read, from there, fails with
 * SPANLOG_STATUS_CORRUPT, and one more behind it goes on. SPANLOG_STATUS_OFFLINE when the first
 * message lies on a directory that is not there; SPANLOG_STATUS_FULL when every map is held, or
 * with the option that refuses reads.
 *
 * @pre `topic` ends with NUL; `options` is NULL or as long as it says; `batch` and `error` are NULL or
 * can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_read(struct spanlog_store *store,
                                  const char *topic,
                                  uint32_t queue,
                                  uint64_t from,
                                  const struct spanlog_read_options *options,
                                  struct spanlog_batch **batch,
                                  struct spanlog_error **error);

/**
 * As spanlog_store_read(), but copies the records into `buffer` and lets `messages`, at most
 * `message_count` of them, point there: nothing has to be freed. As many messages are read as
 * fit; what `info` says of them is as with a batch. SPANLOG_STATUS_TOO_SMALL if the first one
 * does not fit: `info->needed_bytes` says what it takes. SPANLOG_STATUS_END with no message.
 *
 * @pre As spanlog_store_read(); `buffer` has `buffer_len` bytes and `messages` has `message_count`
 * elements to be written, `info` is as long as it says.
 */
SPANLOG_API
spanlog_status spanlog_store_read_into(struct spanlog_store *store,
                                       const char *topic,
                                       uint32_t queue,
                                       uint64_t from,
                                       const struct spanlog_read_options *options,
                                       void *buffer,
                                       size_t buffer_len,
                                       struct spanlog_message_view *messages,
                                       size_t message_count,
                                       struct spanlog_batch_info *info,
                                       struct spanlog_error **error);

/**
 * Reads the record at `position` and writes a batch of one message to `batch`.
 *
 * SPANLOG_STATUS_GONE below the log's start; SPANLOG_STATUS_INVALID where no record begins;
 * SPANLOG_STATUS_OFFLINE in a hole; SPANLOG_STATUS_CORRUPT.
 *
 * @pre `batch` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_get(struct spanlog_store *store,
                                 uint64_t position,
                                 struct spanlog_batch **batch,
                                 struct spanlog_error **error);

/**
 * Which messages of a queue are there. SPANLOG_STATUS_END for a queue that never had one.
 *
 * @pre `topic` ends with NUL; `bounds` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_bounds(struct spanlog_store *store,
                                    const char *topic,
                                    uint32_t queue,
                                    struct spanlog_bounds *bounds,
                                    struct spanlog_error **error);

/**
 * The reader `name` of a queue, made where there is none: then it begins with the oldest record
 * kept. NULL stands for "default". A name has 1 to 24 of `A-Z a-z 0-9 . _ -`; there are at most 8
 * readers.
 *
 * SPANLOG_STATUS_INVALID for a name that cannot be, SPANLOG_STATUS_TOO_LARGE for one reader too
 * many, SPANLOG_STATUS_IO.
 *
 * @pre `name` is NULL or ends with NUL; `reader` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_queue_reader(struct spanlog_queue *queue,
                                    const char *name,
                                    struct spanlog_reader **reader,
                                    struct spanlog_error **error);

/**
 * Pops records: at least one, at most `max_records` (0 for 256) and `max_bytes` (0 for 1 MiB) of
 * payload, and writes them to `records`, to be freed with spanlog_records_free().
 * SPANLOG_STATUS_TIMEOUT, and NULL for the records, if none came within `timeout_ms`: 0 looks and
 * returns, a negative number waits for ever.
 *
 * SPANLOG_STATUS_GONE once, with the range that was dropped, when the queue was full and dropped
 * what this reader had not read: the next pop goes on behind it. SPANLOG_STATUS_CORRUPT where no
 * whole record stands, naming the place: see spanlog_reader_skip_damaged(). SPANLOG_STATUS_FULL
 * when records that somebody holds take every map. SPANLOG_STATUS_CLOSED, also when the queue is
 * closed or the reader freed meanwhile.
 *
 * @pre `records` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_reader_pop(struct spanlog_reader *reader,
                                  size_t max_records,
                                  uint64_t max_bytes,
                                  int64_t timeout_ms,
                                  struct spanlog_records **records,
                                  struct spanlog_error **error);

/**
 * The next record, which stays the next. SPANLOG_STATUS_END, and NULL for the records, if there is
 * none. Errors as spanlog_reader_pop().
 *
 * @pre `records` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_reader_peek(struct spanlog_reader *reader,
                                   struct spanlog_records **records,
                                   struct spanlog_error **error);

/**
 * Notes that everything before `end` is done: where a popped record ends. A kill does not undo it,
 * a loss of power may until the next flush. Committing what is committed already changes nothing.
 * SPANLOG_STATUS_INVALID if no popped record ends there.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_reader_commit(struct spanlog_reader *reader,
                                     uint64_t end,
                                     struct spanlog_error **error);

/**
 * Goes back to the first record that is not committed.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_reader_rewind(struct spanlog_reader *reader,
                                     struct spanlog_error **error);

/**
 * How many records, and how many bytes of the line, heads included, wait to be popped.
 *
 * @pre `records`, `bytes` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_reader_backlog(const struct spanlog_reader *reader,
                                      uint64_t *records,
                                      uint64_t *bytes,
                                      struct spanlog_error **error);

/**
 * Passes over bytes that are no record, to the next whole one, and writes their range on the line.
 * SPANLOG_STATUS_END if the next record is whole, or there is none.
 *
 * @pre `from`, `to` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_reader_skip_damaged(struct spanlog_reader *reader,
                                           uint64_t *from,
                                           uint64_t *to,
                                           struct spanlog_error **error);

/**
 * Waits until there is a record to pop: SPANLOG_STATUS_OK when there is one,
 * SPANLOG_STATUS_TIMEOUT after `timeout_ms`. 0 looks and returns, a negative number waits for
 * ever.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_reader_wait(struct spanlog_reader *reader,
                                   int64_t timeout_ms,
                                   struct spanlog_error **error);

/**
 * Writes a descriptor to `fd` that is readable while there are records to pop, and once the queue
 * was closed. After a pop that came back empty, spanlog_reader_clear_event() lets it wait for the
 * next record. It is the reader's: poll it and do nothing else with it.
 *
 * @pre `fd` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_reader_event_fd(struct spanlog_reader *reader,
                                       int32_t *fd,
                                       struct spanlog_error **error);

/**
 * Lets the descriptor wait for records behind what was popped.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_reader_clear_event(struct spanlog_reader *reader,
                                          struct spanlog_error **error);

/**
 * Frees the handle of a reader; the reader goes on holding the space of what it has not committed,
 * until spanlog_queue_remove_reader(). NULL, and one that was freed before, are passed over.
 */
SPANLOG_API
void spanlog_reader_free(struct spanlog_reader *reader);

/**
 * The records that were popped, in order: `count` of them, one after the other, until they are
 * freed. NULL, and 0, for NULL or what was freed.
 *
 * @pre `count` is NULL or can be written.
 */
SPANLOG_API
const struct spanlog_record *spanlog_records_all(const struct spanlog_records *records,
                                                 size_t *count);

/** Frees records and lets go of their files. NULL, and what was freed before, are passed over. */
SPANLOG_API
void spanlog_records_free(struct spanlog_records *records);

/**
 * What mending takes, from what a verification of a closed store found: all its steps must have
 * run, or it is SPANLOG_STATUS_INVALID. While a directory or a part of the log is not there,
 * nothing is mended, unless the options of the verification say that this is all right.
 *
 * @pre `repair` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_verification_plan_repair(const struct spanlog_verification *verification,
                                                struct spanlog_repair **repair,
                                                struct spanlog_error **error);

/**
 * What will be done, in order: a list of spanlog_action; an empty one if there is nothing to do.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_repair_actions(const struct spanlog_repair *repair,
                                      struct spanlog_list **list,
                                      struct spanlog_error **error);

/**
 * What was found and cannot be mended here: a list of spanlog_finding. A directory that is not
 * there has to come back, a device that does not give its bytes has to be replaced.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_repair_beyond(const struct spanlog_repair *repair,
                                     struct spanlog_list **list,
                                     struct spanlog_error **error);

/**
 * Does it, opens and closes the store, which recovers it, and frees the handle, also when it
 * fails. `saved`, unless it is NULL, gets a list of spanlog_saved. After a
 * SPANLOG_ACTION_KIND_RESIZE another verification is needed.
 *
 * SPANLOG_STATUS_LOCKED while somebody has the store open; what opening and closing it say;
 * SPANLOG_STATUS_FULL, SPANLOG_STATUS_IO. It may be done again then, after another verification;
 * what was saved stays.
 *
 * @pre `saved` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_repair_apply(struct spanlog_repair *repair,
                                    struct spanlog_list **saved,
                                    struct spanlog_error **error);

/**
 * Frees a plan and does nothing of it. NULL, and one that was freed or applied before, are passed
 * over.
 */
SPANLOG_API
void spanlog_repair_free(struct spanlog_repair *repair);

/**
 * Element `at` of a list of spanlog_repair_actions(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `action` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_action(const struct spanlog_list *list,
                                   size_t at,
                                   struct spanlog_action *action,
                                   struct spanlog_error **error);

/**
 * Element `at` of a list of spanlog_repair_apply(), from 0. SPANLOG_STATUS_END behind the last.
 *
 * @pre `saved` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_list_saved(const struct spanlog_list *list,
                                  size_t at,
                                  struct spanlog_saved *saved,
                                  struct spanlog_error **error);

/**
 * The positions as of now.
 *
 * @pre `watermarks` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_watermarks(struct spanlog_store *store,
                                        struct spanlog_watermarks *watermarks,
                                        struct spanlog_error **error);

/**
 * The store in numbers; measures the disks.
 *
 * @pre `stats` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_stats(struct spanlog_store *store,
                                   struct spanlog_stats *stats,
                                   struct spanlog_error **error);

/**
 * What opening the store found and did; spanlog_store_ranges() has the ranges.
 *
 * @pre `recovery` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_recovery(struct spanlog_store *store,
                                      struct spanlog_recovery *recovery,
                                      struct spanlog_error **error);

/**
 * The directories, measured now: a list of spanlog_disk.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_disks(struct spanlog_store *store,
                                   struct spanlog_list **list,
                                   struct spanlog_error **error);

/**
 * The segments, those that were dropped while somebody read them first: a list of spanlog_segment.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_segments(struct spanlog_store *store,
                                      struct spanlog_list **list,
                                      struct spanlog_error **error);

/**
 * The queues, by topic and number: a list of spanlog_queue_info.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_queues(struct spanlog_store *store,
                                    struct spanlog_list **list,
                                    struct spanlog_error **error);

/**
 * What a round of cleaning would do now with each segment, and why: a list of spanlog_fate.
 * Changes nothing. With `manual` not 0, as if somebody had asked for the round.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_plan_clean(struct spanlog_store *store,
                                        int32_t manual,
                                        struct spanlog_list **list,
                                        struct spanlog_error **error);

/**
 * What cleaning dropped since the store was opened, newest last, at most a thousand: a list of
 * spanlog_dropped.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_dropped(struct spanlog_store *store,
                                     struct spanlog_list **list,
                                     struct spanlog_error **error);

/**
 * What opening the store cut off, passed over or missed: a list of spanlog_range.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_ranges(struct spanlog_store *store,
                                    struct spanlog_list **list,
                                    struct spanlog_error **error);

/**
 * The name of a status, such as "full"; "unknown" for a number that is none. The text is static.
 */
SPANLOG_API
const char *spanlog_status_name(int32_t status);

/**
 * Opens the store at `root`, or makes one, and writes its handle to `store`. `options` may be
 * NULL for the defaults. To be closed with spanlog_store_close().
 *
 * SPANLOG_STATUS_INVALID for options that cannot be; SPANLOG_STATUS_LOCKED if somebody has it
 * open; SPANLOG_STATUS_OFFLINE for a directory or range that is not there;
 * SPANLOG_STATUS_FOREIGN for a directory of another store; SPANLOG_STATUS_CORRUPT for damage below
 * what was flushed; SPANLOG_STATUS_VERSION; SPANLOG_STATUS_FULL and SPANLOG_STATUS_IO. A failed
 * open holds nothing and has changed no record. It may take long after a crash.
 *
 * @pre `root` ends with NUL; `options` is NULL or as long as it says, and its pointers lead to what
 * they say; `store` and `error` are NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_store_open(const char *root,
                                  const struct spanlog_options *options,
                                  struct spanlog_store **store,
                                  struct spanlog_error **error);

/**
 * Closes the store and frees the handle, also when it fails: then the status says what kept the
 * store from closing cleanly, and the next opening recovers. Calls of other threads with the
 * handle end first, those that wait at once; later ones are answered with
 * SPANLOG_STATUS_CLOSED. Batches stay valid. NULL is passed over. In a child process of the one
 * that opened it, the handle is given up without touching the store.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_close(struct spanlog_store *store,
                                   struct spanlog_error **error);

/**
 * Removes the store at `root`: what it made, in all the directories that the options name or it
 * remembers, and nothing else.
 *
 * SPANLOG_STATUS_INVALID if there is no store; SPANLOG_STATUS_LOCKED while somebody has it open;
 * SPANLOG_STATUS_OFFLINE if a directory is not there; SPANLOG_STATUS_IO.
 *
 * @pre As spanlog_store_open().
 */
SPANLOG_API
spanlog_status spanlog_store_destroy(const char *root,
                                     const struct spanlog_options *options,
                                     struct spanlog_error **error);

/**
 * Returns once everything appended so far, by anyone, is durable. SPANLOG_STATUS_POISONED or
 * SPANLOG_STATUS_IO: then nothing more can be promised.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
SPANLOG_MUST_USE
spanlog_status spanlog_store_flush(struct spanlog_store *store,
                                   struct spanlog_error **error);

/**
 * Returns once every message appended so far, by anyone, can be read from its queue.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_catch_up(struct spanlog_store *store,
                                      struct spanlog_error **error);

/**
 * Takes up what the process that writes the store did since it was opened for reading, or since
 * the last call: SPANLOG_STATUS_OK if there is anything new, else SPANLOG_STATUS_END. Waiting in
 * such a store does it by itself.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_refresh(struct spanlog_store *store,
                                     struct spanlog_error **error);

/**
 * Asks for a round of cleaning now: segments past their age go, at any hour. The store's own
 * threads do it; without them, spanlog_store_run() with SPANLOG_TASK_CLEAN.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_clean_now(struct spanlog_store *store,
                                       struct spanlog_error **error);

/**
 * Runs one piece of background work now, a spanlog_task. When it wants to run again is written to
 * `next_ms` unless that is NULL: 0 for at once, a time in ms since 1970, or INT64_MAX for when
 * there is something to do again. SPANLOG_STATUS_INVALID in a store with threads of its own.
 *
 * @pre `next_ms` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_run(struct spanlog_store *store,
                                 int32_t task,
                                 int64_t *next_ms,
                                 struct spanlog_error **error);

/**
 * Begins to verify the store at `root`, changing nothing. `options` may be NULL: they
 * name directories that it does not remember, and `allow_offline` says that those that are not
 * there are no damage.
 *
 * SPANLOG_STATUS_INVALID if there is no store; SPANLOG_STATUS_FOREIGN for a directory of another
 * one; SPANLOG_STATUS_VERSION; SPANLOG_STATUS_CORRUPT if the registry is damaged and the options
 * do not name the directories; SPANLOG_STATUS_IO.
 *
 * @pre As spanlog_store_open().
 */
SPANLOG_API
spanlog_status spanlog_verification_open(const char *root,
                                         const struct spanlog_options *options,
                                         struct spanlog_verification **verification,
                                         struct spanlog_error **error);

/**
 * Begins to verify an open store, up to where it is now; it may be used meanwhile.
 *
 * @pre `verification` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_verify(struct spanlog_store *store,
                                    struct spanlog_verification **verification,
                                    struct spanlog_error **error);

/**
 * Verifies a little more and writes how far it is to `progress`, unless that is NULL.
 * SPANLOG_STATUS_END when all is verified. What is wrong with the store is a finding, not an
 * error.
 *
 * @pre `progress` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_verification_step(const struct spanlog_verification *verification,
                                         struct spanlog_progress *progress,
                                         struct spanlog_error **error);

/**
 * What was verified, so far.
 *
 * @pre `verdict` is as long as it says; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_verification_verdict(const struct spanlog_verification *verification,
                                            struct spanlog_verdict *verdict,
                                            struct spanlog_error **error);

/**
 * What is not as it should be, so far: a list of spanlog_finding.
 *
 * @pre `list` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_verification_findings(const struct spanlog_verification *verification,
                                             struct spanlog_list **list,
                                             struct spanlog_error **error);

/** Frees a verification. NULL, and one that was freed before, are passed over. */
SPANLOG_API
void spanlog_verification_free(struct spanlog_verification *verification);

/** The release of the library that runs, such as "0.1.0". The text is static. */
SPANLOG_API
const char *spanlog_version(void);

/**
 * The release of the library that runs as one number: major * 1000000 + minor * 1000 + patch.
 * Compare it with SPANLOG_VERSION_NUMBER, the one that was compiled against.
 */
SPANLOG_API
uint32_t spanlog_version_number(void);

/**
 * Waits until a message at or after `from` can be read from the queue, which need not exist yet:
 * SPANLOG_STATUS_OK when there is one, SPANLOG_STATUS_TIMEOUT after `timeout_ms`. 0 looks and
 * returns, a negative number waits for ever. Also SPANLOG_STATUS_OK where `from` was dropped by
 * retention: reading there tells so. SPANLOG_STATUS_CLOSED when the store is closed meanwhile.
 *
 * @pre `topic` ends with NUL; `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_wait(struct spanlog_store *store,
                                  const char *topic,
                                  uint32_t queue,
                                  uint64_t from,
                                  int64_t timeout_ms,
                                  struct spanlog_error **error);

/**
 * Waits until the log, as readers see it, goes on behind position `after`, as
 * spanlog_store_wait() does for a queue.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_wait_appended(struct spanlog_store *store,
                                           uint64_t after,
                                           int64_t timeout_ms,
                                           struct spanlog_error **error);

/**
 * A watch over one queue of a topic; over all of them, also those to come, with `queue` -1; over
 * the whole log with a `topic` of NULL. A new watch has seen nothing: clear it, read on until
 * there is no more, and wait. What comes between the clearing and the waiting is not missed.
 *
 * @pre `topic` is NULL or ends with NUL; `watch` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_store_watch(struct spanlog_store *store,
                                   const char *topic,
                                   int64_t queue,
                                   struct spanlog_watch **watch,
                                   struct spanlog_error **error);

/**
 * Returns SPANLOG_STATUS_OK as soon as there is something that was not seen, and
 * SPANLOG_STATUS_TIMEOUT after `timeout_ms`: 0 looks and returns, a negative number waits for
 * ever. Until spanlog_watch_clear() it returns SPANLOG_STATUS_OK at once. SPANLOG_STATUS_CLOSED
 * once the store was closed, also while it waits.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_watch_wait(const struct spanlog_watch *watch,
                                  int64_t timeout_ms,
                                  struct spanlog_error **error);

/**
 * Writes a descriptor to `fd` that is readable while there is something that was not seen, and
 * once the store was closed: for poll, epoll and event loops. It is the watch's and is closed
 * with it: poll it and do nothing else with it.
 *
 * @pre `fd` and `error` are NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_watch_event_fd(const struct spanlog_watch *watch,
                                      int32_t *fd,
                                      struct spanlog_error **error);

/**
 * Everything that is there now has been seen, or is about to be read.
 *
 * @pre `error` is NULL or can be written.
 */
SPANLOG_API
spanlog_status spanlog_watch_clear(const struct spanlog_watch *watch,
                                   struct spanlog_error **error);

/**
 * Frees a watch and its descriptor. NULL, and one that was freed before, are passed over. In a
 * child process of the one that made it, only the handle is given up.
 */
SPANLOG_API
void spanlog_watch_free(struct spanlog_watch *watch);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPANLOG_H */
