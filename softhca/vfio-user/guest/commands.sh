# What commands in the guest may use: sourced before each of them.
# shellcheck shell=sh

# The RDMA device under test, its network interface, and indices of RoCE v2 GIDs: of the IPv4 address, and of the link-local
# address that every port has.
# shellcheck source=/dev/null
[ -e /device ] && . /device

# Waits at most $1 tenths of a second (times $PATIENCE) until a command succeeds.
within() {
    left=$(($1 * ${PATIENCE:-1}))
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || { echo "waited in vain for: $*"; return 1; }
        sleep 0.1
    done
}

# Does something listen to TCP port $1?
listening() { grep -q ":$(printf %04X "$1") 0\{8,32\}:0000 0A" /proc/net/tcp /proc/net/tcp6; }

# Runs a program twice: as server, and once that listens to TCP port 18515, as its client; or, if CLIENT is set, that program
# with the same arguments. Fails if either does.
pair() {
    "$@" &
    server=$!
    # Not by connecting: the server would take that for its client.
    within 100 listening 18515 || return 1
    program=${CLIENT:-$1}
    shift
    "$program" "$@" 127.0.0.1
    client=$?
    wait "$server" && [ $client -eq 0 ]
}

# Runs a program of perftest's that sends frames of its own making, as server and client. They do not meet by TCP: the server has to
# receive before the client begins, and says so only when it ends.
raw_pair() {
    program=$1
    shift
    "$program" --server -d "$DEVICE" -B 02:00:00:00:00:02 -E 02:00:00:00:00:01 -F "$@" &
    server=$!
    sleep $((3 * ${PATIENCE:-1}))
    "$program" --client -d "$DEVICE" -B 02:00:00:00:00:01 -E 02:00:00:00:00:02 -F "$@"
    client=$?
    wait "$server" && [ $client -eq 0 ]
}

active() { [ "$(cat "/sys/class/infiniband/$DEVICE/ports/1/state")" = "4: ACTIVE" ]; }
has_address() { ip -4 -o addr show dev "$INTERFACE" | grep -q inet; }

# Prints the index of the device's first RoCE v2 GID that the pattern $1 fits.
gid() {
    # Without processes of its own: the table is long.
    for file in "/sys/class/infiniband/$DEVICE"/ports/1/gid_attrs/types/*; do
        # Entries that are not in use cannot be read.
        { read -r type <"$file"; } 2>/dev/null && [ "$type" = "RoCE v2" ] || continue
        read -r gid <"/sys/class/infiniband/$DEVICE/ports/1/gids/${file##*/}"
        # shellcheck disable=SC2254 # a pattern is meant
        case $gid in
        $1) echo "${file##*/}"; return ;;
        esac
    done
    return 1
}

# Brings up the network interface $INTERFACE of the device $DEVICE with address 10.95.$1.1, which is also that of the uverbs
# object's device of the same number; waits for its GIDs, and leaves what later commands know of it.
bring_up() {
    ip addr add "10.95.$1.1/16" dev "$INTERFACE" && ip link set "$INTERFACE" up || return 1
    within 50 active && within 50 gid '0000:*:ffff:*' && within 50 gid 'fe80:*' || return 1
    {
        echo "export DEVICE=$DEVICE INTERFACE=$INTERFACE ADDRESS=10.95.$1.1"
        echo "export GID=$(gid '0000:*:ffff:*') LINK_GID=$(gid 'fe80:*')"
    } | tee /device
}

# Loads the driver of mlx5 devices, and brings up the first device of guest $1.
load_mlx5() {
    modprobe mlx5_core && modprobe mlx5_ib || return 1
    # A module stays when it has refused each device.
    ls -d /sys/bus/pci/drivers/mlx5_core/0* || { echo "mlx5_core drives no device"; return 1; }
    DEVICE=mlx5_0
    within 300 test -e /sys/class/infiniband/$DEVICE || return 1
    for INTERFACE in /sys/class/infiniband/$DEVICE/device/net/*; do INTERFACE=${INTERFACE##*/}; done
    [ "$INTERFACE" != '*' ] || { echo "$DEVICE has no network interface"; return 1; }
    modprobe -a ib_uverbs ib_umad rdma_ucm
    bring_up "$1"
}

