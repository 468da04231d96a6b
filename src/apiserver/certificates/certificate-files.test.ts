import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { SecretFiles } from '../../world/secret-files.ts';
import { ensureCertificates } from './certificate-files.ts';

const now = Date.parse('2026-06-01T00:00:00Z');
const day = 24 * 60 * 60 * 1000;

function memoryFiles(): SecretFiles & { readonly contents: Map<string, string>; readonly writes: string[] } {
  const contents = new Map<string, string>();
  const writes: string[] = [];
  return {
    contents,
    writes,
    read: (name) => Promise.resolve(contents.get(name)),
    write(name, text) {
      contents.set(name, text);
      writes.push(name);
      return Promise.resolve();
    },
  };
}

describe('certificates of a server', () => {
  test('an authority that is not valid yet is refused and stays: the clock is wrong', async () => {
    const files = memoryFiles();
    await ensureCertificates({ files, hosts: [], now });
    const before = new Map(files.contents);
    const earlier = ensureCertificates({ files, hosts: [], now: now - 30 * day });
    await expect(earlier).rejects.toThrow(
      /valid from 2026-05-31T00:00:00.000Z on, and this machine's clock says 2026-05-02T00:00:00.000Z: put the clock right/,
    );
    expect(files.contents).toEqual(before);
  });

  test('the first start makes an authority, a serving certificate for every name, and one for the administrator', async () => {
    const files = memoryFiles();
    const made = await ensureCertificates({ files, hosts: ['192.0.2.7', 'box.example'], now });
    const pairs = ['ca', 'front-proxy-ca', 'server', 'admin', 'front-proxy-client'];
    expect(files.writes).toEqual(pairs.flatMap((name) => [`${name}.key`, `${name}.crt`]));
    const authority = new X509Certificate(made.authority.certificate);
    const serving = new X509Certificate(made.serving.certificate);
    const admin = new X509Certificate(made.admin.certificate);
    expect(authority.ca).toBe(true);
    expect(serving.verify(authority.publicKey)).toBe(true);
    expect(serving.checkIssued(authority)).toBe(true);
    expect(['localhost', 'kubernetes.default.svc.cluster.local', 'box.example'].map((host) => serving.checkHost(host))).not.toContain(undefined);
    expect(['127.0.0.1', '::1', '10.96.0.1', '192.0.2.7'].map((ip) => serving.checkIP(ip))).not.toContain(undefined);
    expect(serving.checkHost('other.example')).toBe(undefined);
    expect(serving.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(admin.subject).toBe('O=system:masters\nCN=kubernetes-admin');
    expect(admin.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  });

  test('the next start uses them as they are', async () => {
    const files = memoryFiles();
    const first = await ensureCertificates({ files, hosts: ['192.0.2.7'], now });
    files.writes.length = 0;
    const second = await ensureCertificates({ files, hosts: ['192.0.2.7'], now: now + 30 * day });
    expect(files.writes).toEqual([]);
    expect(second.serving).toEqual(first.serving);
  });

  test('a new name renews the serving certificate alone', async () => {
    const files = memoryFiles();
    await ensureCertificates({ files, hosts: [], now });
    files.writes.length = 0;
    const { serving } = await ensureCertificates({ files, hosts: ['198.51.100.1'], now });
    expect(files.writes).toEqual(['server.key', 'server.crt']);
    expect(new X509Certificate(serving.certificate).checkIP('198.51.100.1')).toBe('198.51.100.1');
  });

  test('what is about to end is renewed under the same authority', async () => {
    const files = memoryFiles();
    await ensureCertificates({ files, hosts: [], now });
    files.writes.length = 0;
    await ensureCertificates({ files, hosts: [], now: now + 306 * day });
    expect(files.writes).toEqual(['server', 'admin', 'front-proxy-client'].flatMap((name) => [`${name}.key`, `${name}.crt`]));
  });

  test.each(['ca.crt', 'ca.key'])('a lost or broken %s makes everything new', async (name) => {
    const files = memoryFiles();
    await ensureCertificates({ files, hosts: [], now });
    files.writes.length = 0;
    files.contents.set(name, 'garbage');
    const made = await ensureCertificates({ files, hosts: [], now });
    expect(files.writes).toHaveLength(6);
    expect(new X509Certificate(made.admin.certificate).verify(new X509Certificate(made.authority.certificate).publicKey)).toBe(true);
  });

  test('a key that does not belong to its certificate (a crash between the two writes) is replaced', async () => {
    const files = memoryFiles();
    await ensureCertificates({ files, hosts: [], now });
    files.contents.set('server.key', files.contents.get('admin.key') ?? '');
    files.writes.length = 0;
    await ensureCertificates({ files, hosts: [], now });
    expect(files.writes).toEqual(['server.key', 'server.crt']);
  });

  test('others get client certificates with their own name and groups', async () => {
    const certificates = await ensureCertificates({ files: memoryFiles(), hosts: [], now });
    const { certificate } = await certificates.issueClient({ name: 'system:node:n1', groups: ['system:nodes', 'a'] });
    expect(new X509Certificate(certificate).subject).toBe('O=system:nodes\nO=a\nCN=system:node:n1');
  });
});
