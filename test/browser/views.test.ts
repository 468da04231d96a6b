import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MoorProcess, startMoor } from '../moor-process.ts';
import { chromiumPath, launch, type OpenPage, openPage, visit } from './chromium.ts';
import { claim, list, namespace, pod, statefulSet, volume } from './objects.ts';

/** Every view in a real Chromium, with real objects of a real `moor up`. */
describe.runIf(chromiumPath !== undefined)('the dashboard', () => {
  let moor: MoorProcess;
  let browser: Browser;
  let open: OpenPage;

  beforeAll(async () => {
    const args = ['--store', 'memory', '--nodes', '3', '--zones', 'zone-a,zone-b,zone-c', '--csi-drivers', 'ebs.csi.aws.com', '--volume-limit', '1'];
    moor = await startMoor({ bare: false, args });
    browser = await launch();
    await create(namespace('shop'));
    await create(
      claim('nothing-fits', { storageClassName: '' }),
      claim('waits'),
      pod('too-large', 'waits', { requests: { cpu: '1000' } }),
      statefulSet('db', 3),
      volume('kept', { claimRef: { namespace: 'shop', name: 'was-here', uid: '0f8fad5b-d9cb-469f-a165-70867728950e' } }),
    );
    expect(await moor.kubectl('-n', 'shop', 'rollout', 'status', 'statefulset/db')).toMatchObject({ code: 0 });
    open = await openPage(browser, moor);
  });
  afterAll(async () => {
    await browser?.close();
    await moor?.[Symbol.asyncDispose]();
  });

  async function create(...objects: readonly object[]): Promise<void> {
    expect(await moor.kubectlWith(list(...objects), 'create', '-f', '-')).toMatchObject({ code: 0, stderr: '' });
  }

  const show = async (hash: string, title: string) => {
    await visit(open.page, hash);
    await open.page.getByRole('heading', { level: 1, name: title }).waitFor();
  };

  /** Rules of WCAG 2.2, A and AA, in both colour schemes. */
  async function expectAccessible(): Promise<void> {
    const { page } = open;
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      // The policy of the page lets no script in: the debugger is no part of the page.
      const found = await page.evaluate(`(() => { ${axe.source}; return axe.run(document, { resultTypes: ['violations'] }); })()`);
      const { violations } = found as { violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] };
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)])).toEqual([]);
    }
  }

  test('claims: phase and sentence, class, node, pods; the stuck ones first', async () => {
    await show('#/claims', 'Claims');
    const first = open.page.getByRole('row').nth(1);
    await expect.poll(() => first.innerText()).toMatch(/nothing-fits[\s\S]*Pending[\s\S]*volume/);
    const bound = open.page.getByRole('row', { name: /data-db-0/ });
    await expect.poll(() => bound.innerText()).toMatch(/Bound[\s\S]*1Gi[\s\S]*ebs\.csi\.aws\.com[\s\S]*node-[123][\s\S]*db-0/);
    await expectAccessible();
  });

  test('claims: search, filter and sort', async () => {
    const { page } = open;
    await page.getByRole('searchbox', { name: 'Search' }).fill('data-db');
    await page.getByText('3 of 5 claims').waitFor();
    await page.getByRole('combobox', { name: 'Phase' }).selectOption('Pending');
    await page.getByText('0 of 5 claims').waitFor();
    await page.getByRole('combobox', { name: 'Phase' }).selectOption('');
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    await page.getByRole('button', { name: 'Claim', exact: true }).click();
    await expect.poll(() => page.getByRole('row').nth(1).innerText()).toContain('data-db-0');
    await page.getByRole('button', { name: 'Claim', exact: true }).click();
    await expect.poll(() => page.getByRole('row').nth(1).innerText()).toContain('waits');
  });

  test('claims: a new one appears by itself, and goes', async () => {
    await create(claim('new', { storageClassName: '' }));
    await open.page.getByRole('row', { name: /^new/ }).waitFor();
    await moor.kubectl('-n', 'shop', 'delete', 'pvc', 'new');
    await open.page.getByRole('row', { name: /^new/ }).waitFor({ state: 'detached' });
  });

  test('the keyboard alone: from the list to the chain of a claim', async () => {
    const { page } = open;
    await page.getByRole('button', { name: 'Phase', exact: true }).click();
    await page.getByRole('rowgroup').focus();
    for (const key of ['ArrowDown', 'End', 'Home', 'Enter']) await page.keyboard.press(key);
    await page.getByRole('heading', { level: 1, name: 'From pod to disk' }).waitFor();
    expect(page.url()).toMatch(/#\/chain\/shop\/nothing-fits$/);
  });

  test('the chain: the broken link, its reason, the next actor, and the command', async () => {
    const { page } = open;
    await show('#/chain/shop/nothing-fits', 'From pod to disk');
    await expect.poll(() => page.getByRole('img').getAttribute('aria-label')).toContain('Broken at PersistentVolume no volume yet.');
    await page.getByText('an administrator creates a volume that fits').first().waitFor();
    await page.getByText('kubectl -n shop delete pvc nothing-fits').first().waitFor();
    await expectAccessible();
  });

  test('the chain follows a change: a volume that fits mends it', async () => {
    const { page } = open;
    await create(volume('fits'));
    await expect.poll(() => page.getByRole('img').getAttribute('aria-label')).toMatch(/PersistentVolume fits Bound 7Gi.*Nothing is broken\./);
    await page.getByText('every link is as it should be').waitFor();
  });

  test('the chain: pod, claim, volume, attachment, node with zone, driver', async () => {
    await show('#/chain/shop/data-db-0', 'From pod to disk');
    const whole =
      /PersistentVolumeClaim data-db-0 Bound 1Gi, PersistentVolume pvc-\S+ Bound 1Gi, Pod db-0 Running, CSIDriver ebs\.csi\.aws\.com, VolumeAttachment csi-\S+ Attached, Node node-\d zone-[abc]\. Nothing is broken/;
    await expect.poll(() => open.page.getByRole('img').getAttribute('aria-label')).toMatch(whole);
  });

  test('stuck: what moor why lists, the worst first', async () => {
    await show('#/stuck', 'What is stuck');
    const first = open.page.getByRole('listitem').first();
    await expect.poll(() => first.innerText()).toContain('too-large');
    await open.page.locator('summary', { hasText: 'pod/too-large' }).first().click();
    await open.page.getByText('What would change that').first().waitFor();
    await expectAccessible();
  });

  test('pods: every node, and every plugin that refused the pod', async () => {
    await show('#/pods', 'Pods');
    await open.page.getByRole('link', { name: 'shop/too-large' }).click();
    for (const node of ['node-1', 'node-2', 'node-3'])
      await expect.poll(() => open.page.getByRole('row', { name: new RegExp(`node/${node}`) }).innerText()).toContain('cpu');
    await expectAccessible();
  });

  test('map: zones, and the nodes without attach slots', async () => {
    await show('#/map', 'Map');
    await open.page.getByText('No attach slots left on node-1, node-2, node-3.').waitFor();
    expect(await open.page.getByRole('region', { name: 'Zone zone-b' }).innerText()).toMatch(/node-2[\s\S]*1 of 1 attached, none left[\s\S]*shop\/data-db-/);
    await expectAccessible();
  });

  test('leaks: Released volumes and unused claims, with their sizes', async () => {
    await show('#/leaks', 'Orphans and leaks');
    await open.page.getByRole('heading', { name: 'Released volumes (1, 7Gi)' }).waitFor();
    await open.page.getByText('kubectl delete pv kept').waitFor();
    await open.page.getByRole('heading', { name: 'Unused claims (1, 7Gi)' }).waitFor();
    await expectAccessible();
  });

  test('the timeline, in the words of moor simulate', async () => {
    await show('#/timeline/shop/data-db-1', 'Timeline');
    for (const text of ['created: 1Gi of class ebs.csi.aws.com', /is Bound to pv\/pvc-/, /is attached to node-/, 'is Running and ready'])
      await open.page.getByRole('cell', { name: text }).first().waitFor();
    await expectAccessible();
  });

  test('an expansion from the page, after a confirmation with the line of kubectl; its progress', async () => {
    const { page } = open;
    await show('#/chain/shop/data-db-2', 'From pod to disk');
    await page.getByRole('button', { name: 'Expand' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'New size' }).fill('3Gi');
    const shown = dialog.getByText('kubectl -n shop patch pvc data-db-2 --type merge -p');
    expect(await shown.innerText()).toBe(`kubectl -n shop patch pvc data-db-2 --type merge -p '{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}'`);
    await expectAccessible();
    await dialog.getByRole('button', { name: 'Expand' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect
      .poll(async () => (await moor.kubectl('-n', 'shop', 'get', 'pvc', 'data-db-2', '-o', 'jsonpath={.spec.resources.requests.storage}')).stdout)
      .toBe('3Gi');
    await show('#/snapshots', 'Snapshots, clones, expansions');
    await expectAccessible();
  });

  test('a refusal of the server is shown, and nothing is done', async () => {
    const { page } = open;
    await show('#/chain/shop/data-db-2', 'From pod to disk');
    await page.getByRole('button', { name: 'Expand' }).click();
    await page.getByRole('textbox', { name: 'New size' }).fill('1Mi');
    await page.getByRole('dialog').getByRole('button', { name: 'Expand' }).click();
    expect(await page.getByRole('alert').innerText()).toContain('PersistentVolumeClaim "data-db-2" is invalid: spec.resources.requests.storage: Forbidden');
    await page.getByRole('button', { name: 'Cancel' }).click();
  });

  test('a node is cordoned and uncordoned from the map', async () => {
    const { page } = open;
    await show('#/map', 'Map');
    for (const action of ['Cordon', 'Uncordon']) {
      await page.getByRole('button', { name: `${action} node-1` }).click();
      await page.getByText(`kubectl ${action.toLowerCase()} node-1`).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
      await page.getByRole('button', { name: action === 'Cordon' ? 'Uncordon node-1' : 'Cordon node-1' }).waitFor();
    }
  });

  test('nothing of it went wrong unseen', () => {
    expect(open.problems).toEqual([]);
  });
});

describe.runIf(chromiumPath === undefined)('the dashboard', () => {
  test('is not tested: there is no Chromium, and scripts/setup could not install it', () => expect(chromiumPath).toBeUndefined());
});
