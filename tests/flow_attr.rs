//! The attributes of flow rules against the installed header: a C program fills in the same structures, and prints
//! their bytes.
//!
//! Bytes of `struct ibv_flow_attr` belong here. The effects of rules belong in `tests/raw_receive`.

#![cfg(feature = "verbs")]
#![forbid(unsafe_code)]

use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;

use blueflame::SetupError;
use blueflame::flow::{Flow, Masked};
use blueflame::verbs::Error;
use blueflame::verbs::ethernet::FlowAttr;

/// The C program's beginning: `rule` is what `ibv_create_flow` would get.
const PRELUDE: &str = r#"
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

static struct { struct ibv_flow_attr attr; unsigned char specs[512]; } rule;

static void begin(enum ibv_flow_attr_type type, int priority, unsigned flags)
{
    memset(&rule, 0, sizeof(rule));
    rule.attr.type = type;
    rule.attr.priority = priority;
    rule.attr.flags = flags;
    rule.attr.port = 1;
    rule.attr.size = sizeof(rule.attr);
}

/* Appends a specification, whose size the header gives. */
static void add(const void *spec, size_t size)
{
    memcpy((unsigned char *)&rule + rule.attr.size, spec, size);
    rule.attr.size += size;
    rule.attr.num_of_specs++;
}

static void end(void)
{
    for (int i = 0; i < rule.attr.size; i++)
        printf("%02x", ((unsigned char *)&rule)[i]);
    printf("\n");
}

/* A structure of zeros, padding as well. */
#define SPEC(name, type_name, number) \
    struct type_name name; memset(&name, 0, sizeof(name)); name.type = number; name.size = sizeof(name)
"#;

