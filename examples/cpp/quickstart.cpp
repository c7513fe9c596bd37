// Appends messages, reads them back and shows both ways to meet an error: quickstart DIRECTORY
#include <iostream>
#include <spanlog.hpp>

int main(int argc, char **argv) try {
    spanlog::Options options;
    options.raw.segment_len_bytes = 1 << 20;
    spanlog::Store store(argc > 1 ? argv[1] : "quickstart-store", options);

    store.append(spanlog::Message("orders", 0, "tea").tags("drink").key("order-1"));
    store.append({{"orders", 0, "coffee"}, {"orders", 0, "cocoa"}});
    const auto receipt = store.append_durable({"orders", 0, "survives a loss of power"});
    std::cout << "message " << receipt.queue_offset << " is durable\n";

    // An error as a value, for those who expect one.
    if (auto outcome = store.try_append({"no/topic", 0, "x"}); !outcome) {
        std::cout << "refused: " << outcome.error().what() << '\n';
    }

    store.catch_up();
    for (const auto message : store.read("orders", 0, 0)) {
        std::cout << message.queue_offset() << ": " << message.body();
        if (!message.tags().empty()) std::cout << " [" << message.tags() << ']';
        std::cout << '\n';
    }
    store.close();
} catch (const spanlog::Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
