import { type GoType, goForm } from './go-form.ts';
import { unifiedDiff } from './unified-diff.ts';

/** What changed between two structs, as Kubernetes' messages show it. */
export function goDiff(type: GoType, before: object, after: object): string {
  return unifiedDiff(pretty(goForm(type, before)), pretty(goForm(type, after)));
}

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 1).replace(/[<>&]/g, (c) => `\\u00${c.charCodeAt(0).toString(16)}`);
