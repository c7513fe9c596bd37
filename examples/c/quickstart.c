/* Appends a few messages and reads them back: quickstart DIRECTORY */
#include <spanlog.h>
#include <stdio.h>
#include <string.h>

static int fail(spanlog_error *error) {
    fprintf(stderr, "%s\n", spanlog_error_message(error));
    spanlog_error_free(error);
    return 1;
}

int main(int argc, char **argv) {
    const char *root = argc > 1 ? argv[1] : "quickstart-store";
    const char *bodies[] = {"tea", "coffee", "cocoa"};
    spanlog_store *store = NULL;
    spanlog_error *error = NULL;
    if (spanlog_store_open(root, NULL, &store, &error) < 0) return fail(error);

    for (size_t at = 0; at < 3; at++) {
        spanlog_message message = SPANLOG_MESSAGE_INIT;
        spanlog_receipt receipt;
        message.topic = "orders";
        message.body = bodies[at];
        message.body_len = strlen(bodies[at]);
        message.tags = "drink";
        if (spanlog_store_append(store, &message, &receipt, &error) < 0) return fail(error);
        printf("%s is message %llu at %llu\n", bodies[at],
               (unsigned long long)receipt.queue_offset, (unsigned long long)receipt.position);
    }

    /* What was appended can be read a moment later; this waits for that moment. */
    spanlog_batch *batch = NULL;
    if (spanlog_store_catch_up(store, &error) < 0) return fail(error);
    if (spanlog_store_read(store, "orders", 0, 0, NULL, &batch, &error) < 0) return fail(error);
    size_t count = 0;
    const spanlog_message_view *message = spanlog_batch_messages(batch, &count);
    for (; count > 0; count--, message++) {
        printf("%llu: %.*s [%.*s]\n", (unsigned long long)message->queue_offset,
               (int)message->body.len, message->body.data, (int)message->tags.len,
               message->tags.data);
    }
    spanlog_batch_free(batch);
    return spanlog_store_close(store, &error) < 0 ? fail(error) : 0;
}
