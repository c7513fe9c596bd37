/* Two static libraries made by one Rust compiler, in one program. */
#include "check.h"

uint32_t other_sum(uint32_t count);

int main(int argc, char **argv) {
    spanlog_store *store = open_fresh(argc, argv);
    CHECK(other_sum(4) == 7);
    CHECK(spanlog_store_append(store, NULL, NULL, NULL) == SPANLOG_STATUS_INVALID);
    CHECK(spanlog_store_close(store, NULL) == SPANLOG_STATUS_OK);
    return done();
}
