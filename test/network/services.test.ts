/** Services of real pods, by the kernel's tables: what reaches which pod, and from where. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startMoor } from '../moor-process.ts';
import { describeWithNftables } from './nftables.ts';

/** A server that answers with its pod's name and the client's address. */
const server = `
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
  def do_GET(self):
    body = (os.uname().nodename + ' ' + self.client_address[0] + '\\n').encode()
    self.send_response(200); self.send_header('content-length', str(len(body))); self.end_headers(); self.wfile.write(body)
  def log_message(self, *args): pass
http.server.ThreadingHTTPServer(('', 8080), Handler).serve_forever()
`;

const pod = (name: string, command: readonly string[], over: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name.replace(/-\d+$/, '') } },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', image: 'python', command, ...over }] },
});
const web = (name: string, over: object = {}) => pod(name, ['python3', '-c', server], over);
const service = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: { app: 'web' }, ...spec } });
const list = (...items: readonly object[]) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

const nft = (...args: readonly string[]): string =>
  execFileSync('nft', args, { encoding: 'utf8', env: { PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` } });

describeWithNftables('Services of real pods', () => {
  test('lead from pods, from the host and from the pod itself to ready pods, and refuse where there are none', async () => {
    await using moor = await startMoor({ bare: false, args: ['--runtime', 'sandbox', '--store', 'memory', '--ephemeral'] });
    const ready = { readinessProbe: { periodSeconds: 1, exec: { command: ['test', '!', '-e', '/tmp/unready'] } } };
    const apply = async (...items: readonly object[]) => expect(await moor.kubectlWith(list(...items), 'apply', '-f', '-')).toMatchObject({ code: 0 });
    await apply(
      web('web-0', ready),
      web('web-1'),
      pod('client', ['sleep', '1000']),
      service('web', { type: 'NodePort', ports: [{ name: 'http', port: 80, targetPort: 8080 }] }),
      service('sticky', { sessionAffinity: 'ClientIP', ports: [{ port: 80, targetPort: 8080 }] }),
      service('all', { clusterIP: 'None', ports: [{ name: 'http', port: 8080 }] }),
      service('none', { selector: { app: 'nothing' }, ports: [{ port: 80 }] }),
    );
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s')).toMatchObject({ code: 0 });
    const field = async (of: string, path: string) => (await moor.kubectl('get', ...of.split(' '), '-o', `jsonpath={${path}}`)).stdout;
    const curl = async (from: string, url: string) => {
      const { stdout, stderr } = await moor.kubectl('exec', from, '--', 'curl', '-sS', '-m', '5', url);
      return `${stdout}${stderr}`;
    };
    const [ip, sticky, none] = await Promise.all(['web', 'sticky', 'none'].map((name) => field(`svc ${name}`, '.spec.clusterIP')));
    const clientIp = await field('pod client', '.status.podIP');
    // One after the other, in one exec: the machine has few cores.
    const seen = async (from: string, url: string) => {
      const script = `for i in $(seq 12); do curl -sS -m 5 ${url} 2>&1; done`;
      const { stdout, stderr } = await moor.kubectl('exec', from, '--', 'sh', '-c', script);
      return new Set(`${stdout}${stderr}`.trimEnd().split('\n'));
    };

    await expect.poll(() => seen('client', `http://${ip}/`)).toEqual(new Set([`web-0 ${clientIp}`, `web-1 ${clientIp}`]));
    // A pod reaches itself, and others under its own address.
    const own = await field('pod web-0', '.status.podIP');
    await expect
      .poll(async () => new Set([...(await seen('web-0', `http://${ip}/`))].map((answer) => (answer.startsWith('web-0 ') ? 'web-0' : answer))))
      .toEqual(new Set(['web-0', `web-1 ${own}`]));
    // The first connection decides; those that begin together with it need not agree.
    let first = '';
    await expect.poll(async () => (first = await curl('client', `http://${sticky}/`))).toMatch(/^web-/);
    expect(await seen('client', `http://${sticky}/`)).toEqual(new Set([first.trimEnd()]));
    expect(await curl('client', `http://${none}/`)).toMatch(/Couldn't connect/);
    expect(await curl('client', `http://${ip}:81/`)).toMatch(/Couldn't connect/);

    // By name: the cluster IP, the pods of a headless Service, and the way back.
    expect(await curl('client', 'http://web/')).toMatch(/^web-/);
    const resolve = async (expression: string) =>
      (await moor.kubectl('exec', 'client', '--', 'python3', '-c', `import socket; print(${expression})`)).stdout.trim();
    expect(await resolve("socket.gethostbyname('web.default.svc.cluster.local')")).toBe(ip);
    expect(await resolve("len(set(a[4][0] for a in socket.getaddrinfo('all', 80)))")).toBe('2');
    expect(await resolve(`socket.gethostbyaddr('${ip}')[0]`)).toBe('web.default.svc.cluster.local');
    expect(await field('svc kube-dns -n kube-system', '.spec.clusterIP')).toBe('10.96.0.10');

    const nodePort = await field('svc web', '.spec.ports[0].nodePort');
    const fromHost = (url: string): Promise<string> =>
      fetch(url, { headers: { connection: 'close' } }).then(
        (answer) => answer.text(),
        () => 'refused',
      );
    expect(await fromHost(`http://${ip}/`)).toMatch(/^web-/);
    expect(await fromHost(`http://127.0.0.1:${nodePort}/`)).toMatch(/^web-/);

    await moor.kubectl('exec', 'web-0', '--', 'touch', '/tmp/unready');
    await expect.poll(() => seen('client', `http://${ip}/`)).toEqual(new Set([`web-1 ${clientIp}`]));
    await moor.kubectl('delete', 'pod', 'web-1', '--now');
    await expect.poll(() => curl('client', `http://${ip}/`)).toMatch(/Couldn't connect/);
    expect(await fromHost(`http://127.0.0.1:${nodePort}/`)).toBe('refused');
  });

  test('a pod reaches the API at the Service kubernetes, with the rights of its service account', async () => {
    // A cluster that was killed, and whose data was removed, has left its table. The record is last: each `moor up` of the machine removes what is recorded.
    const table = `moor-${process.pid.toString(16).padStart(8, '0')}`;
    nft('add', 'table', 'ip', table);
    mkdirSync('/run/moor/tables', { recursive: true, mode: 0o700 });
    writeFileSync(`/run/moor/tables/${table}`, '4194305\nmoor-00000000');
    await using moor = await startMoor({ bare: false, args: ['--runtime', 'sandbox', '--store', 'memory', '--ephemeral'] });
    expect(nft('list', 'tables')).not.toContain(table);
    await moor.kubectlWith(list(pod('client', ['sleep', '1000'])), 'apply', '-f', '-');
    expect(await moor.kubectl('wait', '--for=condition=Ready', 'pod/client', '--timeout=60s')).toMatchObject({ code: 0 });
    const ask = async () => {
      const account = '/var/run/secrets/kubernetes.io/serviceaccount';
      const url = 'https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/api/v1/namespaces/default/pods';
      const script = `curl -sS -m 10 --cacert ${account}/ca.crt -H "Authorization: Bearer $(cat ${account}/token)" ${url}`;
      return JSON.parse((await moor.kubectl('exec', 'client', '--', 'sh', '-c', script)).stdout || '{}') as { kind?: string; reason?: string };
    };
    await expect.poll(ask).toMatchObject({ kind: 'Status', reason: 'Forbidden' });
    await moor.kubectl('create', 'rolebinding', 'reader', '--clusterrole=view', '--serviceaccount=default:default');
    await expect.poll(ask).toMatchObject({ kind: 'PodList', items: [{ metadata: { name: 'client' } }] });
  });
});