/// A flow, and the C statements that make its attributes.
fn cases() -> Vec<(Flow, &'static str)> {
    let group = Ipv4Addr::new(239, 1, 2, 3);
    let v6: Ipv6Addr = "2001:db8::1:2".parse().expect("an address");
    vec![
        (Flow::any(), "begin(IBV_FLOW_ATTR_NORMAL, 0, 0);"),
        (Flow::all_default(), "begin(IBV_FLOW_ATTR_ALL_DEFAULT, 0, 0);"),
        (Flow::multicast_default(), "begin(IBV_FLOW_ATTR_MC_DEFAULT, 0, 0);"),
        (Flow::sniffer(), "begin(IBV_FLOW_ATTR_SNIFFER, 0, 0);"),
        (
            Flow::mac([2, 0, 0x5e, 0, 0x53, 1])
                .source_mac(Masked::new([0xff; 6], [0xff, 0xff, 0xff, 0, 0, 0]))
                .ether_type(0x88b5)
                .vlan(0x123)
                .priority(15),
            "begin(IBV_FLOW_ATTR_NORMAL, 15, 0);
             SPEC(eth, ibv_flow_spec_eth, IBV_FLOW_SPEC_ETH);
             memcpy(eth.val.dst_mac, \"\\x02\\x00\\x5e\\x00\\x53\\x01\", 6); memset(eth.mask.dst_mac, 255, 6);
             memset(eth.val.src_mac, 255, 3); memset(eth.mask.src_mac, 255, 3);
             eth.val.ether_type = htons(0x88b5); eth.mask.ether_type = 0xffff;
             eth.val.vlan_tag = htons(0x123); eth.mask.vlan_tag = htons(0xfff);
             add(&eth, sizeof(eth));",
        ),
        (
            Flow::udp(group, 5001).source(Masked::prefix(Ipv4Addr::new(10, 1, 2, 3).into(), 16)).flow_tag(0xab_cdef),
            "begin(IBV_FLOW_ATTR_NORMAL, 0, 0);
             SPEC(ip, ibv_flow_spec_ipv4_ext, IBV_FLOW_SPEC_IPV4_EXT);
             ip.val.src_ip = inet_addr(\"10.1.0.0\"); ip.mask.src_ip = inet_addr(\"255.255.0.0\");
             ip.val.dst_ip = inet_addr(\"239.1.2.3\"); ip.mask.dst_ip = 0xffffffff;
             ip.val.proto = 17; ip.mask.proto = 255;
             add(&ip, sizeof(ip));
             SPEC(udp, ibv_flow_spec_tcp_udp, IBV_FLOW_SPEC_UDP);
             udp.val.dst_port = htons(5001); udp.mask.dst_port = 0xffff;
             add(&udp, sizeof(udp));
             SPEC(tag, ibv_flow_spec_action_tag, IBV_FLOW_SPEC_ACTION_TAG);
             tag.tag_id = 0xabcdef;
             add(&tag, sizeof(tag));",
        ),
        (
            Flow::tcp(v6, Masked::new(0x1bb, 0xff0f))
                .source(v6)
                .source_port(7)
                .traffic_class(Masked::new(0xb8, 0xfc))
                .vlan_tag(Masked::new(0xe000, 0xe000))
                .dont_trap()
                .priority(3),
            "begin(IBV_FLOW_ATTR_NORMAL, 3, IBV_FLOW_ATTR_FLAGS_DONT_TRAP);
             SPEC(eth, ibv_flow_spec_eth, IBV_FLOW_SPEC_ETH);
             eth.val.vlan_tag = eth.mask.vlan_tag = htons(0xe000);
             add(&eth, sizeof(eth));
             SPEC(ip, ibv_flow_spec_ipv6, IBV_FLOW_SPEC_IPV6);
             inet_pton(AF_INET6, \"2001:db8::1:2\", ip.val.src_ip); memset(ip.mask.src_ip, 255, 16);
             inet_pton(AF_INET6, \"2001:db8::1:2\", ip.val.dst_ip); memset(ip.mask.dst_ip, 255, 16);
             ip.val.next_hdr = 6; ip.mask.next_hdr = 255;
             ip.val.traffic_class = 0xb8; ip.mask.traffic_class = 0xfc;
             add(&ip, sizeof(ip));
             SPEC(tcp, ibv_flow_spec_tcp_udp, IBV_FLOW_SPEC_TCP);
             tcp.val.dst_port = htons(0x10b); tcp.mask.dst_port = htons(0xff0f);
             tcp.val.src_port = htons(7); tcp.mask.src_port = 0xffff;
             add(&tcp, sizeof(tcp));",
        ),
        (
            // Everything at once: the longest there is.
            Flow::udp(v6, 1).destination_mac([2; 6]).flow_tag(1).drop_frames(),
            "begin(IBV_FLOW_ATTR_NORMAL, 0, 0);
             SPEC(eth, ibv_flow_spec_eth, IBV_FLOW_SPEC_ETH);
             memset(eth.val.dst_mac, 2, 6); memset(eth.mask.dst_mac, 255, 6);
             add(&eth, sizeof(eth));
             SPEC(ip, ibv_flow_spec_ipv6, IBV_FLOW_SPEC_IPV6);
             inet_pton(AF_INET6, \"2001:db8::1:2\", ip.val.dst_ip); memset(ip.mask.dst_ip, 255, 16);
             ip.val.next_hdr = 17; ip.mask.next_hdr = 255;
             add(&ip, sizeof(ip));
             SPEC(udp, ibv_flow_spec_tcp_udp, IBV_FLOW_SPEC_UDP);
             udp.val.dst_port = htons(1); udp.mask.dst_port = 0xffff;
             add(&udp, sizeof(udp));
             SPEC(tag, ibv_flow_spec_action_tag, IBV_FLOW_SPEC_ACTION_TAG);
             tag.tag_id = 1;
             add(&tag, sizeof(tag));
             SPEC(drop, ibv_flow_spec_action_drop, IBV_FLOW_SPEC_ACTION_DROP);
             add(&drop, sizeof(drop));",
        ),
        (
            Flow::ip(Ipv4Addr::LOCALHOST).protocol(Masked::new(0x51, 0xf0)).traffic_class(0x2e),
            "begin(IBV_FLOW_ATTR_NORMAL, 0, 0);
             SPEC(ip, ibv_flow_spec_ipv4_ext, IBV_FLOW_SPEC_IPV4_EXT);
             ip.val.dst_ip = inet_addr(\"127.0.0.1\"); ip.mask.dst_ip = 0xffffffff;
             ip.val.proto = 0x50; ip.mask.proto = 0xf0;
             ip.val.tos = 0x2e; ip.mask.tos = 255;
             add(&ip, sizeof(ip));",
        ),
    ]
}

/// The lines that a C program prints.
fn printed(source: &str) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory for the C program");
    let (c, exe) = (dir.path().join("flows.c"), dir.path().join("flows"));
    std::fs::write(&c, source).expect("write the C program");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let compiled = Command::new(&compiler).arg(&c).arg("-o").arg(&exe).output().expect("a C compiler (cc, or CC)");
    assert!(compiled.status.success(), "{compiler}: {}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&exe).output().expect("run the C program");
    assert!(ran.status.success());
    String::from_utf8(ran.stdout).expect("text").lines().map(Into::into).collect()
}

#[test]
fn bytes_are_those_of_a_c_program() {
    let cases = cases();
    let bodies: String = cases.iter().map(|(_, c)| format!("{{ {c} end(); }}\n")).collect();
    let expected = printed(&format!("{PRELUDE}\nint main(void) {{\n{bodies}return 0; }}\n"));
    assert_eq!(expected.len(), cases.len());
    for ((flow, _), expected) in cases.iter().zip(expected) {
        let attr = FlowAttr::new(flow, 1).expect("no contradiction");
        let bytes: String = attr.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(bytes, expected, "{flow:?}");
        assert!(attr.as_bytes().as_ptr().addr() % 8 == 0);
    }
}

#[test]
fn what_the_kernel_would_refuse_or_ignore_is_refused() {
    let error = FlowAttr::new(&Flow::any().priority(16), 1).expect_err("priorities end at 15");
    assert_eq!(error, Error::OutOfRange { what: "priority of a flow", value: 16, min: 0, max: 15 });
    let error = FlowAttr::new(&Flow::all_default().flow_tag(1), 1).expect_err("leftovers have no tag");
    assert_eq!(error, Error::Setup(SetupError::FlowWhole { what: "flow tag" }));
    assert!(error.to_string().contains("tag"), "{error}");
}
