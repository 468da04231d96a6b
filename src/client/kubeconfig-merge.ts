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
