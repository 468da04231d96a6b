/** Claims for which a volume has to be provisioned: by which provisioner, and what it waits for. */
import { type CreateIntent, provisionedName } from '../../storage/provisioner/actions.ts';
import { decide } from '../../storage/provisioner/decide.ts';
import { type ProvisioningNeed, provisioningNeedOf, type Refusal } from '../../storage/provisioner/provisioning-need.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { type DataSource, showDataSource } from '../../storage/volumes/data-source.ts';
import { isFor } from '../../api/volumes/intent.ts';
import { nearestNames } from '../../api/nearest-name.ts';
import { humanDuration } from '../../api/printer-columns.ts';
import { shown, volumesFor } from '../candidates/volume-candidates.ts';
import { noneFits } from './claim-without-volume.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Candidate, Fact, Fix, Diagnosis } from '../explanation/explanation.ts';
import { overdue } from '../graph/overdue.ts';
import { otherClassesFor } from './other-classes.ts';
import { type ProvisionerEvidence, evidenceOf, noProvisioner } from '../graph/provisioner-evidence.ts';
import { remake, repairsOf } from '../candidates/volume-fixes.ts';
import { provisionerSnapshot } from '../graph/snapshots.ts';
import type { ObjectGraph } from '../graph/object-graph.ts';
import type { ClaimWithReason } from './claim-with-reason.ts';
import { waitsForSnapshot } from './snapshot.ts';
import { zonesInClass } from './zones-in-class.ts';
import { timeOf } from '../explanation/timestamps.ts';
import { requestFact, requirementText, listed, plural, quoted, someOf } from '../explanation/words.ts';

export function provisioning({ claim, graph }: ClaimWithReason): Diagnosis {
  const intent = graph.intentFor(provisionedName(claim));
  if (intent !== undefined && isFor(intent, 'Create')) return intentRecorded(claim, intent, graph);
  if (!graph.wasRead('classes')) return classUnseen(claim);
  const waiting = waitsForSnapshot(claim, graph);
  if (waiting !== undefined) return { ...factsAndCandidates(claim, graph), ...waiting };
  const need = provisioningNeedOf(claim, provisionerSnapshot(graph));
  switch (need.type) {
    case 'external':
      return claim.dataSource !== undefined && isPopulated(claim.dataSource)
        ? populated(claim, claim.dataSource, graph)
        : external(claim, need.provisioner, graph);
    case 'populated':
      return populated(claim, need.source, graph);
    case 'refused':
      return refused(claim, need, graph);
    case 'make':
      return {
        verdict: 'waiting',
        code: 'Provisioning',
        summary: `No volume fits the claim, so ${need.provisioner} provisions one.`,
        ...factsAndCandidates(claim, graph),
        ...overdue({ who: need.provisioner, does: 'provisions a volume', by: 'at once' }, { since: claim.created, graph }),
      };
    case 'nothing':
      return {
        verdict: 'waiting',
        code: 'Provisioning',
        summary: `No volume has to be provisioned: ${need.because}.`,
        ...factsAndCandidates(claim, graph),
        ...overdue({ who: 'the volume binder', does: 'binds it', by: 'at once' }, { since: claim.created, graph }),
      };
  }
}

const factsAndCandidates = (claim: Claim, graph: ObjectGraph): { readonly facts: readonly Fact[]; readonly candidates: readonly Candidate[] } => ({
  facts: [requestFact(claim)],
  candidates: volumesFor(claim, graph).map(shown),
});

