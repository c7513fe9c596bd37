package org.spanlog.interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * RocketMQ's own store as a command:
 *
 * <pre>
 * read  ROOT PATHS SEGMENT_LEN QUEUE_FILE_LEN [name=value...]
 * write ROOT PATHS SEGMENT_LEN QUEUE_FILE_LEN SCRIPT [--halt] [name=value...]
 * </pre>
 *
 * PATHS are the commit log's directories, joined by commas; lengths are in bytes; name=value sets
 * any other setting of MessageStoreConfig. Both load and start the store on what lies there, as a
 * broker would, print one JSON document and shut the store down; with --halt the process ends at
 * once instead, as in a crash. Standard output holds the document alone. The exit code is 0 where
 * the store was opened.
 */
public final class Oracle {
    private Oracle() {
    }

    public static void main(String[] arguments) {
        PrintStream answer = System.out;
        System.setOut(System.err);
        int code = 1;
        try {
            answer.println(gson().toJson(run(new ArrayList<>(List.of(arguments)))));
            answer.flush();
            code = 0;
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
        // Some threads of the store never end.
        Runtime.getRuntime().halt(code);
    }

    private static JsonObject run(List<String> arguments) throws Exception {
        String command = arguments.remove(0);
        boolean halts = arguments.remove("--halt");
        String script = command.equals("write") ? arguments.remove(4) : null;
        OpenStore store = OpenStore.open(arguments);
        JsonObject answer = switch (command) {
            case "read" -> Reading.all(store);
            case "write" -> Writing.run(store, script);
            default -> throw new IllegalArgumentException("read or write, not " + command);
        };
        if (!halts) {
            store.shutdown();
        }
        return answer;
    }

    private static Gson gson() {
        return new GsonBuilder().disableHtmlEscaping().serializeNulls().create();
    }

    /** Lower-case hexadecimal digits of bytes. */
    static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length * 2);
        for (byte one : bytes) {
            text.append(String.format("%02x", one));
        }
        return text.toString();
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
