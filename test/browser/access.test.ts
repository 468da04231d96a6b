import { readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { chromiumPath, dashboardUrl, goTo, launch, openPage, visit } from './chromium.ts';
import { claim, list, namespace, volume } from './objects.ts';

/** Who may see what: in a real Chromium, and by requests that no browser would send. */
describe.runIf(chromiumPath !== undefined)('the dashboard', () => {
  let moor: MoorProcess;
  let browser: Browser;
  let server: URL;

  beforeAll(async () => {
    moor = await startMoor({ args: ['--store', 'memory'] });
    browser = await launch();
    server = new URL((await moor.kubectl('config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}')).stdout);
    const objects = list(
      namespace('shop'),
      namespace('secret-plans'),
      claim('data', { storageClassName: '' }),
      claim('hidden', { storageClassName: '' }, 'secret-plans'),
    );
    expect(await moor.kubectlWith(objects, 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
  });
  afterAll(async () => {
    await browser?.close();
    await moor?.[Symbol.asyncDispose]();
  });

  interface Sent {
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  function send({ method = 'GET', path: target, headers = {}, body }: Sent): Promise<{ code: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
    return new Promise((resolve, reject) => {
      const request = https.request(new URL(target, server), { method, headers, rejectUnauthorized: false, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }));
      });
      request.on('error', reject);
      request.end(body);
    });
  }

  async function openSession(): Promise<{ readonly cookie: string; readonly token: string }> {
    const code = new URLSearchParams(new URL(await dashboardUrl(moor)).hash.slice(1)).get('code') ?? '';
    const exchange = { method: 'POST', path: '/ui/session', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }) };
    const { code: status, headers, text } = await send(exchange);
    expect(status).toBe(200);
    expect((await send(exchange)).code).toBe(401);
    const [setCookie = ''] = headers['set-cookie'] ?? [];
    expect(setCookie).toMatch(/^__Host-mooring-\d+=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
    return { cookie: setCookie.split(';')[0] ?? '', token: (JSON.parse(text) as { token: string }).token };
  }

  const claims = '/api/v1/persistentvolumeclaims';

  test('a session needs its cookie, its token, the right host and the right origin', async () => {
    const { cookie, token } = await openSession();
    const both = { cookie, 'mooring-session': token };
    const codeOf = async (headers: Readonly<Record<string, string>>) => (await send({ path: claims, headers })).code;
    expect(await codeOf(both)).toBe(200);
    expect(await codeOf({ ...both, 'sec-fetch-site': 'same-origin' })).toBe(200);
    // Without the token the request is anonymous: a cookie alone is none, wherever it was sent from.
    expect(await codeOf({ cookie })).toBe(403);
    expect(await codeOf({ 'mooring-session': token })).toBe(401);
    expect(await codeOf({ ...both, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await codeOf({ ...both, 'sec-fetch-site': 'same-site' })).toBe(403);
    expect(await codeOf({ ...both, origin: 'https://evil.example' })).toBe(403);
    expect(await codeOf({ ...both, host: 'evil.example' })).toBe(403);
    expect((await send({ method: 'DELETE', path: '/ui/session', headers: both })).code).toBe(200);
    expect(await codeOf(both)).toBe(401);
  });

  test('a code is for who has credentials, and for no page', async () => {
    expect((await send({ method: 'POST', path: '/ui/code' })).code).toBe(401);
    const { cookie, token } = await openSession();
    expect((await send({ method: 'POST', path: '/ui/code', headers: { cookie, 'mooring-session': token } })).code).toBe(403);
    expect((await send({ path: '/ui/code' })).code).toBe(405);
    const wrong = { method: 'POST', path: '/ui/session', body: '{"code":"x"}' };
    expect((await send({ ...wrong, headers: { 'content-type': 'application/json' } })).code).toBe(401);
    expect((await send({ ...wrong, headers: { 'content-type': 'text/plain' } })).code).toBe(400);
    expect((await send({ ...wrong, headers: { 'content-type': 'application/json', origin: 'https://evil.example' } })).code).toBe(403);
  });

  test('the page loads nothing from elsewhere, is in no frame, and turns no text into markup', async () => {
    const { code, headers } = await send({ path: '/ui/' });
    expect(code).toBe(200);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' });
    expect(await send({ path: '/ui' })).toMatchObject({ code: 301, headers: { location: '/ui/' } });
    for (const target of ['/ui/nothing', '/ui/%2e%2e/package.json', '/ui/..%2fpackage.json']) expect((await send({ path: target })).code).not.toBe(200);
    expect((await send({ path: '/ui/', headers: { host: 'evil.example' } })).code).toBe(403);
    expect((await send({ method: 'POST', path: '/ui/' })).code).toBe(405);
  });

  test('another page cannot read with the session of the browser', async () => {
    const { page, context } = await openPage(browser, moor);
    await page.getByText('2 of 2 claims').waitFor();
    const other = await context.newPage();
    await other.goto('data:text/html,<p>another site</p>');
    const read = await other.evaluate((url) => fetch(url, { credentials: 'include' }).then(String, String), new URL(claims, server).href);
    expect(read).toContain('TypeError');
    await context.close();
  });

  test('without a session the page says how to get one; a code works once', async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await goTo(page, () => Promise.resolve(new URL('/ui/', server).href));
    await page.getByText('moor dashboard').waitFor();
    let url = '';
    await goTo(page, async () => (url = await dashboardUrl(moor)));
    await page.getByRole('heading', { name: 'Claims' }).waitFor();
    expect(page.url()).not.toContain('code=');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('moor dashboard').waitFor();
    await goTo(page, () => Promise.resolve(url));
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('the code is used, too old or wrong');
    await context.close();
  });

  /** A kubeconfig of a service account that may read one namespace. */
  async function kubeconfigOfJane(): Promise<string> {
    await moor.kubectl('-n', 'shop', 'create', 'serviceaccount', 'jane');
    await moor.kubectl('-n', 'shop', 'create', 'rolebinding', 'jane', '--clusterrole=view', '--serviceaccount=shop:jane');
    const token = (await moor.kubectl('-n', 'shop', 'create', 'token', 'jane')).stdout.trim();
    const file = path.join(moor.dataDir, 'jane.kubeconfig');
    writeFileSync(file, readFileSync(moor.kubeconfig));
    const config = (...args: string[]) => moor.kubectl('--kubeconfig', file, 'config', ...args);
    await config('set-credentials', 'jane', `--token=${token}`);
    await config('set-context', '--current', '--user=jane', '--namespace=shop');
    return file;
  }

  test('a user of one namespace sees that one, and is told what is missing', async () => {
    const { page, context } = await openPage(browser, { kubeconfig: await kubeconfigOfJane() });
    await page.getByText('1 of 1 claims').waitFor();
    await page.getByText(/you may not list .*persistentvolumes/).waitFor();
    await visit(page, '#/chain/shop/data');
    await page.getByText('pvc/data').first().waitFor();
    expect(await page.content()).not.toContain('secret-plans');
    await page.getByRole('combobox', { name: 'Namespace' }).fill('secret-plans');
    await page.keyboard.press('Enter');
    await visit(page, '#/claims');
    await page.getByText('0 of 0 claims').waitFor();
    // What it may not do is refused by the server.
    await page.getByRole('combobox', { name: 'Namespace' }).fill('shop');
    await page.keyboard.press('Enter');
    await visit(page, '#/chain/shop/data');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    expect(await page.getByRole('alert').innerText()).toContain('cannot delete resource');
    await context.close();
  });

  test('text of objects stays text', async () => {
    const hostile = `<img src=x onerror="globalThis.broken=1"><script>globalThis.broken=1</script>\u001b[31m'"\`\${1}`;
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'hostile', namespace: 'shop', annotations: { note: hostile } },
      involvedObject: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'data', namespace: 'shop' },
      type: 'Warning',
      reason: 'Hostile',
      message: hostile,
      source: { component: hostile.slice(0, 60) },
    };
    const expensive = volume('hostile', { storageClassName: 'a-class', mountOptions: [hostile] });
    expect(await moor.kubectlWith(list(event, expensive), 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
    const { page, context, problems } = await openPage(browser, moor);
    await visit(page, '#/timeline/shop/data');
    await page.getByText(`Hostile: ${hostile.slice(0, 40)}`).waitFor();
    for (const hash of [
      '#/claims',
      '#/leaks',
      '#/chain/shop/data',
      `#/chain/${encodeURIComponent(hostile)}/${encodeURIComponent(hostile)}`,
      `#/pods/a/${encodeURIComponent(hostile)}`,
    ]) {
      await visit(page, hash);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    expect(
      await page.evaluate(() => [Reflect.get(globalThis, 'broken'), Reflect.get(globalThis, 'document').querySelectorAll('img, main script').length]),
    ).toEqual([undefined, 0]);
    expect(problems).toEqual([]);
    await context.close();
  });
});
