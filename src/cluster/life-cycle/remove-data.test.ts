import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { kubeconfig, renderKubeconfig } from '../../client/kubeconfig.ts';
import { readRecord, recordless } from './cluster-record.ts';
import { removeData } from './remove-data.ts';

const ending = '0123456789ab';
const volume = `01234567-89ab-8cde-8f01-${ending}`;
const link = `11234567-89ab-8cde-8f01-${ending}`;

let directory: string;
const at = (name: string): string => path.join(directory, name);
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'moor-remove-')));
  for (const each of ['data', 'data/cloud', 'volumes', `volumes/${volume}`, 'volumes/of-another', 'precious']) mkdirSync(at(each));
  for (const each of ['data/cloud/cloud.jsonl', `volumes/${volume}/file`, 'precious/file']) writeFileSync(at(each), 'content');
  symlinkSync(at('precious'), at(`volumes/${link}`));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** As a cluster in `dataDir` writes it, which has host-path volumes. */
function record(dataDir: string): void {
  const written = { ...recordless(dataDir), process: { pid: 1, startTime: 1 }, hostPathVolumes: { root: at('volumes'), ending } };
  writeFileSync(at('data/cluster.json'), JSON.stringify(written));
}

test('the host-path volumes of a cluster go with its data; what a link leads to stays', async () => {
  record(at('data'));
  await removeData(at('data'));
  expect([volume, link, 'of-another'].map((name) => existsSync(at(`volumes/${name}`)))).toEqual([false, false, true]);
  expect(existsSync(at('data'))).toBe(false);
  expect(readFileSync(at('precious/file'), 'utf8')).toBe('content');
});

test.each([
  ["goes if it is this cluster's", 'OURS', false],
  ['stays if another cluster has written it', 'THEIRS', true],
])('a kubeconfig elsewhere %s', async (_, authority, stays) => {
  const file = at('kubeconfig');
  const written = { ...recordless(at('data')), kubeconfig: file, process: { pid: 1, startTime: 1 } };
  writeFileSync(at('data/cluster.json'), JSON.stringify(written));
  mkdirSync(at('data/pki'));
  writeFileSync(at('data/pki/ca.crt'), 'OURS');
  writeFileSync(file, renderKubeconfig(kubeconfig({ server: 'https://127.0.0.1:6443', authority, user: { type: 'token', token: 't' } })));
  await removeData(at('data'));
  expect(existsSync(file)).toBe(stays);
});

test('a copy of a data directory goes without the volumes of the cluster that was copied', async () => {
  record(at('original'));
  expect(readRecord(at('data'))).toMatchObject({ dataDir: at('data'), process: { pid: 0 } });
  await removeData(at('data'));
  expect(existsSync(at('data'))).toBe(false);
  expect(readFileSync(at(`volumes/${volume}/file`), 'utf8')).toBe('content');
});
