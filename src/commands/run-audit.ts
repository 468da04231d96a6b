import type { Kind } from '../api/kind.ts';
import { humanDuration } from '../api/kinds/columns.ts';
import { volumeIntentKind } from '../api/kinds/mooring/volume-intent.ts';
import { persistentVolumeKind } from '../api/kinds/core/persistent-volume.ts';
import type { KubeObject } from '../api/object.ts';
import { audit, type AuditFinding, type DriverInventory } from '../drivers/audit.ts';
import type { DriverSet } from '../drivers/driver-set.ts';
import { type Client, createClient } from '../client/client.ts';
import { type HttpAccess, HttpTransport } from '../client/http-transport.ts';
import { listAll } from '../client/live-lists.ts';
import { createRealWorld } from '../host/world.ts';
import { imageDriversIn, machineDrivers } from '../cluster/nodes/machine-drivers.ts';
import { version } from '../cluster/version.ts';

/** What kept the audit from an answer. */
class AuditError extends Error {}

const timeoutMs = 30_000;

/** Answers on standard output. Resolves with the exit code. */
export async function runAudit(access: HttpAccess, dataDir: string | undefined): Promise<number> {
  const world = createRealWorld({ logLevel: 'silent' });
  const transport = new HttpTransport({ access, world, userAgent: `moor/${version} (audit)`, timeoutMs });
  try {
    const { text, clean } = await auditReport(createClient({ transport }), { dataDir, now: world.clock.now() });
    process.stdout.write(text);
    return clean ? 0 : 1;
  } catch (error) {
    if (!(error instanceof AuditError)) throw error;
    process.stderr.write(`moor audit: ${error.message} (${access.url})\n`);
    return 1;
  } finally {
    transport.close();
  }
}

/**
 * The order makes it true while the cluster goes on: an asset that is there at the beginning and at the end was there all
 * the time, and has been, at each moment in between, of an intent or, later, of a volume.
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
  const hidden = intents === undefined ? 'The server hides VolumeIntents (--plain): what is just being made looks as if it had no owner.\n' : '';
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
    if (!listed.ok) throw new AuditError(`${driver.capabilities.name} cannot say what it has: ${listed.message}`);
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
      return `${finding.handle} (${finding.driver}): no PersistentVolume and no intent names it; perhaps its volume was retained, and then deleted. Nothing will ever delete it: look inside, and remove it by hand.`;
    case 'asset rejected':
      return `${finding.handle}: made for intent ${finding.intent}, but the API did not take its PersistentVolume: ${finding.message}`;
    case 'intent without driver':
      return `intent ${finding.intent}: there is no driver ${finding.driver} here to finish it.`;
    case 'intent unfinished': {
      const why = finding.message === '' ? '' : ` The last attempt: ${finding.message}`;
      return `intent ${finding.intent} (${finding.operation}): nobody has gone on with it for ${humanDuration(now - finding.since)}.${why}`;
    }
  }
}
