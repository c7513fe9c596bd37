/* Prints the messages of a topic's queue 0 as they come, beside other descriptors:
 *   tail DIRECTORY TOPIC COUNT      every line of the standard input is appended, too */
#include <poll.h>
#include <spanlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static spanlog_error *error = NULL;

static spanlog_status must(spanlog_status status) {
    if (status >= 0) return status;
    fprintf(stderr, "%s\n", spanlog_error_message(error));
    exit(1);
}

/* Prints what there is from `from` on; where to go on. */
static unsigned long long print(spanlog_store *store, const char *topic, uint64_t from) {
    spanlog_batch *batch = NULL;
    spanlog_batch_info info = SPANLOG_BATCH_INFO_INIT;
    while (must(spanlog_store_read(store, topic, 0, from, NULL, &batch, &error)) == 0) {
        size_t count = 0;
        const spanlog_message_view *message = spanlog_batch_messages(batch, &count);
        for (size_t at = 0; at < count; at++, message++) {
            printf("%.*s\n", (int)message->body.len, message->body.data);
        }
        must(spanlog_batch_get_info(batch, &info, &error));
        from = info.next;
        spanlog_batch_free(batch);
    }
    spanlog_batch_free(batch);
    return from;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    spanlog_store *store = NULL;
    spanlog_watch *watch = NULL;
    struct pollfd ready[2] = {{0, POLLIN, 0}, {-1, POLLIN, 0}};
    must(spanlog_store_open(argv[1], NULL, &store, &error));
    must(spanlog_store_watch(store, argv[2], 0, &watch, &error));
    must(spanlog_watch_event_fd(watch, &ready[1].fd, &error));
    for (uint64_t next = 0; next < strtoull(argv[3], NULL, 10);) {
        char line[4096];
        if (poll(ready, 2, -1) < 0) return 1;
        if (ready[0].revents != 0 && fgets(line, sizeof(line), stdin) != NULL) {
            spanlog_message message = SPANLOG_MESSAGE_INIT;
            message.topic = argv[2];
            message.body = line;
            message.body_len = strcspn(line, "\n");
            must(spanlog_store_append(store, &message, NULL, &error));
        }
        must(spanlog_watch_clear(watch, &error));
        next = print(store, argv[2], next);
    }
    spanlog_watch_free(watch);
    return must(spanlog_store_close(store, &error));
}
