import type { KubeObject } from '../../api/object.ts';
import type { Explanation, ObjectExplanation, UnreadResource } from '../../why/explanation/explanation.ts';
import type { Target } from '../../why/explanation/target.ts';

/** An Explanation of mooring.dev/v1, as the API answers it. */
export interface ExplanationObject extends KubeObject {
  readonly spec: Target;
  readonly status: Omit<Explanation, 'about'>;
}

export interface ExplanationListObject extends KubeObject {
  readonly items: readonly ExplanationObject[];
  readonly unseen?: readonly UnreadResource[];
}

export const explanationIn = ({ spec, status }: ExplanationObject): ObjectExplanation => ({ about: spec, ...status });

/** 'pvc/shop/data' */
export const targetKey = ({ kind, namespace, name }: Target): string => `${kind}/${namespace === undefined ? '' : `${namespace}/`}${name}`;

/** Where the API has the explanation of an object; those without a namespace are in default. */
export const explanationPath = ({ kind, namespace = 'default', name }: Target): string =>
  `/apis/mooring.dev/v1/namespaces/${encodeURIComponent(namespace)}/explanations/${encodeURIComponent(`${kind}.${name}`)}`;
