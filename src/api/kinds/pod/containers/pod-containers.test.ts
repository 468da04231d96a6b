import { describe, expect, test } from 'vitest';
import { refusal } from '../../try-kind.ts';
import { podKind } from '../pod.ts';

const said = (spec: object): string[] => refusal(podKind, { metadata: { name: 'web' }, spec });
const container = (more: object = {}): object => ({ name: 'main', image: 'nginx', ...more });
/** What is said of a pod with one such container; the container's own path is left out. */
const ofContainer = (more: object, pod: object = {}): string[] =>
  said({ containers: [container(more)], ...pod }).map((line) => line.replace('spec.containers[0].', ''));
const ofInit = (more: object): string[] =>
  said({ containers: [container()], initContainers: [container({ name: 'init', ...more })] }).map((line) => line.replace('spec.initContainers[0].', ''));

describe('containers', () => {
  test('there must be one', () => {
    expect(said({ containers: [] })).toEqual(['FieldValueRequired spec.containers: Required value']);
  });

  test('need a name and an image', () => {
    expect(ofContainer({ name: '', image: '' })).toEqual(['FieldValueRequired name: Required value', 'FieldValueRequired image: Required value']);
    expect(ofContainer({ image: ' nginx' })).toEqual(['FieldValueInvalid image: Invalid value: " nginx": must not have leading or trailing whitespace']);
  });

  test('share no names', () => {
    expect(said({ containers: [container(), container()] })).toEqual(['FieldValueDuplicate spec.containers[1].name: Duplicate value: "main"']);
    expect(ofInit({ name: 'main' })).toEqual(['FieldValueDuplicate name: Duplicate value: "main"']);
  });

  test('policies must be known', () => {
    expect(ofContainer({ imagePullPolicy: 'Often', terminationMessagePolicy: 'Log' })).toEqual([
      'FieldValueNotSupported terminationMessagePolicy: Unsupported value: "Log": supported values: "File", "FallbackToLogsOnError"',
      'FieldValueNotSupported imagePullPolicy: Unsupported value: "Often": supported values: "Always", "IfNotPresent", "Never"',
    ]);
  });

  test('ephemeral containers come later', () => {
    expect(said({ containers: [container()], ephemeralContainers: [container({ name: 'debug' })] })).toEqual([
      'FieldValueForbidden spec.ephemeralContainers: Forbidden: cannot be set on create',
    ]);
  });
});

describe('ports', () => {
  test('are numbers, with names and protocols that exist', () => {
    expect(
      ofContainer({
        ports: [
          { containerPort: 0, protocol: 'ICMP', name: 'A' },
          { containerPort: 65536, hostPort: -1 },
        ],
      }),
    ).toEqual([
      'FieldValueInvalid ports[0].name: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'FieldValueInvalid ports[0].name: Invalid value: "A": must contain at least one letter (a-z)',
      'FieldValueRequired ports[0].containerPort: Required value',
      'FieldValueNotSupported ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
      'FieldValueInvalid ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive',
      'FieldValueInvalid ports[1].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive',
    ]);
  });

  test('of the node are taken once', () => {
    const ports = [
      { containerPort: 80, hostPort: 8080, name: 'a' },
      { containerPort: 81, hostPort: 8080, name: 'a' },
    ];
    expect(ofContainer({ ports })).toEqual([
      'FieldValueDuplicate ports[1].name: Duplicate value: "a"',
      'FieldValueDuplicate ports[1].hostPort: Duplicate value: "TCP//8080"',
    ]);
  });

  test('are the same inside and outside on the node’s network', () => {
    expect(ofContainer({ ports: [{ containerPort: 80, hostPort: 81 }] }, { hostNetwork: true })).toEqual([
      'FieldValueInvalid ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
    ]);
  });
});

