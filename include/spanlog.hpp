/**
 * @file spanlog.hpp
 * @brief spanlog for C++17: classes that close what they opened, over spanlog.h.
 * @copyright Apache License 2.0
 *
 * Operations throw spanlog::Error. Opening, appending and reading also come with a `try_` before
 * their name: those give a spanlog::Result, a value or the error, and throw nothing:
 *
 *     spanlog::Store store("folder");
 *     auto receipt = store.append({"orders", 0, "tea"});          // throws
 *     auto outcome = store.try_append({"orders", 0, "coffee"});   // a Result
 *     if (!outcome) std::cerr << outcome.error().what();
 *
 * What the C header says of threads, memory and forks holds here too. Objects can be moved and not
 * be copied; one that was moved from is closed.
 */
#ifndef SPANLOG_HPP
#define SPANLOG_HPP

#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spanlog.h"

namespace spanlog {

/// Why an operation failed: everything that the C error object tells, owned.
class Error : public std::runtime_error {
public:
    /// Takes what the object tells and frees it; without one, the status is all that is known.
    explicit Error(spanlog_status status, spanlog_error *error = nullptr)
        : std::runtime_error(error ? spanlog_error_message(error) : spanlog_status_name(status)),
          status_(status), errno_(spanlog_error_errno(error)) {
        std::uint64_t number = 0;
        if (const char *path = spanlog_error_path(error)) path_ = path;
        if (spanlog_error_offset(error, &number)) offset_ = number;
        if (spanlog_error_limit(error, &number)) limit_ = number;
        retriable_ = spanlog_error_is_retriable(error);
        fatal_ = spanlog_error_is_fatal(error);
        spanlog_error_free(error);
    }

    /// The status that the call returned.
    spanlog_status status() const noexcept { return status_; }
    /// The system's error number; 0 if it was not the system that refused.
    int system_error() const noexcept { return errno_; }
    /// The file or directory concerned; empty if there is none.
    const std::string &path() const noexcept { return path_; }
    /// The byte in the file, or the position of the log.
    std::optional<std::uint64_t> offset() const noexcept { return offset_; }
    /// The limit that was passed; of a message that is gone, where the log starts now.
    std::optional<std::uint64_t> limit() const noexcept { return limit_; }
    /// Whether the same call may succeed later.
    bool is_retriable() const noexcept { return retriable_; }
    /// Whether the handle is of no use any more.
    bool is_fatal() const noexcept { return fatal_; }

private:
    spanlog_status status_;
    int errno_;
    bool retriable_ = false, fatal_ = false;
    std::string path_;
    std::optional<std::uint64_t> offset_, limit_;
};

/// A value, or why there is none.
template <typename T>
class Result {
public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}
    /// Whether there is a value.
    explicit operator bool() const noexcept { return content_.index() == 0; }
    /// The value; throws the error if there is none.
    T &value() & {
        if (content_.index() != 0) throw std::get<1>(content_);
        return std::get<0>(content_);
    }
    /// As above, moved out.
    T &&value() && { return std::move(value()); }
    /// The error; only where there is no value.
    const Error &error() const { return std::get<1>(content_); }

private:
    std::variant<T, Error> content_;
};

/// @cond internals
namespace detail {

/// Frees a handle with its function.
template <typename Handle, void (*Free)(Handle *)>
struct Freed {
    void operator()(Handle *handle) const noexcept { Free(handle); }
};

inline void close_store(spanlog_store *store) noexcept { (void)!spanlog_store_close(store, nullptr); }

template <typename Handle, void (*Free)(Handle *)>
using Owned = std::unique_ptr<Handle, Freed<Handle, Free>>;

/// The outcome of a call: its status if it is not negative, else the error.
template <typename Call>
Result<spanlog_status> called(Call call) {
    spanlog_error *error = nullptr;
    const spanlog_status status = call(&error);
    if (status < 0) return Error(status, error);
    return status;
}

/// The elements of a list, each with the texts that it points to, and frees the list.
template <typename Row, typename Raw, typename Element>
std::vector<Row> rows(spanlog_list *list, Raw raw, Element element) {
    Owned<spanlog_list, spanlog_list_free> owned(list);
    std::vector<Row> all;
    for (std::size_t at = 0; element(list, at, &raw, nullptr) == 0; at++) all.emplace_back(raw);
    return all;
}

inline std::string text(const char *text) { return text ? text : ""; }

/// Goes over rows of C, giving a view of each.
template <typename Row, typename View>
class Iterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = View;
    using difference_type = std::ptrdiff_t;
    using pointer = const View *;
    using reference = View;
    explicit Iterator(const Row *at) noexcept : at_(at) {}
    View operator*() const noexcept { return View(*at_); }
    Iterator &operator++() noexcept { return ++at_, *this; }
    Iterator operator++(int) noexcept { return Iterator(at_++); }
    bool operator==(const Iterator &other) const noexcept { return at_ == other.at_; }
    bool operator!=(const Iterator &other) const noexcept { return at_ != other.at_; }

private:
    const Row *at_;
};

