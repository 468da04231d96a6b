import type { ConfigMap, Namespace, ServiceAccount } from '../../../api/generated/types.ts';
import type { Stored } from '../../../api/stored.ts';
import { update } from '../../../client/decision.ts';
import type { ServiceAccountAction, ServiceAccountDecision } from './actions.ts';

export const ACCOUNT_NAME = 'default';
export const MAP_NAME = 'kube-root-ca.crt';

const descriptionAnnotation = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

export interface ServiceAccountSnapshot {
  readonly namespace: Stored<Namespace>;
  /** The ServiceAccount `default`. */
  readonly account: Stored<ServiceAccount> | undefined;
  /** The ConfigMap `kube-root-ca.crt`. */
  readonly map: Stored<ConfigMap> | undefined;
  /** PEM. */
  readonly rootCa: string;
}

/** Every namespace has a ServiceAccount for its pods, and the CA certificate to verify the server with. */
export function decideNamespaceDefaults({ namespace, account, map, rootCa }: ServiceAccountSnapshot): ServiceAccountDecision {
  if (namespace.status.phase !== 'Active') return { actions: [], reasons: [{ code: 'NotActive', text: 'the namespace is terminating' }] };
  const metadata = { namespace: namespace.metadata.name };
  const actions: ServiceAccountAction[] = [];
  if (account === undefined) actions.push({ do: 'createAccount', account: { metadata: { ...metadata, name: ACCOUNT_NAME } } });
  const data = { 'ca.crt': rootCa };
  if (map === undefined) {
    actions.push({ do: 'createMap', map: { metadata: { ...metadata, name: MAP_NAME, annotations: { [descriptionAnnotation]: description } }, data } });
  } else if (!isUpToDate(map, rootCa)) {
    const annotations = { ...map.metadata.annotations, [descriptionAnnotation]: description };
    actions.push(...update(map, { ...map, metadata: { ...map.metadata, annotations }, data }));
  }
  return { actions, reasons: [] };
}

/** Any description will do; the data must be exactly the certificate. */
function isUpToDate({ data = {}, metadata }: ConfigMap, rootCa: string): boolean {
  return Object.keys(data).length === 1 && data['ca.crt'] === rootCa && (metadata.annotations?.[descriptionAnnotation] ?? '') !== '';
}
