/** Image volumes: files of an image in a container of another one. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MoorProcess, runMoor, startMoor } from '../moor-process.ts';
import { describeWithSandboxes } from '../sandbox/sandboxes.ts';
import { programsLayer, tarOf } from './archives.ts';
import { testRegistry, type TestRegistry } from './registry-server.ts';

describeWithSandboxes('a volume that is an image', () => {
  let moor: MoorProcess;
  let registry: TestRegistry;
  let dataDir = '';
  beforeAll(async () => {
    registry = await testRegistry();
    registry.add('app', '1', { name: 'app', layers: [programsLayer()] });
    const lower = tarOf([
      { name: 'models/', type: '5' },
      { name: 'models/a', content: 'lower' },
      { name: 'models/gone', content: 'x' },
      { name: 'out', type: '2', linkName: '../../../etc' },
      { name: 'run', content: '#!/bin/sh\necho ran', mode: 0o755 },
    ]);
    const upper = tarOf([
      { name: 'models/a', content: 'upper' },
      { name: 'models/.wh.gone' },
      { name: 'etc/', type: '5' },
      { name: 'etc/own', content: 'own' },
    ]);
    registry.add('data', '1', { name: 'data', layers: [lower, upper], isCompressed: true });
    registry.add('single', '1', { name: 'single', layers: [tarOf([{ name: 'one', content: 'layer' }])] });
    dataDir = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-image-volumes-')));
    moor = await startMoor({ dataDir, args: ['--runtime', 'sandbox', '--nodes', '1', '--images', 'registry'] });
  });
  afterAll(async () => {
    await moor.stop();
    expect(await runMoor('down', '--data-dir', dataDir)).toMatchObject({ code: 0 });
    await registry.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const kubectl = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await moor.kubectl(...args);
    expect(code, `kubectl ${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout.trim();
  };
  const apply = async (name: string, script: string, mounts: readonly (readonly [string, string, string?])[]): Promise<void> => {
    const images = [...new Set(mounts.map(([image]) => image))];
    const volumes = images.map((image) => ({ name: image, image: { reference: `${registry.host}/${image}:1` } }));
    const volumeMounts = mounts.map(([image, mountPath, subPath]) => ({ name: image, mountPath, ...(subPath === undefined ? {} : { subPath }) }));
    const container = { name: 'c', image: `${registry.host}/app:1`, command: ['sh', '-c', script], volumeMounts };
    const spec = { terminationGracePeriodSeconds: 0, restartPolicy: 'Never', containers: [container], volumes };
    const pod = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
    expect(await moor.kubectlWith(pod, 'apply', '-f', '-')).toMatchObject({ code: 0 });
  };
  const waiting = (pod: string): Promise<string> => kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.containerStatuses[0].state}');

  test('shows its files, or a sub-path of them, read-only and without programs; its links stay in it', async () => {
    const script = `cat /all/models/a /dir/a /file /one/one; echo; ls /all/models; cat /link/own; echo
echo x >/all/models/a || echo refused; /all/run || echo no programs; touch /one/new || echo refused`;
    await apply('reader', `{ ${script}; } 2>/dev/null`, [
      ['data', '/all'],
      ['data', '/dir', 'models'],
      ['data', '/file', 'models/a'],
      ['data', '/link', 'out'],
      ['single', '/one'],
    ]);
    await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/reader', '--timeout=300s');
    expect(await kubectl('logs', 'reader')).toBe('upperupperupperlayer\na\nown\nrefused\nno programs\nrefused');
    const events = await kubectl('get', 'events', '--field-selector', 'involvedObject.name=reader', '-o', 'jsonpath={range .items[*]}{.message}{"\\n"}{end}');
    expect(events).toContain(`Pulling image "${registry.host}/data:1"`);
  });

  test('that is not there, or lacks the sub-path, keeps the container from starting, with a message that says so', async () => {
    await apply('missing', 'sleep 1', [['no-such', '/v']]);
    await expect.poll(() => waiting('missing'), { timeout: 120_000 }).toMatch(/"reason":"(ErrImagePull|ImagePullBackOff)"/);
    await apply('lacking', 'sleep 1', [['data', '/v', 'models/none']]);
    await expect.poll(() => waiting('lacking'), { timeout: 120_000 }).toContain('the image has no \\"models/none\\" (subPath)');
  });
});
