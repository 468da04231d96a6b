import type { Metrics } from '../../../metrics/metrics.ts';
import { type AdmissionRequest, isResource } from '../../chain.ts';
import type { LevelVersion, Policy } from './policy.ts';

/** The minor version of the API: later ones are 'future'. */
const apiMinor = 36;

/** Counts evaluations under Kubernetes' names. */
export class PodSecurityRecorder {
  readonly #evaluations;
  readonly #exemptions;
  readonly #errors;

  constructor(metrics: Metrics) {
    const request = ['request_operation', 'resource', 'subresource'];
    this.#evaluations = metrics.counter(
      'pod_security_evaluations_total',
      'Number of policy evaluations that occurred, not counting ignored or exempt requests.',
      ['decision', 'policy_level', 'policy_version', 'mode', ...request],
    );
    this.#exemptions = metrics.counter('pod_security_exemptions_total', 'Number of exempt requests, not counting ignored or out of scope requests.', request);
    this.#errors = metrics.counter(
      'pod_security_errors_total',
      'Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation.',
      ['fatal', ...request],
    );
  }

  evaluated(decision: 'allow' | 'deny', mode: keyof Policy, { level, version }: LevelVersion, request: AdmissionRequest): void {
    const label = level === 'privileged' || version === 'latest' ? 'latest' : version > apiMinor ? 'future' : `v1.${version}`;
    this.#evaluations.add(1, decision, level, label, mode, ...requestLabels(request));
  }

  exempted(request: AdmissionRequest): void {
    this.#exemptions.add(1, ...requestLabels(request));
  }

  failed(fatal: boolean, request: AdmissionRequest): void {
    this.#errors.add(1, String(fatal), ...requestLabels(request));
  }
}

function requestLabels({ operation, resource, subresource }: AdmissionRequest): readonly [string, string, string] {
  const label = isResource(resource, '', 'pods') ? 'pod' : isResource(resource, '', 'namespaces') ? 'namespace' : 'controller';
  return [operation, label, subresource];
}
