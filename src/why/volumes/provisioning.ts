/** Claims for which a volume has to be made: by whom, and what keeps them. */
import { type CreateIntent, provisionedName } from '../../storage/provisioner/actions.ts';
import { decide } from '../../storage/provisioner/decide.ts';
import { type ProvisioningNeed, provisioningNeedOf, type Refusal } from '../../storage/provisioner/provisioning-need.ts';
import { annotations } from '../../api/volumes/annotations.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import { isFor } from '../../api/volumes/intent.ts';
import { nearestNames } from '../../api/nearest-name.ts';
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
import { zonesInClass } from './zones-in-class.ts';
import { requestText, requirementText, listed, plural, quoted, someOf } from '../explanation/words.ts';

export function provisioning({ claim, graph }: ClaimWithReason): Diagnosis {
  const intent = graph.intentFor(provisionedName(claim));
  if (intent !== undefined && isFor(intent, 'Create')) return begun(claim, intent, graph);
  if (!graph.wasRead('classes')) return classUnseen(claim);
  const need = provisioningNeedOf(claim, provisionerSnapshot(graph));
  switch (need.type) {
    case 'external':
      return external(claim, need.provisioner, graph);
    case 'refused':
      return refused(claim, need, graph);
    case 'make':
      return {
        verdict: 'waiting',
        code: 'Provisioning',
        summary: `No volume fits, so ${need.provisioner} makes one.`,
        ...surroundings(claim, graph),
        ...overdue({ who: need.provisioner, does: 'makes a volume', by: 'at once' }, { since: claim.created, graph }),
      };
    case 'nothing':
      return {
        verdict: 'waiting',
        code: 'Provisioning',
        summary: `No volume has to be made: ${need.because}.`,
        ...surroundings(claim, graph),
        ...overdue({ who: 'the volume binder', does: 'binds it', by: 'at once' }, { since: claim.created, graph }),
      };
  }
}

const surroundings = (claim: Claim, graph: ObjectGraph): { readonly facts: readonly Fact[]; readonly candidates: readonly Candidate[] } => ({
  facts: [{ label: 'asks for', text: requestText(claim) }],
  candidates: volumesFor(claim, graph).map(shown),
});

/** Mooring has written down what it is about to do, and what came of it. */
function begun(claim: Claim, intent: CreateIntent, graph: ObjectGraph): Diagnosis {
  const { reasons } = decide({ claim, intents: [intent], snapshot: provisionerSnapshot(graph) }, graph.now);
  const [reason] = reasons;
  const { driver } = intent.spec;
  const { attempts = 0, message = '', notBefore } = intent.status;
  const base = surroundings(claim, graph);
  if (reason?.code !== 'ProvisioningFailed') {
    const text = reason?.text ?? 'it is being made';
    return {
      ...base,
      verdict: 'waiting',
      code: reason?.code ?? 'Provisioning',
      summary: `No volume fits, so ${driver} makes one: ${text}.`,
      next: { who: driver, does: 'finishes the volume' },
    };
  }
  return {
    ...base,
    verdict: 'stuck',
    code: 'ProvisioningFailed',
    summary: `No volume fits, and ${driver} could not make one, in ${plural(attempts, 'attempt')} so far: ${message}`,
    fixes: [
      {
        text: `remove what ${driver} complains of; it tries again by itself, for ever`,
        commands: [kubectl(undefined, 'get', 'storageclass', claim.className, '-o', 'yaml')],
      },
      ...staticFixes(claim, graph),
    ],
    next: { who: driver, does: 'tries again', ...(notBefore === undefined ? {} : { by: notBefore }) },
  };
}

/** Somebody else could give it a volume as well. */
function staticFixes(claim: Claim, graph: ObjectGraph): readonly Fix[] {
  return [{ text: `create a volume by hand, ${requirementText(claim)}`, commands: [] }, ...repairsOf(claim, volumesFor(claim, graph), 1)];
}

function classUnseen(claim: Claim): Diagnosis {
  const who = claim.provisioner;
  return {
    verdict: 'waiting',
    code: 'ClassUnseen',
    summary: `No volume is bound to it. Class ${quoted(claim.className)} could not be looked at${who === undefined ? '' : `, but the claim is marked for provisioner ${who}`}.`,
    facts: [{ label: 'asks for', text: requestText(claim) }],
    fixes: [{ text: 'ask somebody who may see storage classes and volumes', commands: [kubectl(undefined, 'auth', 'can-i', 'list', 'storageclasses')] }],
    next: { who: who ?? 'the provisioner of its class', does: 'makes a volume' },
  };
}

function external(claim: Claim, provisioner: string, graph: ObjectGraph): Diagnosis {
  const evidence = evidenceOf(provisioner, { graph, since: claim.created });
  const where = claim.selectedNode === undefined ? '' : ` on node ${quoted(claim.selectedNode)}, which the scheduler chose`;
  return {
    ...surroundings(claim, graph),
    verdict: evidence.type === 'absent' || evidence.type === 'working' ? 'stuck' : 'waiting',
    code: evidence.type === 'absent' ? 'ProvisionerAbsent' : evidence.type === 'working' ? 'ProvisionerFailing' : 'ExternalProvisioning',
    summary: `No volume fits, so provisioner ${provisioner} has to make one${where}. ${suspicion(provisioner, evidence)}`,
    fixes: [...provisionerFixes(claim, provisioner, evidence), ...otherClass(claim, graph, provisioner), ...repairsOf(claim, volumesFor(claim, graph), 1)],
    next: {
      who: `provisioner ${provisioner}`,
      does: evidence.type === 'absent' ? 'would make a volume as soon as it runs' : 'makes a volume; it tries again by itself if that fails',
    },
  };
}

