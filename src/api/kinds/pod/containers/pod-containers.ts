import { duplicate, type FieldError, forbidden, invalid, notFound, notOneOf, notSupported, required, tooMany } from '../../../field-error.ts';
import type { Container, ContainerPort, ContainerRestartRule, EphemeralContainer, PodSpec, VolumeSource } from '../../../generated/types.ts';
import { portNameProblems, portNumberProblems } from '../../../validation/formats.ts';
import { imageWithoutPadding, validatePullPolicy } from '../container-image.ts';
import { validateEnv, validateEnvFrom } from './container-env.ts';
import { validateProbesAndHooks } from './container-probes.ts';
import { validateContainerResources, validateResizePolicy } from './container-resources.ts';
import { dnsLabel, invalidEach, present } from '../../../validation/field-rules.ts';
import { validateMountsAndDevices } from './pod-mounts.ts';
import { isSidecar } from '../pod-parts.ts';
import { validateSecurityContext } from './security-context.ts';

export interface ContainerContext {
  /** What containers can mount. */
  readonly volumes: ReadonlyMap<string, VolumeSource>;
  readonly claimNames: ReadonlySet<string>;
}

/** The containers of a pod, of all three kinds. */
export const validateAllContainers = (spec: PodSpec, field: string, context: ContainerContext): FieldError[] => [
  ...validateContainers(spec, `${field}.containers`, context),
  ...validateInitContainers(spec, `${field}.initContainers`, context),
  ...validateEphemeralContainers(spec, `${field}.ephemeralContainers`, context),
];

function validateContainers(spec: PodSpec, field: string, context: ContainerContext): FieldError[] {
  const containers = spec.containers ?? [];
  if (containers.length === 0) return [required(field)];
  const names = new Set<string>();
  const errors = containers.flatMap((container, i) => {
    const at = `${field}[${i}]`;
    const isDuplicate = names.has(container.name);
    names.add(container.name);
    return [
      ...validateAnyContainer(container, at, { ...context, spec }),
      ...(isDuplicate ? [duplicate(`${at}.name`, container.name)] : []),
      ...validateProbesAndHooks(container, at, spec.terminationGracePeriodSeconds),
      ...validateRestartPolicy(container, at),
    ];
  });
  return [...errors, ...validateHostPorts(containers, field)];
}

function validateInitContainers(spec: PodSpec, field: string, context: ContainerContext): FieldError[] {
  const names = new Set((spec.containers ?? []).map((container) => container.name));
  return (spec.initContainers ?? []).flatMap((container, i) => {
    const at = `${field}[${i}]`;
    const isDuplicate = names.has(container.name);
    if (container.name !== '') names.add(container.name);
    return [
      ...validateAnyContainer(container, at, { ...context, spec }),
      ...validateRestartPolicy(container, at),
      ...(isDuplicate ? [duplicate(`${at}.name`, container.name)] : []),
      // One init container runs at a time: only its own ports can be in its way.
      ...validateHostPorts([container], field),
      ...(isSidecar(container) ? validateProbesAndHooks(container, at, spec.terminationGracePeriodSeconds) : refuseProbesAndHooks(container, at)),
      ...(isSidecar(container) ? [] : refuseRestartOnResize(container, at)),
    ];
  });
}

const ofSidecarsOnly = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

const refuseProbesAndHooks = (container: Container, field: string): FieldError[] =>
  ofSidecarsOnly
    .filter((name) => container[name] !== undefined)
    .map((name) => forbidden(`${field}.${name}`, 'may not be set for init containers without restartPolicy=Always'));

