import { formatCidr, formatIp, isIpv4, parseCidr, parseIp } from '../../api/validation/ip.ts';

/** The address as the kernel's programs read it; none if the text is no IPv4 address. */
export function ipv4Address(text: string): readonly string[] {
  const ip = parseIp(text);
  return ip !== undefined && isIpv4(ip) ? [formatIp(ip)] : [];
}

/** '10.0.0.0/8'; none if the text is no IPv4 network. */
export function ipv4Network(text: string): readonly string[] {
  const cidr = parseCidr(text);
  return cidr !== undefined && cidr.ip.bytes.length === 4 ? [formatCidr(cidr)] : [];
}
