# Functions for the lines `host` of the list, besides those of scripts/guest/machines; sourced by scripts/guest/main. HERE is
# the directory of logs, RUN a directory for this run, BUILT holds the built programs of this repository.
# shellcheck shell=bash

# Compares what a command, $2 and on, prints with what is recorded as $1, or as $1.6.12 if on this kernel it is something else;
# with BLESS set, records it so.
recorded() {
    local all=$GUEST/recorded/$1 said version file
    version=${RELEASE%%[!0-9.]*}
    file=$all.${version%.*}
    shift
    said=$("$@") || { printf '%s\n' "$said"; return 1; }
    if [ -n "${BLESS:-}" ]; then
        [ -e "$all" ] || printf '%s\n' "$said" >"$all"
        rm -f "$file"
        cmp -s "$all" - <<<"$said" || printf '%s\n' "$said" >"$file"
    fi
    [ -e "$file" ] || file=$all
    diff -u "$file" - <<<"$said"
}

# Does the uverbs object's device of the same number look as that of guest 1? It has another name, as the guest has one device;
# and it does on-demand paging, as it sees the program's memory: the PCI function has no queue for page faults.
same_device() {
    diff -u <(guest 1 10 'ibv_devinfo -v -d $DEVICE' | described) <(DEVICES=2 outside ibv_devinfo -v -d mlx5_1 | described)
}
# The object alone has on-demand paging, memory windows (also among the flags) and device memory. And a process has a part
# of the device's queue pairs under it, since all processes on the fabric share them.
described() {
    sed '/^hca_id:/d; /general_odp_caps:/,/completion timestamp_mask:/{ /timestamp/!d; }
        /max_qp:/d; /max_res_rd_atom:/d; /max_mw:/d; /MEM_WINDOW/d; /device_cap_flags/d; /maximum available device memory:/,+1d'
}

# Are the calls of the same programs answered by the kernel of guest 1 as by the uverbs object? The list of the differences that
# have a reason is beside the list of programs. The object is without write combining, as the guest is: QEMU traps each store to a
# register by itself, and the kernel tries what it has. Of both, GID 3 is that of the IPv4 address, for RoCE v2.
same_calls() {
    local side logs=$HERE/$RELEASE.calls
    rm -rf "$logs"
    mkdir -p "$logs"/{kernel,object}
    # Both at once.
    # shellcheck disable=SC2016 # there
    DEVICES=2 OPTIONS=--no-write-combining outside timeout $((120 * PATIENCE)) env RECORD=/tmp/built/bf_record.so \
        sh -c 'PATH=$PATH:/tmp/built; . /tmp/built/commands.sh; logged_calls mlx5_1 3' >"$logs/object.all" &
    local object=$! status=0
    # shellcheck disable=SC2016 # there
    guest 1 180 'RECORD=/usr/bin/bf_record.so logged_calls $DEVICE $GID' >"$logs/kernel.all" || { status=1; cat "$logs/kernel.all"; }
    wait "$object" || { status=1; cat "$logs/object.all"; }
    [ $status -eq 0 ] || return 1
    for side in kernel object; do
        awk -v directory="$logs/$side" '$1 == "log" { file = directory "/" $2; next } { print >file }' "$logs/$side.all"
    done
    "$BUILT/compare_calls" --explained "$GUEST/differences" "$logs/kernel" "$logs/object"
}

# Runs command $1 in guest 1, and when it listens to TCP port 18515, the rest outside. Nobody outside answers who asks for the
# neighbour of an address: there is a device, and no network interface.
beside() {
    guest 1 5 'ip neigh replace fe80::5fff:fe03:1 lladdr 02:00:5f:03:00:01 dev $INTERFACE nud permanent' || return 1
    guest 1 20 "$1" >"$RUN/beside" 2>&1 &
    local server=$! status=0
    shift
    guest 1 10 'within 50 listening 18515' && outside timeout $((20 * PATIENCE)) "$@" || status=$?
    wait "$server" || status=$?
    cat "$RUN/beside"
    return "$status"
}

