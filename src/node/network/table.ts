/** The table of a cluster's network in the kernel, as far as no Service and no pod changes it. Its sets and maps are filled by parts. */

/** The table's sets and maps. */
export const sets = {
  /** Every cluster IP: a port that no Service has is refused. */
  clusterIps: 'cluster-ips',
  /** IP . protocol . port → the Service port's chain. From pods and from the host itself. */
  serviceIps: 'service-ips',
  /** The same for external and load balancer IPs, from everywhere. */
  externalIps: 'external-ips',
  nodePorts: 'service-nodeports',
  /** → refuse or drop. */
  noEndpointIps: 'no-endpoint-services',
  noEndpointNodePorts: 'no-endpoint-nodeports',
  /** Address . same address: a pod that reaches itself through a Service gets its answers only if the packet's source is the host. */
  hairpin: 'hairpin',
  /** protocol . port → the pod's chain. */
  hostPorts: 'hostports',
  /** IP . protocol . port → the same for a hostIP. */
  hostIpPorts: 'hostip-hostports',
  /** Of all nodes. */
  podCidrs: 'pod-cidrs',
  /** A pod's address → the chain of its NetworkPolicies. */
  ingressPolicies: 'ingress-policies',
  egressPolicies: 'egress-policies',
  /** UDP port → the chain of the sources that may send packets of other nodes' pods. */
  tunnels: 'tunnels',
} as const;

export const chains = {
  reject: 'reject-connection',
  /** Empty, or drops: while policies may be missing, pods begin no connections. */
  hold: 'hold-connections',
} as const;

export interface TableSettings {
  /** Of the links to this machine's pods. */
  readonly linkGroups: readonly number[];
  /** The addresses of this machine's pods. */
  readonly podCidrs: readonly string[];
}

const ipPort = 'type ipv4_addr . inet_proto . inet_service';

/** `nat` chains see the first packet of a connection only; the kernel's connection tracking translates the others. */
export function baseTable({ linkGroups, podCidrs }: TableSettings): string {
  const own = `{ ${linkGroups.join(', ')} }`;
  const pods = `{ ${podCidrs.join(', ')} }`;
  return `
set ${sets.clusterIps} { type ipv4_addr; }
map ${sets.serviceIps} { ${ipPort} : verdict; }
map ${sets.externalIps} { ${ipPort} : verdict; }
map ${sets.nodePorts} { type inet_proto . inet_service : verdict; }
map ${sets.noEndpointIps} { ${ipPort} : verdict; }
map ${sets.noEndpointNodePorts} { type inet_proto . inet_service : verdict; }
set ${sets.hairpin} { type ipv4_addr . ipv4_addr; }
map ${sets.hostPorts} { type inet_proto . inet_service : verdict; }
map ${sets.hostIpPorts} { ${ipPort} : verdict; }
set ${sets.podCidrs} { type ipv4_addr; flags interval; }
map ${sets.ingressPolicies} { type ipv4_addr : verdict; }
map ${sets.egressPolicies} { type ipv4_addr : verdict; }
map ${sets.tunnels} { type inet_service : verdict; }

set dns-clients { type ipv4_addr; size 65535; flags dynamic,timeout; timeout 10s; }

chain ${chains.reject} { reject; }
chain ${chains.hold} { }

chain external-services {
  ip daddr . meta l4proto . th dport vmap @${sets.externalIps}
  fib daddr type local meta l4proto . th dport vmap @${sets.nodePorts}
  ip daddr . meta l4proto . th dport vmap @${sets.hostIpPorts}
  fib daddr type local meta l4proto . th dport vmap @${sets.hostPorts}
}

chain nat-prerouting {
  type nat hook prerouting priority dstnat;
  iifgroup ${own} ip daddr . meta l4proto . th dport vmap @${sets.serviceIps}
  jump external-services
}

chain nat-output {
  type nat hook output priority -100;
  ip daddr . meta l4proto . th dport vmap @${sets.serviceIps}
  jump external-services
}

chain nat-postrouting {
  type nat hook postrouting priority srcnat;
  ip saddr . ip daddr @${sets.hairpin} masquerade
  # From the host to a pod: the pod's answer has to come back to this table, also if the source is 127.0.0.1.
  oifgroup ${own} ct status dnat fib saddr type local masquerade
  # A pod of another node gets the packet from this node, and answers to it.
  oifgroup != ${own} ct status dnat ip saddr != ${pods} ip daddr @${sets.podCidrs} masquerade
  # Pods reach other networks under the host's address.
  oifgroup != ${own} ip saddr ${pods} ip daddr != @${sets.podCidrs} masquerade
}

chain raw-prerouting {
  type filter hook prerouting priority raw;
  # route_localnet is on for the answers to the host's own 127.0.0.1: a pod does not reach the host's loopback by it.
  iifgroup ${own} ip daddr 127.0.0.0/8 drop
  # From an address that is not the pod's own, also where the machine's rp_filter is loose.
  iifgroup ${own} fib saddr . iif oif missing drop
}

chain policies {
  ct state established,related accept
  # No policy keeps a pod from itself.
  ip saddr . ip daddr @${sets.hairpin} accept
  jump ${chains.hold}
  ip saddr vmap @${sets.egressPolicies}
  ip daddr vmap @${sets.ingressPolicies}
}

chain filter-forward {
  type filter hook forward priority filter;
  # Pods of other clusters on this machine.
  iifgroup ${own} oifname "moor*" oifgroup != ${own} ip daddr != @${sets.podCidrs} drop
  iifgroup ${own} ip daddr . meta l4proto . th dport vmap @${sets.noEndpointIps}
  iifgroup ${own} ip daddr @${sets.clusterIps} reject
  # Packets of pods of other machines have a header more: a connection learns it at once.
  oifname "moorvx*" tcp flags & (syn | rst) == syn tcp option maxseg size set rt mtu
  jump policies
}

chain filter-input {
  type filter hook input priority filter;
  # The DNS server shares its process with others: one pod's questions must not keep it busy.
  iifgroup ${own} udp dport 53 update @dns-clients { ip saddr limit rate over 2000/second burst 4000 packets } drop
  ip daddr . meta l4proto . th dport vmap @${sets.noEndpointIps}
  fib daddr type local meta l4proto . th dport vmap @${sets.noEndpointNodePorts}
  udp dport vmap @${sets.tunnels}
  ct state established,related accept
  iifgroup ${own} jump ${chains.hold}
  iifgroup ${own} ip saddr vmap @${sets.egressPolicies}
}

chain filter-output {
  type filter hook output priority filter;
  ip daddr . meta l4proto . th dport vmap @${sets.noEndpointIps}
  fib daddr type local meta l4proto . th dport vmap @${sets.noEndpointNodePorts}
}`;
}
