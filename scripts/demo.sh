#!/usr/bin/env bash
# The main job on a temporary store over three directories of unequal size: take in a real log
# file, read it back, look things up, follow it, fill a disk, clean, kill the process that appends,
# recover; then one store in four languages, and a queue with a backlog. INPUT=FILE takes another
# log file. Everything it makes is gone when it ends.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH:/usr/sbin:/sbin"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' good=$'\e[32m' bad=$'\e[31m' off=$'\e[0m'; else bold='' good='' bad='' off=''; fi
step=0
say() { step=$((step + 1)); printf '\n%s%d. %s%s\n' "$bold" "$step" "$1" "$off"; }
show() { printf '   $ spanlog %s\n' "$*"; "$spanlog" "$@" | sed "s|$work/||g; s/^/     /"; }
well() { printf '   %sok%s %s\n' "$good" "$off" "$1"; }
fail() { printf '   %sFAILED%s %s\n' "$bad" "$off" "$1"; exit 1; }

input=${INPUT:+$(realpath "$INPUT")}
for candidate in /var/log/dpkg.log /var/log/dpkg.log.1 /var/lib/dpkg/status; do
    [ -n "$input" ] && break
    if [ -s "$candidate" ]; then input=$candidate; fi
done
[ -s "$input" ] || fail "${input:-no log file found}: there is nothing to take in; name a text file with INPUT=FILE"

echo "Building the command (the first time takes a minute)."
cargo build --release --locked --quiet -p spanlog-cli -p spanlog-examples -p spanlog-ffi
spanlog=$(realpath "${CARGO_TARGET_DIR:-target}/release/spanlog")
backlog=$(realpath "${CARGO_TARGET_DIR:-target}/release/backlog")

work=$(mktemp -d "${TMPDIR:-/tmp}/spanlog-demo.XXXXXX")
tree=$PWD
running=''
mounted=()
finish() {
    [ -z "$running" ] || kill -9 "$running" 2>/dev/null || true
    cd /
    for dir in ${mounted[@]+"${mounted[@]}"}; do umount "$dir" || true; done
    rm -rf "$work"
}
trap finish EXIT
# Ends the process in the background by SIGKILL.
end_running() {
    kill -9 "$running" && wait "$running" 2>/dev/null || true
    running=''
}
# wait_for LINES FILE: until a file that somebody writes has so many lines, at most 20 seconds.
wait_for() {
    for _ in $(seq 1 2000); do
        [ "$(wc -l <"$2")" -lt "$1" ] || return 0
        sleep 0.01
    done
    return 1
}
# A part of a large file is enough here, and a small one is taken several times to fill disks.
LC_ALL=C grep -av '^[[:space:]]*$' "$input" | tr -d '\000\001\002\r' | cut -c1-2000 | head -n 20000 | head -c 1500000 >"$work/lines" || true
lines=$(wc -l <"$work/lines")
[ "$lines" -gt 0 ] || fail "$input has no lines of text"
cp "$work/lines" "$work/filling"
while [ "$(wc -c <"$work/filling")" -lt 300000 ]; do
    cat "$work/filling" "$work/filling" >"$work/more" && mv "$work/more" "$work/filling"
done

