/** The examples do what they say, on a cluster as people start it. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root, startMoor } from '../moor-process.ts';

const examples = path.join(root, 'examples');
const folders = readdirSync(examples, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && existsSync(path.join(examples, entry.name, 'replay.sh')) ? [entry.name] : [],
);

test.each(folders)('%s', async (folder) => {
  await using moor = await startMoor({ bare: false });
  const { code, stdout, stderr } = await moor.bash(path.join(examples, folder, 'replay.sh'));
  expect(code, stdout + stderr).toBe(0);
  const left = () => moor.kubectl('get', 'statefulsets,pods,pvc,pv', '-A', '-o', 'name');
  await expect.poll(left, { message: 'it leaves nothing behind' }).toMatchObject({ code: 0, stdout: '' });
});
