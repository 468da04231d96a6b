import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, root, startMoor } from '../moor-process.ts';
import { chromiumPath, goTo, launch, visit } from './chromium.ts';
import { claim, list } from './objects.ts';

const moorScript = path.join(root, 'dist/main/moor.js');

/** A server without any extension is as any other Kubernetes: no dashboard, no explanations. */
describe('a cluster that serves no dashboard', () => {
  let moor: MoorProcess;
  beforeAll(async () => {
    moor = await startMoor({ args: ['--store', 'memory', '--plain'] });
    expect(await moor.kubectlWith(list(claim('data', { storageClassName: '' }, 'default')), 'create', '-f', '-')).toMatchObject({ code: 0 });
  });
  afterAll(() => moor?.[Symbol.asyncDispose]());

  test('moor top: plain lines without a terminal, and JSON', async () => {
    const top = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, [moorScript, 'top', '--kubeconfig', moor.kubeconfig, ...args])).stdout;
    expect(await top()).toMatch(
      /^1 claims, 1 stuck, 0 waiting\nNAMESPACE +NAME +PHASE .*WHY\ndefault +data +Pending +5Gi +\d+s +There are no volumes at all\./,
    );
    expect(JSON.parse(await top('--once', '-o', 'json'))).toMatchObject({
      claims: [{ key: 'default/data', phase: 'Pending', verdict: 'stuck', usage: null }],
      stuck: [{ about: { kind: 'pvc', name: 'data' }, code: 'NoVolumeFits' }],
      zones: [],
    });
  });

  describe.runIf(chromiumPath !== undefined)('has one by moor dashboard', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launch();
    });
    afterAll(() => browser?.close());

    test('with explanations, read-only, and without Secrets', async () => {
      const served = spawn(process.execPath, [moorScript, 'dashboard', '--kubeconfig', moor.kubeconfig, '--open=false', '-o', 'json'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        let output = '';
        while (!output.includes('}')) output += String((await once(served.stdout, 'data'))[0]);
        const { url } = JSON.parse(output) as { url: string };
        const context = await browser.newContext({ ignoreHTTPSErrors: true });
        context.setDefaultTimeout(60_000);
        const page = await context.newPage();
        await goTo(page, () => Promise.resolve(url));
        await page.getByText('kubernetes-admin').waitFor();
        await page.getByText('read-only', { exact: true }).waitFor();
        await expect.poll(() => page.getByRole('row', { name: /^data/ }).innerText()).toContain('There are no volumes at all.');
        await visit(page, '#/chain/default/data');
        await expect.poll(() => page.getByRole('img').getAttribute('aria-label')).toContain('Broken at PersistentVolume no volume yet.');
        expect(await page.getByRole('button', { name: 'Delete' }).count()).toBe(0);
        const codes = await page.evaluate(async () => {
          const { token } = JSON.parse(Reflect.get(globalThis, 'localStorage').getItem('mooring-session')) as { token: string };
          const headers = { 'mooring-session': token };
          const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
          const send = async (target: string, method = 'GET') => (await fetch(target, { method, headers })).status;
          return [await send(claims), await send(`${claims}/data`, 'DELETE'), await send('/api/v1/secrets'), await send('/api'), (await fetch(claims)).status];
        });
        expect(codes).toEqual([200, 403, 403, 403, 401]);
        await moor.kubectl('delete', 'pvc', 'data');
        await page.getByText('There is no pvc/data in namespace default.').waitFor();
      } finally {
        served.kill('SIGTERM');
        await once(served, 'exit');
      }
    });
  });
});
