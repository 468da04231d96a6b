#!/usr/bin/env node
// The pictures of docs/DASHBOARD.md, taken of the page with a real Chromium: node scripts/screenshots.mjs, after npm run build. Needs kubectl and chromium.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

const moor = 'dist/main/moor.js';
const folder = mkdtempSync(path.join(tmpdir(), 'mooring-screenshots-'));
const kubeconfig = path.join(folder, 'kubeconfig');
const claim = (name, more) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Gi' } }, ...more },
});
const cluster = ['--runtime', 'hollow', '--nodes', '4', '--zones', 'zone-a,zone-b', '--csi-drivers', 'ebs.csi.aws.com', '--volume-limit', '2'];

const server = spawn(
  process.execPath,
  [moor, 'up', ...cluster, '--store', 'memory', '--listen', '127.0.0.1:0', '--data-dir', folder, '--kubeconfig', kubeconfig],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
try {
  await new Promise((resolve, reject) => {
    server.stdout.on('data', (text) => String(text).includes('Mooring is ready') && resolve());
    server.once('exit', reject);
  });
  const kubectl = (args, input) => execFileSync('kubectl', ['--kubeconfig', kubeconfig, ...args], { input, encoding: 'utf8' });
  kubectl(['apply', '-f', 'examples/database.yaml']);
  kubectl(['apply', '-f', '-'], JSON.stringify(claim('reports', { storageClassName: '' })));
  kubectl(['rollout', 'status', 'statefulset/db']);
  await takeAll();
} finally {
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}

async function takeAll() {
  const { url } = JSON.parse(
    execFileSync(process.execPath, [moor, 'dashboard', '--kubeconfig', kubeconfig, '--open=false', '-o', 'json'], { encoding: 'utf8' }),
  );
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  const page = await browser.newPage({ ignoreHTTPSErrors: true, viewport: { width: 1180, height: 560 } });
  await page.goto(url);
  await page.getByText('stuck,').first().waitFor();
  mkdirSync('docs/images', { recursive: true });
  for (const [name, hash] of [
    ['claims', '#/claims'],
    ['chain', '#/chain/default/reports'],
    ['map', '#/map'],
  ]) {
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await page.waitForTimeout(2500);
    await page.screenshot({ path: `docs/images/dashboard-${name}.png` });
  }
  await browser.close();
}
