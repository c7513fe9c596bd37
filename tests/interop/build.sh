#!/usr/bin/env bash
# Builds the oracle for both lines of RocketMQ into target/v49 and target/v55: classes, and
# classpath.txt with the jars they need. Does nothing where both are newer than their source.
set -euo pipefail
cd "$(dirname "$0")"
for line in v49 v55; do
    done_file=target/$line/built
    if [ -e "$done_file" ] && [ -z "$(find pom.xml src -newer "$done_file" -print -quit)" ]; then
        echo "interop: $line is up to date"
        continue
    fi
    rm -f "$done_file"
    mvn -q -B -Dstyle.color=never -P"$line" compile </dev/null
    touch "$done_file"
    echo "interop: built $line"
done
