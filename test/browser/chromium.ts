import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { root } from '../moor-process.ts';

/** The system's Chromium, as scripts/setup found or installed it; undefined: there is none, and the tests say so by name. */
export const chromiumPath: string | undefined = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) => foundInPath(name) ?? [])[0];

function foundInPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Root has no sandbox of Chromium's; pages of the tests are our own. */
export const launch = (): Promise<Browser> => chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox', '--disable-dev-shm-usage'] });

interface Access {
  readonly kubeconfig: string;
}

/** The address of the page, with a code: what `moor dashboard` prints. */
export async function dashboardUrl({ kubeconfig }: Access): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    path.join(root, 'dist/main/moor.js'),
    'dashboard',
    '--kubeconfig',
    kubeconfig,
    '--open=false',
    '-o',
    'json',
  ]);
  return (JSON.parse(stdout) as { readonly url: string }).url;
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page wrote to the console as an error, and exceptions. */
  readonly problems: readonly string[];
}

/** A page of its own, signed in. */
export async function openPage(browser: Browser, access: Access, colorScheme: 'light' | 'dark' = 'light'): Promise<OpenPage> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 900 }, colorScheme });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // The browser itself reports answers of 4xx; the page shows what matters of them.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text());
  });
  await goTo(page, () => dashboardUrl(access));
  await page.getByRole('heading', { level: 1 }).waitFor();
  return { page, context, problems };
}

/** Chromium drops requests when the machine gets another network interface, as it does with each pod of other tests. Each attempt has a new address: a code works once. */
export async function goTo(page: Page, address: () => Promise<string>): Promise<void> {
  for (;;) {
    try {
      await page.goto('about:blank');
      await page.goto(await address());
      return;
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('ERR_NETWORK_CHANGED')) throw error;
    }
  }
}

export async function visit(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => {
    (globalThis as unknown as { location: { hash: string } }).location.hash = to;
  }, hash);
}