inline void close_cursor(spanlog_cursor *cursor) noexcept { (void)spanlog_cursor_close(cursor, nullptr); }
inline void close_queue(spanlog_queue *queue) noexcept { (void)spanlog_queue_close(queue, nullptr); }

inline std::string_view view(spanlog_bytes bytes) noexcept { return {bytes.data, bytes.len}; }

}  // namespace detail
/// @endcond

/// A message to append. It refers to the caller's texts, which end with NUL; topics and tags given
/// as std::string must outlive the call.
class Message {
public:
    Message(const char *topic, std::uint32_t queue, std::string_view body) {
        raw_.topic = topic;
        raw_.queue = queue;
        raw_.body = body.data();
        raw_.body_len = body.size();
    }
    Message(const std::string &topic, std::uint32_t queue, std::string_view body)
        : Message(topic.c_str(), queue, body) {}

    /// Sets what consumers filter by.
    Message &tags(const char *tags) { return raw_.tags = tags, *this; }
    /// Adds a key that the message is found by.
    Message &key(const char *key) { return keys_.push_back(key), *this; }
    /// Adds a property.
    Message &property(const char *name, const char *value) {
        return properties_.push_back({name, value}), *this;
    }
    /// Sets the caller's own number.
    Message &flag(std::int32_t flag) { return raw_.flag = flag, *this; }
    /// Sets when the message was made, in ms since 1970.
    Message &born_ms(std::int64_t born_ms) { return raw_.born_ms = born_ms, *this; }

    /// The message as C takes it, for as long as this one does not change.
    spanlog_message raw() const noexcept {
        spanlog_message raw = raw_;
        raw.keys = keys_.data();
        raw.key_count = keys_.size();
        raw.properties = properties_.data();
        raw.property_count = properties_.size();
        return raw;
    }

private:
    spanlog_message raw_ = SPANLOG_MESSAGE_INIT;
    std::vector<const char *> keys_;
    std::vector<spanlog_property> properties_;
};

/// A message of a batch. It refers to the batch's bytes.
class MessageView {
public:
    explicit MessageView(const spanlog_message_view &raw) noexcept : raw_(&raw) {}

    std::string_view topic() const noexcept { return detail::view(raw_->topic); }
    std::uint32_t queue() const noexcept { return raw_->queue; }
    std::string_view body() const noexcept { return detail::view(raw_->body); }
    /// What consumers filter by; empty if there is nothing.
    std::string_view tags() const noexcept { return detail::view(raw_->tags); }
    /// What the message is found by, separated by spaces.
    std::string_view keys() const noexcept { return detail::view(raw_->keys); }
    std::string_view unique_id() const noexcept { return detail::view(raw_->unique_id); }
    std::uint64_t queue_offset() const noexcept { return raw_->queue_offset; }
    std::uint64_t position() const noexcept { return raw_->position; }
    std::int64_t born_ms() const noexcept { return raw_->born_ms; }
    std::int64_t store_ms() const noexcept { return raw_->store_ms; }
    std::int32_t flag() const noexcept { return raw_->flag; }
    /// The value of a property, if there is one.
    std::optional<std::string_view> property(const char *name) const noexcept {
        spanlog_bytes value = {nullptr, 0};
        if (spanlog_message_property(raw_, name, &value, nullptr) != SPANLOG_STATUS_OK) return {};
        return detail::view(value);
    }
    /// The message as C gives it.
    const spanlog_message_view &raw() const noexcept { return *raw_; }

private:
    const spanlog_message_view *raw_;
};

/// Messages that one call found, with their bytes; it may outlive the store.
class Batch {
public:
    /// Takes a batch of C over.
    explicit Batch(spanlog_batch *batch) noexcept : batch_(batch) {
        messages_ = spanlog_batch_messages(batch, &count_);
        (void)spanlog_batch_get_info(batch, &info_, nullptr);
    }

    using Iterator = detail::Iterator<spanlog_message_view, MessageView>;

    Iterator begin() const noexcept { return Iterator(messages_); }
    Iterator end() const noexcept { return Iterator(messages_ + count_); }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    MessageView operator[](std::size_t at) const noexcept { return MessageView(messages_[at]); }
    /// A spanlog_read_status.
    int status() const noexcept { return info_.status; }
    /// Where to read on.
    std::uint64_t next() const noexcept { return info_.next; }
    /// The queue's first message kept, as of the read.
    std::uint64_t min() const noexcept { return info_.min; }
    /// One past its last.
    std::uint64_t max() const noexcept { return info_.max; }

private:
    detail::Owned<spanlog_batch, spanlog_batch_free> batch_;
    const spanlog_message_view *messages_ = nullptr;
    std::size_t count_ = 0;
    spanlog_batch_info info_ = SPANLOG_BATCH_INFO_INIT;
};

/// How a store is opened: the options of C, and the directories that they point to.
class Options {
public:
    /// The options of C; every field that is 0 stands for its default.
    spanlog_options raw = SPANLOG_OPTIONS_INIT;

