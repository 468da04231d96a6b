import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startCluster } from '../../cluster/cluster.ts';
import { allCommands } from '../all-commands.ts';
import { commandsIn, runProgram } from '../command.ts';

/** Commands that serve until they are ended, whose output is a log; and those that print a script. */
const withoutData = [
  'logs',
  'cloud',
  'server',
  'controllers',
  'scheduler',
  'csi serve',
  'envtest install',
  'envtest kube-apiserver',
  'envtest etcd',
  'completion',
];

afterEach(() => void vi.restoreAllMocks());

/** Runs `moor ARGS…`; what it prints must be one JSON document. */
async function runs(...args: readonly string[]): Promise<{ readonly code: number; readonly printed: unknown }> {
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const code = await runProgram({ commands: allCommands, version: '0', out: () => undefined, err: () => undefined }, args);
  vi.restoreAllMocks();
  return { code, printed: JSON.parse(text) };
}

/** A data directory with the record of a cluster that does not run. */
function cluster(): { readonly dataDir: string; readonly kubeconfig: string; [Symbol.dispose](): void } {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'mooring-output-'));
  const kubeconfig = path.join(dataDir, 'kubeconfig');
  writeFileSync(kubeconfig, 'kind: Config\ncurrent-context: moor\n');
  const record = { dataDir, kubeconfig, name: 'shop', url: 'https://127.0.0.1:1', startedAt: '2026-01-01T00:00:00Z', runtime: 'hollow', version: '0' };
  writeFileSync(path.join(dataDir, 'cluster.json'), JSON.stringify({ ...record, process: { pid: 0, startTime: 0 }, ephemeral: false }));
  return { dataDir, kubeconfig, [Symbol.dispose]: () => rmSync(dataDir, { recursive: true, force: true }) };
}

describe('-o json', () => {
  test('every command that prints data has it', async () => {
    const commands = await commandsIn(allCommands);
    const lacking = commands.filter(([, { flags }]) => !flags.some(({ name, short, oneOf }) => name === 'output' && short === 'o' && oneOf?.includes('json')));
    expect(lacking.map(([name]) => name)).toEqual(withoutData);
  });

  test('version', async () => {
    const { printed } = await runs('version', '-o', 'json');
    expect(printed).toEqual({ version: expect.any(String), kubernetes: expect.stringMatching(/^v?1\./), node: process.versions.node });
  });

  test('fuzz: a seed with its timeline, and a range', async () => {
    const one = await runs('fuzz', '--seed', '3', '-o', 'json');
    expect(one).toMatchObject({ code: 0, printed: { from: 3, to: 3, seeds: 1, violations: [], timeline: expect.arrayContaining([expect.any(String)]) } });
    const many = await runs('fuzz', '--seeds', '1..2', '--jobs', '1', '-o', 'json');
    expect(many).toEqual({ code: 0, printed: { from: 1, to: 2, seeds: 2, violations: [] } });
  });

  test('store verify and repair: the damage, and whether it can be repaired', async () => {
    using sound = cluster();
    const at = ['--data-dir', sound.dataDir, '-o', 'json'];
    expect(await runs('store', 'verify', ...at)).toEqual({ code: 0, printed: { dataDir: sound.dataDir, sound: true, findings: [] } });
    expect(await runs('store', 'repair', '--yes', ...at)).toEqual({ code: 0, printed: { dataDir: sound.dataDir, sound: true, findings: [], copies: null } });
    writeFileSync(path.join(sound.dataDir, 'manifest.json'), 'no JSON');
    const findings = [{ damage: expect.stringContaining('manifest.json'), remedy: expect.any(String), repairable: true }];
    expect(await runs('store', 'verify', ...at)).toEqual({ code: 3, printed: { dataDir: sound.dataDir, sound: false, findings } });
    const repaired = { dataDir: sound.dataDir, sound: true, findings, copies: expect.stringContaining('before-repair-') };
    expect(await runs('store', 'repair', '--yes', ...at)).toEqual({ code: 0, printed: repaired });
  });

  test('audit and why of a cluster without volumes', async () => {
    await using served = await startCluster({ store: 'memory', bare: true, listen: { host: '127.0.0.1', port: 0 } });
    const at = ['--kubeconfig', served.kubeconfig, '-o', 'json'];
    expect(await runs('audit', ...at)).toEqual({
      code: 0,
      printed: { clean: true, assets: 0, volumes: 0, intents: 0, snapshots: 0, unaudited: [], findings: [] },
    });
    expect(await runs('why', ...at)).toMatchObject({ code: 0, printed: { stuck: [] } });
  });

  test('store repair does not ask in the middle of JSON', async () => {
    let message = '';
    const err = (text: string): void => void (message += text);
    const code = await runProgram({ commands: allCommands, version: '0', out: () => undefined, err }, ['store', 'repair', '-o', 'json']);
    expect(code).toBe(2);
    expect(message).toContain('repair -o json cannot ask: it needs --yes');
  });

  test('status, stop, kubeconfig, down and delete of a cluster that does not run', async () => {
    using shop = cluster();
    const { dataDir, kubeconfig } = shop;
    const at = ['--data-dir', dataDir, '-o', 'json'];
    expect(await runs('status', ...at)).toMatchObject({ code: 3, printed: { name: 'shop', status: 'Down', pid: null, dataDir } });
    expect(await runs('stop', ...at)).toEqual({ code: 0, printed: { name: 'shop', dataDir, wasRunning: false, mounts: 0 } });
    expect(await runs('kubeconfig', ...at)).toEqual({ code: 0, printed: { kind: 'Config', 'current-context': 'moor' } });
    expect(await runs('kubeconfig', '--path', ...at)).toEqual({ code: 0, printed: { path: kubeconfig } });
    const removed = { pods: 0, mounts: [], images: [] };
    expect(await runs('down', ...at)).toEqual({ code: 0, printed: { name: 'shop', dataDir, removed } });
    expect(await runs('delete', '--yes', ...at)).toEqual({ code: 0, printed: { name: 'shop', dataDir, removed, deleted: true } });
  });
});