# Runs a program outside, $3 and on, and when the kernel's table of multicast groups has $1, command $2 in guest 1.
in_the_group() {
    local group=$1 command=$2 program status=0
    shift 2
    outside timeout $((40 * PATIENCE)) "$@" >"$RUN/program" 2>&1 &
    program=$!
    wait_for 20 "$program" grep -q "$group" /proc/net/igmp && guest 1 30 "$command" || status=$?
    wait "$program" || status=$?
    cat "$RUN/program"
    return "$status"
}
# The feed of the guest's sockets in this crate's program, whose last group is 239.1.2.1.
market_data() {
    in_the_group 010201EF 'bf_exchange $INTERFACE 2000' /tmp/built/bf_market_data -d mlx5_0 -r 4096 --json || return 1
    grep -E '"messages":2000,"frames":\[2000,2000\],.*"gaps":\[\]' "$RUN/program"
}
# The same for a program that answers: its orders go to sockets in the guest.
order_entry() { in_the_group 010201EF 'bf_exchange $INTERFACE 2000 239.9.9.9' /tmp/built/bf_order_entry -d mlx5_0 -r 4096 --json; }

# Frames of perftest's programs for this crate's, and the reverse. -s counts a check sequence of 4 bytes. A program has no way to
# say that it receives. All frames find room: on the wire, in the device and in the queue.
raw_ethernet_and_crate() {
    local address frames=1000
    address=$(guest 1 5 'cat /sys/class/net/$INTERFACE/address') || return 1
    local perftest=(-d mlx5_0 -B "$PEER" -E "$address" -s 64 -F)
    while_it_runs "bf_packet_rate --interface \$INTERFACE --run receive -n $frames -r 2048" \
        raw_ethernet_bw --client "${perftest[@]}" --ethertype 0x88b5 -n "$frames" && grep "Receive: $frames frames" "$RUN/guest" || return 1
    while_it_runs "sleep $((4 * PATIENCE)); bf_packet_rate --interface \$INTERFACE --run send -n $frames -E $PEER --session 8" \
        raw_ethernet_bw --server "${perftest[@]}" -n "$frames" -r 2048 && grep "Send: $frames frames" "$RUN/guest" || return 1
    while_it_runs "bf_packet_rate --interface \$INTERFACE --run forward -n 200" \
        raw_ethernet_lat --client "${perftest[@]}" --ethertype 0x88b5 -n 200 && grep 'Forward: 200 frames' "$RUN/guest"
}
# Runs command $1 in guest 1, and 2 seconds later a program outside, $2 and on.
while_it_runs() {
    local command=$1 running status=0
    shift
    guest 1 30 "$command" >"$RUN/guest" 2>&1 &
    running=$!
    sleep $((2 * PATIENCE))
    outside timeout $((30 * PATIENCE)) "$@" || status=$?
    wait "$running" || status=$?
    cat "$RUN/guest"
    return "$status"
}

# Runs command $1 in guest 1, and when it listens to TCP port $2 (half a second later, if it is none), $3 in guest 2.
between() {
    guest 1 30 "$1" >"$RUN/between" 2>&1 &
    local server=$! status=0
    if [ -n "$2" ]; then guest 1 10 "within 50 listening $2" || status=$?; else sleep 0.5; fi
    [ $status -ne 0 ] || guest 2 20 "$3" || status=$?
    wait "$server" || status=$?
    cat "$RUN/between"
    return "$status"
}

# Runs testpmd in guest $ON (1, if it is not set), with the driver's parameters $1 and options $2, and gives it the commands $3, one a line. Meanwhile
# frame_peer runs outside with the remaining arguments, at the address of port 1 of the object's device 0. Then testpmd ends.
# What testpmd said is in the file testpmd of this run, for entries that look at it. DPDK names the suite of another one
# than the system's own.
with_testpmd() {
    local driver=$1 options=$2 commands=$3 status=0 address forwarder on=${ON:-1}
    shift 3
    # Nothing of an earlier one may look as if this one were ready.
    address=$(guest "$on" 5 'rm -f /tmp/testpmd /tmp/testpmd.said; cat /sys/class/net/$INTERFACE/address') || return 1
    # Thousand frames a second at least.
    local limit=$((60 + FRAMES / 1000))
    guest "$on" $((limit + 60)) "DPDK=${DPDK:-} testpmd '$driver' $options --eth-peer=0,$PEER" >"$RUN/testpmd" 2>&1 &
    forwarder=$!
    guest "$on" 60 testpmd_is_ready && guest "$on" 40 "printf '%b\n' '$commands' start >/tmp/testpmd; within 300 testpmd_forwards" &&
        outside timeout $((limit * PATIENCE)) /tmp/built/frame_peer --station "$PEER" --patience "$((10 * PATIENCE))" \
            "${@//GUEST/$address}" || status=$?
    guest "$on" 10 'printf "%s\n" stop "show port stats all" "show port xstats all" "show rxq info 0 0" "show txq info 0 0" "flow query 0 0 count" quit >/tmp/testpmd' || status=$?
    wait "$forwarder" || status=$?
    cat "$RUN/testpmd"
    return "$status"
}
# Counts the instructions of DPDK's bursts of 32 frames of 64 bytes, one flow, with the driver's parameters $1 and the arguments
# $2 of dpdk_bursts.c. The frames go through it, and are checked. Prints its figures, and adds them to the file $RELEASE.bursts.
burst_figures() {
    local status=0 address counter
    address=$(guest 1 5 'rm -f /tmp/bursts; cat /sys/class/net/$INTERFACE/address') || return 1
    guest 1 360 "count_bursts '$1' ${2:-}" >"$RUN/bursts" 2>&1 &
    counter=$!
    guest 1 60 'within 500 grep -qE "^(ready|dpdk_bursts:)" /tmp/bursts && grep -qx ready /tmp/bursts' &&
        outside timeout $((300 * PATIENCE)) /tmp/built/frame_peer --station "$PEER" --patience "$((60 * PATIENCE))" bounce \
            --to "$address" -n 384 --window 32 --kinds udp4 --least 64 --most 64 || status=$?
    wait "$counter" || status=$?
    cat "$RUN/bursts"
    { echo "$1"; grep -E '^(DPDK|receive|send)' "$RUN/bursts"; } >>"$HERE/$RELEASE.bursts"
    return "$status"
}