    /// Adds a directory of segments.
    Options &directory(std::string path, spanlog_role role = SPANLOG_ROLE_DEFAULT) {
        rows_.push_back({std::move(path), role, {}});
        return *this;
    }
    /// Adds a directory with marks of its own.
    Options &directory(std::string path, spanlog_role role, const spanlog_thresholds &marks) {
        rows_.push_back({std::move(path), role, marks});
        return *this;
    }

    /// Calls with the options as C takes them.
    template <typename Call>
    auto with(Call call) const {
        std::vector<spanlog_directory_options> directories;
        for (const Row &row : rows_) {
            spanlog_directory_options directory = SPANLOG_DIRECTORY_OPTIONS_INIT;
            directory.path = row.path.c_str();
            directory.role = row.role;
            directory.thresholds = row.marks ? &*row.marks : nullptr;
            directories.push_back(directory);
        }
        spanlog_options given = raw;
        if (!directories.empty()) {
            given.directories = directories.data();
            given.directory_count = directories.size();
        }
        return call(given);
    }

private:
    struct Row {
        std::string path;
        spanlog_role role;
        std::optional<spanlog_thresholds> marks;
    };
    std::vector<Row> rows_;
};

/// Tells whether there is more than was seen; see spanlog_store_watch().
class Watch {
public:
    /// Takes a watch of C over.
    explicit Watch(spanlog_watch *watch) noexcept : watch_(watch) {}
    /// Waits; false when it waited so long. Negative for ever.
    bool wait(std::chrono::milliseconds timeout) const {
        return detail::called([&](auto error) {
                   return spanlog_watch_wait(watch_.get(), timeout.count(), error);
               }).value() == SPANLOG_STATUS_OK;
    }
    /// The descriptor to poll.
    int event_fd() const {
        std::int32_t fd = -1;
        detail::called([&](auto error) {
            return spanlog_watch_event_fd(watch_.get(), &fd, error);
        }).value();
        return fd;
    }
    /// Everything that is there now has been seen.
    void clear() const {
        detail::called([&](auto error) { return spanlog_watch_clear(watch_.get(), error); }).value();
    }

private:
    detail::Owned<spanlog_watch, spanlog_watch_free> watch_;
};

/// A directory of a store, with its texts.
struct Disk {
    explicit Disk(const spanlog_disk &row) : path(row.path), raw(row) {
        if (row.offline) offline = row.offline;
        raw.path = raw.offline = nullptr;
    }
    std::string path;
    std::optional<std::string> offline;
    spanlog_disk raw;
};

/// A message that a cursor delivered. It refers to the delivery's bytes.
class Delivered : public MessageView {
public:
    explicit Delivered(const spanlog_delivered &raw) noexcept
        : MessageView(raw.message), attempt_(raw.attempt) {}
    /// How often it was delivered, from 1.
    std::uint32_t attempt() const noexcept { return attempt_; }

private:
    std::uint32_t attempt_;
};

/// What one poll of a cursor gave, with its bytes; empty if nothing came. It may outlive the store.
class Delivery {
public:
    /// Takes a delivery of C over.
    explicit Delivery(spanlog_delivery *delivery) noexcept : delivery_(delivery) {
        messages_ = spanlog_delivery_messages(delivery, &count_);
    }

    using Iterator = detail::Iterator<spanlog_delivered, Delivered>;
    Iterator begin() const noexcept { return Iterator(messages_); }
    Iterator end() const noexcept { return Iterator(messages_ + count_); }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    /// What retention took from the cursor before it came to it: told once.
    std::vector<spanlog_overtaken> overtaken() const {
        std::size_t count = 0;
        const spanlog_overtaken *rows = spanlog_delivery_overtaken(delivery_.get(), &count);
        return std::vector<spanlog_overtaken>(rows, rows + count);
    }
    /// What could not be read while the rest could; texts belong to the delivery.
    std::vector<spanlog_failure> failures() const {
        std::size_t count = 0;
        const spanlog_failure *rows = spanlog_delivery_failures(delivery_.get(), &count);
        return std::vector<spanlog_failure>(rows, rows + count);
    }

private:
    detail::Owned<spanlog_delivery, spanlog_delivery_free> delivery_;
    const spanlog_delivered *messages_ = nullptr;
    std::size_t count_ = 0;
};

/// A named consumer of a topic. Destroying it commits; Cursor::close tells what went wrong.
class Cursor {
public:
    /// Takes a cursor of C over.
    explicit Cursor(spanlog_cursor *cursor) noexcept : cursor_(cursor) {}

