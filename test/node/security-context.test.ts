/** Nothing in a securityContext is silently ignored: each field of the API's schema is honoured, or the pod is refused by a message that names it. */
import { describe, expect, test } from 'vitest';
import type { Pod, PodSecurityContext, PodSpec, SecurityContext } from '../../src/api/generated/types.ts';
import { type TypeExpression, typeSchema } from '../../src/api/schema/type-schema.ts';
import { setVolumeOwnership } from '../../src/drivers/mount/volume-ownership.ts';
import { containerSpecOf, sandboxSpecOf } from '../../src/node/pod-worker/container-spec.ts';
import type { HostSecurity } from '../../src/node/security/host-security.ts';
import { seccompFilter } from '../../src/node/security/seccomp-filter.ts';
import { containerProblem, sandboxProblem, securityRejection, unenforcedLabel } from '../../src/node/security/security-context.ts';
import type { FileStat, HostFiles, TreeEntry } from '../../src/world/mounts.ts';

const security: HostSecurity = {
  appArmorProfiles: ['cri-containerd.apparmor.d', 'web'],
  capabilities: ['CHOWN', 'NET_ADMIN', 'SYS_ADMIN'],
  seccompDefault: false,
  allowedUnsafeSysctls: ['kernel.msg*'],
  isSELinuxEnabled: true,
};

const podOf = ({ pod = {}, container = {}, spec = {}, annotations = {} }: Variant): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'uid', annotations },
  spec: { containers: [{ name: 'app', image: 'x', resources: {}, securityContext: container }], securityContext: pod, ...spec },
  status: {},
});

interface Variant {
  readonly pod?: PodSecurityContext;
  readonly container?: SecurityContext;
  readonly spec?: Partial<PodSpec>;
  readonly annotations?: Record<string, string>;
}

const profile = Buffer.from('{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir"],"action":"SCMP_ACT_ERRNO"}]}');

/** What the node makes of a pod: the first refusal, or what the runtime is asked for. */
async function outcomeOf(variant: Variant, over: Partial<HostSecurity> = {}) {
  const pod = podOf(variant);
  const [container] = pod.spec.containers ?? [];
  if (container === undefined) throw new Error('the pod has no container');
  const host = { ...security, ...over };
  const rejected = securityRejection(pod, '6.1.0', host);
  if (rejected !== undefined) return { refused: `${rejected.reason}: ${rejected.message}` };
  const noSandbox = sandboxProblem(pod);
  if (noSandbox !== undefined) return { refused: `FailedCreatePodSandBox: ${noSandbox}` };
  const waiting = containerProblem(pod, container, host);
  if (waiting !== undefined) return { refused: `${waiting.reason}: ${waiting.message}` };
  const seccomp = await seccompFilter(pod, container, {
    machine: 'amd64',
    kernelVersion: '6.1.0',
    seccompDefault: host.seccompDefault,
    readProfileFile: async (name) => {
      if (name === 'own.json') return profile;
      throw new Error('no such file or directory');
    },
  });
  if (!seccomp.ok) return { refused: `CreateContainerError: ${seccomp.error}` };
  const resolved = { pod, container, attempt: 0, env: [], expand: (text: string) => text, mounts: [], devices: [], groups: [], seccompFilter: seccomp.filter };
  const address = pod.spec.hostNetwork === true ? undefined : '10.0.0.5';
  return {
    container: { seccompFilter: undefined, appArmorProfile: undefined, ...containerSpecOf(resolved) },
    sandbox: sandboxSpecOf(pod, { address, clusterDomain: 'cluster.local', nameServer: undefined }),
  };
}

/** With a message that names the field; or what the runtime is asked for instead. */
type Expected = { readonly refused: string } | { readonly container: object } | { readonly sandbox: object };

interface Entry {
  readonly variant: Variant;
  readonly expected: Expected;
}

const unknown = 'is not a capability of Linux';
const noLabels = (field: string): Expected => ({
  refused: `CreateContainerError: securityContext.seLinuxOptions.${field}: the runtime sets no SELinux labels`,
});
const noWindows = (field: string): Expected => ({
  refused: `CreateContainerError: securityContext.windowsOptions.${field}: windows options cannot be set for a pod on a linux node`,
});
const both = (context: PodSecurityContext & SecurityContext, expected: Expected): readonly Entry[] => [
  { variant: { pod: context }, expected },
  { variant: { container: context }, expected },
];
const labels = (field: string) => both({ seLinuxOptions: { [field]: 's0' } }, noLabels(field));
const windows = (field: string, value: string | boolean) => both({ windowsOptions: { [field]: value } }, noWindows(field));
const own = (container: SecurityContext, expected: Expected): readonly Entry[] => [{ variant: { container }, expected }];
const podWide = (pod: PodSecurityContext, expected: Expected): readonly Entry[] => [{ variant: { pod }, expected }];
const shared = (spec: Partial<PodSpec>, expected: Expected): readonly Entry[] => [{ variant: { spec }, expected }];
const user = (of: { uid?: number; gid?: number; groups?: readonly number[] }): Expected => ({ container: { user: expect.objectContaining(of) } });

