import type { PersistentVolume } from '../api/generated/types.ts';
import type { Kind } from '../api/kind.ts';
import { humanDuration } from '../api/printer-columns.ts';
import { persistentVolumeKind } from '../api/kinds/core/persistent-volume.ts';
import { volumeIntentKind } from '../api/kinds/mooring/volume-intent.ts';
import { volumeSnapshotContentKind } from '../api/kinds/snapshot/volume-snapshot.ts';
import { csiDriverKind } from '../api/kinds/storage/csi-driver.ts';
import type { KubeObject } from '../api/object.ts';
import type { Client } from '../client/client.ts';
import type { HttpAccess } from '../client/http-transport.ts';
import { listAll } from '../client/live-lists.ts';
import { endpointOf, isSocketAddress } from '../cluster/controllers/built-in-drivers.ts';
import { CsiSockets } from '../cluster/nodes/csi-endpoints.ts';
import { imageDriversIn, machineDrivers } from '../cluster/nodes/machine-drivers.ts';
import { PluginSockets } from '../cluster/nodes/plugin-sockets.ts';
import { audit, type AuditFinding, type DriverInventory, lastingHandles } from '../drivers/audit.ts';
import type { DriverAnswer } from '../drivers/contract.ts';
import type { DriverSet } from '../drivers/driver-set.ts';
import { imageDriverName, parseImageHandle } from '../drivers/image/driver.ts';
import type { World } from '../world/world.ts';
import { accessFlags, accessOf, readingText, withClient } from './cluster-access.ts';
import type { Command } from './command.ts';
import { type Output, outputFlag, outputOf, printData } from './result/output.ts';
import { csiEndpointFlag, csiEndpointsOf, dataDirectoryOf, imagesFlag } from './shared-flags.ts';
import { type ExitCode, exitCodes } from './result/exit-codes.ts';
import { withProgress } from './result/progress.ts';

/** `moor audit`: does the storage of this cluster's drivers hold assets that no object of the cluster owns? */
export const auditCommand: Command = {
  about: `Compares the storage assets of the drivers with the cluster's PersistentVolumes, VolumeSnapshotContents and VolumeIntents, and
lists the assets that no object owns, the volumes and snapshots that their driver does not have, and the intents that no
controller finishes. It only reads. Run it on the machine of "moor up": drivers that keep data on disk find only their own.
Assets of other clusters are left out; a CSI driver that serves several clusters lists those of all.`,
  flags: [
    ...accessFlags,
    imagesFlag,
    { ...csiEndpointFlag, about: 'the socket of a CSI driver whose volumes and snapshots are compared; may be given several times' },
    outputFlag,
  ],
  examples: [
    { line: 'moor audit', about: 'the cluster of the kubeconfig' },
    { line: 'moor audit --kubeconfig ./kubeconfig && echo clean', about: 'a check at the end of a test suite' },
    { line: 'moor audit --csi-endpoint unix:///run/csi/csi.sock', about: 'with the volumes and snapshots of a CSI driver' },
    { line: "moor audit -o json | jq '.findings[].handle'", about: 'the assets that it is about' },
  ],
  run: async (flags) => {
    const access = accessOf(flags);
    return runAudit(access, { dataDir: await dataDirectoryOf(flags, access), endpoints: csiEndpointsOf(flags), output: outputOf(flags) });
  },
};

/** The audit has no answer; the message says why. */
class AuditError extends Error {}

interface AuditOptions {
  readonly dataDir: string | undefined;
  readonly endpoints: readonly string[];
}

/** Prints the findings. Resolves with the exit code. */
async function runAudit(access: HttpAccess, { output, ...options }: AuditOptions & { readonly output: Output }): Promise<ExitCode> {
  // The connections to drivers and their timers do not keep a process alive.
  const alive = setInterval(() => undefined, 60_000);
  try {
    const report = await withProgress(readingText(access), () => withClient(access, 'audit', (client, { world }) => auditReport(client, world, options)));
    printData(output, report, reportText);
    return report.clean ? exitCodes.success : exitCodes.failure;
  } catch (error) {
    if (!(error instanceof AuditError)) throw error;
    process.stderr.write(`moor audit: ${error.message} (${access.url})\n`);
    return exitCodes.failure;
  } finally {
    clearInterval(alive);
  }
}

interface AuditReport {
  readonly clean: boolean;
  readonly assets: number;
  readonly volumes: number;
  readonly snapshots: number;
  /** null: the server hides them. */
  readonly intents: number | null;
  /** What was not compared, and why. */
  readonly unaudited: readonly string[];
  /** Each with the sentence that the text has for it. */
  readonly findings: readonly (AuditFinding & { readonly explanation: string })[];
}

/**
 * The order makes the answer true while the controllers go on: an asset in both inventories existed all the time, and was owned at each moment
 * by an intent or, later, by a PV.
 */
async function auditReport(client: Client, world: World, { dataDir, endpoints }: AuditOptions): Promise<AuditReport> {
  const addresses = [...endpoints, ...(await builtInEndpoints(client))];
  const drivers = await driversOf(client, dataDir);
  const sockets = new CsiSockets({ world, drivers, client });
  try {
    await connect(sockets, addresses);
    const before = await inventories(drivers);
    const intents = await allOf(client, volumeIntentKind);
    const volumes = (await allOf(client, persistentVolumeKind)) ?? [];
    const contents = (await allOf(client, volumeSnapshotContentKind)) ?? [];
    const after = new Map((await inventories(drivers)).map((each) => [each.driver, each]));
    const audited = before.map((each) => ({ before: each, after: after.get(each.driver) ?? each }));
    const now = world.clock.now();
    const findings = audit({ drivers: audited, intents: intents ?? [], volumes, contents }, now);
    return {
      clean: findings.length === 0,
      assets: audited.reduce((sum, each) => sum + lastingHandles(each).length, 0),
      volumes: volumes.length,
      snapshots: contents.length,
      intents: intents?.length ?? null,
      unaudited: unauditedOf(before, volumes),
      findings: findings.map((finding) => ({ ...finding, explanation: describe(finding, now) })),
    };
  } finally {
    await sockets.close();
  }
}