    /// Messages that are due again, then new ones; waits for one so long, for ever if negative.
    Delivery poll(std::chrono::milliseconds timeout, std::uint64_t max_messages = 256) {
        return try_poll(timeout, max_messages).value();
    }
    /// As poll(), without an exception.
    Result<Delivery> try_poll(std::chrono::milliseconds timeout, std::uint64_t max_messages = 256) {
        spanlog_read_options options = SPANLOG_READ_OPTIONS_INIT;
        options.max_messages = max_messages == 0 ? SPANLOG_ZERO : max_messages;
        spanlog_delivery *delivery = nullptr;
        auto outcome = detail::called([&](auto error) {
            return spanlog_cursor_poll(cursor_.get(), &options, timeout.count(), &delivery, error);
        });
        if (!outcome) return outcome.error();
        return Delivery(delivery);
    }
    /// Acknowledges a message that was delivered, in any order.
    void ack(const MessageView &message) { ack(message.queue(), message.queue_offset()); }
    /// Acknowledges the message of a queue at an offset.
    void ack(std::uint32_t queue, std::uint64_t offset) {
        detail::called([&](auto error) {
            return spanlog_cursor_ack(cursor_.get(), queue, offset, error);
        }).value();
    }
    /// Acknowledges every message of a queue below `end`.
    void ack_up_to(std::uint32_t queue, std::uint64_t end) {
        detail::called([&](auto error) {
            return spanlog_cursor_ack_up_to(cursor_.get(), queue, end, error);
        }).value();
    }
    /// Makes what was acknowledged so far durable.
    void commit() {
        detail::called([&](auto error) {
            return spanlog_cursor_commit(cursor_.get(), error);
        }).value();
    }
    /// Goes on elsewhere.
    void seek(const spanlog_seek &to) {
        detail::called([&](auto error) {
            return spanlog_cursor_seek(cursor_.get(), &to, error);
        }).value();
    }
    /// What is not acknowledged.
    spanlog_lag lag() const {
        spanlog_lag lag = SPANLOG_LAG_INIT;
        detail::called([&](auto error) {
            return spanlog_cursor_lag(cursor_.get(), &lag, error);
        }).value();
        return lag;
    }
    /// A watch over its topic.
    Watch watch() const {
        spanlog_watch *watch = nullptr;
        detail::called([&](auto error) {
            return spanlog_cursor_watch(cursor_.get(), &watch, error);
        }).value();
        return Watch(watch);
    }
    /// Commits and lets others open the cursor.
    void close() {
        spanlog_cursor *cursor = cursor_.release();
        detail::called([&](auto error) { return spanlog_cursor_close(cursor, error); }).value();
    }
    /// The handle of C, for what this class does not offer.
    spanlog_cursor *raw() const noexcept { return cursor_.get(); }

private:
    detail::Owned<spanlog_cursor, detail::close_cursor> cursor_;
};

/// A cursor that a store remembers.
struct CursorInfo {
    explicit CursorInfo(const spanlog_cursor_info &row)
        : topic(row.topic), name(row.name), damage(detail::text(row.damage)), raw(row) {
        raw.topic = raw.name = raw.damage = nullptr;
    }
    std::string topic;
    std::string name;
    /// Why its file cannot be used; empty if it can.
    std::string damage;
    /// The numbers; its texts are NULL.
    spanlog_cursor_info raw;
};

/// An open store. Destroying it closes it; Store::close tells what went wrong.
class Store {
public:
    /// Opens the store at `root`, or makes one.
    explicit Store(const std::string &root, const Options &options = {})
        : Store(try_open(root, options).value()) {}

    /// As the constructor, without an exception.
    static Result<Store> try_open(const std::string &root, const Options &options = {}) {
        spanlog_store *store = nullptr;
        auto outcome = options.with([&](const spanlog_options &raw) {
            return detail::called([&](auto error) {
                return spanlog_store_open(root.c_str(), &raw, &store, error);
            });
        });
        if (!outcome) return outcome.error();
        return Store(store);
    }

    /// Removes the store at `root`.
    static void destroy(const std::string &root, const Options &options = {}) {
        options.with([&](const spanlog_options &raw) {
            return detail::called([&](auto error) {
                return spanlog_store_destroy(root.c_str(), &raw, error);
            });
        }).value();
    }

    /// Closes the store; throws what kept it from closing cleanly.
    void close() {
        spanlog_store *store = store_.release();
        detail::called([&](auto error) { return spanlog_store_close(store, error); }).value();
    }

    /// Appends one message.
    spanlog_receipt append(const Message &message) { return try_append(message).value(); }
    /// As append(), without an exception.
    Result<spanlog_receipt> try_append(const Message &message) {
        return appended(spanlog_store_append, message);
    }
    /// As append(), but returns only when the message is durable.
    spanlog_receipt append_durable(const Message &message) {
        return try_append_durable(message).value();
    }
    /// As append_durable(), without an exception.
    Result<spanlog_receipt> try_append_durable(const Message &message) {
        return appended(spanlog_store_append_durable, message);
    }
    /// Appends messages of one queue, all or none. The receipt is the first one's.
    spanlog_receipt append(const std::vector<Message> &messages) {
        return try_append(messages).value();
    }
    /// As above, without an exception.
    Result<spanlog_receipt> try_append(const std::vector<Message> &messages) {
        std::vector<spanlog_message> raw;
        for (const Message &message : messages) raw.push_back(message.raw());
        spanlog_receipt receipt;
        auto outcome = detail::called([&](auto error) {
            return spanlog_store_append_batch(store_.get(), raw.data(), raw.size(), &receipt, error);
        });
        if (!outcome) return outcome.error();
        return receipt;
    }