# The same with Linux' software device, over a network interface that leads nowhere: shows that the list is right.
load_rxe() {
    modprobe -a dummy rdma_rxe ib_uverbs ib_umad rdma_ucm || return 1
    DEVICE=rxe0 INTERFACE=dummy0
    [ -e /sys/class/net/dummy0 ] || ip link add dummy0 type dummy
    ip link set dummy0 up && rdma link add $DEVICE type rxe netdev $INTERFACE || return 1
    bring_up "$1"
}

# What the counter $1 of the network interface says.
counter() { ethtool -S "$INTERFACE" | sed -n "s/^ *$1: //p"; }

# Runs the command $1; the counters named from $3 on must rise by $2 at least. Those of the port are read now and then.
moves() {
    command=$1 least=$2
    shift 2
    for name; do eval "before_$name=\$(counter $name)"; done
    sh -c "$command" || return 1
    for name; do
        eval "before=\$before_$name"
        [ -n "$before" ] || { echo "there is no counter $name"; return 1; }
        within 30 has_risen "$name" "$((before + least))" || { echo "$name: $before before, $(counter "$name") after"; return 1; }
        echo "$name: $before before, $(counter "$name") after"
    done
}
has_risen() { [ "$(counter "$1")" -ge "$2" ]; }

# What the counter $1 of the port says that counts RDMA.
hw_counter() { cat "/sys/class/infiniband/$DEVICE/ports/1/hw_counters/$1"; }
has_counted() { [ "$(hw_counter "$1")" -gt "$2" ]; }

# Kills the peer of a program that always has requests under way: they must fail because nobody acknowledges them
# (IBV_WC_RETRY_EXC_ERR, 12).
peer_killed() {
    writes=$(hw_counter rx_write_requests) exceeded=$(hw_counter req_transport_retries_exceeded)
    ib_write_bw -F -d "$DEVICE" -x "$GID" -D 60 >/dev/null &
    server=$!
    within 100 listening 18515 || return 1
    ib_write_bw -F -d "$DEVICE" -x "$GID" -D 60 127.0.0.1 >/tmp/client 2>&1 &
    client=$!
    within 100 has_counted rx_write_requests "$((writes + 100))" || return 1
    kill -KILL "$server"
    wait "$server"
    wait "$client" && { echo "the client has noticed nothing"; return 1; }
    cat /tmp/client
    grep -q "status 12" /tmp/client && within 20 has_counted req_transport_retries_exceeded "$exceeded"
}

