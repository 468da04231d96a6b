import type { EphemeralContainer, PodSpec } from '../../generated/types.ts';
import { unifiedDiff } from '../../validation/unified-diff.ts';
import { internalForm, podSpecForm } from './internal-form.ts';

/** What changed in a pod, line by line, as Kubernetes shows it when it refuses the change. */
export const podSpecDiff = (old: PodSpec, spec: PodSpec): string => unifiedDiff(pretty(podSpecForm(old)), pretty(podSpecForm(spec)));

export const containerDiff = (old: EphemeralContainer, container: EphemeralContainer): string =>
  unifiedDiff(pretty(internalForm('EphemeralContainer', old)), pretty(internalForm('EphemeralContainer', container)));

/** Go writes these three so that its JSON can stand within HTML. */
const pretty = (form: object): string => JSON.stringify(form, undefined, 1).replace(/[<>&]/g, (found) => `\\u00${found.charCodeAt(0).toString(16)}`);
