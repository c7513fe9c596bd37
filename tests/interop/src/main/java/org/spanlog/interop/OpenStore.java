package org.spanlog.interop;

import java.io.File;
import java.util.List;
import java.util.Properties;
import org.apache.rocketmq.common.MixAll;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** A store that was loaded and started, and what was on disk before. */
record OpenStore(DefaultMessageStore store, File root, boolean abortBefore) {
    private static final long DISPATCH_LIMIT_MS = 60_000;

    static OpenStore open(List<String> arguments) throws Exception {
        // 4.9 takes its limits from these alone; a full disk must not delete what is compared.
        System.setProperty("rocketmq.broker.diskSpaceWarningLevelRatio", "0.999");
        System.setProperty("rocketmq.broker.diskSpaceCleanForciblyRatio", "0.999");
        File root = new File(arguments.get(0));
        boolean abort = new File(root, "abort").exists();
        DefaultMessageStore store = Version.construct(config(arguments));
        if (!store.load()) {
            throw new IllegalStateException("the store refuses to load " + root);
        }
        store.start();
        OpenStore open = new OpenStore(store, root, abort);
        open.awaitDispatch();
        return open;
    }

    private static MessageStoreConfig config(List<String> arguments) {
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(arguments.get(0));
        config.setStorePathCommitLog(arguments.get(1));
        config.setMappedFileSizeCommitLog(Integer.parseInt(arguments.get(2)));
        config.setMappedFileSizeConsumeQueue(Integer.parseInt(arguments.get(3)));
        // Any free port: several stores may be open on this machine.
        config.setHaListenPort(0);
        // Nothing expires while it is compared.
        config.setFileReservedTime(1_000_000);
        config.setDeleteWhen("25");
        config.setCleanFileForciblyEnable(false);
        Properties others = new Properties();
        for (String argument : arguments.subList(4, arguments.size())) {
            String[] parts = argument.split("=", 2);
            others.setProperty(parts[0], parts[1]);
        }
        MixAll.properties2Object(others, config);
        return config;
    }

    /** Waits until every record of the log is in its queue and in the index. */
    void awaitDispatch() throws InterruptedException {
        long limit = System.currentTimeMillis() + DISPATCH_LIMIT_MS;
        while (store.dispatchBehindBytes() > 0) {
            if (System.currentTimeMillis() > limit) {
                throw new IllegalStateException(store.dispatchBehindBytes() + " bytes behind");
            }
            Thread.sleep(5);
        }
        // The last record counts as dispatched a moment before its index entry is in place.
        Thread.sleep(100);
    }

    void shutdown() {
        store.shutdown();
    }
}