# Frames at times, by both ways that DPDK has: it waits for the completions of a clock queue (tx_pp), or for the clock. The device
# is a ConnectX-7, in a guest of its own. testpmd gives each burst its time before it sends the burst, so it must try again while the
# queue is full: a burst that it drops would move the times of all later ones.
timed_sends() {
    local driver retry='set fwd txonly retry\nset burst tx delay 1000 retry 1000'
    GENERATION[3]=connectx7
    need_guest 3 || return 1
    for driver in ,tx_pp=50000 ''; do
        ON=3 with_testpmd "$driver" '--forward-mode=txonly --tx-offloads=0x200000' "$retry\nset txtimes 10000000,0" \
            take --from GUEST -n 3200 --gap 10000000 || return 1
        said 'tx_pp_(rearm_queue|clock_queue)_errors: 0' 'tx_pp_sync_lost: 0' 'tx_pp_timestamp_future_errors: 0' || return 1
    done
}

# Are these expressions in what testpmd said?
said() {
    local pattern
    for pattern; do grep -E "$pattern" "$RUN/testpmd" || { echo "testpmd did not say: $pattern"; return 1; }; done
}
# Commands by which testpmd leaves checksums to the device; the port must be stopped for them.
CHECKSUMS='csum mac-swap on 0\ncsum set ip hw 0\ncsum set tcp hw 0\ncsum set udp hw 0'
# Options by which testpmd has TCP segments merged, and leaves checksums and segmentation to the device.
LRO='--forward-mode=csum --enable-lro --enable-rx-cksum --max-lro-pkt-size=8192 --tx-offloads=0x802e --mbuf-size=9600 --total-num-mbufs=8192 --rxd=2048'
# Frames of which many in a row differ in nothing but lengths, sums and hashes, so that their completions are compressed.
ALIKE='--kinds udp4,udp4,udp4,udp4,udp4,udp4,udp4,tcp4,tcp4,plain,udp6,udp6,udp6,udp6'
# Commands by which testpmd sends UDP to queue 1 and counts it, and TCP to queue 2.
RULES='flow create 0 ingress pattern eth / ipv4 / udp / end actions count / queue index 1 / end'
RULES+='\nflow create 0 ingress pattern eth / ipv4 / tcp / end actions queue index 2 / end'
# The Ethernet address of the object's device 0.
PEER=02:00:5f:03:00:01

# TCP with the largest MTU.
jumbo_frames() {
    local n how
    for n in 1 2; do guest "$n" 10 'ip link set $INTERFACE mtu 9000' || return 1; done
    guest 2 10 'ping -c 3 -i 0.2 -M do -s 8972 10.95.1.1' || return 1
    for how in '-P 4' '--bidir'; do between 'iperf3 -s -1' 5201 "iperf3 -c 10.95.1.1 -t 2 $how" || return 1; done
    for n in 1 2; do guest "$n" 10 'ip link set $INTERFACE mtu 1500' || return 1; done
}