/** By the field's path. Where a pod and its containers have it, both are tried. */
const entries: Readonly<Record<string, readonly Entry[]>> = {
  'seLinuxOptions.user': labels('user'),
  'seLinuxOptions.role': labels('role'),
  'seLinuxOptions.type': labels('type'),
  'seLinuxOptions.level': labels('level'),
  // How volumes get the pod's label: without a label they get none either way.
  seLinuxChangePolicy: podWide({ seLinuxChangePolicy: 'Recursive', seLinuxOptions: { level: 's0' } }, noLabels('level')),
  'windowsOptions.gmsaCredentialSpecName': windows('gmsaCredentialSpecName', 'x'),
  'windowsOptions.gmsaCredentialSpec': windows('gmsaCredentialSpec', 'x'),
  'windowsOptions.runAsUserName': windows('runAsUserName', 'x'),
  'windowsOptions.hostProcess': windows('hostProcess', false),
  runAsUser: both({ runAsUser: 2 ** 31 - 1 }, user({ uid: 2 ** 31 - 1 })),
  runAsGroup: both({ runAsGroup: 1001 }, user({ gid: 1001 })),
  runAsNonRoot: [
    ...both(
      { runAsNonRoot: true },
      { refused: 'CreateContainerConfigError: container has runAsNonRoot and image will run as root (pod: "web_default(uid)", container: app)' },
    ),
    ...both(
      { runAsNonRoot: true, runAsUser: 0 },
      { refused: 'CreateContainerConfigError: container\'s runAsUser breaks non-root policy (pod: "web_default(uid)", container: app)' },
    ),
  ],
  supplementalGroups: podWide({ supplementalGroups: [5, 6] }, user({ groups: [5, 6] })),
  // Images bring no groups of their users: both policies give what the pod asks for, and nothing else.
  supplementalGroupsPolicy: ['Merge', 'Strict'].flatMap((policy) =>
    podWide({ supplementalGroups: [5], supplementalGroupsPolicy: policy }, user({ groups: [5] })),
  ),
  fsGroup: podWide({ fsGroup: 7 }, user({ groups: [7] })),
  fsGroupChangePolicy: podWide({ fsGroup: 7, fsGroupChangePolicy: 'OnRootMismatch' }, user({ groups: [7] })),
  'sysctls.name': [
    ...podWide({ sysctls: [{ name: 'kernel.shm_rmid_forced', value: '1' }] }, { sandbox: { sysctls: [{ path: 'kernel/shm_rmid_forced', value: '1' }] } }),
    ...podWide({ sysctls: [{ name: 'net/ipv4/tcp_syncookies', value: '1' }] }, { sandbox: { sysctls: [{ path: 'net/ipv4/tcp_syncookies', value: '1' }] } }),
    ...podWide({ sysctls: [{ name: 'kernel.msgmax', value: '1' }] }, { sandbox: { sysctls: [{ path: 'kernel/msgmax', value: '1' }] } }),
    ...podWide(
      { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] },
      { refused: 'SysctlForbidden: forbidden sysctl: "net.core.somaxconn" not allowlisted' },
    ),
    ...podWide({ sysctls: [{ name: 'constructor', value: '1' }] }, { refused: 'SysctlForbidden: forbidden sysctl: "constructor" not allowlisted' }),
  ],
  'sysctls.value': podWide(
    { sysctls: [{ name: 'kernel.shm_rmid_forced', value: '0' }] },
    { sandbox: { sysctls: [{ path: 'kernel/shm_rmid_forced', value: '0' }] } },
  ),
  'seccompProfile.type': [
    ...both({ seccompProfile: { type: 'RuntimeDefault' } }, { container: { seccompFilter: expect.stringMatching(/^.{2000}/) } }),
    ...both({ seccompProfile: { type: 'Unconfined' } }, { container: { seccompFilter: undefined } }),
    ...own({ seccompProfile: { type: 'RuntimeDefault' }, privileged: true }, { container: { seccompFilter: undefined, privileged: true } }),
  ],
  'seccompProfile.localhostProfile': [
    ...both({ seccompProfile: { type: 'Localhost', localhostProfile: 'own.json' } }, { container: { seccompFilter: expect.stringMatching(/^.{100,1000}$/) } }),
    ...both(
      { seccompProfile: { type: 'Localhost', localhostProfile: 'none.json' } },
      { refused: 'CreateContainerError: cannot load seccomp profile "none.json": no such file or directory (securityContext.seccompProfile.localhostProfile)' },
    ),
  ],
  'appArmorProfile.type': [
    ...both({ appArmorProfile: { type: 'RuntimeDefault' } }, { container: { appArmorProfile: 'cri-containerd.apparmor.d' } }),
    ...both({ appArmorProfile: { type: 'Unconfined' } }, { container: { appArmorProfile: undefined } }),
  ],
  'appArmorProfile.localhostProfile': [
    ...both({ appArmorProfile: { type: 'Localhost', localhostProfile: 'web' } }, { container: { appArmorProfile: 'web' } }),
    ...both(
      { appArmorProfile: { type: 'Localhost', localhostProfile: 'none' } },
      { refused: 'CreateContainerError: failed to generate apparmor spec opts: apparmor profile not found none (securityContext.appArmorProfile)' },
    ),
  ],
  'capabilities.add': [
    ...own({ capabilities: { add: ['NET_ADMIN'] } }, { container: { capabilities: { add: ['NET_ADMIN'], drop: [] } } }),
    ...own({ capabilities: { add: ['NETADMIN'] } }, { refused: `CreateContainerError: securityContext.capabilities.add: "NETADMIN" ${unknown}` }),
    ...own(
      { capabilities: { add: ['SYS_TIME'] } },
      { refused: 'CreateContainerError: securityContext.capabilities.add: "SYS_TIME" is not available on this node' },
    ),
  ],
  'capabilities.drop': [
    ...own({ capabilities: { drop: ['all'] } }, { container: { capabilities: { add: [], drop: ['all'] } } }),
    ...own({ capabilities: { drop: ['NETRAW'] } }, { refused: `CreateContainerError: securityContext.capabilities.drop: "NETRAW" ${unknown}` }),
  ],
  privileged: own({ privileged: true }, { container: { privileged: true } }),
  readOnlyRootFilesystem: own({ readOnlyRootFilesystem: true }, { container: { readOnlyRoot: true } }),
  allowPrivilegeEscalation: own({ allowPrivilegeEscalation: false }, { container: { noNewPrivileges: true } }),
  // The API server permits Unmasked with hostUsers: false only.
  procMount: [
    {
      variant: { container: { procMount: 'Unmasked' }, spec: { hostUsers: false } },
      expected: { refused: "FailedCreatePodSandBox: can't set `spec.hostUsers: false`, runtime does not support user namespaces" },
    },
  ],
  hostNetwork: shared({ hostNetwork: true }, { sandbox: { address: undefined } }),
  hostPID: shared({ hostPID: true }, { container: { hostPid: true } }),
  hostIPC: shared({ hostIPC: true }, { sandbox: { hostIpc: true } }),
  shareProcessNamespace: shared({ shareProcessNamespace: true }, { sandbox: { sharesProcesses: true } }),
  hostUsers: shared({ hostUsers: false }, { refused: "FailedCreatePodSandBox: can't set `spec.hostUsers: false`, runtime does not support user namespaces" }),
};