/** Mooring's VolumeIntent records what is about to be done, and what came of it. */
function intentRecorded(claim: Claim, intent: CreateIntent, graph: ObjectGraph): Diagnosis {
  const { reasons } = decide({ claim, intents: [intent], snapshot: provisionerSnapshot(graph) }, graph.now);
  const [reason] = reasons;
  const { driver } = intent.spec;
  const { attempts = 0, message = '', notBefore } = intent.status;
  const base = factsAndCandidates(claim, graph);
  if (reason?.code !== 'ProvisioningFailed') {
    const text = reason?.text ?? 'it is being provisioned';
    return {
      ...base,
      verdict: 'waiting',
      code: reason?.code ?? 'Provisioning',
      summary: `No volume fits the claim, so ${driver} provisions one: ${text}${inFlight(intent, graph)}.`,
      next: { who: driver, does: 'finishes the volume' },
    };
  }
  return {
    ...base,
    verdict: 'stuck',
    code: 'ProvisioningFailed',
    summary: `No volume fits the claim, and ${driver} could not provision one, in ${plural(attempts, 'attempt')} so far: ${message}`,
    fixes: [
      {
        text: `fix what ${driver} reports; it retries by itself, without end`,
        commands: [kubectl(undefined, 'get', 'storageclass', claim.className, '-o', 'yaml')],
      },
      ...staticFixes(claim, graph),
    ],
    next: { who: driver, does: 'retries', ...(notBefore === undefined ? {} : { by: notBefore }) },
  };
}

/** A driver that hangs answers after the deadline of the call, at the latest. */
function inFlight({ metadata, status }: CreateIntent, { now }: ObjectGraph): string {
  const since = timeOf(metadata.creationTimestamp);
  if (status.asset !== undefined || since === undefined) return '';
  return ` (CreateVolume is in flight since ${metadata.creationTimestamp ?? ''}, ${humanDuration(now - since)} ago)`;
}

/** A volume that is created by hand, or changed, would do as well. */
function staticFixes(claim: Claim, graph: ObjectGraph): readonly Fix[] {
  return [{ text: `create a volume by hand, ${requirementText(claim)}`, commands: [] }, ...repairsOf(claim, volumesFor(claim, graph), 1)];
}

function classUnseen(claim: Claim): Diagnosis {
  const who = claim.provisioner;
  return {
    verdict: 'waiting',
    code: 'ClassUnseen',
    summary: `No volume is bound to the claim. StorageClass ${quoted(claim.className)} could not be read${who === undefined ? '' : `, but the claim is annotated for provisioner ${who}`}.`,
    facts: [requestFact(claim)],
    fixes: [{ text: 'run this as a user who may read StorageClasses and volumes', commands: [kubectl(undefined, 'auth', 'can-i', 'list', 'storageclasses')] }],
    next: { who: who ?? 'the provisioner of its StorageClass', does: 'provisions a volume' },
  };
}

function external(claim: Claim, provisioner: string, graph: ObjectGraph): Diagnosis {
  const evidence = evidenceOf(provisioner, { graph, since: claim.created });
  const where = claim.selectedNode === undefined ? '' : ` on node ${quoted(claim.selectedNode)}, which the scheduler chose`;
  return {
    ...factsAndCandidates(claim, graph),
    verdict: evidence.type === 'absent' || evidence.type === 'working' ? 'stuck' : 'waiting',
    code: evidence.type === 'absent' ? 'ProvisionerAbsent' : evidence.type === 'working' ? 'ProvisionerFailing' : 'ExternalProvisioning',
    summary: `No volume fits the claim, so provisioner ${provisioner} has to create one${where}. ${suspicion(provisioner, evidence)}`,
    fixes: [...provisionerFixes(claim, provisioner, evidence), ...otherClass(claim, graph, provisioner), ...repairsOf(claim, volumesFor(claim, graph), 1)],
    next: {
      who: `provisioner ${provisioner}`,
      does: evidence.type === 'absent' ? 'would provision a volume as soon as it runs' : 'provisions a volume; it retries by itself',
    },
  };
}

