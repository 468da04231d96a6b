/** The checks of the baseline level, with the texts of v1.36.4 (policy/check_*.go). */
import { quoteGo } from '../../../../../api/json.ts';
import { type Check, type CheckedContainer, type CheckedPod, type CheckPod, containersOf, containersText } from './check.ts';
import { isInUserNamespace, joinQuote, namesWhere, pluralize, settersText, sortedSet, type Violation } from './check.ts';
import { badSeccompProfiles, seccompAnnotations } from './seccomp.ts';
import { sysctls } from './sysctls.ts';

const always = (checkPod: CheckPod): Check['versions'] => [{ since: 0, checkPod }];

const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/';

function appArmorProfile({ metadata, spec }: CheckedPod): Violation | undefined {
  const badType = (context: { readonly appArmorProfile?: { readonly type: string } } | undefined): readonly string[] => {
    const type = context?.appArmorProfile?.type;
    return type === undefined || type === 'RuntimeDefault' || type === 'Localhost' ? [] : [type];
  };
  const ofPod = badType(spec.securityContext);
  const containers = containersOf(spec).filter(({ securityContext }) => badType(securityContext).length > 0);
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorAnnotation) && value !== '' && value !== 'runtime/default' && !value.startsWith('localhost/'))
    .map(([key, value]) => `${key}=${quoteGo(value)}`)
    .sort();
  const values = [...sortedSet([...ofPod, ...containers.flatMap(({ securityContext }) => badType(securityContext))]), ...annotations];
  if (values.length === 0) return undefined;
  const fields = settersText(
    ofPod.length > 0,
    containers.map(({ name }) => name),
  );
  const setters = [fields, annotations.length === 0 ? '' : pluralize('annotation', 'annotations', annotations.length)].filter((text) => text !== '');
  return {
    reason: pluralize('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${joinQuote(values)}`,
  };
}

const defaultCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

function capabilities({ spec }: CheckedPod): Violation | undefined {
  const added = ({ securityContext }: CheckedContainer): readonly string[] =>
    (securityContext?.capabilities?.add ?? []).filter((capability) => !defaultCapabilities.has(capability));
  const names = namesWhere(spec, (container) => added(container).length > 0);
  if (names.length === 0) return undefined;
  const bad = sortedSet(containersOf(spec).flatMap(added));
  return { reason: 'non-default capabilities', detail: `${containersText(names)} must not include ${joinQuote(bad)} in securityContext.capabilities.add` };
}

function hostNamespaces({ spec }: CheckedPod): Violation | undefined {
  const used = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  return used.length === 0 ? undefined : { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
}

function hostPathVolumes({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  return names.length === 0 ? undefined : { reason: 'hostPath volumes', detail: `${pluralize('volume', 'volumes', names.length)} ${joinQuote(names)}` };
}

function hostPorts({ spec }: CheckedPod): Violation | undefined {
  const portsOf = ({ ports }: CheckedContainer): readonly string[] => (ports ?? []).flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]));
  const names = namesWhere(spec, (container) => portsOf(container).length > 0);
  if (names.length === 0) return undefined;
  const ports = sortedSet(containersOf(spec).flatMap(portsOf));
  const uses = pluralize('uses', 'use', names.length);
  return { reason: 'hostPort', detail: `${containersText(names)} ${uses} ${pluralize('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}` };
}

function hostProbesAndHostLifecycle({ spec }: CheckedPod): Violation | undefined {
  const hostsOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: CheckedContainer): readonly string[] =>
    [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
      .flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''])
      .filter((host) => host !== '');
  const names = sortedSet(namesWhere(spec, (container) => hostsOf(container).length > 0));
  if (names.length === 0) return undefined;
  const hosts = sortedSet(containersOf(spec).flatMap(hostsOf));
  const uses = pluralize('uses', 'use', names.length);
  const what = pluralize('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length);
  return { reason: 'probe or lifecycle host', detail: `${containersText(names)} ${uses} ${what} ${joinQuote(hosts)}` };
}