/** Paths of the fields of a type that have no fields themselves. */
function leaves(type: string, prefix = ''): readonly string[] {
  const struct = (expression: TypeExpression): string | undefined =>
    expression.type === 'list' ? struct(expression.of) : expression.type === 'struct' ? expression.name : undefined;
  return [...typeSchema(type).byName].flatMap(([name, field]) => {
    const below = struct(field.type);
    return below === undefined ? [`${prefix}${name}`] : leaves(below, `${prefix}${name}.`);
  });
}

describe('every field of a securityContext', () => {
  const namespaces = [...typeSchema('PodSpec').byName.keys()].filter((name) => /^(host(?!name|Aliases)|share)/.test(name));

  test('has an entry in this test: those of pods, those of containers, and the namespaces that a pod shares', () => {
    expect(Object.keys(entries).sort()).toEqual([...new Set([...leaves('PodSecurityContext'), ...leaves('SecurityContext'), ...namespaces])].sort());
  });

  test.each(Object.entries(entries).flatMap(([field, all]) => all.map(({ variant, expected }) => ({ field, variant, expected }))))(
    '$field: $variant',
    async ({ variant, expected }) => expect(await outcomeOf(variant)).toMatchObject(expected),
  );

  test('an empty one asks for nothing', async () => {
    const plain = await outcomeOf({});
    expect(
      await outcomeOf({
        pod: { seLinuxOptions: {}, windowsOptions: {}, sysctls: [] },
        container: { capabilities: {}, seLinuxOptions: {}, windowsOptions: {} },
      }),
    ).toEqual(plain);
  });

  test('devices of resourceClaims are not to be had', async () => {
    const refused = "FailedCreatePodSandBox: can't prepare `spec.resourceClaims`, runtime does not support devices of resource.k8s.io";
    expect(await outcomeOf({ spec: { resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu' }] } })).toEqual({ refused });
  });

  test('fsGroupChangePolicy: OnRootMismatch leaves a volume whose root has the group; Always does not', async () => {
    const changes = async (fsGroupChangePolicy: string) => {
      let count = 0;
      const stat: FileStat = { type: 'directory', mode: 0o42770, uid: 0, gid: 7, size: 0 };
      const entry: TreeEntry = { stat, setGroup: async () => void count++, setMode: async () => undefined };
      const files: Pick<HostFiles, 'stat' | 'walkTree'> = { stat: async () => stat, walkTree: (_, visit) => visit(entry) };
      const clock = { monotonic: () => 0, now: () => 0 };
      await setVolumeOwnership('/v', {
        files: files as HostFiles,
        clock,
        pod: podOf({ pod: { fsGroup: 7, fsGroupChangePolicy } }),
        readOnly: false,
        when: 'policy',
        recordEvent: () => undefined,
      });
      return count;
    };
    expect([await changes('OnRootMismatch'), await changes('Always')]).toEqual([0, 1]);
  });

  test('without AppArmor in the kernel, pods that ask for it are rejected, by field or by the deprecated annotation', async () => {
    const none = { appArmorProfiles: undefined };
    const refused = { refused: 'AppArmor: Cannot enforce AppArmor: AppArmor is not enabled on the host' };
    for (const type of ['RuntimeDefault', 'Localhost'])
      expect(await outcomeOf({ pod: { appArmorProfile: { type, localhostProfile: 'web' } } }, none)).toEqual(refused);
    const annotated = (value: string) => outcomeOf({ annotations: { 'container.apparmor.security.beta.kubernetes.io/app': value } }, none);
    expect(await annotated('localhost/web')).toEqual(refused);
    expect(await annotated('unconfined')).toHaveProperty('container');
    expect(await outcomeOf({ pod: { appArmorProfile: { type: 'Unconfined' } } }, none)).toHaveProperty('container');
  });

  test('without SELinux in the kernel, labels have no effect, and an event of the pod says so', async () => {
    const none = { isSELinuxEnabled: false };
    const labelled = { seLinuxOptions: { level: 's0:c0,c1' } };
    for (const variant of [{ pod: labelled }, { container: labelled }]) {
      expect(await outcomeOf(variant, none)).toEqual(await outcomeOf({}));
      const message = 'securityContext.seLinuxOptions.level has no effect: SELinux is not enabled on the node';
      expect(unenforcedLabel(podOf(variant), { ...security, ...none })).toBe(message);
      expect(unenforcedLabel(podOf(variant), security)).toBeUndefined();
    }
    expect(unenforcedLabel(podOf({ pod: { seLinuxOptions: {} } }), { ...security, ...none })).toBeUndefined();
  });

  test('seccomp annotations mean nothing since v1.27', async () => {
    const annotations = {
      'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default',
      'container.seccomp.security.alpha.kubernetes.io/app': 'localhost/none.json',
    };
    expect((await outcomeOf({ annotations })).container?.seccompFilter).toBeUndefined();
  });

  test('a node with seccompDefault confines containers that ask for nothing, and no privileged ones', async () => {
    const confined = { seccompDefault: true };
    expect((await outcomeOf({}, confined)).container?.seccompFilter).toMatch(/^.{2000}/);
    expect((await outcomeOf({ pod: { seccompProfile: { type: 'Unconfined' } } }, confined)).container?.seccompFilter).toBeUndefined();
    expect((await outcomeOf({ container: { privileged: true } }, confined)).container?.seccompFilter).toBeUndefined();
  });
});
