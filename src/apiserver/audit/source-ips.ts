import { formatIp, parseIp } from '../../api/validation/ip.ts';

/** The source addresses of a request: from its headers, which any client can write, and last from its connection. */
export function sourceIps(header: (name: string) => string | undefined, remoteAddress: string): readonly string[] {
  const found: string[] = [];
  for (const part of (header('x-forwarded-for') ?? '').split(',')) {
    const ip = canonical(part.trim());
    if (ip !== undefined) found.push(ip);
  }
  const real = canonical(header('x-real-ip') ?? '');
  if (real !== undefined && !found.includes(real)) found.push(real);
  const remote = canonical(remoteAddress);
  if (remote !== undefined && remote !== found.at(-1)) found.push(remote);
  return found;
}

function canonical(text: string): string | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : formatIp(ip);
}
