// A queue between two threads that survives a kill: one pushes lines of the standard input, the
// other works on them: work_queue DIRECTORY. Start it again: it goes on where it was.
#include <iostream>
#include <spanlog.hpp>
#include <thread>

int main(int argc, char **argv) try {
    spanlog_queue_options options = SPANLOG_QUEUE_OPTIONS_INIT;
    options.capacity_bytes = 64 << 20;              // never more disk than this
    options.on_full = SPANLOG_ON_FULL_BLOCK;        // the reader of lines waits for the worker
    spanlog::Queue queue(argc > 1 ? argv[1] : "work", options);

    std::thread worker([&queue] {
        auto reader = queue.reader();
        for (;;) {
            const auto records = reader.pop(std::chrono::milliseconds(-1), 100);
            for (const auto record : records) {
                if (record.payload().empty()) {     // the end that is pushed below
                    reader.commit(record.end());
                    return;
                }
                std::cout << "done " << record.number() << ": " << record.payload() << '\n';
                reader.commit(record.end());        // until then it comes again after a kill
            }
        }
    });
    for (std::string line; std::getline(std::cin, line);) {
        if (!line.empty()) queue.push(line);
    }
    queue.push("");
    worker.join();
    queue.close();
} catch (const spanlog::Error &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
