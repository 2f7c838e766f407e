# Functions for the lines `host` of this list, besides those of scripts/guest/machines; sourced by scripts/guest/main. HERE is the
# directory of logs, RUN a directory for this run, BUILT holds the built programs of this repository.
# shellcheck shell=bash

# Runs a program here, in the Debian system, on the launcher's device at the cable, whose address is 10.95.2.1. OPTIONS may say more.
# With --long, each packet is captured, and tshark reads the capture.
here() {
    local status=0 capture=()
    if [ -n "$LONG" ]; then capture=(--pcap "$RUN/capture.pcapng"); fi
    # shellcheck disable=SC2086 # words are meant
    inside timeout $((${LIMIT_HERE:-60} * PATIENCE)) /tmp/built/softhca-run --wire "socket:$RUN/cable" --index 2 --mtu 9000 \
        --fabric "$RUN/fabric" "${capture[@]}" ${OPTIONS:-} -- "$@" || status=$?
    [ -z "$LONG" ] || read_capture || status=$?
    return "$status"
}

# Counts packets of the capture, and those that tshark calls malformed; removes it. tshark also guesses what the payload is, and then
# calls that malformed: such a packet has a protocol behind `infiniband`.
read_capture() {
    local file status=0
    for file in "$RUN"/capture.pcapng*; do
        [ -e "$file" ] || continue
        tshark -r "$file" -T fields -e infiniband.bth.opcode -e _ws.malformed -e frame.protocols 2>"$RUN/tshark" | awk -F '\t' '
            $1 != "" { packets++ }
            $2 != "" && $3 ~ /:infiniband:./ { guesses++ }
            $2 != "" && $3 !~ /:infiniband:./ { malformed++ }
            END {
                print packets + 0 " packets read by tshark, " malformed + 0 " malformed, " guesses + 0 " wrong guesses of payloads"
                exit malformed != 0
            }' ||
            { status=1; cat "$RUN/tshark"; cp "$file" "$HERE/malformed.pcapng"; }
        rm "$file"
    done
    return "$status"
}

# Runs command $1 in the guest, and when it listens to TCP port $2 (a second later, if it is none), the rest here.
guest_serves() {
    local server status=0 limit=${LIMIT_HERE:-60}
    guest 1 "$limit" "$1" >"$RUN/serves" 2>&1 &
    server=$!
    if [ -n "$2" ]; then guest 1 10 "within 80 listening $2" || status=$?; else sleep 1; fi
    [ $status -ne 0 ] || here "${@:3}" || status=$?
    # The server would wait for a client until the limit.
    [ $status -eq 0 ] || guest 1 10 "killall ${1%% *}" || :
    wait "$server" || status=$?
    cat "$RUN/serves"
    return "$status"
}

# Runs the rest here, and when it listens to TCP port $2 (a second later, if it is none), command $1 in the guest.
host_serves() {
    local server status=0 limit=${LIMIT_HERE:-60}
    here "${@:3}" >"$RUN/serves" 2>&1 &
    server=$!
    if [ -n "$2" ]; then wait_for 10 "$server" listens_here "$2" || { status=$?; echo "the server does not listen"; }; else sleep 1; fi
    [ $status -ne 0 ] || guest 1 "$limit" "$1" || status=$?
    [ $status -eq 0 ] || kill "$server" || :
    wait "$server" || status=$?
    cat "$RUN/serves"
    return "$status"
}
listens_here() { grep -qE ":$(printf %04X "$1") 0+:0000 0A" /proc/net/tcp /proc/net/tcp6; }

# The guest's address of this machine, and the port here that leads to port 18515 there.
US=10.0.2.2
THERE=(-p 20001 127.0.0.1)

# Runs a program of two ends with arguments, $3 and on, and the option $1 for the index of the GID: the server in the guest, then here.
both_ways() {
    local index=$1 program=$2
    shift 2
    guest_serves "$program -d \$DEVICE $index \$GID $*" 18515 "$program" -d mlx5_0 "$index" 3 "$@" "${THERE[@]}" &&
        host_serves "$program -d \$DEVICE $index \$GID $* $US" 18515 "$program" -d mlx5_0 "$index" 3 "$@"
}
pingpong() { both_ways -g "ibv_$1_pingpong" -n 25 "${@:2}"; }
# An emulated guest may need seconds for what is under way at once: -u 18 are 1.07 s until a request is sent again, in place of 0.07.
perftest() { both_ways -x "ib_$1" -F -u 18 -n "${COUNT:-50}" "${@:2}"; }

# Runs cases of softhca/uverbs/tests/transport.c: with GIDs of IPv4, and with those of the link-local addresses.
transport() { guest_serves "bf_transport -d \$DEVICE -g \$GID $*" 18515 /tmp/built/bf_transport -d mlx5_0 -g 3 "$@" "${THERE[@]}"; }
transport_ip6() { guest_serves "bf_transport -d \$DEVICE -g \$LINK_GID $*" 18515 /tmp/built/bf_transport -d mlx5_0 -g 1 "$@" "${THERE[@]}"; }

# The same on a link that loses, repeats and reorders one packet in a hundred, in both directions: several times, by other dice.
on_a_bad_link() {
    local status=0 seed seeds=8 OPTIONS
    [ -z "$LONG" ] || seeds=40
    guest 1 20 'bad_link 1' || return 1
    for seed in $(seq $seeds); do
        OPTIONS="--faults drop=10,dup=10,reorder=10,seed=$seed"
        "$@" || { echo "seed $seed of $seeds"; status=1; break; }
    done
    guest 1 20 good_link && return "$status"
}