function privilegedContainers({ spec }: CheckedPod): Violation | undefined {
  const names = namesWhere(spec, ({ securityContext }) => securityContext?.privileged === true);
  return names.length === 0 ? undefined : { reason: 'privileged', detail: `${containersText(names)} must not set securityContext.privileged=true` };
}

export function procMount({ spec }: CheckedPod): Violation | undefined {
  const other = ({ securityContext }: CheckedContainer): readonly string[] => [securityContext?.procMount ?? 'Default'].filter((type) => type !== 'Default');
  const names = namesWhere(spec, (container) => other(container).length > 0);
  if (names.length === 0) return undefined;
  const types = joinQuote(sortedSet(containersOf(spec).flatMap(other)));
  return { reason: 'procMount', detail: `${containersText(names)} must not set securityContext.procMount to ${types}` };
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

const seLinuxOptions =
  (allowed: readonly string[]): CheckPod =>
  ({ spec }) => {
    const optionsOf = ({ securityContext }: Pick<CheckedContainer, 'securityContext'> | CheckedPod['spec']) => {
      const { type = '', user = '', role = '' } = securityContext?.seLinuxOptions ?? {};
      return { type: allowed.includes(type) ? undefined : type, user: user !== '', role: role !== '' };
    };
    const isBad = (from: Parameters<typeof optionsOf>[0]): boolean => {
      const { type, user, role } = optionsOf(from);
      return type !== undefined || user || role;
    };
    const bad = [spec, ...containersOf(spec)].filter(isBad).map(optionsOf);
    if (bad.length === 0) return undefined;
    const types = sortedSet(bad.flatMap(({ type }) => (type === undefined ? [] : [type])));
    const data = [
      ...(types.length === 0 ? [] : [`${pluralize('type', 'types', types.length)} ${joinQuote(types)}`]),
      ...(bad.some(({ user }) => user) ? ['user may not be set'] : []),
      ...(bad.some(({ role }) => role) ? ['role may not be set'] : []),
    ];
    const setters = settersText(isBad(spec), namesWhere(spec, isBad));
    return { reason: 'seLinuxOptions', detail: `${setters} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}` };
  };

function windowsHostProcess({ spec }: CheckedPod): Violation | undefined {
  const isHostProcess = ({ securityContext }: Pick<CheckedContainer, 'securityContext'> | CheckedPod['spec']): boolean =>
    securityContext?.windowsOptions?.hostProcess === true;
  const setters = settersText(isHostProcess(spec), namesWhere(spec, isHostProcess));
  return setters === '' ? undefined : { reason: 'hostProcess', detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
}

export const baselineChecks: readonly Check[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: always(appArmorProfile) },
  { id: 'capabilities_baseline', level: 'baseline', versions: always(capabilities) },
  { id: 'hostNamespaces', level: 'baseline', versions: always(hostNamespaces) },
  { id: 'hostPathVolumes', level: 'baseline', versions: always(hostPathVolumes) },
  { id: 'hostPorts', level: 'baseline', versions: always(hostPorts) },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [{ since: 34, checkPod: hostProbesAndHostLifecycle }] },
  { id: 'privileged', level: 'baseline', versions: always(privilegedContainers) },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [...always(procMount), { since: 35, checkPod: (pod) => (isInUserNamespace(pod.spec) ? undefined : procMount(pod)) }],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [...always(seLinuxOptions(seLinuxTypes)), { since: 31, checkPod: seLinuxOptions([...seLinuxTypes, 'container_engine_t']) }],
  },
  { id: 'seccompProfile_baseline', level: 'baseline', versions: [...always(seccompAnnotations), { since: 19, checkPod: badSeccompProfiles }] },
  { id: 'sysctls', level: 'baseline', versions: sysctls },
  { id: 'windowsHostProcess', level: 'baseline', versions: always(windowsHostProcess) },
];
