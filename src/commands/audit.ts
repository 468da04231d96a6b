import type { Kind } from '../api/kind.ts';
import { humanDuration } from '../api/printer-columns.ts';
import { persistentVolumeKind } from '../api/kinds/core/persistent-volume.ts';
import { volumeIntentKind } from '../api/kinds/mooring/volume-intent.ts';
import type { KubeObject } from '../api/object.ts';
import type { Client } from '../client/client.ts';
import type { HttpAccess } from '../client/http-transport.ts';
import { listAll } from '../client/live-lists.ts';
import { imageDriversIn, machineDrivers } from '../cluster/nodes/machine-drivers.ts';
import { audit, type AuditFinding, type DriverInventory } from '../drivers/audit.ts';
import type { DriverSet } from '../drivers/driver-set.ts';
import { accessFlags, accessOf, withClient } from './cluster-access.ts';
import type { Command } from './command.ts';
import { dataDirectoryOf, imagesFlag } from './shared-flags.ts';

/** `moor audit`: does this machine hold storage assets that no object of the cluster owns? */
export const auditCommand: Command = {
  about: `Compares the storage assets of this machine's drivers with the cluster's PersistentVolumes and VolumeIntents, and lists
the assets that no object owns and the intents that no controller finishes. It only reads. Run it on the machine of
"moor up": drivers that keep data on disk find only their own. Assets of other clusters are left out.

The exit code is 0 if every asset has an owner; 1 if not, or if the cluster does not answer.`,
  flags: [...accessFlags, imagesFlag],
  examples: [
    { line: 'moor audit', about: 'the cluster of the kubeconfig' },
    { line: 'moor audit --kubeconfig ./kubeconfig && echo clean', about: 'a check at the end of a test suite' },
  ],
  run: async (flags) => {
    const access = accessOf(flags);
    return runAudit(access, await dataDirectoryOf(flags, access));
  },
};

/** The audit has no answer; the message says why. */
class AuditError extends Error {}

/** Prints the findings. Resolves with the exit code. */
async function runAudit(access: HttpAccess, dataDir: string | undefined): Promise<number> {
  try {
    const { text, clean } = await withClient(access, 'audit', (client, { world }) => auditReport(client, { dataDir, now: world.clock.now() }));
    process.stdout.write(text);
    return clean ? 0 : 1;
  } catch (error) {
    if (!(error instanceof AuditError)) throw error;
    process.stderr.write(`moor audit: ${error.message} (${access.url})\n`);
    return 1;
  }
}

/**
 * The order makes the answer true while the controllers go on: an asset in both inventories existed all the time, and was owned at each moment
 * by an intent or, later, by a PV.
 */
async function auditReport(
  client: Client,
  { dataDir, now }: { dataDir: string | undefined; now: number },
): Promise<{ readonly text: string; readonly clean: boolean }> {
  const drivers = await driversOf(client, dataDir);
  const before = await inventories(drivers);
  const intents = await allOf(client, volumeIntentKind);
  const volumes = (await allOf(client, persistentVolumeKind)) ?? [];
  const after = new Map((await inventories(drivers)).map(({ driver, handles }) => [driver, new Set(handles)]));
  const lasting = before.map(({ driver, handles }) => ({ driver, handles: handles.filter((handle) => after.get(driver)?.has(handle) === true) }));
  const findings = audit({ inventories: lasting, intents: intents ?? [], volumes }, now);
  const assets = lasting.reduce((sum, { handles }) => sum + handles.length, 0);
  const hidden = intents === undefined ? 'The server hides VolumeIntents (--plain): assets that are being created are listed as without owner.\n' : '';
  const text =
    findings.length === 0
      ? `Everything has an owner: ${counted(assets, 'asset')}, ${counted(volumes.length, 'volume')}, ${counted(intents?.length ?? 0, 'intent')}.\n`
      : findings.map((finding) => `${describe(finding, now)}\n`).join('');
  return { text: `${text}${hidden}`, clean: findings.length === 0 };
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

async function driversOf(client: Client, dataDir: string | undefined): Promise<DriverSet> {
  try {
    return await machineDrivers(client, await imageDriversIn(dataDir));
  } catch (error) {
    throw new AuditError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function inventories(drivers: DriverSet): Promise<readonly DriverInventory[]> {
  const found: DriverInventory[] = [];
  for (const driver of drivers.all()) {
    const listed = await driver.listVolumes();
    if (!listed.ok) throw new AuditError(`${driver.capabilities.name} cannot list its assets: ${listed.message}`);
    found.push({ driver, handles: listed.value });
  }
  return found;
}

/** undefined: the server has no such kind. */
async function allOf<T extends KubeObject>(client: Client, kind: Kind<T>): Promise<readonly T[] | undefined> {
  const found = await listAll(client, kind);
  if (!found.ok && found.reason !== 'notFound') throw new AuditError(`cannot list ${kind.plural}: ${found.error.message}`);
  return found.ok ? found.value : undefined;
}

function describe(finding: AuditFinding, now: number): string {
  switch (finding.type) {
    case 'asset without owner':
      return `${finding.handle} (${finding.driver}): no PersistentVolume and no intent names it; perhaps its PersistentVolume was retained, and then deleted. No controller will delete it: check its content, and remove it by hand.`;
    case 'asset rejected':
      return `${finding.handle}: created for intent ${finding.intent}, but the API server rejected its PersistentVolume: ${finding.message}`;
    case 'intent without driver':
      return `intent ${finding.intent}: this machine has no driver ${finding.driver} to finish it.`;
    case 'intent unfinished': {
      const why = finding.message === '' ? '' : ` The last attempt: ${finding.message}`;
      return `intent ${finding.intent} (${finding.operation}): no progress for ${humanDuration(now - finding.since)}.${why}`;
    }
  }
}