/** A driver may be starting. */
const answerWithinMs = 10_000;

async function connect(sockets: CsiSockets, addresses: readonly string[]): Promise<void> {
  const wanted = [...new Set(addresses)];
  if (wanted.length === 0) return;
  for (const address of wanted) sockets.open({ address });
  const silent = [...(await sockets.settled(answerWithinMs))].map(([address, why]) => `the CSI driver at ${address} cannot be asked: ${why}`);
  if (silent.length > 0) throw new AuditError(silent.join('; '));
}

/** Of the drivers whose CSIDriver is annotated. */
async function builtInEndpoints(client: Client): Promise<readonly string[]> {
  const plugins = new PluginSockets();
  return ((await allOf(client, csiDriverKind)) ?? []).flatMap((driver) => endpointOf(driver, plugins) ?? []).filter(isSocketAddress);
}

function unauditedOf(inventories: readonly DriverInventory[], volumes: readonly PersistentVolume[]): readonly string[] {
  const known = new Set(inventories.map(({ driver }) => driver.capabilities.name));
  const foreign = new Map<string, number>();
  for (const { spec } of volumes) {
    const name = spec.csi?.driver;
    if (name !== undefined && !known.has(name)) foreign.set(name, (foreign.get(name) ?? 0) + 1);
  }
  const elsewhere = volumes.filter(({ spec: { csi } }) => csi?.driver === imageDriverName && parseImageHandle(csi.volumeHandle)?.node !== undefined).length;
  return [
    ...(known.has(imageDriverName) && elsewhere > 0
      ? [`${counted(elsewhere, 'volume')} of ${imageDriverName} on nodes that joined: those keep the images.`]
      : []),
    ...[...foreign].map(([name, count]) => `${counted(count, 'volume')} of ${name}: --csi-endpoint names its socket, if it has one.`),
    ...inventories.flatMap(({ driver: { capabilities, snapshotter }, handles, snapshots }) => [
      ...(handles === undefined ? [`the volumes of ${capabilities.name}: it cannot list them.`] : []),
      ...(snapshots === undefined && snapshotter !== undefined ? [`the snapshots of ${capabilities.name}: it cannot list them.`] : []),
    ]),
  ];
}

function reportText({ clean, assets, volumes, snapshots, intents, unaudited, findings }: AuditReport): string {
  const hidden = intents === null ? 'The server hides VolumeIntents (--plain): assets that are being created are listed as without owner.\n' : '';
  const taken = snapshots === 0 ? '' : `, ${counted(snapshots, 'snapshot')}`;
  const text = clean
    ? `Everything has an owner: ${counted(assets, 'asset')}, ${counted(volumes, 'volume')}${taken}, ${counted(intents ?? 0, 'intent')}.\n`
    : findings.map(({ explanation }) => `${explanation}\n`).join('');
  return `${text}${unaudited.map((what) => `Not compared: ${what}\n`).join('')}${hidden}`;
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
    const name = driver.capabilities.name;
    found.push({
      driver,
      handles: listedBy(name, 'assets', await driver.listVolumes()),
      snapshots: listedBy(name, 'snapshots', await driver.snapshotter?.listSnapshots?.()),
    });
  }
  return found;
}

/** Undefined: the driver has no such call. */
function listedBy<T>(driver: string, what: string, answer: DriverAnswer<T> | undefined): T | undefined {
  if (answer === undefined || (!answer.ok && answer.code === 'Unimplemented')) return undefined;
  if (!answer.ok) throw new AuditError(`${driver} cannot list its ${what}: ${answer.message}`);
  return answer.value;
}

/** undefined: the server has no such kind. */
async function allOf<T extends KubeObject>(client: Client, kind: Kind<T>): Promise<readonly T[] | undefined> {
  const found = await listAll(client, kind);
  if (!found.ok && found.reason !== 'notFound')
    throw new AuditError(`${found.reason === 'unreachable' ? 'the cluster does not answer' : `cannot list ${kind.plural}`}: ${found.error.message}`);
  return found.ok ? found.value : undefined;
}

function describe(finding: AuditFinding, now: number): string {
  switch (finding.type) {
    case 'asset without owner':
      return finding.perhaps === undefined
        ? `${finding.handle} (${finding.driver}): no PersistentVolume and no intent names it; perhaps its PersistentVolume was retained, and then deleted. No controller will delete it: check its content, and remove it by hand.`
        : `${finding.handle} (${finding.driver}): no PersistentVolume names it; perhaps it is being created for intent ${finding.perhaps.slice(0, 3).join(', ')}, which the driver has not answered yet. Repeat the audit once it has.`;
    case 'volume missing':
      return `pv/${finding.volume}: its driver ${finding.driver} does not list volume ${finding.handle}; it was deleted there, or is of another storage system.`;
    case 'snapshot without owner':
      return `snapshot ${finding.handle} of ${finding.sourceHandle} (${finding.driver}): no VolumeSnapshotContent names it. No controller will delete it: check whether it is needed, and remove it by hand.`;
    case 'snapshot missing':
      return `volumesnapshotcontent/${finding.content}: its driver ${finding.driver} does not list snapshot ${finding.handle}; no volume can be restored from it.`;
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