# Unloads the driver while programs use the device, and resets the function. The programs poll queues that nobody serves any more, as
# they would on a NIC that is taken out, so they are ended.
reload_under_load() {
    ib_write_bw -F -d "$DEVICE" -x "$GID" -D 60 &
    server=$!
    within 100 listening 18515 || return 1
    ib_write_bw -F -d "$DEVICE" -x "$GID" -D 60 127.0.0.1 &
    client=$!
    sleep 2
    modprobe -r mlx5_ib && modprobe -r mlx5_core || return 1
    [ -e /sys/class/infiniband/mlx5_0 ] && { echo "the device is still there"; return 1; }
    kill -KILL "$server" "$client"
    wait "$server" "$client" || :
    # No driver has it now: it forgets all (FLR), as for another owner.
    function=$(grep -l 0x15b3 /sys/bus/pci/devices/*/vendor)
    grep -q flr "${function%/vendor}/reset_method" && echo 1 >"${function%/vendor}/reset"
}

# Runs programs by device $1 and its GID $2, and prints their calls of the kernel, as the object $RECORD writes them down: each log
# after a line `log PROGRAM`, of a pair that of the server first. The last are the uverbs object's own tests, which also ask for
# what is refused.
logged_calls() {
    logged devinfo ibv_devinfo -v -d "$1"
    for kind in rc uc ud srq; do
        logged "${kind}_pingpong" pair ibv_${kind}_pingpong -d "$1" -g "$2" -n 20
        # Not once: a server that has sent its only packet ends, and with it what the software wire has not yet let in.
        logged "${kind}_pingpong-e" pair ibv_${kind}_pingpong -d "$1" -g "$2" -n 2 -e
    done
    logged xsrq_pingpong pair ibv_xsrq_pingpong -d "$1" -g "$2" -n 20
    for what in send write read atomic; do
        logged ${what}_lat pair ib_${what}_lat -F -d "$1" -x "$2" -n 20
    done
    for test in api kernel dynamic; do logged "test-$test" tested "$1" bf_test_$test; done
    logged test-xrc tested "$1" bf_test_xrc alone
    logged test-regions tested "$1" bf_test_regions pinned
    logged test-clock tested "$1" bf_test_clock mappings
    for part in objects memories numbers non-cached no-user; do
        logged "test-devx-$part" tested "$1" bf_test_devx $part
    done
    logged test-devx-rc tested "$1" bf_test_devx_rc
}
logged() {
    name=$1
    shift
    directory=$(mktemp -d)
    recorded="env LD_PRELOAD=$RECORD${LD_PRELOAD:+:$LD_PRELOAD} CALLS=$directory/log"
    # shellcheck disable=SC2086 # words are meant
    case $1 in
    pair) shift; set -- pair $recorded "$@" ;;
    tested) device=$2; shift 2; set -- tested $recorded DEVICE="$device" "$@" ;;
    *) set -- $recorded "$@" ;;
    esac
    "$@" >"$directory/said" 2>&1 || { cat "$directory/said"; echo "$name: failed"; exit 1; }
    part=0
    for file in $(ls "$directory" | sort -t . -k 2 -n); do
        [ "$file" != said ] || continue
        part=$((part + 1))
        echo "log $name.$part"
        cat "$directory/$file"
        # What a test finds otherwise than expected is compared, too.
        [ "$1$part" != tested1 ] || cat "$directory/said"
    done
    [ $part -gt 0 ] || { cat "$directory/said"; echo "$name: no calls"; exit 1; }
    rm -r "$directory"
}

# Runs a test, and prints what it said and its status in the form of calls.
tested() {
    timeout $((30 * ${PATIENCE:-1})) "$@" >"$directory/output" 2>&1
    status=$?
    sed 's/^/said /; s/$/ = 0/' "$directory/output"
    rm "$directory/output"
    echo "exit = $status"
}

# Each event queue of the driver has interrupted, and the driver never had to find an event by itself, for want of an interrupt.
interrupts_count() {
    awk '/mlx5_/ { seen = 1; n = 0; for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i; print $NF ": " n; if (n == 0) bad = 1 }
        END { exit bad || !seen }' /proc/interrupts || return 1
    ! dmesg | grep -i "recovered .* eq" || return 1
    ethtool -S "$INTERFACE" | awk '/_eq_rearm:/ { seen = 1; print; if ($2 != 0) bad = 1 } END { exit bad || !seen }'
}

# Waits for the netdev's carrier $1 and the port's state $2.
has_link() {
    within 50 grep -q "$1" "/sys/class/net/$INTERFACE/carrier" && within 50 grep -q "$2" "/sys/class/infiniband/$DEVICE/ports/1/state"
}

# Writes down the asynchronous events of the device from now on, also when the command that called this has ended.
watch_events() {
    setsid ibv_asyncwatch -d "$DEVICE" >/tmp/events 2>&1 &
    within 30 grep -q "async event FD" /tmp/events
}

# Waits until the event $1 is among them, $2 tenths of a second at most.
is_told() { within "${2:-50}" grep "$1" /tmp/events || { cat /tmp/events; return 1; }; }

# Waits until the driver says that it has recovered the device.
recovers() { within 300 eval 'dmesg | grep "health recovery succeeded"' && within 100 test -e "/sys/class/infiniband/$DEVICE"; }

# Takes the PCI function $1, whose device is dead, out of the kernel.
forget_function() {
    echo 1 >"/sys/bus/pci/devices/$1/remove"
    [ ! -e "/sys/bus/pci/devices/$1" ] && [ ! -e "/sys/class/infiniband/$DEVICE" ]
}

# Makes the network interface of guest $1 in the VLAN $2, with the address 10.7.5.$1.
join_vlan() {
    modprobe 8021q && ip link add link "$INTERFACE" name vlan type vlan id "$2" &&
        ip addr add "10.7.5.$1/24" dev vlan && ip link set vlan up
}

# Runs DPDK's testpmd on the device, of the suite $DPDK or the system's own, until it is told to quit: $1 are parameters of the driver, the rest options of testpmd. Commands
# come by the pipe /tmp/testpmd. Without huge pages, as the driver registers any memory; IOVAs are virtual addresses in any case.
testpmd() {
    device=$(readlink -f "/sys/class/infiniband/$DEVICE/device")
    driver=$1
    shift
    mkdir -p /var/run && mkfifo /tmp/testpmd || return 1
    # Open for both, so that the end of a writer is not the end of the input.
    "dpdk-testpmd${DPDK:+-$DPDK}" --no-huge --no-shconf -m 512 --no-telemetry --iova-mode va -l 0,1 -a "${device##*/}$driver" \
        -- -i --total-num-mbufs=16384 "$@" <>/tmp/testpmd 2>&1 | tee /tmp/testpmd.said
}
# Waits until testpmd takes commands.
testpmd_is_ready() { within 300 grep -q 'testpmd>' /tmp/testpmd.said; }
# Has it carried out the command `start`? It asks for the next one then.
testpmd_forwards() { awk '/testpmd>/ && begun { ended = 1 } /testpmd> start/ { begun = 1 } END { exit !ended }' /tmp/testpmd.said; }