    /// Reads messages of a queue from `from` on.
    Batch read(const std::string &topic, std::uint32_t queue, std::uint64_t from,
               std::uint64_t max_messages = 256, std::uint64_t max_bytes = 1 << 20) {
        return try_read(topic, queue, from, max_messages, max_bytes).value();
    }
    /// As read(), without an exception.
    Result<Batch> try_read(const std::string &topic, std::uint32_t queue, std::uint64_t from,
                           std::uint64_t max_messages = 256, std::uint64_t max_bytes = 1 << 20) {
        spanlog_read_options options = SPANLOG_READ_OPTIONS_INIT;
        options.max_messages = max_messages == 0 ? SPANLOG_ZERO : max_messages;
        options.max_bytes = max_bytes == 0 ? SPANLOG_ZERO : max_bytes;
        spanlog_batch *batch = nullptr;
        auto outcome = detail::called([&](auto error) {
            return spanlog_store_read(store_.get(), topic.c_str(), queue, from, &options, &batch,
                                      error);
        });
        if (!outcome) return outcome.error();
        return Batch(batch);
    }
    /// Reads messages of a queue that have one of these tags: "a || b".
    Batch read(const std::string &topic, std::uint32_t queue, std::uint64_t from,
               const std::string &tags) {
        spanlog_batch *batch = nullptr;
        call([&](auto error) {
            return spanlog_store_read_filtered(store_.get(), topic.c_str(), queue, from,
                                               tags.c_str(), nullptr, &batch, error);
        });
        return Batch(batch);
    }
    /// The messages of a topic with a key, newest first.
    Batch query(const std::string &topic, const std::string &key,
                const spanlog_query_options &options = SPANLOG_QUERY_OPTIONS_INIT) {
        spanlog_batch *batch = nullptr;
        call([&](auto error) {
            return spanlog_store_query(store_.get(), topic.c_str(), key.c_str(), &options, &batch,
                                       error);
        });
        return Batch(batch);
    }
    /// The message with an identifier, its unique one or that of its place; at most one.
    Batch find_by_id(const std::string &topic, const std::string &id) {
        spanlog_batch *batch = nullptr;
        call([&](auto error) {
            return spanlog_store_find_by_id(store_.get(), topic.c_str(), id.c_str(), &batch, error);
        });
        return Batch(batch);
    }
    /// The offset of the first message stored at or after a time, or of the last at or before it.
    std::uint64_t offset_at(const std::string &topic, std::uint32_t queue, std::int64_t time_ms,
                            spanlog_boundary boundary = SPANLOG_BOUNDARY_LOWER) {
        std::uint64_t offset = 0;
        call([&](auto error) {
            return spanlog_store_offset_at(store_.get(), topic.c_str(), queue, time_ms, boundary,
                                           &offset, error);
        });
        return offset;
    }
    /// The record at a position, as a batch of one.
    Batch get(std::uint64_t position) {
        spanlog_batch *batch = nullptr;
        call([&](auto error) { return spanlog_store_get(store_.get(), position, &batch, error); });
        return Batch(batch);
    }
    /// The first message of a queue and one past its last; nothing if it never had one.
    std::optional<spanlog_bounds> bounds(const std::string &topic, std::uint32_t queue) {
        spanlog_bounds bounds = {0, 0};
        const auto status = call([&](auto error) {
            return spanlog_store_bounds(store_.get(), topic.c_str(), queue, &bounds, error);
        });
        if (status == SPANLOG_STATUS_END) return {};
        return bounds;
    }

    /// Waits until a message at or after `from` can be read; false when it waited so long.
    bool wait(const std::string &topic, std::uint32_t queue, std::uint64_t from,
              std::chrono::milliseconds timeout) {
        return call([&](auto error) {
                   return spanlog_store_wait(store_.get(), topic.c_str(), queue, from,
                                             timeout.count(), error);
               }) == SPANLOG_STATUS_OK;
    }
    /// A watch over a queue of a topic, or over all of them with -1.
    Watch watch(const std::string &topic, std::int64_t queue = -1) {
        spanlog_watch *watch = nullptr;
        call([&](auto error) {
            return spanlog_store_watch(store_.get(), topic.c_str(), queue, &watch, error);
        });
        return Watch(watch);
    }

    /// Opens the cursor of that name, or makes it.
    Cursor cursor(const std::string &name, const std::string &topic,
                  const spanlog_cursor_options &options = SPANLOG_CURSOR_OPTIONS_INIT) {
        spanlog_cursor *cursor = nullptr;
        call([&](auto error) {
            return spanlog_store_cursor(store_.get(), name.c_str(), topic.c_str(), &options,
                                        &cursor, error);
        });
        return Cursor(cursor);
    }

