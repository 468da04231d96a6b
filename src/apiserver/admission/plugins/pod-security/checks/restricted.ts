/** The checks that the restricted level adds, with the texts of v1.36.4 (policy/check_*.go). */
import type { Volume } from '../../../../../api/generated/types.ts';
import { procMount } from './baseline.ts';
import { type Check, type CheckedContainer, type CheckedPod, type CheckPod, containersOf, containersText } from './check.ts';
import { isInUserNamespace, isWindowsPod, joinQuote, namesWhere, pluralize, settersText, sortedSet, type Violation } from './check.ts';
import { requiredSeccompProfiles } from './seccomp.ts';

/** Validation refuses the fields on Windows pods, so that they cannot be required there. */
const unlessWindows =
  (checkPod: CheckPod): CheckPod =>
  (pod) =>
    isWindowsPod(pod.spec) ? undefined : checkPod(pod);

const unlessInUserNamespace =
  (checkPod: CheckPod): CheckPod =>
  (pod) =>
    isInUserNamespace(pod.spec) ? undefined : checkPod(pod);

function allowPrivilegeEscalation({ spec }: CheckedPod): Violation | undefined {
  const names = namesWhere(spec, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (names.length === 0) return undefined;
  return { reason: 'allowPrivilegeEscalation != false', detail: `${containersText(names)} must set securityContext.allowPrivilegeEscalation=false` };
}

function capabilities({ spec }: CheckedPod): Violation | undefined {
  const dropsAll = ({ securityContext }: CheckedContainer): boolean => securityContext?.capabilities?.drop?.includes('ALL') === true;
  const added = ({ securityContext }: CheckedContainer): readonly string[] =>
    (securityContext?.capabilities?.add ?? []).filter((capability) => capability !== 'NET_BIND_SERVICE');
  const keeping = namesWhere(spec, (container) => !dropsAll(container));
  const adding = namesWhere(spec, (container) => added(container).length > 0);
  if (keeping.length === 0 && adding.length === 0) return undefined;
  const bad = joinQuote(sortedSet(containersOf(spec).flatMap(added)));
  const details = [
    ...(keeping.length === 0 ? [] : [`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0 ? [] : [`${containersText(adding)} must not include ${bad} in securityContext.capabilities.add`]),
  ];
  return { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

const allowedVolumeTypes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
] as const satisfies readonly (keyof Volume)[];

/** In the order in which a volume with several sources is named. */
const restrictedVolumeTypes = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
] as const satisfies readonly (keyof Volume)[];

function restrictedVolumes({ spec }: CheckedPod): Violation | undefined {
  const bad = (spec.volumes ?? []).filter((volume) => allowedVolumeTypes.every((type) => volume[type] === undefined));
  if (bad.length === 0) return undefined;
  const types = sortedSet(bad.map((volume) => restrictedVolumeTypes.find((type) => volume[type] !== undefined) ?? 'unknown'));
  const names = `${pluralize('volume', 'volumes', bad.length)} ${joinQuote(bad.map(({ name }) => name))}`;
  const what = pluralize('restricted volume type', 'restricted volume types', types.length);
  return { reason: 'restricted volume types', detail: `${names} ${pluralize('uses', 'use', bad.length)} ${what} ${joinQuote(types)}` };
}

function runAsNonRoot({ spec }: CheckedPod): Violation | undefined {
  const reason = 'runAsNonRoot != true';
  const ofPod = spec.securityContext?.runAsNonRoot;
  const setters = settersText(
    ofPod === false,
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === false),
  );
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  if (ofPod === true) return undefined;
  const unset = namesWhere(spec, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  return unset.length === 0 ? undefined : { reason, detail: `pod or ${containersText(unset)} must set securityContext.runAsNonRoot=true` };
}

function runAsUser({ spec }: CheckedPod): Violation | undefined {
  const setters = settersText(
    spec.securityContext?.runAsUser === 0,
    namesWhere(spec, ({ securityContext }) => securityContext?.runAsUser === 0),
  );
  return setters === '' ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
}

export const restrictedChecks: readonly Check[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      { since: 8, checkPod: allowPrivilegeEscalation },
      { since: 25, checkPod: unlessWindows(allowPrivilegeEscalation) },
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [
      { since: 22, checkPod: capabilities },
      { since: 25, checkPod: unlessWindows(capabilities) },
    ],
    overrides: ['capabilities_baseline'],
  },
  // Also in a user namespace, where the baseline level allows it.
  { id: 'procMount_restricted', level: 'restricted', versions: [{ since: 35, checkPod: procMount }], overrides: ['procMount'] },
  { id: 'restrictedVolumes', level: 'restricted', versions: [{ since: 0, checkPod: restrictedVolumes }], overrides: ['hostPathVolumes'] },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      { since: 0, checkPod: runAsNonRoot },
      { since: 35, checkPod: unlessInUserNamespace(runAsNonRoot) },
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      { since: 23, checkPod: runAsUser },
      { since: 35, checkPod: unlessInUserNamespace(runAsUser) },
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      { since: 19, checkPod: requiredSeccompProfiles },
      { since: 25, checkPod: unlessWindows(requiredSeccompProfiles) },
    ],
    overrides: ['seccompProfile_baseline'],
  },
];
