/**
 * PodSecurity: pods are refused, and pods and workloads are warned of and noted in the audit log, by the labels of their namespace
 * (k8s.io/pod-security-admission, admission.go).
 */
import type { CronJob, Deployment, Namespace, Pod, PodTemplate, PodTemplateSpec } from '../../../../api/generated/types.ts';
import { causeMessage, type FieldError } from '../../../../api/field-error.ts';
import type { KubeObject } from '../../../../api/object.ts';
import { statusErrors } from '../../../../api/status.ts';
import type { World } from '../../../../world/world.ts';
import type { ClusterReader } from '../../../objects/cluster-reader.ts';
import type { Resource, Resources } from '../../../objects/resources.ts';
import type { Metrics } from '../../../metrics/metrics.ts';
import { type AdmissionPlugin, type AdmissionRequest, isResource } from '../../chain.ts';
import type { CheckedPod } from './checks/check.ts';
import { defaultPodSecurity, type PodSecurityConfiguration } from './configuration.ts';
import { detailsText, evaluatePod } from './evaluator.ts';
import { warnOfPods } from './namespace-pods.ts';
import { compareLevels, type EvaluatedLabels, hasLabel, isEquivalent, isFullyPrivileged, isSameLevelVersion } from './policy.ts';
import { labelPrefix, type LevelVersion, levelVersionText, type Policy, policyToEvaluate, privileged } from './policy.ts';
import { PodSecurityRecorder } from './recorder.ts';

export interface PodSecurityContext {
  readonly world: World;
  readonly metrics: Metrics;
  readonly configuration?: PodSecurityConfiguration | undefined;
}

/** All others may change a pod's containers. */
const ignoredPodSubresources: ReadonlySet<string> = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status']);

export function podSecurity(resources: Resources, reader: ClusterReader, context: PodSecurityContext): AdmissionPlugin {
  const admission = new PodSecurity(resources, reader, context);
  return {
    name: 'PodSecurity',
    handles: (operation, resource, subresource) => {
      if (operation === 'delete') return false;
      if (isResource(resource, '', 'pods')) return !ignoredPodSubresources.has(subresource);
      return subresource === '' && (isResource(resource, '', 'namespaces') || templateOf(resource) !== undefined);
    },
    validate: (request) => {
      if (isResource(request.resource, '', 'namespaces')) return admission.validateNamespace(request);
      return isResource(request.resource, '', 'pods') ? admission.validatePod(request) : admission.validateWorkload(request);
    },
  };
}

class PodSecurity {
  readonly #namespaces: Resource;
  readonly #pods: Resource;
  readonly #reader: ClusterReader;
  readonly #world: World;
  readonly #configuration: PodSecurityConfiguration;
  readonly #recorder: PodSecurityRecorder;

  constructor(resources: Resources, reader: ClusterReader, { world, metrics, configuration = defaultPodSecurity }: PodSecurityContext) {
    this.#namespaces = resources.require('v1', 'namespaces');
    this.#pods = resources.require('v1', 'pods');
    this.#reader = reader;
    this.#world = world;
    this.#configuration = configuration;
    this.#recorder = new PodSecurityRecorder(metrics);
  }

