export type Address = { readonly path: string } | { readonly host: string; readonly port: number };

/**
 * 'unix:///run/csi.sock', 'unix:csi.sock' or '/run/csi.sock'; 'localhost:2379', '[::1]:2379' or 'tcp://10.0.0.1:2379'. Throws an Error for
 * anything else.
 */
export function parseAddress(address: string): Address {
  const path = unixPath(address);
  if (path !== undefined) {
    if (path === '') throw new Error(`${JSON.stringify(address)} names no socket: unix:///run/csi.sock would`);
    return { path };
  }
  const [, ipv6, name, digits] = /^(?:tcp:\/\/|dns:\/{0,3})?(?:\[([0-9a-fA-F:.%a-z]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(address) ?? [];
  const host = ipv6 ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535) throw new Error(`${JSON.stringify(address)} is no address: unix:///PATH or HOST:PORT would be`);
  return { host, port };
}

function unixPath(address: string): string | undefined {
  if (address.startsWith('/')) return address;
  if (address.startsWith('unix://')) return address.slice('unix://'.length);
  return address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
}

/** As Go prints it after "dial". */
export const addressText = (address: Address): string =>
  'path' in address ? `unix ${address.path}` : `tcp ${address.host.includes(':') ? `[${address.host}]` : address.host}:${address.port}`;
