/** The labels that a kubelet may set on its Node (v1.36: staging/src/k8s.io/kubelet/pkg/apis/well_known_labels.go). */
const ownLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);
const ownDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const reservedDomains = ['kubernetes.io', 'k8s.io'];
const RESTRICTION = 'node-restriction.kubernetes.io';

type Labels = Readonly<Record<string, string>> | undefined;

/** The changed labels that a kubelet may not change, sorted: with them it could attract pods of other nodes. */
export function forbiddenLabels(labels: Labels = {}, old: Labels = {}): readonly string[] {
  const changed = [...new Set([...Object.keys(labels), ...Object.keys(old)])].filter((key) => labels[key] !== old[key]);
  return changed.filter(isForbidden).sort();
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/');
  const domain = slash < 0 ? '' : label.slice(0, slash);
  const isIn = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
  return isIn(RESTRICTION) || (reservedDomains.some(isIn) && !ownLabels.has(label) && !ownDomains.some(isIn));
}
