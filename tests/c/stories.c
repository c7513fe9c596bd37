/* What a program in C may rely on, each told as a short story. */
#include "check.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[4096];

static spanlog_store *open_in(const char *name) {
    char root[4200];
    snprintf(root, sizeof(root), "%s/%s", folder, name);
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.segment_len_bytes = 1 << 20;
    options.background = SPANLOG_SWITCH_OFF;
    spanlog_store *store = NULL;
    spanlog_error *error = NULL;
    WELL(spanlog_store_open(root, &options, &store, &error), error);
    return store;
}

static void append(spanlog_store *store, const char *body) {
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    spanlog_error *error = NULL;
    message.topic = "orders";
    message.body = body;
    message.body_len = strlen(body);
    WELL(spanlog_store_append(store, &message, NULL, &error), error);
}

static int is(spanlog_bytes bytes, const char *text) {
    return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

/* Fails with that status; the error object, if one is wanted, is left in `*error`. */
#define REFUSED(call, expected)                                                            \
    do {                                                                                   \
        spanlog_status refused_ = (call);                                                  \
        if (refused_ != (expected)) FAIL("%s: %s", #call, spanlog_status_name(refused_)); \
    } while (0)

static void everything_that_was_said_of_a_message_comes_back(void) {
    spanlog_store *store = open_in("message");
    const char *keys[] = {"k1", "k2"};
    spanlog_property properties[] = {{"region", "north"}, {"empty-ish", "x"}};
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "orders";
    message.queue = 3;
    message.body = "two\0teapots";
    message.body_len = 11;
    message.tags = "kitchen";
    message.keys = keys;
    message.key_count = 2;
    message.properties = properties;
    message.property_count = 2;
    message.flag = -5;
    message.born_ms = 1700000000123;
    message.born_host = "[2001:db8::1]:77";
    message.reconsume_times = 2;
    spanlog_receipt receipt;
    spanlog_error *error = NULL;
    WELL(spanlog_store_append_durable(store, &message, &receipt, &error), error);
    CHECK(receipt.queue_offset == 0 && receipt.end > receipt.position);
    WELL(spanlog_store_catch_up(store, &error), error);
    spanlog_batch *batch = NULL;
    CHECK(spanlog_store_read(store, "orders", 3, 0, NULL, &batch, NULL) == SPANLOG_STATUS_OK);
    size_t count = 0;
    const spanlog_message_view *found = spanlog_batch_messages(batch, &count);
    CHECK(count == 1 && found->queue == 3 && found->flag == -5 && found->reconsume_times == 2);
    CHECK(found->body.len == 11 && memcmp(found->body.data, "two\0teapots", 11) == 0);
    CHECK(is(found->topic, "orders") && is(found->tags, "kitchen") && is(found->keys, "k1 k2"));
    CHECK(found->born_ms == 1700000000123 && found->store_ms == receipt.store_ms);
    CHECK(found->position == receipt.position && found->unique_id.len == 32);
    spanlog_bytes name, value;
    CHECK(spanlog_message_property(found, "region", &value, NULL) == SPANLOG_STATUS_OK);
    CHECK(is(value, "north"));
    CHECK(spanlog_message_property(found, "none", &value, NULL) == SPANLOG_STATUS_END);
    size_t at = 0;
    while (spanlog_message_property_at(found, at, &name, &value, NULL) == SPANLOG_STATUS_OK) at++;
    CHECK(at >= 5);
    spanlog_batch_free(batch);
    WELL(spanlog_store_close(store, &error), error);
}

static void a_batch_outlives_its_store(void) {
    spanlog_store *store = open_in("outlives");
    append(store, "still here");
    spanlog_error *error = NULL;
    WELL(spanlog_store_catch_up(store, &error), error);
    spanlog_batch *batch = NULL;
    WELL(spanlog_store_read(store, "orders", 0, 0, NULL, &batch, &error), error);
    WELL(spanlog_store_close(store, &error), error);
    size_t count = 0;
    CHECK(is(spanlog_batch_messages(batch, &count)->body, "still here") && count == 1);
    spanlog_batch_free(batch);
    spanlog_batch_free(batch);
    CHECK(spanlog_batch_messages(batch, &count) == NULL && count == 0);
    REFUSED(spanlog_store_close(store, NULL), SPANLOG_STATUS_CLOSED);
}

static void messages_are_copied_into_the_callers_buffer(void) {
    spanlog_store *store = open_in("buffer");
    append(store, "first");
    append(store, "second");
    spanlog_error *error = NULL;
    WELL(spanlog_store_catch_up(store, &error), error);
    char buffer[4096];
    spanlog_message_view views[8];
    spanlog_batch_info info = SPANLOG_BATCH_INFO_INIT;
#define INTO(from, len, count) \
    spanlog_store_read_into(store, "orders", 0, from, NULL, buffer, len, views, count, &info, NULL)
    CHECK(INTO(0, sizeof(buffer), 8) == SPANLOG_STATUS_OK);
    CHECK(info.count == 2 && info.next == 2 && info.max == 2);
    CHECK(is(views[0].body, "first") && is(views[1].body, "second"));
    CHECK(views[1].body.data > buffer && views[1].body.data < buffer + sizeof(buffer));
    CHECK(INTO(0, 10, 8) == SPANLOG_STATUS_TOO_SMALL);
    size_t needed = info.needed_bytes;
    CHECK(needed > 100 && info.count == 0 && info.next == 0);
    CHECK(INTO(0, needed, 8) == SPANLOG_STATUS_OK && info.count == 1 && info.next == 1);
    CHECK(INTO(1, sizeof(buffer), 1) == SPANLOG_STATUS_OK && is(views[0].body, "second"));
    CHECK(INTO(2, sizeof(buffer), 8) == SPANLOG_STATUS_END);
    CHECK(info.status == SPANLOG_READ_STATUS_AT_END && info.next == 2);
    CHECK(INTO(0, sizeof(buffer), 0) == SPANLOG_STATUS_INVALID);
    WELL(spanlog_store_close(store, &error), error);
}

static void an_error_tells_what_is_known_of_it(void) {
    spanlog_store *store = open_in("error");
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    spanlog_error *error = NULL;
    uint64_t number = 7;
    message.topic = "a/b";
    REFUSED(spanlog_store_append(store, &message, NULL, &error), SPANLOG_STATUS_INVALID);
    CHECK(strstr(spanlog_error_message(error), "topic") != NULL);
    CHECK(spanlog_error_offset(error, &number) && number == 1);
    CHECK(!spanlog_error_limit(error, &number) && spanlog_error_path(error) == NULL);
    CHECK(!spanlog_error_is_retriable(error) && !spanlog_error_is_fatal(error));
    spanlog_error_free(error);
    spanlog_error_free(error);
    CHECK(spanlog_error_code(error) == SPANLOG_STATUS_CLOSED);
    CHECK(strlen(spanlog_error_message(error)) > 0 && spanlog_error_errno(error) == 0);
    char body[2] = "x";
    message.topic = "t";
    message.body = body;
    message.body_len = (size_t)5 << 20;
    /* It is refused by its length before a byte of it is read. */
    REFUSED(spanlog_store_append(store, &message, NULL, &error), SPANLOG_STATUS_TOO_LARGE);
    CHECK(spanlog_error_limit(error, &number) && number == 4 << 20);
    spanlog_error_free(error);
    message.body_len = SIZE_MAX;
    REFUSED(spanlog_store_append(store, &message, NULL, NULL), SPANLOG_STATUS_INVALID);
    spanlog_store *second = NULL;
    char root[4200];
    snprintf(root, sizeof(root), "%s/error", folder);
    REFUSED(spanlog_store_open(root, NULL, &second, &error), SPANLOG_STATUS_LOCKED);
    CHECK(strstr(spanlog_error_path(error), "/error/") != NULL && second == NULL);
    CHECK(spanlog_error_is_retriable(error));
    spanlog_error_free(error);
    REFUSED(spanlog_store_open("/proc/none", NULL, &second, &error), SPANLOG_STATUS_IO);
    CHECK(spanlog_error_errno(error) != 0);
    spanlog_error_free(error);
    WELL(spanlog_store_close(store, &error), error);
}

static void structures_of_other_releases_are_taken(void) {
    spanlog_store *store = open_in("sizes");
    struct {
        spanlog_message known;
        uint64_t unknown;
    } longer;
    memset(&longer, 0, sizeof(longer));
    longer.known.struct_size = sizeof(longer);
    longer.known.topic = "orders";
    spanlog_error *error = NULL;
    WELL(spanlog_store_append(store, &longer.known, NULL, &error), error);
    longer.unknown = 1;
    REFUSED(spanlog_store_append(store, &longer.known, NULL, NULL), SPANLOG_STATUS_INVALID);
    size_t wrong[] = {0, 1, sizeof(spanlog_message) - 1, (size_t)1 << 40, SIZE_MAX};
    for (size_t at = 0; at < sizeof(wrong) / sizeof(*wrong); at++) {
        longer.known.struct_size = wrong[at];
        REFUSED(spanlog_store_append(store, &longer.known, NULL, NULL), SPANLOG_STATUS_INVALID);
    }
    struct {
        spanlog_stats known;
        uint64_t unknown;
    } stats = {.known = {.struct_size = sizeof(stats)}, .unknown = 7};
    WELL(spanlog_store_stats(store, &stats.known, &error), error);
    CHECK(stats.unknown == 0 && stats.known.segments == 1 && stats.known.queues == 0);
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    spanlog_directory_options directory = SPANLOG_DIRECTORY_OPTIONS_INIT;
    directory.path = folder, directory.reserved = 1;
    options.directories = &directory, options.directory_count = 1;
    REFUSED(spanlog_store_open(folder, &options, &store, NULL), SPANLOG_STATUS_INVALID);
    options.directory_count = 0, options.directories = NULL;
    options.placement = 99;
    REFUSED(spanlog_store_open(folder, &options, &store, NULL), SPANLOG_STATUS_INVALID);
    options.placement = 0;
    options.store_host = "nowhere";
    REFUSED(spanlog_store_open(folder, &options, &store, NULL), SPANLOG_STATUS_INVALID);
    WELL(spanlog_store_close(store, &error), error);
}

static void lists_are_read_element_by_element(void) {
    spanlog_store *store = open_in("lists");
    append(store, "a");
    spanlog_error *error = NULL;
    WELL(spanlog_store_catch_up(store, &error), error);
    spanlog_list *list = NULL;
    spanlog_queue_info queue = SPANLOG_QUEUE_INFO_INIT;
    spanlog_disk disk = SPANLOG_DISK_INIT;
    WELL(spanlog_store_queues(store, &list, &error), error);
    CHECK(spanlog_list_count(list) == 1);
    WELL(spanlog_list_queue(list, 0, &queue, &error), error);
    CHECK(strcmp(queue.topic, "orders") == 0 && queue.max == 1);
    CHECK(spanlog_list_queue(list, 1, &queue, NULL) == SPANLOG_STATUS_END);
    REFUSED(spanlog_list_disk(list, 0, &disk, NULL), SPANLOG_STATUS_INVALID);
    spanlog_list_free(list);
    WELL(spanlog_store_disks(store, &list, &error), error);
    WELL(spanlog_list_disk(list, 0, &disk, &error), error);
    CHECK(disk.role == SPANLOG_ROLE_READ_WRITE && disk.has_usage == 1 && disk.offline == NULL);
    CHECK(disk.used_ratio > 0 && disk.used_ratio < 1 && disk.clean == 0.75);
    spanlog_list_free(list);
    WELL(spanlog_store_close(store, &error), error);
}

static void a_child_process_leaves_the_store_alone(void) {
    spanlog_store *store = open_in("fork");
    append(store, "before");
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        spanlog_error *error = NULL;
        int refused = spanlog_store_flush(store, &error) == SPANLOG_STATUS_CLOSED &&
                      strstr(spanlog_error_message(error), "fork") != NULL;
        spanlog_error_free(error);
        refused = refused && spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK;
        refused = refused && spanlog_store_flush(store, NULL) == SPANLOG_STATUS_CLOSED;
        /* What the parent's handle stood for is given up, not freed: no program goes on with it. */
        execl(refused ? "/bin/true" : "/bin/false", "told", (char *)NULL);
        _exit(2);
    }
    int how = -1;
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    append(store, "after");
    spanlog_store *second = NULL;
    char root[4200];
    snprintf(root, sizeof(root), "%s/fork", folder);
    REFUSED(spanlog_store_open(root, NULL, &second, NULL), SPANLOG_STATUS_LOCKED);
    spanlog_error *error = NULL;
    WELL(spanlog_store_close(store, &error), error);
    store = open_in("fork");
    spanlog_recovery recovery = SPANLOG_RECOVERY_INIT;
    WELL(spanlog_store_recovery(store, &recovery, &error), error);
    CHECK(recovery.was_clean == 1);
    WELL(spanlog_store_close(store, &error), error);
}

enum { THREADS = 4, ROUNDS = 500 };

static void *append_until_closed(void *store) {
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "orders";
    message.body = "x";
    message.body_len = 1;
    for (size_t done = 0;; done++) {
        spanlog_status status = spanlog_store_append(store, &message, NULL, NULL);
        if (status == SPANLOG_STATUS_CLOSED) return (void *)done;
        CHECK(status == SPANLOG_STATUS_OK);
    }
}

static void *close_it(void *store) {
    return (void *)(intptr_t)(spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK);
}

static void a_store_is_closed_once_while_others_append(void) {
    spanlog_store *store = open_in("threads");
    pthread_t appenders[THREADS], closers[2];
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_create(&appenders[at], NULL, append_until_closed, store) == 0);
    }
    spanlog_watermarks marks = {0, 0, 0, 0};
    while (marks.appended < 10000) CHECK(spanlog_store_watermarks(store, &marks, NULL) == 0);
    for (int at = 0; at < 2; at++) CHECK(pthread_create(&closers[at], NULL, close_it, store) == 0);
    size_t appended = 0, closed = 0;
    void *result = NULL;
    for (int at = 0; at < THREADS; at++) {
        CHECK(pthread_join(appenders[at], &result) == 0);
        appended += (size_t)result;
    }
    for (int at = 0; at < 2; at++) {
        CHECK(pthread_join(closers[at], &result) == 0);
        closed += (size_t)result;
    }
    CHECK(closed == 1);
    store = open_in("threads");
    spanlog_bounds bounds;
    CHECK(spanlog_store_bounds(store, "orders", 0, &bounds, NULL) == SPANLOG_STATUS_OK);
    CHECK(bounds.max == appended);
    CHECK(spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK);
}

