/** Pieces of sentences. */
import type { Fact } from './explanation.ts';
import type { NodeSelectorTerm, PersistentVolume, TopologySelectorTerm } from '../../api/generated/types.ts';
import type { AccessModes } from '../../storage/volumes/access-modes.ts';
import { showModes } from '../../storage/volumes/access-modes.ts';
import { showAmount } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { Volume } from '../../storage/volumes/volume.ts';

/** 'a', 'a and b', 'a, b and c' */
export function listed(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1) ?? ''}`;
}

/** The first few of many. */
export function someOf(words: readonly string[], most = 5): string {
  return words.length <= most ? listed(words) : `${words.slice(0, most).join(', ')} and ${words.length - most} more`;
}

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const quoted = (name: string): string => `"${name}"`;

/** 'in StorageClass "slow"', 'without a StorageClass' */
export const inClass = (className: string): string => (className === '' ? 'without a StorageClass' : `in StorageClass ${quoted(className)}`);

const abbreviations: ReadonlyMap<string, string> = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]);

/** 'RWO,RWX', as kubectl abbreviates them. */
export const shortModes = (modes: readonly string[] | undefined): string => (modes ?? []).map((mode) => abbreviations.get(mode) ?? mode).join(',') || '-';

/** 'of at least 5Gi with ReadWriteMany in StorageClass "slow"', and what else a volume has to have for the claim. */
export function requirementText(claim: Claim): string {
  const selector = claim.selector.type === 'valid' ? claim.selector.text : '';
  return [
    `of at least ${showAmount(claim.request)}`,
    modesOf(claim.accessModes),
    inClass(claim.className),
    ...(claim.volumeMode === 'Block' ? ['in volume mode Block'] : []),
    ...(selector === '' ? [] : [`labelled ${selector}`]),
    ...(claim.attributesClass === '' ? [] : [`in VolumeAttributesClass ${quoted(claim.attributesClass)}`]),
  ].join(' ');
}

const modesOf = (modes: AccessModes): string => `with ${showModes(modes)}`;

/** 'requests  1Gi, ReadWriteOnce, Filesystem, StorageClass "slow"' */
export function requestFact(claim: Claim): Fact {
  const selector = claim.selector.type === 'valid' && claim.selector.text === '' ? [] : [`volumes labelled ${claim.selector.text}`];
  const text = [
    showAmount(claim.request),
    showModes(claim.accessModes),
    claim.volumeMode,
    claim.class.type === 'unset' ? 'no StorageClass' : claim.class.type === 'none' ? 'StorageClass ""' : `StorageClass ${quoted(claim.class.name)}`,
    ...(claim.volumeName === '' ? selector : [`volume ${quoted(claim.volumeName)}`]),
    ...(claim.attributesClass === '' ? [] : [`VolumeAttributesClass ${quoted(claim.attributesClass)}`]),
  ].join(', ');
  return { label: 'requests', text };
}

/** '10Gi, ReadWriteOnce, Retain' */
export const describeVolume = (volume: Volume): string => [showAmount(volume.capacity), showModes(volume.accessModes), volume.reclaimPolicy].join(', ');

const wellKnown: ReadonlyMap<string, string> = new Map([
  ['topology.kubernetes.io/zone', 'zone'],
  ['failure-domain.beta.kubernetes.io/zone', 'zone'],
  ['topology.kubernetes.io/region', 'region'],
  ['failure-domain.beta.kubernetes.io/region', 'region'],
  ['kubernetes.io/hostname', 'host'],
]);

const keyName = (key: string): string => wellKnown.get(key) ?? key;

/** 'zone a or b', 'rack notin (1, 2)' */
function requirement({ key, operator, values }: { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null }): string {
  const given = values ?? [];
  if (operator === 'In') return `${keyName(key)} ${listed(given, 'or')}`;
  if (operator === 'Exists') return `any ${keyName(key)}`;
  if (operator === 'DoesNotExist') return `no ${keyName(key)}`;
  return `${keyName(key)} ${operator.toLowerCase()} ${given.join(', ')}`;
}

/** The nodes that a volume's node affinity admits: 'zone a', 'host n1, or zone b and rack 2'. */
export function whereIs({ spec }: PersistentVolume): string {
  return nodesSelected(spec.nodeAffinity?.required?.nodeSelectorTerms ?? []);
}

export function nodesSelected(terms: readonly NodeSelectorTerm[]): string {
  const alternatives = terms.map(({ matchExpressions = [], matchFields = [] }) => listed([...matchExpressions, ...matchFields].map(requirement)));
  return listed(
    alternatives.filter((text) => text !== ''),
    'or',
  );
}

export function topologyOf(terms: readonly TopologySelectorTerm[] | undefined): string {
  return listed(
    (terms ?? []).map(({ matchLabelExpressions = [] }) => listed(matchLabelExpressions.map(({ key, values }) => requirement({ key, operator: 'In', values })))),
    'or',
  );
}

/** The zone of a node, by its labels. */
export function nodePlace(labels: Readonly<Record<string, string>> | undefined): string | undefined {
  const zone = labels?.['topology.kubernetes.io/zone'] ?? labels?.['failure-domain.beta.kubernetes.io/zone'];
  return zone === undefined ? undefined : `zone ${zone}`;
}