# Counts the instructions of DPDK's bursts (dpdk_bursts.c): $1 are parameters of the driver, the rest arguments of the program.
count_bursts() {
    device=$(readlink -f "/sys/class/infiniband/$DEVICE/device")
    driver=$1
    shift
    mkdir -p /var/run
    # DPDK loads all drivers of its directory, which find their libraries there.
    LD_LIBRARY_PATH=$(dirname /usr/lib/*/dpdk/pmds-*/librte_net_mlx5.so.25) bf_dpdk_bursts --no-huge --no-shconf -m 512 --no-telemetry --iova-mode va -l 0 -a "${device##*/}$driver" -- "$@" >/tmp/bursts 2>&1
    status=$?
    cat /tmp/bursts
    return $status
}

NVMET=/sys/kernel/config/nvmet
# Offers a disk in memory at this guest's address, by NVMe over RDMA.
serve_disk() {
    modprobe brd rd_nr=1 rd_size=65536 && modprobe nvmet-rdma || return 1
    [ -d $NVMET ] || mount -t configfs none /sys/kernel/config || return 1
    mkdir $NVMET/subsystems/disk && echo 1 >$NVMET/subsystems/disk/attr_allow_any_host &&
        mkdir $NVMET/subsystems/disk/namespaces/1 && echo /dev/ram0 >$NVMET/subsystems/disk/namespaces/1/device_path &&
        echo 1 >$NVMET/subsystems/disk/namespaces/1/enable && mkdir $NVMET/ports/1 && echo rdma >$NVMET/ports/1/addr_trtype &&
        echo ipv4 >$NVMET/ports/1/addr_adrfam && echo "$ADDRESS" >$NVMET/ports/1/addr_traddr &&
        echo 4420 >$NVMET/ports/1/addr_trsvcid && ln -s $NVMET/subsystems/disk $NVMET/ports/1/subsystems/disk
}
withdraw_disk() {
    rm $NVMET/ports/1/subsystems/disk && rmdir $NVMET/ports/1 $NVMET/subsystems/disk/namespaces/1 $NVMET/subsystems/disk &&
        modprobe -r nvmet-rdma
}

# Writes to the disk that the guest with address $1 offers, and reads it: in large pieces, of scattered pages, and in small ones.
use_disk() {
    # Nobody asks whether the other one lives: a question that is under way when this ends would be a failure.
    modprobe nvme-rdma && echo "transport=rdma,traddr=$1,trsvcid=4420,nqn=disk,nr_io_queues=2,keep_alive_tmo=600" >/dev/nvme-fabrics &&
        within 50 test -b /dev/nvme0n1 || return 1
    dd if=/dev/urandom of=/tmp/written bs=1M count=16 2>/dev/null
    dd if=/tmp/written of=/dev/nvme0n1 bs=1M oflag=direct && dd if=/dev/nvme0n1 of=/tmp/read bs=64k count=256 iflag=direct &&
        cmp /tmp/written /tmp/read || return 1
    # 100 blocks from the 3rd on go elsewhere.
    dd if=/tmp/written of=/dev/nvme0n1 bs=4k skip=3 seek=4096 count=100 oflag=direct &&
        dd if=/dev/nvme0n1 of=/tmp/read bs=4k skip=4096 count=100 iflag=direct &&
        dd if=/tmp/written bs=4k skip=3 count=100 2>/dev/null | cmp - /tmp/read || return 1
    rm /tmp/written /tmp/read
    for controller in /sys/class/nvme/nvme*; do echo 1 >"$controller/delete_controller"; done
    modprobe -r nvme-rdma
}
