# What commands of this list in the guest may use besides softhca/vfio-user/guest/commands.sh, which is before this in the same file.
# shellcheck shell=sh

# The network interface on the cable, by its Ethernet address, which scripts/guest/machines gives it.
on_the_cable() {
    for file in /sys/class/net/*/address; do
        read -r address <"$file"
        [ "$address" != "$CABLE" ] || { file=${file%/address}; echo "${file##*/}"; return; }
    done
    echo "no interface has the address $CABLE"
    return 1
}

# Loads Linux' software device over the interface on the cable, with the address of guest $1. The device computes CRCs by the
# kernel's generic code where the module is not a part of the kernel.
load_interop() {
    modprobe crc32_generic || :
    modprobe -a rdma_rxe ib_uverbs ib_umad rdma_ucm || return 1
    DEVICE=rxe0 INTERFACE=$(on_the_cable) || return 1
    ip link set "$INTERFACE" mtu 9000 up && rdma link add $DEVICE type rxe netdev "$INTERFACE" || return 1
    bring_up "$1"
}

# The link loses, repeats and reorders packets that leave the guest, this many percent each; the launcher does so at its end.
bad_link() { modprobe sch_netem && tc qdisc add dev "$INTERFACE" root netem delay 1ms loss "$1%" duplicate "$1%" reorder "$((100 - $1))%" limit 100000; }
good_link() { tc -s qdisc show dev "$INTERFACE" && tc qdisc del dev "$INTERFACE" root; }

# Prints the counters of Linux' device.
hw_counters() { grep . "/sys/class/infiniband/$DEVICE"/ports/1/hw_counters/*  | sed 's/.*hw_counters.//'; }