    /// Every cursor that the store remembers.
    std::vector<CursorInfo> cursors() {
        spanlog_list *list = nullptr;
        call([&](auto error) { return spanlog_store_cursors(store_.get(), &list, error); });
        return detail::rows<CursorInfo>(list, SPANLOG_CURSOR_INFO_INIT, spanlog_list_cursor);
    }
    /// Makes a cursor under another name that stands where this one does.
    void copy_cursor(const std::string &topic, const std::string &name, const std::string &copy) {
        call([&](auto error) {
            return spanlog_store_copy_cursor(store_.get(), topic.c_str(), name.c_str(),
                                             copy.c_str(), error);
        });
    }
    /// Puts a cursor that nobody has open elsewhere.
    void reset_cursor(const std::string &topic, const std::string &name, const spanlog_seek &to) {
        call([&](auto error) {
            return spanlog_store_reset_cursor(store_.get(), topic.c_str(), name.c_str(), &to,
                                              error);
        });
    }
    /// Deletes a cursor that nobody has open.
    void delete_cursor(const std::string &topic, const std::string &name) {
        call([&](auto error) {
            return spanlog_store_delete_cursor(store_.get(), topic.c_str(), name.c_str(), error);
        });
    }
    /// Takes over a RocketMQ broker's config/consumerOffset.json; how many offsets were set.
    std::uint64_t import_consumer_offsets(std::string_view text) {
        std::uint64_t count = 0;
        call([&](auto error) {
            return spanlog_store_import_consumer_offsets(store_.get(), text.data(), text.size(),
                                                         &count, error);
        });
        return count;
    }
    /// What every cursor has acknowledged, as a broker's config/consumerOffset.json.
    std::string export_consumer_offsets() {
        std::string text;
        std::size_t needed = 0;
        // It may grow while it is copied.
        while (call([&](auto error) {
                   return spanlog_store_export_consumer_offsets(store_.get(), text.data(),
                                                                text.size(), &needed, error);
               }) == SPANLOG_STATUS_TOO_SMALL) {
            text.resize(needed);
        }
        text.resize(needed - 1);
        return text;
    }

    /// Returns once everything appended so far is durable.
    void flush() {
        call([&](auto error) { return spanlog_store_flush(store_.get(), error); });
    }
    /// Returns once everything appended so far can be read from its queue.
    void catch_up() {
        call([&](auto error) { return spanlog_store_catch_up(store_.get(), error); });
    }
    /// Takes up what the process that writes the store did meanwhile, in a store opened for
    /// reading; whether there is anything new.
    bool refresh() {
        return call([&](auto error) { return spanlog_store_refresh(store_.get(), error); }) ==
               SPANLOG_STATUS_OK;
    }
    /// Asks for a round of cleaning now.
    void clean_now() {
        call([&](auto error) { return spanlog_store_clean_now(store_.get(), error); });
    }
    /// Changes what a directory is for.
    void set_role(const std::string &path, spanlog_role role) {
        call([&](auto error) {
            return spanlog_store_set_role(store_.get(), path.c_str(), role, error);
        });
    }
    /// The positions as of now.
    spanlog_watermarks watermarks() {
        spanlog_watermarks marks;
        call([&](auto error) { return spanlog_store_watermarks(store_.get(), &marks, error); });
        return marks;
    }
    /// The store in numbers.
    spanlog_stats stats() {
        spanlog_stats stats = SPANLOG_STATS_INIT;
        call([&](auto error) { return spanlog_store_stats(store_.get(), &stats, error); });
        return stats;
    }
    /// The directories, measured now.
    std::vector<Disk> disks() {
        spanlog_list *list = nullptr;
        call([&](auto error) { return spanlog_store_disks(store_.get(), &list, error); });
        return detail::rows<Disk>(list, SPANLOG_DISK_INIT, spanlog_list_disk);
    }

    /// The handle of C, for what these classes do not offer.
    spanlog_store *raw() const noexcept { return store_.get(); }

private:
    explicit Store(spanlog_store *store) noexcept : store_(store) {}

    template <typename Call>
    static spanlog_status call(Call call) {
        return detail::called(call).value();
    }

    template <typename Append>
    Result<spanlog_receipt> appended(Append append, const Message &message) {
        const spanlog_message raw = message.raw();
        spanlog_receipt receipt;
        auto outcome =
            detail::called([&](auto error) { return append(store_.get(), &raw, &receipt, error); });
        if (!outcome) return outcome.error();
        return receipt;
    }

    detail::Owned<spanlog_store, detail::close_store> store_;
};

/// Something in a store that is not as it should be.
struct Finding {
    explicit Finding(const spanlog_finding &row)
        : path(detail::text(row.path)), text(detail::text(row.text)), raw(row) {
        raw.path = raw.text = nullptr;
    }
    std::string path;
    std::string text;
    /// The numbers; its texts are NULL.
    spanlog_finding raw;
};

/// One thing that mending a store takes.
struct Action {
    explicit Action(const spanlog_action &row)
        : path(detail::text(row.path)), text(detail::text(row.text)), raw(row) {
        raw.path = raw.text = nullptr;
    }
    /// Empty if it is about no file.
    std::string path;
    std::string text;
    /// The numbers; its texts are NULL.
    spanlog_action raw;
};