# Frames from guest 2 to guest 1, whose netdev has the device compress completions.
compressed_completions() {
    local status=0
    guest 1 20 'ethtool --set-priv-flags $INTERFACE rx_cqe_compress on && ethtool --show-priv-flags $INTERFACE | grep -q "rx_cqe_compress *: on"' || return 1
    # ping compares what comes back. A wrong checksum of TCP's would be a complaint of the kernel's ("hw csum failure").
    guest 2 60 'ping -f -c 3000 -l 60 -s 900 -q 10.95.1.1 | tee /dev/stderr | grep -q ", 0% packet loss"' || status=1
    between 'iperf3 -s -1' 5201 'iperf3 -c 10.95.1.1 -t 2 -P 4' || status=1
    guest 1 20 'ethtool -S $INTERFACE | grep -E " rx_cqe_compress_(blks|pkts): [1-9]"' || status=1
    guest 1 20 'ethtool --set-priv-flags $INTERFACE rx_cqe_compress off' && return $status
}

# Pings between network interfaces in a VLAN, and between VLANs. Linux asks for RoCE addresses of them, too, which the device
# refuses: its wire keeps no VLANs of RDMA apart.
in_the_vlan() {
    local status=0
    guest 1 20 'join_vlan 1 5' && guest 2 20 'join_vlan 2 5' || return 1
    guest 1 20 'ping -c 5 -i 0.2 10.7.5.2' || status=1
    guest 2 20 'ip link del vlan && join_vlan 2 6' && guest 1 20 '! ping -c 3 -i 0.2 -W 1 10.7.5.2' || status=1
    guest 1 10 'ip link del vlan' && guest 2 10 'ip link del vlan' && return $status
}

# Leaves the table of what registration costs for --docs.
registration_table() {
    # A median is worth its time only if it is kept.
    local rounds=1
    [ -z "$DOCS" ] || rounds=3
    # Huge pages for the pool, which takes them if it can, and for a registration. Memory is in pieces after other programs.
    guest 1 120 "echo 1 >/proc/sys/vm/compact_memory; echo 260 >/proc/sys/vm/nr_hugepages; bf_registration -d \$DEVICE --rounds $rounds; status=\$?; echo 0 >/proc/sys/vm/nr_hugepages; exit \$status" \
        >"$HERE/$RELEASE.registration" || { cat "$HERE/$RELEASE.registration"; return 1; }
    cat "$HERE/$RELEASE.registration"
    # Both kinds of pages, up to the largest.
    [ "$(grep -c '^| 256 MiB' "$HERE/$RELEASE.registration")" -eq 4 ]
}

# Pulls the cable of guest 1's device and plugs it in again, and looks at the netdev and the port.
cable_pulled() {
    local file=$RUN/fabric/mlx5_1-1.down status=0
    guest 1 20 'watch_events' || return 1
    touch "$file"
    guest 1 20 'has_link 0 DOWN && is_told IBV_EVENT_PORT_ERR' || status=1
    rm "$file"
    guest 1 20 'has_link 1 ACTIVE && is_told IBV_EVENT_PORT_ACTIVE' || status=1
    guest 1 20 'pair ibv_rc_pingpong -d $DEVICE -g $GID -n 200 -e' && return $status
}

# Has the device of guest 1 fail: its driver brings it back, as one that nobody has configured yet.
device_failed() {
    guest 1 20 'watch_events' || return 1
    touch "$RUN/fabric/mlx5_1.failed"
    guest 1 60 'is_told IBV_EVENT_DEVICE_FATAL && recovers && bring_up 1 && pair ibv_rc_pingpong -d $DEVICE -g $GID -n 200 -e'
}

# Kills the server of guest 1's device, has the guest forget the device, starts the server again, and plugs the device in at the
# second port: QEMU connects to a server when a device is made, once, and it ends when it is to take a vfio-user device out, even
# a living one (11.1.3: "memory_region_del_subregion: Assertion `subregion->container == mr' failed").
device_killed() {
    guest 1 20 'watch_events' || return 1
    kill_server 1
    # A command that was under way has a minute until the driver gives it up.
    guest 1 100 'is_told IBV_EVENT_DEVICE_FATAL 900 && forget_function 0000:01:00.0' || return 1
    start_server 1 || return 1
    monitor 1 '{"execute":"qmp_capabilities"}'
    monitor 1 "{\"execute\":\"device_add\",\"arguments\":{$(device_argument 1 second)}}"
    guest 1 60 'within 300 test -e /sys/bus/pci/devices/0000:02:00.0 && load_mlx5 1 && pair ibv_rc_pingpong -d $DEVICE -g $GID -n 200'
}
