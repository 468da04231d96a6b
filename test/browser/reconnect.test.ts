import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { startMoor } from '../moor-process.ts';
import { chromiumPath, launch, openPage } from './chromium.ts';
import { claim, list } from './objects.ts';

describe.runIf(chromiumPath !== undefined)('the dashboard', () => {
  test('goes on by itself after a kill -9 of the server, with the same session', async () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'mooring-test-'));
    const browser = await launch();
    try {
      const first = await startMoor({ dataDir });
      const create = (moor: typeof first, name: string) => moor.kubectlWith(list(claim(name, { storageClassName: '' }, 'default')), 'create', '-f', '-');
      expect(await create(first, 'before')).toMatchObject({ code: 0 });
      const server = (await first.kubectl('config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}')).stdout;
      const { page } = await openPage(browser, first);
      await page.getByRole('row', { name: /^before/ }).waitFor();
      await first.stop('SIGKILL');
      await page.getByText('The server does not answer.').waitFor();
      await page.getByRole('row', { name: /^before/ }).waitFor();
      await using second = await startMoor({ dataDir, args: ['--listen', new URL(server).host] });
      expect(await create(second, 'after')).toMatchObject({ code: 0 });
      await page.getByRole('row', { name: /^after/ }).waitFor();
      await page.getByText('The server does not answer.').waitFor({ state: 'detached' });
    } finally {
      await browser.close();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