/// Everything of a store that nobody has open, read and compared. Nothing is changed.
class Verification {
public:
    /// Reads all of it; `progress` is told how far it is.
    template <typename Told>
    Verification(const std::string &root, const Options &options, Told progress) {
        options.with([&](const spanlog_options &raw) {
            spanlog_verification *opened = nullptr;
            const auto status = detail::called([&](auto error) {
                return spanlog_verification_open(root.c_str(), &raw, &opened, error);
            }).value();
            verification_.reset(opened);
            return status;
        });
        spanlog_progress at;
        while (detail::called([&](auto error) {
                   return spanlog_verification_step(verification_.get(), &at, error);
               }).value() != SPANLOG_STATUS_END) {
            progress(at);
        }
    }
    explicit Verification(const std::string &root, const Options &options = {})
        : Verification(root, options, [](const spanlog_progress &) {}) {}

    /// What was verified.
    spanlog_verdict verdict() const {
        spanlog_verdict verdict = SPANLOG_VERDICT_INIT;
        detail::called([&](auto error) {
            return spanlog_verification_verdict(verification_.get(), &verdict, error);
        }).value();
        return verdict;
    }
    std::vector<Finding> findings() const {
        spanlog_list *list = nullptr;
        detail::called([&](auto error) {
            return spanlog_verification_findings(verification_.get(), &list, error);
        }).value();
        return detail::rows<Finding>(list, SPANLOG_FINDING_INIT, spanlog_list_finding);
    }
    /// The handle of C, for what this class does not offer.
    const spanlog_verification *raw() const noexcept { return verification_.get(); }

private:
    detail::Owned<spanlog_verification, spanlog_verification_free> verification_;
};

/// What mending a store takes. Nothing is done before apply().
class Repair {
public:
    explicit Repair(const Verification &verification) {
        spanlog_repair *repair = nullptr;
        detail::called([&](auto error) {
            return spanlog_verification_plan_repair(verification.raw(), &repair, error);
        }).value();
        repair_.reset(repair);
    }
    /// What will be done, in order; nothing if the store is sound.
    std::vector<Action> actions() const {
        spanlog_list *list = nullptr;
        detail::called([&](auto error) {
            return spanlog_repair_actions(repair_.get(), &list, error);
        }).value();
        return detail::rows<Action>(list, SPANLOG_ACTION_INIT, spanlog_list_action);
    }
    /// What was found and cannot be mended here.
    std::vector<Finding> beyond() const {
        spanlog_list *list = nullptr;
        detail::called([&](auto error) {
            return spanlog_repair_beyond(repair_.get(), &list, error);
        }).value();
        return detail::rows<Finding>(list, SPANLOG_FINDING_INIT, spanlog_list_finding);
    }
    /// Does it, once; the files with what was cut or written over.
    std::vector<std::string> apply() {
        spanlog_list *list = nullptr;
        spanlog_repair *repair = repair_.release();
        detail::called([&](auto error) {
            return spanlog_repair_apply(repair, &list, error);
        }).value();
        std::vector<std::string> saved;
        for (auto &row : detail::rows<Saved>(list, SPANLOG_SAVED_INIT, spanlog_list_saved)) {
            saved.push_back(std::move(row.path));
        }
        return saved;
    }

private:
    struct Saved {
        explicit Saved(const spanlog_saved &row) : path(detail::text(row.path)) {}
        std::string path;
    };
    detail::Owned<spanlog_repair, spanlog_repair_free> repair_;
};

/// A record of a queue. It refers to the bytes of the records that it was popped with.
class Record {
public:
    explicit Record(const spanlog_record &raw) noexcept : raw_(&raw) {}
    std::string_view payload() const noexcept { return detail::view(raw_->payload); }
    std::uint64_t position() const noexcept { return raw_->position; }
    /// Committing up to there commits it.
    std::uint64_t end() const noexcept { return raw_->end; }
    /// How many records were pushed before it.
    std::uint64_t number() const noexcept { return raw_->number; }

private:
    const spanlog_record *raw_;
};

/// Records that one call popped, with their bytes; empty if none came. It may outlive the queue.
class Records {
public:
    /// Takes records of C over.
    explicit Records(spanlog_records *records) noexcept : records_(records) {
        rows_ = spanlog_records_all(records, &count_);
    }

    using Iterator = detail::Iterator<spanlog_record, Record>;
    Iterator begin() const noexcept { return Iterator(rows_); }
    Iterator end() const noexcept { return Iterator(rows_ + count_); }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    Record operator[](std::size_t at) const noexcept { return Record(rows_[at]); }

private:
    detail::Owned<spanlog_records, spanlog_records_free> records_;
    const spanlog_record *rows_ = nullptr;
    std::size_t count_ = 0;
};

/// A named reader of a queue. Destroying it changes nothing of the reader.
class QueueReader {
public:
    /// Takes a reader of C over.
    explicit QueueReader(spanlog_reader *reader) noexcept : reader_(reader) {}

