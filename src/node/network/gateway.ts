/** The host's own address in the pod CIDR: the first. */
export function gatewayOf(cidr: string): string {
  const parts = (cidr.split('/')[0] ?? '').split('.').map(Number);
  return [...parts.slice(0, 3), (parts[3] ?? 0) + 1].join('.');
}
