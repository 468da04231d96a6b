import type { PolicyRule } from '../../../api/generated/types.ts';

/** 'get list' on 'pods services' of one group or of several; with `names`, on those objects alone. */
export function rule(verbs: string, groups: string | readonly string[], resources: string, names?: string): PolicyRule {
  return {
    verbs: verbs.split(' '),
    apiGroups: [groups].flat(),
    resources: resources.split(' '),
    ...(names === undefined ? {} : { resourceNames: names.split(' ') }),
  };
}

export const urls = (verbs: string, paths: string): PolicyRule => ({ verbs: verbs.split(' '), nonResourceURLs: paths.split(' ') });

export const read = 'get list watch';
export const write = 'create delete deletecollection patch update';
export const readWrite = 'create delete deletecollection get list patch update watch';
export const events = ['', 'events.k8s.io'] as const;