describe('environment', () => {
  const env = (...variables: object[]): string[] => ofContainer({ env: variables });

  test('names are printable', () => {
    expect(env({ name: '1.a-b c' })).toEqual([]);
    expect(env({ name: 'a=b' })).toEqual([
      'FieldValueInvalid env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
    ]);
    expect(env({ name: '' })).toEqual(['FieldValueRequired env[0].name: Required value']);
  });

  test('a value comes from one place', () => {
    const fieldRef = { fieldPath: 'metadata.name' };
    const secretKeyRef = { name: 's', key: 'k' };
    expect(env({ name: 'A', valueFrom: {} })).toEqual([
      'FieldValueInvalid env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    ]);
    expect(env({ name: 'A', value: 'x', valueFrom: { fieldRef } })).toEqual([
      'FieldValueInvalid env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
    ]);
    expect(env({ name: 'A', valueFrom: { fieldRef, secretKeyRef } })).toEqual([
      'FieldValueInvalid env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time',
    ]);
  });

  test('the place must be a good one', () => {
    expect(env({ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.labels' } } })).toEqual([
      'FieldValueNotSupported env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "metadata.labels": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
    ]);
    expect(env({ name: 'A', valueFrom: { configMapKeyRef: { name: 'c', key: '..' } } })).toEqual([
      'FieldValueInvalid env[0].valueFrom.configMapKeyRef.key: Invalid value: "..": must not be \'..\'',
    ]);
    expect(env({ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.disk' } } })).toEqual([
      'FieldValueNotSupported env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.disk": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"',
    ]);
  });

  test('a file to read from is in an emptyDir', () => {
    const variable = { name: 'A', valueFrom: { fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } } };
    const at = 'env[0].valueFrom.fileKeyRef.volumeName';
    expect(env(variable)).toEqual([`FieldValueNotFound ${at}: Not found: "v"`]);
    const claim = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] };
    expect(ofContainer({ env: [variable] }, claim)).toEqual([`FieldValueInvalid ${at}: Invalid value: "v": referenced volume must be of type emptyDir`]);
  });

  test('all of a config map or a secret', () => {
    const sources = [{ prefix: 'a=' }, { configMapRef: { name: '' } }, { secretRef: { name: 's' }, configMapRef: { name: 'c' } }];
    expect(ofContainer({ envFrom: sources })).toEqual([
      'FieldValueInvalid envFrom[0].prefix: Invalid value: "a=": a valid environment variable name must consist only of printable ASCII characters other than \'=\'',
      'FieldValueInvalid envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`',
      'FieldValueRequired envFrom[1].configMapRef.name: Required value',
      'FieldValueInvalid envFrom: Invalid value: "": may not have more than one field specified at a time',
    ]);
  });
});

describe('probes and hooks', () => {
  const exec = { exec: { command: ['true'] } };

  test('do one thing', () => {
    expect(ofContainer({ livenessProbe: {} })).toEqual(['FieldValueRequired livenessProbe: Required value: must specify a handler type']);
    expect(ofContainer({ livenessProbe: { ...exec, tcpSocket: { port: 1 } } })).toEqual([
      'FieldValueForbidden livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
    ]);
  });

  test('count', () => {
    expect(ofContainer({ livenessProbe: { ...exec, successThreshold: 2, periodSeconds: -1, terminationGracePeriodSeconds: 0 } })).toEqual([
      'FieldValueInvalid livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0',
      'FieldValueInvalid livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0',
      'FieldValueInvalid livenessProbe.successThreshold: Invalid value: 2: must be 1',
    ]);
    expect(ofContainer({ readinessProbe: { ...exec, successThreshold: 2, terminationGracePeriodSeconds: 5 } })).toEqual([
      'FieldValueInvalid readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for readinessProbes',
    ]);
  });

  test('ask by HTTP', () => {
    expect(ofContainer({ startupProbe: { httpGet: { port: 'A_', scheme: 'FTP', httpHeaders: [{ name: 'a:b', value: '' }] } } })).toEqual([
      'FieldValueInvalid startupProbe.httpGet.port: Invalid value: "A_": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      'FieldValueInvalid startupProbe.httpGet.port: Invalid value: "A_": must contain at least one letter (a-z)',
      'FieldValueNotSupported startupProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"',
      "FieldValueInvalid startupProbe.httpGet.httpHeaders: Invalid value: \"a:b\": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
    ]);
  });

  test('sleep no longer than the pod has', () => {
    expect(ofContainer({ lifecycle: { preStop: { sleep: { seconds: 31 } } } })).toEqual([
      'FieldValueInvalid lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)',
    ]);
  });

  test('are not for init containers, unless they stay', () => {
    const probes = { livenessProbe: exec, lifecycle: { postStart: exec } };
    const refused = 'may not be set for init containers without restartPolicy=Always';
    expect(ofInit(probes)).toEqual([`FieldValueForbidden lifecycle: Forbidden: ${refused}`, `FieldValueForbidden livenessProbe: Forbidden: ${refused}`]);
    expect(ofInit({ ...probes, restartPolicy: 'Always' })).toEqual([]);
  });
});

describe('restarts of single containers', () => {
  const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };

  test('are by known policies and rules', () => {
    expect(ofInit({ restartPolicy: 'Never' })).toEqual([]);
    expect(ofInit({ restartPolicy: 'Perhaps' })).toEqual([
      'FieldValueNotSupported restartPolicy: Unsupported value: "Perhaps": supported values: "Always", "Never", "OnFailure"',
    ]);
    expect(ofContainer({ restartPolicyRules: [rule] })).toEqual([
      'FieldValueRequired restartPolicy: Required value: must specify restartPolicy when restart rules are used',
    ]);
    expect(ofContainer({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'Panic' }, { ...rule, exitCodes: { operator: 'Is' } }] })).toEqual([
      'FieldValueNotSupported restartPolicyRules[0].action: Unsupported value: "Panic": supported values: "Restart", "RestartAllContainers"',
      'FieldValueRequired restartPolicyRules[0].exitCodes: Required value: must be specified',
      'FieldValueNotSupported restartPolicyRules[1].exitCodes.operator: Unsupported value: "Is": supported values: "In", "NotIn"',
    ]);
    expect(ofContainer({ restartPolicy: 'Never', restartPolicyRules: Array.from({ length: 21 }, () => rule) })).toEqual([
      'FieldValueTooMany restartPolicyRules: Too many: 21: must have at most 20 items',
    ]);
  });
});