static void thousands_of_handles_are_given_and_freed(void) {
    spanlog_store *store = open_in("handles");
    append(store, "x");
    CHECK(spanlog_store_catch_up(store, NULL) == SPANLOG_STATUS_OK);
    static spanlog_batch *batches[ROUNDS];
    for (int round = 0; round < 3; round++) {
        for (int at = 0; at < ROUNDS; at++) {
            CHECK(spanlog_store_read(store, "orders", 0, 0, NULL, &batches[at], NULL) == 0);
        }
        for (int at = ROUNDS - 1; at >= 0; at--) spanlog_batch_free(batches[at]);
        for (int at = 0; at < ROUNDS; at++) spanlog_batch_free(batches[at]);
    }
    CHECK(spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK);
}

static void the_library_is_the_release_of_its_header(void) {
    CHECK(strcmp(spanlog_version(), SPANLOG_VERSION) == 0);
    CHECK(spanlog_version_number() == SPANLOG_VERSION_NUMBER);
}

#define STORY(name) {#name, name}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } stories[] = {
        STORY(everything_that_was_said_of_a_message_comes_back),
        STORY(a_batch_outlives_its_store),
        STORY(messages_are_copied_into_the_callers_buffer),
        STORY(an_error_tells_what_is_known_of_it),
        STORY(structures_of_other_releases_are_taken),
        STORY(lists_are_read_element_by_element),
        STORY(a_child_process_leaves_the_store_alone),
        STORY(a_store_is_closed_once_while_others_append),
        STORY(thousands_of_handles_are_given_and_freed),
        STORY(the_library_is_the_release_of_its_header),
    };
    if (argc != 2) FAIL("usage: %s FOLDER", argv[0]);
    snprintf(folder, sizeof(folder), "%s", argv[1]);
    for (size_t at = 0; at < sizeof(stories) / sizeof(*stories); at++) {
        fprintf(stderr, "%s\n", stories[at].name);
        stories[at].run();
    }
    return done();
}