/** Neither a claim nor a snapshot: only a volume populator can fill the volume. */
function populated(claim: Claim, source: DataSource, graph: ObjectGraph): Diagnosis {
  const who = `the volume populator for kind ${source.kind} of group ${source.group}`;
  return {
    ...factsAndCandidates(claim, graph),
    verdict: 'waiting',
    code: 'ExternalPopulator',
    summary: `${showDataSource(source)}, so ${who} has to make a volume, fill it, and bind it to the claim. No empty volume is provisioned in its place.`,
    fixes: [
      { text: 'check that a volume populator is registered for that kind', commands: [kubectl(undefined, 'get', 'volumepopulators')] },
      {
        text: 'read the events of the claim, and look at the claim and the pod that the populator makes for it',
        commands: [kubectl(claim.namespace, 'events', '--for', `pvc/${claim.name}`), `kubectl get pvc,pods -A | grep ${claim.uid}`],
      },
    ],
    next: { who, does: 'fills a volume and binds it to the claim' },
  };
}

const isPopulated = ({ kind, group }: DataSource): boolean => !(kind === 'PersistentVolumeClaim' && group === '') && kind !== 'VolumeSnapshot';

function suspicion(provisioner: string, { type, made, nodes }: ProvisionerEvidence): string {
  switch (type) {
    case 'absent':
      return `It does not seem to be installed: there is no CSIDriver ${quoted(provisioner)}, it is registered on no node, and no volume was provisioned by it.${/csi/i.test(provisioner) ? '' : ' (A provisioner that is no CSI driver is known only by its volumes.)'}`;
    case 'working':
      return 'It runs, since it has provisioned volumes for other claims meanwhile: so it fails for this claim, and its events say why.';
    case 'known':
      return `It is installed${nodes.length === 0 ? '' : ` on ${plural(nodes.length, 'node')}`}${made === 0 ? '' : ` and has provisioned ${plural(made, 'volume')} so far`}. If this takes more than a minute, it is not running or it fails.`;
    case 'unknown':
      return 'The objects that show whether it is installed could not be read.';
  }
}

function provisionerFixes(claim: Claim, provisioner: string, { type }: ProvisionerEvidence): readonly Fix[] {
  if (type === 'absent') {
    return [
      {
        text: `install ${provisioner}, or start it; it provisions the volume as soon as it runs`,
        commands: [kubectl(undefined, 'get', 'csidrivers'), 'kubectl get pods -A | grep -i csi'],
      },
      {
        text: 'if it runs, for instance behind a socket of --csi-endpoint: read what it says about the claim',
        commands: [kubectl(claim.namespace, 'events', '--for', `pvc/${claim.name}`)],
      },
    ];
  }
  return [
    {
      text: 'read the events of the claim, and then the log of the provisioner',
      commands: [kubectl(claim.namespace, 'events', '--for', `pvc/${claim.name}`)],
    },
  ];
}

function otherClass(claim: Claim, graph: ObjectGraph, failing?: string): readonly Fix[] {
  const names = otherClassesFor(claim, graph, failing);
  return names.length === 0 ? [] : [remake(claim, `with another StorageClass: ${someOf(names.map(quoted))}`)];
}

function refused(claim: Claim, need: Extract<ProvisioningNeed, { type: 'refused' }>, graph: ObjectGraph): Diagnosis {
  const storageClass = graph.class(claim.className);
  if (storageClass === undefined) return isNameOfVolumes(claim, graph) ? madeByHand(claim, graph) : missingClass(claim, graph);
  const zones = zonesInClass({ claim, graph });
  if (zones !== undefined) return zones;
  if (storageClass.provisioner === noProvisioner) return madeByHand(claim, graph);
  if (need.cause === 'plugin') return missingPlugin(claim, storageClass.provisioner, graph);
  return {
    ...factsAndCandidates(claim, graph),
    verdict: 'stuck',
    code: 'ProvisioningRefused',
    summary: `No volume fits the claim, and ${storageClass.provisioner} cannot provision one: ${need.message}.`,
    fixes: [fixOf(need.cause, claim), ...otherClass(claim, graph), ...staticFixes(claim, graph)],
    next: { who: 'you', does: 'change that; then the volume is provisioned at once' },
  };
}

