/* Two ways to survive a loss of power: durable DIRECTORY */
#include <spanlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static spanlog_error *error = NULL;

static void must(spanlog_status status) {
    if (status >= 0) return;
    fprintf(stderr, "%s\n", spanlog_error_message(error));
    exit(1);
}

static spanlog_message entry(const char *body) {
    spanlog_message message = SPANLOG_MESSAGE_INIT;
    message.topic = "audit";
    message.body = body;
    message.body_len = strlen(body);
    return message;
}

int main(int argc, char **argv) {
    const char *root = argc > 1 ? argv[1] : "durable-store";
    spanlog_store *store = NULL;
    spanlog_receipt receipt;
    spanlog_watermarks marks;

    /* One message at a time: the store flushes in the background, the second append waits. */
    must(spanlog_store_open(root, NULL, &store, &error));
    spanlog_message soon = entry("soon on disk"), now = entry("on disk now");
    must(spanlog_store_append(store, &soon, NULL, &error));
    must(spanlog_store_append_durable(store, &now, &receipt, &error));
    must(spanlog_store_watermarks(store, &marks, &error));
    if (marks.flushed < receipt.end) return 1;
    must(spanlog_store_close(store, &error));

    /* Every message: an append returns when it is flushed. Threads that append at the same time
     * share one flush, and a batch needs one for all its messages. */
    spanlog_options options = SPANLOG_OPTIONS_INIT;
    options.durability = SPANLOG_DURABILITY_GROUP;
    must(spanlog_store_open(root, &options, &store, &error));
    static char bodies[100][16];
    static spanlog_message batch[100];
    for (int number = 0; number < 100; number++) {
        snprintf(bodies[number], sizeof(bodies[number]), "entry %d", number);
        batch[number] = entry(bodies[number]);
    }
    must(spanlog_store_append_batch(store, batch, 100, &receipt, &error));
    printf("messages up to %llu are durable\n", (unsigned long long)receipt.queue_offset + 99);
    must(spanlog_store_close(store, &error));
    return 0;
}