    /// Pops at least one record and at most so many; waits for one so long, for ever if negative.
    Records pop(std::chrono::milliseconds timeout, std::size_t max_records = 256) {
        return try_pop(timeout, max_records).value();
    }
    /// As pop(), without an exception.
    Result<Records> try_pop(std::chrono::milliseconds timeout, std::size_t max_records = 256) {
        spanlog_records *records = nullptr;
        auto outcome = detail::called([&](auto error) {
            return spanlog_reader_pop(reader_.get(), max_records, 0, timeout.count(), &records,
                                      error);
        });
        if (!outcome) return outcome.error();
        return Records(records);
    }
    /// The next record, which stays the next; empty if there is none.
    Records peek() {
        spanlog_records *records = nullptr;
        detail::called([&](auto error) {
            return spanlog_reader_peek(reader_.get(), &records, error);
        }).value();
        return Records(records);
    }
    /// Everything before `end` is done: where a popped record ends.
    void commit(std::uint64_t end) {
        detail::called([&](auto error) {
            return spanlog_reader_commit(reader_.get(), end, error);
        }).value();
    }
    /// Goes back to the first record that is not committed.
    void rewind() {
        detail::called([&](auto error) {
            return spanlog_reader_rewind(reader_.get(), error);
        }).value();
    }
    /// How many records wait to be popped.
    std::uint64_t backlog() const {
        std::uint64_t records = 0;
        detail::called([&](auto error) {
            return spanlog_reader_backlog(reader_.get(), &records, nullptr, error);
        }).value();
        return records;
    }
    /// The descriptor to poll.
    int event_fd() {
        std::int32_t fd = -1;
        detail::called([&](auto error) {
            return spanlog_reader_event_fd(reader_.get(), &fd, error);
        }).value();
        return fd;
    }
    /// Lets the descriptor wait for records behind what was popped.
    void clear_event() {
        detail::called([&](auto error) {
            return spanlog_reader_clear_event(reader_.get(), error);
        }).value();
    }

private:
    detail::Owned<spanlog_reader, spanlog_reader_free> reader_;
};

/// A persistent queue with a fixed budget of memory and disk. Destroying it closes it;
/// Queue::close tells what went wrong.
class Queue {
public:
    /// Opens the queue at `root`, or makes one.
    explicit Queue(const std::string &root,
                   const spanlog_queue_options &options = SPANLOG_QUEUE_OPTIONS_INIT)
        : Queue(try_open(root, options).value()) {}
    /// As the constructor, without an exception.
    static Result<Queue> try_open(
        const std::string &root, const spanlog_queue_options &options = SPANLOG_QUEUE_OPTIONS_INIT) {
        spanlog_queue *queue = nullptr;
        auto outcome = detail::called([&](auto error) {
            return spanlog_queue_open(root.c_str(), &options, &queue, error);
        });
        if (!outcome) return outcome.error();
        return Queue(queue);
    }

    /// Pushes one record; where it ends.
    std::uint64_t push(std::string_view payload) { return try_push(payload).value(); }
    /// As push(), without an exception.
    Result<std::uint64_t> try_push(std::string_view payload) {
        std::uint64_t end = 0;
        auto outcome = detail::called([&](auto error) {
            return spanlog_queue_push(queue_.get(), payload.data(), payload.size(), &end, error);
        });
        if (!outcome) return outcome.error();
        return end;
    }
    /// Pushes several records, all or none; where the last one ends.
    std::uint64_t push(const std::vector<std::string_view> &payloads) {
        std::vector<spanlog_bytes> raw;
        for (std::string_view payload : payloads) raw.push_back({payload.data(), payload.size()});
        std::uint64_t end = 0;
        detail::called([&](auto error) {
            return spanlog_queue_push_many(queue_.get(), raw.data(), raw.size(), &end, error);
        }).value();
        return end;
    }
    /// The reader of that name, made where there is none.
    QueueReader reader(const std::string &name = "default") {
        spanlog_reader *reader = nullptr;
        detail::called([&](auto error) {
            return spanlog_queue_reader(queue_.get(), name.c_str(), &reader, error);
        }).value();
        return QueueReader(reader);
    }
    /// Takes a reader off: it holds no space any more.
    void remove_reader(const std::string &name) {
        detail::called([&](auto error) {
            return spanlog_queue_remove_reader(queue_.get(), name.c_str(), error);
        }).value();
    }
    /// Returns once everything pushed and committed so far is durable.
    void flush() {
        detail::called([&](auto error) { return spanlog_queue_flush(queue_.get(), error); }).value();
    }
    /// The queue in numbers.
    spanlog_queue_figures stat() const {
        spanlog_queue_figures figures = SPANLOG_QUEUE_FIGURES_INIT;
        detail::called([&](auto error) {
            return spanlog_queue_stat(queue_.get(), &figures, error);
        }).value();
        return figures;
    }
    /// Closes the queue; throws what kept it from closing cleanly.
    void close() {
        spanlog_queue *queue = queue_.release();
        detail::called([&](auto error) { return spanlog_queue_close(queue, error); }).value();
    }
    /// The handle of C, for what this class does not offer.
    spanlog_queue *raw() const noexcept { return queue_.get(); }

private:
    explicit Queue(spanlog_queue *queue) noexcept : queue_(queue) {}

    detail::Owned<spanlog_queue, detail::close_queue> queue_;
};

}  // namespace spanlog

#endif
