/**
 * resourceVersions as Kubernetes defines them: decimal numbers, to be compared within one resource.
 * Compared as text, since etcd's are 64 bits wide.
 */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length;
}
