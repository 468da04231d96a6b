/** Seccomp profiles, of both levels. */
import { quoteGo } from '../../../../../api/json.ts';
import { type CheckedContainer, type CheckedPod, containersOf, containersText, joinQuote, namesWhere, pluralize } from './check.ts';
import { settersText, sortedSet, type Violation } from './check.ts';

const podAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
const containerAnnotation = 'container.seccomp.security.alpha.kubernetes.io/';

/** Before v1.19 annotations set the profiles. */
export function seccompAnnotations({ metadata, spec }: CheckedPod): Violation | undefined {
  const { annotations = {} } = metadata;
  const keys = [podAnnotation, ...containersOf(spec).map(({ name }) => containerAnnotation + name)];
  const forbidden = sortedSet(
    keys.flatMap((key) => {
      const value = annotations[key];
      const isAllowed = value === undefined || value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');
      return isAllowed ? [] : [`${key}=${quoteGo(value)}`];
    }),
  );
  if (forbidden.length === 0) return undefined;
  return { reason: 'seccompProfile', detail: `forbidden ${pluralize('annotation', 'annotations', forbidden.length)} ${forbidden.join(', ')}` };
}

type HasProfile = Pick<CheckedContainer, 'securityContext'> | CheckedPod['spec'];

const typeOf = ({ securityContext }: HasProfile): string | undefined => securityContext?.seccompProfile?.type;
const isValid = (type: string | undefined): boolean => type === 'Localhost' || type === 'RuntimeDefault';
const isBad = (from: HasProfile): boolean => typeOf(from) !== undefined && !isValid(typeOf(from));

export function badSeccompProfiles({ spec }: CheckedPod): Violation | undefined {
  const setters = settersText(isBad(spec), namesWhere(spec, isBad));
  if (setters === '') return undefined;
  const values = sortedSet([spec, ...containersOf(spec)].filter(isBad).map((from) => typeOf(from) ?? ''));
  return { reason: 'seccompProfile', detail: `${setters} must not set securityContext.seccompProfile.type to ${joinQuote(values)}` };
}

/** Of the restricted level: the pod, or each container, also has to set one. */
export function requiredSeccompProfiles(pod: CheckedPod): Violation | undefined {
  const bad = badSeccompProfiles(pod);
  if (bad !== undefined || isValid(typeOf(pod.spec))) return bad;
  const unset = namesWhere(pod.spec, (container) => typeOf(container) === undefined);
  if (unset.length === 0) return undefined;
  const detail = `pod or ${containersText(unset)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason: 'seccompProfile', detail };
}
