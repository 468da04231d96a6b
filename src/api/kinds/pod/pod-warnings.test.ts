import { describe, expect, test } from 'vitest';
import { created } from '../try-kind.ts';
import { deploymentKind } from '../apps/deployment.ts';
import { podKind } from './pod.ts';
import { podSpec } from '../workload-samples.ts';

const warned = (spec: object, metadata: object = {}): readonly string[] | undefined =>
  podKind.warnings?.(created(podKind, { metadata: { name: 'web', ...metadata }, spec: { ...podSpec, ...spec } }), undefined);
const container = (more: object): object => ({ containers: [{ name: 'main', image: 'nginx', ...more }] });

test('nothing, usually', () => {
  expect(warned({})).toEqual([]);
});

test('names that make no hostnames', () => {
  expect(warned({}, { name: 'a.b' })).toEqual([
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
  ]);
});

describe('volumes', () => {
  test('of drivers that are gone', () => {
    expect(
      warned({
        volumes: [
          { name: 'a', gitRepo: { repository: 'r' } },
          { name: 'b', glusterfs: { endpoints: 'e', path: 'p' } },
          { name: 'c', storageos: { volumeName: 'v' } },
        ],
      }),
    ).toEqual([
      'spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+',
      'spec.volumes[1].glusterfs: deprecated in v1.25, non-functional in v1.26+',
      'spec.volumes[2].storageOS: deprecated in v1.22, non-functional in v1.25+',
    ]);
  });

  test('with files upon each other', () => {
    const items = [
      { key: 'a', path: 'dir' },
      { key: 'b', path: 'dir/file' },
    ];
    expect(warned({ volumes: [{ name: 'v', configMap: { name: 'c', items } }] })).toEqual([
      'volume "v" (ConfigMap "c"): overlapping paths: "dir/file" with "dir"',
    ]);
    const sources = [{ secret: { name: 's', items: items.slice(0, 1) } }, { configMap: { name: 'c', items: items.slice(1) } }, {}];
    expect(warned({ volumes: [{ name: 'v', projected: { sources } }] })).toEqual([
      'volume "v" (Projected) has no sources provided',
      'volume "v" (Projected): overlapping paths: "dir/file" (ConfigMap "c") with "dir" (Secret "s")',
    ]);
  });
});

test('places by labels of old, or by no labels at all', () => {
  const spread = { maxSkew: 1, topologyKey: 'failure-domain.beta.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway' };
  expect(warned({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' }, topologySpreadConstraints: [spread] })).toEqual([
    'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
    'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
  ]);
});

test('amounts of bytes that cannot be', () => {
  expect(warned(container({ resources: { requests: { memory: '500m' } } }))).toEqual([
    'spec.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer',
  ]);
});

test('variables that hide others', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'A', value: '$(A)2' },
    { name: 'A', value: '3' },
  ];
  expect(warned(container({ env }))).toEqual(['spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when using apply']);
});

test('ports that meet', () => {
  const ports = [
    { containerPort: 80, name: 'a' },
    { containerPort: 80, hostPort: 8080 },
    { containerPort: 81, hostIP: '10.0.0.1' },
  ];
  expect(
    warned({
      containers: [
        { name: 'main', image: 'x', ports },
        { name: 'other', image: 'x', ports: [{ containerPort: 82, name: 'a' }] },
      ],
    }),
  ).toEqual([
    'spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
    'spec.containers[0].ports[2]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:81 Protocol:TCP HostIP:10.0.0.1}',
    'spec.containers[1].ports[0]: duplicate port name "a" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
  ]);
});

test('things said twice', () => {
  expect(warned({ hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }], imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}] })).toEqual([
    'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
    'spec.imagePullSecrets[1].name: duplicate name "a"',
    'spec.imagePullSecrets[2].name: invalid empty name ""',
  ]);
});

test('in templates, where they are new or changed', () => {
  const raw = (terminationGracePeriodSeconds: number) => ({
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { ...podSpec, terminationGracePeriodSeconds } },
    },
  });
  const old = created(deploymentKind, raw(-1));
  const warning = 'spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1';
  expect(deploymentKind.warnings?.(old, undefined)).toEqual([warning]);
  expect(deploymentKind.warnings?.(created(deploymentKind, raw(-2)), old)).toEqual([warning]);
  expect(deploymentKind.warnings?.(created(deploymentKind, raw(-1)), old)).toEqual([]);
});
