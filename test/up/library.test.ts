import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { NodeSettingsError, startCluster } from '../../src/cluster/library.ts';
import { root } from '../moor-process.ts';

const kubectl = async (kubeconfig: string, ...args: string[]) =>
  (
    await promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args], {
      env: { ...process.env, PATH: `${path.join(root, '.tools/bin')}:${process.env['PATH']}` },
    })
  ).stdout;

describe('startCluster', () => {
  test('two clusters in one process are independent and leave nothing behind', async () => {
    const one = await startCluster();
    const two = await startCluster();
    await kubectl(one.kubeconfig, 'create', 'configmap', 'mine');
    expect(await kubectl(one.kubeconfig, 'get', 'cm', 'mine', '-o', 'name')).toBe('configmap/mine\n');
    await expect(kubectl(two.kubeconfig, 'get', 'cm', 'mine')).rejects.toThrow('not found');
    await one.stop();
    await one.stop();
    expect(existsSync(one.kubeconfig)).toBe(false);
    expect(await kubectl(two.kubeconfig, 'get', '--raw', '/livez')).toBe('ok');
    await two.stop();
  });

  test('has the requested nodes and StorageClasses', async () => {
    await using usual = await startCluster();
    expect(usual.nodes.running.map(({ name, zone }) => `${name} ${zone}`)).toEqual(['node-1 zone-a', 'node-2 zone-b', 'node-3 zone-c']);
    expect(usual.storageClasses).toEqual([
      { name: 'immediate', isDefault: false },
      { name: 'standard', isDefault: true },
    ]);
    await using one = await startCluster({ bare: true, nodes: { count: 1, zones: ['here'] } });
    expect(one.nodes).toEqual({ runtime: 'hollow', running: [{ name: 'node-1', zone: 'here' }], abandoned: [] });
    expect(await kubectl(one.kubeconfig, 'wait', '--for=condition=Ready', 'node/node-1', '--timeout=60s')).toContain('condition met');
    await using bare = await startCluster({ bare: true });
    expect([bare.nodes.running, bare.storageClasses]).toEqual([[], []]);
    await expect(startCluster({ nodes: { count: -1 } })).rejects.toThrow(NodeSettingsError);
  });
});
