import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { allKinds } from '../../src/api/kinds/index.ts';
import { aggregated } from '../../src/apiserver/discovery/documents.ts';
import { discover } from '../../src/apiserver/discovery/resources.ts';

/** Discovery of a running Kubernetes, where it is at hand. */
const folder = fileURLToPath(new URL('../../../shared/reference/', import.meta.url));

interface Resource {
  readonly resource: string;
  readonly subresources?: { readonly subresource: string }[];
}
interface Discovery {
  readonly items: { readonly metadata: { readonly name?: string }; readonly versions: { readonly version: string; readonly resources: Resource[] }[] }[];
}

const ours = aggregated(discover(allKinds), 'apidiscovery.k8s.io/v2') as Discovery;

function resourcesOf(discovery: Discovery): Map<string, Resource> {
  const found = new Map<string, Resource>();
  for (const { metadata, versions } of discovery.items) {
    for (const { version, resources } of versions)
      for (const resource of resources) found.set(`${metadata.name ?? ''}/${version}/${resource.resource}`, resource);
  }
  return found;
}

describe('the kinds served', () => {
  test('are those of the issue', () => {
    expect([...resourcesOf(ours).keys()].filter((key) => !key.includes('mooring.dev'))).toEqual([
      ...[
        'bindings',
        'configmaps',
        'endpoints',
        'events',
        'limitranges',
        'namespaces',
        'nodes',
        'persistentvolumeclaims',
        'persistentvolumes',
        'pods',
        'podtemplates',
      ].map((name) => `/v1/${name}`),
      ...['replicationcontrollers', 'resourcequotas', 'secrets', 'serviceaccounts', 'services'].map((name) => `/v1/${name}`),
      'apiregistration.k8s.io/v1/apiservices',
      ...['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'].map((name) => `apps/v1/${name}`),
      'events.k8s.io/v1/events',
      ...['selfsubjectreviews', 'tokenreviews'].map((name) => `authentication.k8s.io/v1/${name}`),
      ...['local', 'self'].map((whose) => `authorization.k8s.io/v1/${whose}subjectaccessreviews`),
      ...['selfsubjectrulesreviews', 'subjectaccessreviews'].map((name) => `authorization.k8s.io/v1/${name}`),
      'autoscaling/v2/horizontalpodautoscalers',
      'autoscaling/v1/horizontalpodautoscalers',
      ...['cronjobs', 'jobs'].map((name) => `batch/v1/${name}`),
      'certificates.k8s.io/v1/certificatesigningrequests',
      ...['ingressclasses', 'ingresses', 'ipaddresses', 'networkpolicies', 'servicecidrs'].map((name) => `networking.k8s.io/v1/${name}`),
      'policy/v1/poddisruptionbudgets',
      ...['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'].map((name) => `rbac.authorization.k8s.io/v1/${name}`),
      ...['csidrivers', 'csinodes', 'csistoragecapacities', 'storageclasses', 'volumeattachments', 'volumeattributesclasses'].map(
        (name) => `storage.k8s.io/v1/${name}`,
      ),
      ...['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations'].map(
        (name) => `admissionregistration.k8s.io/v1/${name}`,
      ),
      ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations'].map(
        (name) => `admissionregistration.k8s.io/v1/${name}`,
      ),
      'apiextensions.k8s.io/v1/customresourcedefinitions',
      'scheduling.k8s.io/v1/priorityclasses',
      'coordination.k8s.io/v1/leases',
      'node.k8s.io/v1/runtimeclasses',
      'discovery.k8s.io/v1/endpointslices',
      ...['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'].map((name) => `resource.k8s.io/v1/${name}`),
      ...['flowschemas', 'prioritylevelconfigurations'].map((name) => `flowcontrol.apiserver.k8s.io/v1/${name}`),
    ]);
  });

  const here = existsSync(folder) ? test : undefined;
  here?.('look as in Kubernetes', () => {
    const reference = new Map<string, Resource>();
    for (const file of ['discovery-api.json', 'discovery-apis.json']) {
      for (const [key, resource] of resourcesOf(JSON.parse(readFileSync(folder + file, 'utf8')) as Discovery)) reference.set(key, resource);
    }
    for (const [key, resource] of resourcesOf(ours)) if (!key.startsWith('mooring.dev/')) expect(resource, key).toEqual(reference.get(key));
  });
});
