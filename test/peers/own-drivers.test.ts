// Peers: csi-sanity
/** csi-sanity on the drivers of `moor csi serve`: every spec that applies passes. The numbers are in docs/CSI.md. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startDriverProcess } from '../moor-process.ts';
import { mountsBelow } from './peer-cluster.ts';
import { runPeer } from './peer-process.ts';

test.each([
  { driver: 'image', accessType: 'mount', passed: 71 },
  { driver: 'image', accessType: 'block', passed: 71 },
  { driver: 'host-path', accessType: 'mount', passed: 62 },
  { driver: 'hollow', accessType: 'mount', passed: 76 },
])('csi-sanity finds nothing in $driver, access type $accessType', async ({ driver, accessType, passed }) => {
  const directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-own-')));
  const at = (name: string) => path.join(directory, name);
  mkdirSync(at('data'));
  {
    await using _driver = await startDriverProcess(driver, { socket: at('csi.sock'), dataDir: at('data') });
    const folders = ['--csi.mountdir', at('mount'), '--csi.stagingdir', at('staging')];
    const { output } = runPeer('csi-sanity', '--csi.endpoint', at('csi.sock'), ...folders, '--csi.testvolumeaccesstype', accessType, '--ginkgo.no-color');
    expect(output).toContain(`${passed} Passed | 0 Failed`);
  }
  expect(mountsBelow(directory)).toEqual([]);
  rmSync(directory, { recursive: true });
});
