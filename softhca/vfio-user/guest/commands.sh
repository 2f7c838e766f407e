# What commands in the guest may use: sourced before each of them.
# shellcheck shell=sh

# The RDMA device under test and its network interface; GID: the index of its RoCE v2 GID that is an IPv4 address.
# shellcheck source=/dev/null
[ -e /device ] && . /device

# Prints the first file of $1 and on whose first line is $2; nothing more if there is none.
file_that_says() {
    wanted=$1
    shift
    for file in "$@"; do
        # Entries of a GID table that are not in use cannot be read.
        [ "$(cat "$file" 2>/dev/null)" = "$wanted" ] && echo "$file" && return
    done
    return 1
}

# Waits at most $1 tenths of a second until a command succeeds.
within() {
    left=$1
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || { echo "waited in vain for: $*"; return 1; }
        sleep 0.1
    done
}

# Does something listen to TCP port $1?
listening() { grep -q ":$(printf %04X "$1") 0\{8,32\}:0000 0A" /proc/net/tcp /proc/net/tcp6; }

# Runs a program twice: as server, and as client of the server at address $PEER (this guest if it is not set) once that
# listens to TCP port $PORT (18515 if it is not set). Fails if either does.
pair() {
    PORT=${PORT:-18515}
    "$@" &
    server=$!
    within 100 listening "$PORT" || return 1
    # Whoever looks for the listener by connecting would be taken for the client.
    "$@" "${PEER:-127.0.0.1}"
    client=$?
    wait "$server" && [ $client -eq 0 ]
}

active() { [ "$(cat "/sys/class/infiniband/$DEVICE/ports/1/state")" = "4: ACTIVE" ]; }
has_address() { ip -4 -o addr show dev "$INTERFACE" | grep -q inet; }

ipv4_gid() {
    for type in "/sys/class/infiniband/$DEVICE"/ports/1/gid_attrs/types/*; do
        [ "$(cat "$type" 2>/dev/null)" = "RoCE v2" ] || continue
        case $(cat "/sys/class/infiniband/$DEVICE/ports/1/gids/${type##*/}") in
        0000:0000:0000:0000:0000:ffff:*) GID=${type##*/}; return ;;
        esac
    done
    return 1
}

# Brings up the network interface $INTERFACE of the device $DEVICE with address 10.7.0.$1, waits for its GIDs, and leaves
# what later commands know of it.
bring_up() {
    ip addr add "10.7.0.$1/24" dev "$INTERFACE" && ip link set "$INTERFACE" up || return 1
    within 50 active && within 50 ipv4_gid || return 1
    ipv4_gid
    # shellcheck disable=SC2153
    printf 'export DEVICE=%s INTERFACE=%s GID=%s ADDRESS=10.7.0.%s\n' "$DEVICE" "$INTERFACE" "$GID" "$1" >/device
    cat /device
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