const refuseRestartOnResize = (container: Container, field: string): FieldError[] =>
  (container.resizePolicy ?? []).flatMap(({ restartPolicy }, i) =>
    restartPolicy === 'RestartContainer'
      ? [invalid(`${field}.resizePolicy[${i}].restartPolicy`, restartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers")]
      : [],
  );

const ephemeralForbidden = [
  'ports',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;
const NOT_EPHEMERAL = 'cannot be set for an Ephemeral Container';

function validateEphemeralContainers(spec: PodSpec, field: string, context: ContainerContext): FieldError[] {
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => container.name));
  const names = new Set(others);
  return (spec.ephemeralContainers ?? []).flatMap((container, i) => {
    const at = `${field}[${i}]`;
    const { targetContainerName: target = '' } = container;
    const isDuplicate = names.has(container.name);
    names.add(container.name);
    return [
      ...validateAnyContainer(container, at, { ...context, spec }),
      ...imageWithoutPadding(container.image ?? '', `${at}.image`),
      ...(isDuplicate ? [duplicate(`${at}.name`, container.name)] : []),
      ...(target === '' || others.has(target) ? [] : [notFound(`${at}.targetContainerName`, target)]),
      ...refuseForEphemeral(container, at),
    ];
  });
}

function refuseForEphemeral(container: EphemeralContainer, field: string): FieldError[] {
  const resources = Object.keys(container.resources).length > 0 ? [forbidden(`${field}.resources`, NOT_EPHEMERAL)] : [];
  const fields = ephemeralForbidden.filter((name) => container[name] !== undefined).map((name) => forbidden(`${field}.${name}`, NOT_EPHEMERAL));
  const subPaths = (container.volumeMounts ?? []).flatMap((mount, i) =>
    (['subPath', 'subPathExpr'] as const)
      .filter((name) => mount[name] !== undefined)
      .map((name) => forbidden(`${field}.volumeMounts[${i}].${name}`, NOT_EPHEMERAL)),
  );
  return [...resources, ...fields, ...subPaths];
}

const messagePolicies = ['File', 'FallbackToLogsOnError'];

/** What holds for a container of any kind. */
function validateAnyContainer(container: Container | EphemeralContainer, field: string, context: ContainerContext & { spec: PodSpec }): FieldError[] {
  const { spec, volumes } = context;
  return [
    ...(container.name === '' ? [required(`${field}.name`)] : dnsLabel(container.name, `${field}.name`)),
    ...present(container.image, `${field}.image`),
    ...validateMessagePolicy(container.terminationMessagePolicy ?? '', `${field}.terminationMessagePolicy`),
    ...validatePorts(container.ports ?? [], `${field}.ports`),
    ...validateEnv(container.env ?? [], `${field}.env`),
    ...validateEnvFrom(container.envFrom ?? [], `${field}.envFrom`),
    ...validateMountsAndDevices(container, field, volumes),
    ...validatePullPolicy(container.imagePullPolicy, `${field}.imagePullPolicy`),
    ...validateContainerResources(container.resources, `${field}.resources`, context),
    ...validateResizePolicy(container.resizePolicy ?? [], `${field}.resizePolicy`, spec.restartPolicy ?? ''),
    ...(container.securityContext ? validateSecurityContext(container.securityContext, `${field}.securityContext`, spec.hostUsers !== false) : []),
  ];
}

function validateMessagePolicy(policy: string, field: string): FieldError[] {
  if (policy === '') return [required(field)];
  return messagePolicies.includes(policy) ? [] : [notOneOf(field, policy, messagePolicies)];
}

const protocols = ['SCTP', 'TCP', 'UDP'];

function validatePorts(ports: readonly ContainerPort[], field: string): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = '', containerPort, hostPort = 0, protocol = '' }, i) => {
    const at = `${field}[${i}]`;
    const errors: FieldError[] = [];
    if (name !== '') {
      errors.push(...invalidEach(`${at}.name`, name, portNameProblems(name)));
      if (errors.length === 0 && names.has(name)) errors.push(duplicate(`${at}.name`, name));
      else if (errors.length === 0) names.add(name);
    }
    if (containerPort === 0) errors.push(required(`${at}.containerPort`));
    else errors.push(...invalidEach(`${at}.containerPort`, containerPort, portNumberProblems(containerPort)));
    if (hostPort !== 0) errors.push(...invalidEach(`${at}.hostPort`, hostPort, portNumberProblems(hostPort)));
    if (protocol === '') errors.push(required(`${at}.protocol`));
    else if (!protocols.includes(protocol)) errors.push(notSupported(`${at}.protocol`, protocol, protocols));
    return errors;
  });
}

/** A port of the node can be taken once for each protocol and address. */
function validateHostPorts(containers: readonly Container[], field: string): FieldError[] {
  const taken = new Set<string>();
  return containers.flatMap((container, i) =>
    (container.ports ?? []).flatMap(({ protocol = '', hostIP = '', hostPort = 0 }, j) => {
      if (hostPort === 0) return [];
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(port)) return [duplicate(`${field}[${i}].ports[${j}].hostPort`, port)];
      taken.add(port);
      return [];
    }),
  );
}

const restartPolicies = ['Always', 'Never', 'OnFailure'];
const MAX_RESTART_RULES = 20;

/** What a container says of its own restarts, beside what the pod says. */
function validateRestartPolicy({ restartPolicy, restartPolicyRules = [] }: Container, field: string): FieldError[] {
  const at = `${field}.restartPolicy`;
  if (restartPolicy === undefined && restartPolicyRules.length === 0) return [];
  const errors: FieldError[] = [];
  if (restartPolicy === undefined) errors.push(required(at, 'must specify restartPolicy when restart rules are used'));
  else if (!restartPolicies.includes(restartPolicy)) errors.push(notSupported(at, restartPolicy, restartPolicies));
  if (restartPolicyRules.length > MAX_RESTART_RULES) errors.push(tooMany(`${field}.restartPolicyRules`, restartPolicyRules.length, MAX_RESTART_RULES));
  return [...errors, ...restartPolicyRules.flatMap((rule, i) => validateRestartRule(rule, `${field}.restartPolicyRules[${i}]`))];
}

const restartActions = ['Restart', 'RestartAllContainers'];
const exitCodeOperators = ['In', 'NotIn'];
const MAX_EXIT_CODES = 255;

function validateRestartRule({ action = '', exitCodes }: ContainerRestartRule, field: string): FieldError[] {
  const errors = restartActions.includes(action) ? [] : [notSupported(`${field}.action`, action, restartActions)];
  if (exitCodes === undefined) return [...errors, required(`${field}.exitCodes`, 'must be specified')];
  const { operator = '', values = [] } = exitCodes;
  if (!exitCodeOperators.includes(operator)) errors.push(notSupported(`${field}.exitCodes.operator`, operator, exitCodeOperators));
  if (values.length > MAX_EXIT_CODES) errors.push(tooMany(`${field}.exitCodes.values`, values.length, MAX_EXIT_CODES));
  return errors;
}
