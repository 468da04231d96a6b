import {
  type Labels,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorOf,
  matchesLabels,
  nothing,
  selectsEverything,
} from '../../api/selectors/label-selector.ts';

/** Cached objects are frozen: each selector is parsed once. */
const parsed = new WeakMap<LabelSelectorObject, LabelSelector>();

/** Whether a workload's selector selects these labels. An empty or invalid selector selects nothing. */
export function selects(selector: LabelSelectorObject | null | undefined, labels: Labels | undefined): boolean {
  if (selector === null || selector === undefined) return false;
  let known = parsed.get(selector);
  if (known === undefined) parsed.set(selector, (known = parse(selector)));
  return matchesLabels(known, labels);
}

function parse(selector: LabelSelectorObject): LabelSelector {
  try {
    const understood = labelSelectorOf(selector);
    return selectsEverything(understood) ? nothing : understood;
  } catch {
    return nothing;
  }
}

/** Compares labels or annotations. */
export function sameEntries(a: Labels = {}, b: Labels = {}): boolean {
  const keys = Object.keys(a);
  return a === b || (keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]));
}
