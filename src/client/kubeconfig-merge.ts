import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import type { Kubeconfig, NamedEntry } from './kubeconfig.ts';

/** A kubeconfig that cannot be merged into, and why. */
export class KubeconfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'KubeconfigError';
  }
}

/**
 * An existing kubeconfig with our entries added, or replaced if they are there already, and made current. Whatever else it holds
 * stays as it is, comments included.
 * @throws KubeconfigError
 */
export function mergeKubeconfig(existing: string, config: Kubeconfig): string {
  const document = parseDocument(existing);
  const problem = document.errors[0];
  if (problem !== undefined) throw new KubeconfigError(`the kubeconfig is not valid YAML: ${problem.message}`);
  if (document.contents === null) document.contents = document.createNode({}) as unknown as typeof document.contents;
  const root: unknown = document.contents;
  if (!isMap(root)) throw new KubeconfigError('the kubeconfig does not hold a mapping');
  const kind: unknown = root.get('kind');
  if (kind !== undefined && kind !== null && kind !== 'Config') throw new KubeconfigError(`the file is no kubeconfig: its kind is ${JSON.stringify(kind)}`);
  root.set('apiVersion', 'v1');
  root.set('kind', 'Config');
  for (const key of ['clusters', 'contexts', 'users'] as const) replaceEntries(document, root, { key, entries: config[key] });
  root.set('current-context', config['current-context']);
  return document.toString({ lineWidth: 0 });
}

/**
 * A kubeconfig without the cluster of this certificate authority (base64), and without what names it. Whatever else it holds stays as it is.
 * @throws KubeconfigError
 */
export function withoutCluster(existing: string, authority: string): string {
  const document = parseDocument(existing);
  const root: unknown = document.contents;
  if (document.errors.length > 0 || !isMap(root)) throw new KubeconfigError('the kubeconfig is not valid YAML');
  const remove = (key: string, isGone: (entry: YAMLMap) => boolean): readonly YAMLMap[] => {
    const list: unknown = root.get(key);
    if (!isSeq(list)) return [];
    const gone = list.items.filter((item): item is YAMLMap => isMap(item) && isGone(item));
    list.items = list.items.filter((item) => !gone.some((each) => each === item));
    return gone;
  };
  const namesOf = (entries: readonly YAMLMap[], at: readonly string[]) => new Set(entries.map((entry) => entry.getIn(at)));
  const clusters = namesOf(
    remove('clusters', (entry) => entry.getIn(['cluster', 'certificate-authority-data']) === authority),
    ['name'],
  );
  const contexts = remove('contexts', (entry) => clusters.has(entry.getIn(['context', 'cluster'])));
  const users = namesOf(contexts, ['context', 'user']);
  remove('users', (entry) => users.has(entry.get('name')));
  if (namesOf(contexts, ['name']).has(root.get('current-context'))) root.set('current-context', '');
  return document.toString({ lineWidth: 0 });
}

function replaceEntries(document: Document.Parsed, root: YAMLMap, { key, entries }: { key: string; entries: readonly NamedEntry[] }): void {
  const list: unknown = root.get(key);
  if (list === undefined || list === null) {
    root.set(key, document.createNode(entries));
    return;
  }
  if (!isSeq(list)) throw new KubeconfigError(`the kubeconfig's ${key} are no list`);
  const names = new Set(entries.map(({ name }) => name));
  list.items = [...list.items.filter((item) => !(isMap(item) && names.has(String(item.get('name'))))), ...entries.map((entry) => document.createNode(entry))];
  list.flow = false;
}
