import type { APIService } from '../../api/generated/types.ts';
import { type CustomResourceDefinition, isTrue } from '../../api/apiextensions/definition.ts';
import { apiVersionOf, type Kind } from '../../api/kind.ts';
import { apiServiceKind } from '../../api/kinds/apiregistration/api-service.ts';
import { customResourceDefinitionKind } from '../../api/kinds/apiextensions/custom-resource-definition.ts';
import { predefinedKinds } from '../../api/kinds/predefined-kinds.ts';
import { discover } from '../../apiserver/discovery/resources.ts';
import { Resources } from '../../apiserver/objects/resources.ts';
import { StoreInformer } from '../../apiserver/objects/store-informer.ts';
import type { Client, Draft } from '../../client/client.ts';
import type { Store } from '../../store/contract.ts';
import type { World } from '../../world/world.ts';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

const managedLabel = 'kube-aggregator.kubernetes.io/automanaged';

/** Priorities of groups, and of versions where a group has several (v1.36.4: pkg/controlplane/apiserver/aggregator.go). */
const priorities: Readonly<Record<string, readonly [group: number, version: number]>> = {
  v1: [18_000, 1],
  'apps/v1': [17_800, 15],
  'events.k8s.io/v1': [17_750, 15],
  'authentication.k8s.io/v1': [17_700, 15],
  'authorization.k8s.io/v1': [17_600, 15],
  'autoscaling/v1': [17_500, 15],
  'autoscaling/v2': [17_500, 30],
  'batch/v1': [17_400, 15],
  'certificates.k8s.io/v1': [17_300, 15],
  'networking.k8s.io/v1': [17_200, 15],
  'policy/v1': [17_100, 15],
  'rbac.authorization.k8s.io/v1': [17_000, 15],
  'storage.k8s.io/v1': [16_800, 15],
  'apiextensions.k8s.io/v1': [16_700, 15],
  'admissionregistration.k8s.io/v1': [16_700, 15],
  'scheduling.k8s.io/v1': [16_600, 15],
  'coordination.k8s.io/v1': [16_500, 15],
  'node.k8s.io/v1': [16_300, 15],
  'discovery.k8s.io/v1': [16_200, 15],
  'flowcontrol.apiserver.k8s.io/v1': [16_100, 21],
  'resource.k8s.io/v1': [15_900, 15],
};
/** Of groups that were defined at run time. */
const definedPriority = [1_000, 100] as const;

function localApiService({ group, version }: GroupVersion): Draft<APIService> {
  const known = priorities[apiVersionOf({ group, version })];
  const [groupPriorityMinimum, versionPriority] = known ?? definedPriority;
  return {
    metadata: { name: `${version}.${group}`, labels: { [managedLabel]: known === undefined ? 'true' : 'onstart' } },
    spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum, versionPriority },
  };
}

export interface LocalApiServicesOptions {
  readonly store: Store;
  readonly world: World;
  readonly client: Client;
  /** Served from the start. */
  readonly kinds: readonly Kind[];
}

/**
 * The APIServices of the groups that this server serves itself: `kubectl get apiservices` lists them as Local. Those of CustomResourceDefinitions come
 * and go with these (upstream: the controllers autoregister and crdregistration).
 */
export function registerLocalApiServices({ store, world, client, kinds }: LocalApiServicesOptions): () => void {
  const builtIn = discover([...kinds, ...predefinedKinds]).filter(({ group }) => group !== apiServiceKind.group);
  let defined: readonly GroupVersion[] = [];
  let written: Promise<unknown> = Promise.resolve();
  const register = (): void => {
    const wanted = new Map([...builtIn, ...defined].map(localApiService).map((service) => [service.metadata?.name ?? '', service]));
    written = written
      .then(() => reconcile(client, wanted))
      .catch((error: unknown) => world.log.warn('local APIServices were not registered', { error: String(error) }));
  };
  const resource = new Resources(kinds).require(apiVersionOf(customResourceDefinitionKind), customResourceDefinitionKind.plural);
  const informer = new StoreInformer<CustomResourceDefinition>({ store, timers: world.timers }, resource, (definitions) => {
    const versions = definitions.filter((definition) => isTrue(definition, 'Established')).flatMap(servedVersions);
    if (JSON.stringify(versions) === JSON.stringify(defined)) return;
    defined = versions;
    register();
  });
  informer.start().then(register, (error: unknown) => world.log.warn('CustomResourceDefinitions were not read', { error: String(error) }));
  return () => informer.stop();
}

const servedVersions = ({ spec }: CustomResourceDefinition): GroupVersion[] =>
  (spec.versions ?? []).filter(({ served }) => served).map(({ name }) => ({ group: spec.group, version: name }));

/** An APIService that exists stays as it is: it may name a Service by now. */
async function reconcile(client: Client, wanted: ReadonlyMap<string, Draft<APIService>>): Promise<void> {
  const found = await client.list(apiServiceKind);
  if (!found.ok) throw found.error;
  const names = new Set(found.value.items.map(({ metadata }) => metadata.name));
  for (const [name, service] of wanted) {
    if (names.has(name)) continue;
    const created = await client.create(apiServiceKind, service);
    // Another server may register the same group.
    if (!created.ok && created.reason !== 'alreadyExists') throw created.error;
  }
  for (const { metadata, spec } of found.value.items) {
    const isManaged = metadata.labels?.[managedLabel] !== undefined && spec.service === undefined;
    if (isManaged && !wanted.has(metadata.name)) await client.delete(apiServiceKind, { name: metadata.name });
  }
}
