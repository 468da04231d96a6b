/** What nodes and pods add to the table: pod CIDRs, and host ports. */
import type { Node, Pod } from '../../api/generated/types.ts';
import { ipv4Address, ipv4Network } from './ipv4.ts';
import type { RulesetPart } from './nftables/ruleset.ts';
import { sets } from './table.ts';

/** Packets between pods of the cluster keep their source. */
export function nodeRules({ spec }: Node): RulesetPart {
  const cidrs = (spec.podCIDRs ?? [spec.podCIDR ?? '']).flatMap(ipv4Network);
  return { elements: new Map([[sets.podCidrs, new Map(cidrs.map((cidr) => [cidr, '']))]]) };
}

const protocols: ReadonlyMap<string, string> = new Map([
  ['TCP', 'tcp'],
  ['UDP', 'udp'],
  ['SCTP', 'sctp'],
]);

/** Undefined: the pod has no host ports, or shares the host's network, where its programs listen themselves. */
export function hostPortRules({ metadata, spec, status }: Pod, sha256: (text: string) => string): RulesetPart | undefined {
  const [podIp] = ipv4Address(status.podIP ?? '');
  if (spec.hostNetwork === true || podIp === undefined) return undefined;
  const ports = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].flatMap((container) => container.ports ?? []);
  const chains = new Map<string, readonly string[]>();
  const elements = { [sets.hostPorts]: new Map<string, string>(), [sets.hostIpPorts]: new Map<string, string>() };
  for (const { hostPort = 0, containerPort, protocol = 'TCP', hostIP = '' } of ports) {
    const named = protocols.get(protocol);
    if (hostPort === 0 || named === undefined || hostIP.includes(':')) continue;
    const chain = `hostport-${sha256(`${metadata.uid ?? ''}/${named}/${hostIP}/${hostPort}`).slice(0, 16)}`;
    chains.set(chain, [`meta l4proto ${named} dnat to ${podIp}:${containerPort}`]);
    const [ip] = ipv4Address(hostIP);
    if (ip === undefined || ip === '0.0.0.0') elements[sets.hostPorts].set(`${named} . ${hostPort}`, `goto ${chain}`);
    else elements[sets.hostIpPorts].set(`${ip} . ${named} . ${hostPort}`, `goto ${chain}`);
  }
  if (chains.size === 0) return undefined;
  return { chains, elements: new Map([...Object.entries(elements), [sets.hairpin, new Map([[`${podIp} . ${podIp}`, '']])]]) };
}