mkdir "$work/small" "$work/medium" "$work/large"
kind='plain folders on one disk (as root they would be file systems of their own)'
if [ "$(id -u)" = 0 ]; then
    for pair in small:6 medium:12 large:24; do
        dir=$work/${pair%:*}
        if mount -t tmpfs -o "size=${pair#*:}m" spanlog-demo "$dir" 2>/dev/null; then mounted+=("$dir"); fi
    done
    [ ${#mounted[@]} -ne 3 ] || kind='file systems of 6, 12 and 24 MiB'
fi
store=(--root root)
cd "$work"

say "One log over three directories: $kind"
echo "   taking in $lines lines of $input, tags from column 3, keys from column 4"
show append "${store[@]}" --path small --path medium --path large --segment-size 256KiB \
    --topic packages --queues 4 --tag-column 3 --key-column 4 --lines "$work/lines" --no-acks

say 'Read back, every line of it'
"$spanlog" read "${store[@]}" --topic packages --bodies | sort >"$work/read"
sort "$work/lines" | cmp -s - "$work/read" || fail 'what was read is not what was taken in'
well "$lines lines came back, byte for byte"
queues=$("$spanlog" inspect "${store[@]}" --json | grep -o '"queue":[0-9]*' | cut -d: -f2 | sort -u)
for queue in $queues; do
    "$spanlog" read "${store[@]}" --topic packages --queue $queue --bodies >"$work/queue"
    # Within a queue the order is that of the file: its lines are a subsequence of it.
    awk 'NR == FNR { want[++n] = $0; next } i < n && $0 == want[i + 1] { i++ } END { exit i != n }' \
        "$work/queue" "$work/lines" || fail "queue $queue is out of order"
done
well "each of its queues is in order: $(echo $queues)"
show read "${store[@]}" --topic packages --count 3 --verify

say 'Look things up, and follow'
# The tag and the key that most lines have; no line may be missed, and none of another found.
tag=$(awk 'NF >= 3 { print $3 }' lines | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
key=$(awk 'NF >= 4 { print $4 }' lines | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
"$spanlog" read "${store[@]}" --topic packages --tags "$tag" --json >tagged
[ "$(wc -l <tagged)" -eq "$(awk -v tag="$tag" '$3 == tag' lines | wc -l)" ] || fail "not every line with tag $tag was found"
well "tag $tag: $(wc -l <tagged) messages, found without reading the others: spanlog read --tags $tag"
if [ -n "$key" ]; then
    "$spanlog" query "${store[@]}" --topic packages --count 1000000 --json "$key" >keyed
    [ "$(wc -l <keyed)" -eq "$(awk -v key="$key" '$4 == key' lines | wc -l)" ] || fail "not every line with key $key was found"
    well "key $key: $(wc -l <keyed) messages, by the index: spanlog query --topic packages $key"
fi
from=$("$spanlog" read "${store[@]}" --topic packages --json | grep -o '"stored_ms":[0-9]*' | cut -d: -f2 | sort -n | tail -n 1)
"$spanlog" read "${store[@]}" --topic packages --from-time "$from" --json >timed
last=$(grep -c "\"stored_ms\":$from[,}]" timed) || true
[ "$last" -gt 0 ] && [ "$last" -eq "$(wc -l <timed)" ] || fail 'reading by time gave other messages'
well "time: the $last messages of the last millisecond, by bisection: spanlog read --from-time $from"
"$spanlog" tail "${store[@]}" --topic packages --last 1 --follow --bodies >followed 2>/dev/null &
running=$!
wait_for 1 followed || fail 'the tail shows nothing'
"$spanlog" append "${store[@]}" --topic packages 'a line for who follows' --no-acks >/dev/null
wait_for 2 followed || fail 'the tail does not follow'
end_running
[ "$(tail -n 1 followed)" = 'a line for who follows' ] || fail 'the tail shows something else'
well 'a second process followed the tail and was told: spanlog tail --follow'

say 'Where it lies'
show inspect "${store[@]}"

say 'Everything is read and compared, and drawn'
show verify "${store[@]}"
"$spanlog" map "${store[@]}" --output "$work/map.html" >/dev/null
grep -q '</html>' "$work/map.html" || fail 'the map is not whole'
well "$(wc -c <"$work/map.html") bytes of HTML without a script: spanlog map --root ... --output map.html"

say 'Fill the disks: one that is above its mark is skipped, then the oldest segments go'
skipped='' cleaned=''
for round in $(seq 1 200); do
    "$spanlog" append "${store[@]}" --topic packages --queues 4 --lines "$work/filling" --no-acks \
        --json >"$work/out" 2>"$work/err" || true
    if [ -z "$skipped" ] && "$spanlog" disks "${store[@]}" --json | grep -q '"pressure":"\(force\|refuse\)"'; then
        skipped=$round
        echo "   after round $round a disk is above its mark:"
        show disks "${store[@]}"
    fi
    "$spanlog" clean "${store[@]}" --json >"$work/cleaned" 2>&1 || true
    if grep -q '"reason":"forced"\|"reason":"expired"' "$work/cleaned"; then cleaned=$round; break; fi
    [ ${#mounted[@]} -eq 3 ] || [ "$round" -lt 3 ] || break
done
if [ ${#mounted[@]} -eq 3 ]; then
    [ -n "$skipped" ] || fail 'no disk was ever skipped'
    [ -n "$cleaned" ] || fail 'nothing was ever cleaned'
    echo "   after round $cleaned every disk had been above it, and the oldest segments went:"
    grep -o '"base":[0-9]*,[^}]*"text":"dropped[^"]*"' cleaned |
        sed 's|"base":\([0-9]*\),.*"path":"\([^"]*\)".*"text":"\(.*\)"|     \1 in \2: \3|' |
        sed "s|$work/||" || true
    show disks "${store[@]}"
    "$spanlog" append "${store[@]}" --topic packages --lines "$work/lines" --no-acks >/dev/null
    well 'and appending goes on'
else
    echo '   (plain folders share one big disk, so nothing fills up; a dry run instead)'
    show clean "${store[@]}" --dry-run
fi

say 'Kill it in the middle of appending'
seq 1 5000000 | sed 's/^/event /' >"$work/events"
"$spanlog" append "${store[@]}" --topic events --lines "$work/events" --acks --no-color >"$work/acks" 2>/dev/null &
running=$!
wait_for 3000 "$work/acks" || fail 'nothing is acknowledged'
end_running
# The last line may be torn: the kill hit the printer too.
acknowledged=$(($(wc -l <"$work/acks")))
[ "$acknowledged" -gt 0 ] || fail 'nothing was acknowledged before the kill'
echo "   killed with SIGKILL after $acknowledged acknowledged messages"
show recover "${store[@]}"
"$spanlog" read "${store[@]}" --topic events --queue 0 --bodies >"$work/survivors"
survivors=$(wc -l <"$work/survivors")
[ "$survivors" -ge "$acknowledged" ] || fail "only $survivors of $acknowledged came back"
head -n "$survivors" "$work/events" | cmp -s - "$work/survivors" || fail 'the messages differ'
well "$survivors messages are there: all $acknowledged that were acknowledged, in order, byte for byte"

say 'Gone without a trace'
show destroy "${store[@]}" --yes
say 'One store, four languages: Python writes, Node.js and C read, the command compares'
if python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo '   building the wheel (the first time takes a minute)'
    (
        cd "$tree"
        source scripts/python.sh
        wheel
        fresh demo python3 "$built"/dist/spanlog-*.whl
        ln -s "$built/demo/bin/python" "$work/python"
    ) >built 2>&1 || { cat built; fail 'the wheel is not built'; }
    "$(readlink python)" "$tree/scripts/demo/write.py" shared lines lines | sed 's/^/   /'
else
    echo '   there is no Python 3.11 with venv here, so the command writes'
    "$spanlog" append --root shared --topic lines --lines lines --no-acks
fi
# has_lines FILE LANGUAGE: that the language read what was written.
has_lines() {
    cmp -s lines "$1" || fail "$2 read something else"
    well "$2 read all $lines lines"
}
"$spanlog" read --root shared --topic lines --bodies >by_command
has_lines by_command 'Rust'
if (cd "$tree" && scripts/pack-node.sh --check); then
    echo '   packing for Node.js (the first time takes a minute)'
    (cd "$tree" && scripts/pack-node.sh "$work/node") >built 2>&1 || { cat built; fail 'the package is not built'; }
    cp "$tree/scripts/demo/read.mjs" node/
    node node/read.mjs shared lines >by_node
    has_lines by_node "Node.js $(node --version)"
else
    echo '   there is no Node.js 20.17 with npm here'
fi
(cd "$tree" && packaging/install.sh "$work/c" >/dev/null)
cc -I c/include "$tree/scripts/demo/read.c" -o read_c -L c/lib -lspanlog -Wl,-rpath,"$work/c/lib"
./read_c shared lines >by_c
has_lines by_c C
show verify --root shared

say 'Queue mode: a producer that is faster than its consumer, in bounded memory'
free_mib=$(($(df -Pk . | awk 'NR == 2 { print $4 }') / 1024))
backlog_mib=1024
if [ "$free_mib" -lt 8192 ]; then backlog_mib=128; echo "   (there are $free_mib MiB free, so the backlog is a small one)"; fi
"$backlog" big "$backlog_mib" >grown 2>&1 &
running=$!
wait_for 5 grown || fail "the backlog does not grow: $(tail -n 1 grown)"
end_running
sed 's/^/     /' grown
pushed=$(tail -n 1 grown | sed -n 's/.*pushed \([0-9]*\),.*/\1/p')
echo "   killed with SIGKILL after $pushed records of 8 KiB; once more, to the whole of $backlog_mib MiB:"
"$backlog" big "$backlog_mib" >drained 2>&1 || fail "$(tail -n 1 drained)"
sed 's/^/     /' drained
came_back=$(sed -n '1s/.*pushed \([0-9]*\),.*/\1/p' drained)
[ "$came_back" -ge "$pushed" ] || fail "only $came_back of $pushed records came back"
tail -n 1 drained | grep -q ' 0 MiB wait' || fail 'the queue was not drained'
well "all $pushed records came back after the kill; each was popped in order, with the bytes it must have"

printf '\n%sThat was spanlog.%s README.md has the rest.\n' "$bold" "$off"