describe('resources', () => {
  const resources = (limits: object, requests: object = {}): string[] => ofContainer({ resources: { limits, requests } });

  test('have names that containers know', () => {
    expect(resources({ storage: '1' })).toEqual(
      ['limits', 'requests'].map(
        (list) => `FieldValueInvalid resources.${list}[storage]: Invalid value: "storage": must be a standard resource for containers`,
      ),
    );
    expect(resources({}, { magic: '1' })).toEqual([
      'FieldValueInvalid resources.requests[magic]: Invalid value: "magic": must be a standard resource type or fully qualified',
      'FieldValueInvalid resources.requests[magic]: Invalid value: "magic": must be a standard resource for containers',
    ]);
  });

  test('are not negative, and not more than their limit', () => {
    expect(resources({}, { cpu: '-1' })).toEqual(['FieldValueInvalid resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0']);
    expect(resources({ memory: '1Gi' }, { memory: '2Gi' })).toEqual([
      'FieldValueInvalid resources.requests: Invalid value: "2Gi": must be less than or equal to memory limit of 1Gi',
    ]);
  });

  test('devices come whole and are not shared', () => {
    expect(resources({ 'example.com/gpu': '2' }, { 'example.com/gpu': '1' })).toEqual([
      'FieldValueInvalid resources.requests: Invalid value: "1": must be equal to example.com/gpu limit of 2',
    ]);
    expect(resources({}, { 'example.com/gpu': '500m' })).toEqual([
      'FieldValueInvalid resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
      'FieldValueRequired resources.limits: Required value: Limit must be set for non overcommitable resources',
    ]);
  });

  test('huge pages are whole pages, and need something else', () => {
    const field = 'resources.limits[hugepages-2Mi]';
    expect(resources({ 'hugepages-2Mi': '3Mi', cpu: '1' }).filter((line) => line.includes(field))).toEqual([
      `FieldValueInvalid ${field}: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
    ]);
    expect(resources({ 'hugepages-2Mi': '4Mi' })).toEqual(['FieldValueForbidden resources: Forbidden: HugePages require cpu or memory']);
  });

  test('claims of devices are those of the pod', () => {
    expect(ofContainer({ resources: { claims: [{ name: 'gpu' }, { name: 'gpu' }] } }, { resourceClaims: [{ name: 'disk', resourceClaimName: 'd' }] })).toEqual([
      'FieldValueNotFound resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims: disk',
      'FieldValueDuplicate resources.claims[1]: Duplicate value: "gpu"',
      'FieldValueNotFound resources.claims[1]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims: disk',
    ]);
  });

  test('of the pod as a whole hold those of its containers', () => {
    const pod = { resources: { requests: { cpu: '1' }, limits: { cpu: '2' } } };
    expect(ofContainer({ resources: { requests: { cpu: '1500m' }, limits: { cpu: '3' } } }, pod)).toEqual([
      'FieldValueInvalid spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m',
      'FieldValueInvalid spec.resources.containers[0][cpu].limits: Invalid value: "3": must be less than or equal to pod limits of 2',
    ]);
    expect(ofContainer({}, { resources: { limits: { storage: '1' } } })).toEqual([
      'FieldValueNotSupported spec.resources.limits[storage]: Unsupported value: "storage": supported values: "cpu", "hugepages-", "memory"',
    ]);
  });

  test('how they change while the container runs', () => {
    const resizePolicy = [
      { resourceName: 'cpu', restartPolicy: 'RestartContainer' },
      { resourceName: 'cpu', restartPolicy: 'Never' },
    ];
    expect(ofContainer({ resizePolicy })).toEqual([
      'FieldValueDuplicate resizePolicy[1]: Duplicate value: "cpu"',
      'FieldValueNotSupported resizePolicy: Unsupported value: "Never": supported values: "NotRequired", "RestartContainer"',
    ]);
    expect(ofInit({ resizePolicy: resizePolicy.slice(0, 1) })).toEqual([
      'FieldValueInvalid resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to \'RestartContainer\' for non-sidecar initContainers',
    ]);
  });
});

describe('security', () => {
  const secure = (securityContext: object, pod: object = {}): string[] =>
    ofContainer({ securityContext }, pod).map((line) => line.replace('securityContext.', ''));

  test('users and groups are numbers of the node', () => {
    expect(secure({ runAsUser: -1, runAsGroup: 2 ** 31 })).toEqual([
      'FieldValueInvalid runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'FieldValueInvalid runAsGroup: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
    ]);
  });

  test('profiles', () => {
    expect(secure({ seccompProfile: { type: 'Localhost' }, appArmorProfile: { type: 'Unconfined', localhostProfile: 'x' } })).toEqual([
      'FieldValueRequired seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
      'FieldValueInvalid appArmorProfile.localhostProfile: Invalid value: "x": can only be set when AppArmor type is Localhost',
    ]);
    expect(secure({ seccompProfile: { type: 'Strict' } })).toEqual([
      'FieldValueNotSupported seccompProfile.type: Unsupported value: "Strict": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ]);
  });

  test('a privileged container escalates', () => {
    const [line = ''] = secure({ privileged: true, allowPrivilegeEscalation: false });
    expect(line).toMatch(
      /^FieldValueInvalid securityContext: Invalid value: \{"Capabilities":null,"Privileged":true,.*: cannot set `allowPrivilegeEscalation` to false and `privileged` to true$/,
    );
  });

  test('an unmasked /proc needs users of the pod’s own', () => {
    expect(secure({ procMount: 'Unmasked' })).toEqual(['FieldValueInvalid procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`']);
    expect(secure({ procMount: 'Unmasked' }, { hostUsers: false })).toEqual([]);
  });

  test('of the pod', () => {
    const securityContext = {
      fsGroup: -1,
      fsGroupChangePolicy: 'Never',
      sysctls: [
        { name: 'net.core.somaxconn', value: '1' },
        { name: 'A B', value: '1' },
      ],
      seLinuxChangePolicy: 'No',
    };
    expect(ofContainer({}, { securityContext, hostNetwork: true, hostPID: true, shareProcessNamespace: true })).toEqual([
      'FieldValueInvalid spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'FieldValueInvalid spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
      'FieldValueInvalid spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when \'hostNetwork\' is true',
      'FieldValueInvalid spec.securityContext.sysctls[1].name: Invalid value: "A B": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
      'FieldValueNotSupported spec.securityContext.fsGroupChangePolicy: Unsupported value: "Never": supported values: "Always", "OnRootMismatch"',
      'FieldValueNotSupported spec.securityContext.seLinuxChangePolicy: Unsupported value: "No": supported values: "MountOption", "Recursive"',
    ]);
  });

  test('with users of its own a pod shares nothing else', () => {
    expect(ofContainer({}, { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true })).toEqual(
      ['hostNetwork', 'HostPID', 'HostIPC'].map((field) => `FieldValueForbidden spec.${field}: Forbidden: when \`hostUsers\` is false`),
    );
  });

  test('Windows and Linux do not mix', () => {
    expect(ofContainer({ securityContext: { runAsUser: 1 } }, { os: { name: 'windows' }, securityContext: { fsGroup: 1 } })).toEqual([
      'FieldValueForbidden spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod',
      'FieldValueForbidden securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
    ]);
    expect(ofContainer({ securityContext: { windowsOptions: {} } }, { os: { name: 'linux' } })).toEqual([
      'FieldValueForbidden securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod',
    ]);
    expect(ofContainer({}, { os: { name: 'beos' } })).toEqual([
      'FieldValueNotSupported spec.os: Unsupported value: "beos": supported values: "linux", "windows"',
    ]);
    expect(secure({ windowsOptions: { hostProcess: true, runAsUserName: 'A\\B\\C' } })).toEqual([
      'FieldValueInvalid windowsOptions.runAsUserName: Invalid value: "A\\\\B\\\\C": runAsUserName cannot contain more than one backslash',
      'FieldValueInvalid spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    ]);
  });
});