function suspicion(provisioner: string, { type, made, nodes }: ProvisionerEvidence): string {
  switch (type) {
    case 'absent':
      return `It does not seem to be installed: there is no CSIDriver ${quoted(provisioner)}, no node has registered it, and no volume was made by it.${/csi/i.test(provisioner) ? '' : ' (A provisioner that is no CSI driver shows only by its volumes.)'}`;
    case 'working':
      return `It runs, since it has made volumes for others meanwhile: so it fails for this claim, and its events say why.`;
    case 'known':
      return `It is installed${nodes.length === 0 ? '' : ` on ${plural(nodes.length, 'node')}`}${made === 0 ? '' : ` and has made ${plural(made, 'volume')} so far`}. If this takes more than a minute, it is not running or it fails.`;
    case 'unknown':
      return 'Whether it is installed could not be looked at.';
  }
}

function provisionerFixes(claim: Claim, provisioner: string, { type }: ProvisionerEvidence): readonly Fix[] {
  if (type === 'absent') {
    return [
      {
        text: `install ${provisioner}, or start it; the volume is made the moment it runs`,
        commands: [kubectl(undefined, 'get', 'csidrivers'), 'kubectl get pods -A | grep -i csi'],
      },
    ];
  }
  return [
    {
      text: 'see what the provisioner says about the claim, and then its own log',
      commands: [kubectl(claim.namespace, 'events', '--for', `pvc/${claim.name}`)],
    },
  ];
}

function otherClass(claim: Claim, graph: ObjectGraph, failing?: string): readonly Fix[] {
  const names = otherClassesFor(claim, graph, failing);
  return names.length === 0 ? [] : [remake(claim, `with another class: ${someOf(names.map(quoted))}`)];
}

function refused(claim: Claim, need: Extract<ProvisioningNeed, { type: 'refused' }>, graph: ObjectGraph): Diagnosis {
  const storageClass = graph.class(claim.className);
  if (storageClass === undefined) return missingClass(claim, graph);
  const zones = zonesInClass({ claim, graph });
  if (zones !== undefined) return zones;
  if (storageClass.provisioner === noProvisioner) return madeByHand(claim, graph);
  if (need.cause === 'plugin') return missingPlugin(claim, storageClass.provisioner, graph);
  return {
    ...surroundings(claim, graph),
    verdict: 'stuck',
    code: 'ProvisioningRefused',
    summary: `No volume fits, and ${storageClass.provisioner} cannot make one: ${need.message}.`,
    fixes: [fixOf(need.cause, claim), ...otherClass(claim, graph), ...staticFixes(claim, graph)],
    next: { who: 'you', does: 'change what it complains of; the volume is made at once' },
  };
}

function missingPlugin(claim: Claim, provisioner: string, graph: ObjectGraph): Diagnosis {
  return {
    ...surroundings(claim, graph),
    verdict: 'stuck',
    code: 'ProvisionerAbsent',
    summary: `No volume fits, and class ${quoted(claim.className)} names provisioner ${provisioner}, which this cluster does not have.`,
    fixes: [
      {
        text: `create class ${quoted(claim.className)} again with a provisioner that exists: a class cannot be changed`,
        commands: [kubectl(undefined, 'delete', 'storageclass', claim.className)],
      },
      ...otherClass(claim, graph),
      ...staticFixes(claim, graph),
    ],
    next: { who: 'an administrator', does: 'gives the class a provisioner that exists; the volume is made at once' },
  };
}

function fixOf(cause: Refusal, claim: Claim): Fix {
  switch (cause) {
    case 'mountOptions':
      return {
        text: `take the mount options out of class ${quoted(claim.className)}`,
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
      return remake(claim, 'with another class');
  }
}

function missingClass(claim: Claim, graph: ObjectGraph): Diagnosis {
  const names = graph.classes.map(({ metadata }) => metadata.name ?? '');
  const near = nearestNames(claim.className, names);
  const offer = near.length > 0 ? near : otherClassesFor(claim, graph);
  const others =
    names.length === 0
      ? 'There are no classes at all.'
      : near.length > 0
        ? `Is ${listed(near.map(quoted), 'or')} meant?`
        : `There are ${someOf(names.map(quoted))}.`;
  return {
    ...surroundings(claim, graph),
    verdict: 'stuck',
    code: 'ClassMissing',
    summary: `No volume fits, and none can be made: there is no class ${quoted(claim.className)}. ${others}`,
    fixes: [
      ...(offer.length === 0 ? [] : [remake(claim, `with storageClassName ${listed(offer.slice(0, 3).map(quoted), 'or')}`)]),
      { text: `create class ${quoted(claim.className)}; the claim goes on at once`, commands: [] },
      ...staticFixes(claim, graph),
    ],
    next: { who: 'an administrator', does: `creates class ${quoted(claim.className)}, or you create the claim again with another` },
  };
}

/** kubernetes.io/no-provisioner, and the claim does not wait for a pod. */
function madeByHand(claim: Claim, graph: ObjectGraph): Diagnosis {
  const candidates = volumesFor(claim, graph);
  return {
    facts: [{ label: 'asks for', text: requestText(claim) }],
    candidates: candidates.map(shown),
    verdict: 'stuck',
    code: 'NoVolumeFits',
    summary: `${noneFits(claim, candidates, graph)} Volumes of class ${quoted(claim.className)} are made by hand only.`,
    fixes: [{ text: `create a volume ${requirementText(claim)}`, commands: [] }, ...repairsOf(claim, candidates)],
    next: { who: 'an administrator', does: 'creates a volume that fits, or changes one; it is bound at once' },
  };
}