  /** Labels have to be valid; if more is enforced than before, the pods that violate it are warned of. @throws ApiError */
  async validateNamespace(request: AdmissionRequest): Promise<void> {
    const { object, old, resource, warnings } = request;
    const { labels } = object.metadata;
    const { name = '' } = object.metadata;
    const { policy, errors } = this.#policyOf(labels);
    const before = old === undefined ? undefined : this.#policyOf(old.metadata.labels);
    const isNewProblem = before === undefined || JSON.stringify(errors) !== JSON.stringify(before.errors);
    if (errors.length > 0 && isNewProblem) throw statusErrors.invalid(resource.kind, name, errors);
    if (before !== undefined && !isStricter(policy.enforce, before.policy.enforce)) return;
    if (this.#configuration.exemptions.namespaces.has(name)) {
      const ignored = ignoredPolicyWarning({ name, policy, labels: labels ?? {}, defaults: this.#configuration.defaults });
      if (ignored !== undefined) warnings.add(ignored);
      return;
    }
    if (before === undefined) return;
    const isExempt = ({ spec }: Pod): boolean => this.#configuration.exemptions.runtimeClasses.has(spec.runtimeClassName ?? '');
    const context = { reader: this.#reader, pods: this.#pods, world: this.#world, isExempt };
    for (const warning of await warnOfPods(context, name, policy.enforce)) warnings.add(warning);
  }

  /** @throws ApiError */
  async validatePod(request: AdmissionRequest): Promise<void> {
    if (this.#isExempt(request)) return;
    const namespace = await this.#namespaceOf(request);
    if (namespace === undefined) {
      this.#recorder.failed(true, request);
      const message = `failed to lookup namespace "${request.namespace}"`;
      annotate(request, 'error', message);
      throw statusErrors.internal(message);
    }
    const evaluated = this.#policyOf(namespace.metadata.labels);
    if (evaluated.errors.length === 0 && isFullyPrivileged(evaluated.policy)) {
      this.#recorder.evaluated('allow', 'enforce', evaluated.policy.enforce, request);
      annotate(request, 'enforce-policy', levelVersionText(privileged));
      return;
    }
    const pod = request.object as Pod;
    if (request.old !== undefined && !isSignificantUpdate(pod, request.old as Pod)) return;
    this.#evaluate(request, pod, { ...evaluated, enforces: true });
  }

  /** Its pods are refused, not the workload itself. */
  async validateWorkload(request: AdmissionRequest): Promise<void> {
    if (this.#isExempt(request)) return;
    const namespace = await this.#namespaceOf(request);
    if (namespace === undefined) {
      this.#recorder.failed(true, request);
      annotate(request, 'error', `failed to lookup namespace "${request.namespace}"`);
      return;
    }
    const evaluated = this.#policyOf(namespace.metadata.labels);
    const { audit, warn } = evaluated.policy;
    if (evaluated.errors.length === 0 && audit.level === 'privileged' && warn.level === 'privileged') return;
    const template = templateOf(request.resource)?.(request.object);
    if (template !== undefined) this.#evaluate(request, { metadata: template.metadata ?? {}, spec: template.spec }, { ...evaluated, enforces: false });
  }

  #evaluate(request: AdmissionRequest, pod: CheckedPod, { policy, errors, enforces }: EvaluatedLabels & { readonly enforces: boolean }): void {
    if (this.#configuration.exemptions.runtimeClasses.has(pod.spec.runtimeClassName ?? '')) {
      this.#recorder.exempted(request);
      annotate(request, 'exempt', 'runtimeClass');
      return;
    }
    if (errors.length > 0) {
      annotate(request, 'error', `Failed to parse policy: ${aggregateText(errors)}`);
      this.#recorder.failed(false, request);
    }
    const violationsOf = (mode: keyof Policy): string => detailsText(evaluatePod(policy[mode], pod));
    const enforced = enforces ? violationsOf('enforce') : '';
    if (enforces) {
      annotate(request, 'enforce-policy', levelVersionText(policy.enforce));
      this.#recorder.evaluated(enforced === '' ? 'allow' : 'deny', 'enforce', policy.enforce, request);
    }
    const audited = violationsOf('audit');
    if (audited !== '') {
      annotate(request, 'audit-violations', `would violate PodSecurity "${levelVersionText(policy.audit)}": ${audited}`);
      this.#recorder.evaluated('deny', 'audit', policy.audit, request);
    }
    if (enforced !== '') {
      const name = request.name || (request.object.metadata.name ?? '');
      throw statusErrors.forbidden(request.resource.kind, name, `violates PodSecurity "${levelVersionText(policy.enforce)}": ${enforced}`);
    }
    const warned = violationsOf('warn');
    if (warned === '') return;
    request.warnings.add(`would violate PodSecurity "${levelVersionText(policy.warn)}": ${warned}`);
    this.#recorder.evaluated('deny', 'warn', policy.warn, request);
  }

  #policyOf(labels: Readonly<Record<string, string>> | undefined): EvaluatedLabels {
    return policyToEvaluate(labels, this.#configuration.defaults);
  }

  #isExempt(request: AdmissionRequest): boolean {
    const { namespaces, usernames } = this.#configuration.exemptions;
    const exemption = namespaces.has(request.namespace) ? 'namespace' : usernames.has(request.user.name) ? 'user' : undefined;
    if (exemption === undefined) return false;
    this.#recorder.exempted(request);
    annotate(request, 'exempt', exemption);
    return true;
  }

  #namespaceOf({ namespace }: AdmissionRequest): Promise<Namespace | undefined> {
    return this.#reader.get<Namespace>(this.#namespaces, '', namespace);
  }
}

const annotate = (request: AdmissionRequest, key: string, value: string): void => request.annotate?.(labelPrefix + key, value);

/** Only then may pods that were allowed before violate the policy. */
const isStricter = (policy: LevelVersion, before: LevelVersion): boolean =>
  !isSameLevelVersion(policy, before) && policy.level !== 'privileged' && (policy.version !== before.version || compareLevels(policy.level, before.level) > 0);

function ignoredPolicyWarning({ name, policy, labels, defaults }: IgnoredPolicy): string | undefined {
  if (isFullyPrivileged(policy) || isEquivalent(policy, defaults)) return undefined;
  const modes = (['enforce', 'audit', 'warn'] as const).filter(
    (mode) => policy[mode].level !== 'privileged' && (hasLabel(labels, mode) || hasLabel(labels, `${mode}-version`)),
  );
  const text = modes.map((mode) => `${mode}=${levelVersionText(policy[mode])}`).join(', ');
  return `namespace "${name}" is exempt from Pod Security, and the policy (${text}) will be ignored`;
}

interface IgnoredPolicy {
  readonly name: string;
  readonly policy: Policy;
  readonly labels: Readonly<Record<string, string>>;
  readonly defaults: Policy;
}

/** Of a pod's containers only images can change, and ephemeral containers can be added. */
function isSignificantUpdate({ spec }: Pod, { spec: old }: Pod): boolean {
  const differ = (now: readonly { image?: string }[], before: readonly { image?: string }[]): boolean =>
    now.length !== before.length || now.some(({ image }, at) => image !== before[at]?.image);
  if (differ(spec.containers ?? [], old.containers ?? []) || differ(spec.initContainers ?? [], old.initContainers ?? [])) return true;
  const images = new Map((old.ephemeralContainers ?? []).map(({ name, image }) => [name, image]));
  return (spec.ephemeralContainers ?? []).some(({ name, image }) => !images.has(name) || images.get(name) !== image);
}

type TemplateOf = (object: KubeObject) => PodTemplateSpec | undefined;

/** They have their template at the same place. */
const specTemplate: TemplateOf = (object) => (object as Deployment).spec.template;

const templates: Readonly<Record<string, TemplateOf>> = {
  '/podtemplates': (object) => (object as PodTemplate).template,
  '/replicationcontrollers': specTemplate,
  'apps/replicasets': specTemplate,
  'apps/deployments': specTemplate,
  'apps/statefulsets': specTemplate,
  'apps/daemonsets': specTemplate,
  'batch/jobs': specTemplate,
  'batch/cronjobs': (object) => (object as CronJob).spec.jobTemplate.spec?.template,
};

const templateOf = ({ kind }: Resource): TemplateOf | undefined => templates[`${kind.group}/${kind.plural}`];

/** As Go shows several errors as one. */
function aggregateText(errors: readonly FieldError[]): string {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${causeMessage(error)}`))];
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
}