function missingPlugin(claim: Claim, provisioner: string, graph: ObjectGraph): Diagnosis {
  return {
    ...factsAndCandidates(claim, graph),
    verdict: 'stuck',
    code: 'ProvisionerAbsent',
    summary: `No volume fits the claim, and StorageClass ${quoted(claim.className)} names provisioner ${provisioner}, which this cluster does not have.`,
    fixes: [
      {
        text: `create StorageClass ${quoted(claim.className)} again with a provisioner that exists: the provisioner of a StorageClass cannot be changed`,
        commands: [kubectl(undefined, 'delete', 'storageclass', claim.className)],
      },
      ...otherClass(claim, graph),
      ...staticFixes(claim, graph),
    ],
    next: { who: 'an administrator', does: 'creates the StorageClass again; then the volume is provisioned at once' },
  };
}

function fixOf(cause: Refusal, claim: Claim): Fix {
  switch (cause) {
    case 'mountOptions':
      return {
        text: `remove the mount options from StorageClass ${quoted(claim.className)}`,
        commands: [kubectl(undefined, 'patch', 'storageclass', claim.className, '--type', 'json', '-p', '[{"op":"remove","path":"/mountOptions"}]')],
      };
    case 'node':
      return {
        text: 'let the scheduler choose another node',
        commands: [kubectl(claim.namespace, 'annotate', 'pvc', claim.name, `${annotations.selectedNode}-`)],
      };
    case 'block':
      return remake(claim, 'with volumeMode Filesystem');
    case 'dataSource':
      return remake(claim, 'without dataSource');
    case 'class':
    case 'plugin':
    case 'zones':
    case 'csi':
      return remake(claim, 'with another StorageClass');
  }
}

function missingClass(claim: Claim, graph: ObjectGraph): Diagnosis {
  const names = graph.classes.map(({ metadata }) => metadata.name);
  const near = nearestNames(claim.className, names);
  const offer = near.length > 0 ? near : otherClassesFor(claim, graph);
  const others =
    names.length === 0
      ? 'There are no StorageClasses at all.'
      : near.length > 0
        ? `Is ${listed(near.map(quoted), 'or')} meant?`
        : `There are ${someOf(names.map(quoted))}.`;
  return {
    ...factsAndCandidates(claim, graph),
    verdict: 'stuck',
    code: 'ClassMissing',
    summary: `No volume fits the claim, and none can be provisioned: there is no StorageClass ${quoted(claim.className)}. ${others}`,
    fixes: [
      ...(offer.length === 0 ? [] : [remake(claim, `with storageClassName ${listed(offer.slice(0, 3).map(quoted), 'or')}`)]),
      { text: `create StorageClass ${quoted(claim.className)}; then a volume is provisioned at once`, commands: [] },
      ...staticFixes(claim, graph),
    ],
    next: { who: 'an administrator', does: `creates StorageClass ${quoted(claim.className)}, or you create the claim again with another` },
  };
}

/** Volumes have the name of the claim's StorageClass, without there being one: the name only brings claims and volumes together. */
const isNameOfVolumes = ({ className }: Claim, graph: ObjectGraph): boolean => graph.volumes.some((volume) => volume.className === className);

/** kubernetes.io/no-provisioner, or no StorageClass at all, and the claim does not wait for a pod. */
function madeByHand(claim: Claim, graph: ObjectGraph): Diagnosis {
  const candidates = volumesFor(claim, graph);
  const byHand =
    graph.class(claim.className) === undefined
      ? `There is no StorageClass ${quoted(claim.className)} that could provision one.`
      : `Volumes of StorageClass ${quoted(claim.className)} are created by hand only.`;
  return {
    facts: [requestFact(claim)],
    candidates: candidates.map(shown),
    verdict: 'stuck',
    code: 'NoVolumeFits',
    summary: `${noneFits(claim, candidates, graph)} ${byHand}`,
    fixes: [{ text: `create a volume ${requirementText(claim)}`, commands: [] }, ...repairsOf(claim, candidates)],
    next: { who: 'an administrator', does: 'creates a volume that fits, or changes one; it is bound at once' },
  };
}
