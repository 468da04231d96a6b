/**
 * Actions in a log line: the objects that they are about, without their contents. Computed only if the line is written.
 */
export class LogSummary {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  toJSON(): unknown {
    return shortened(this.#value);
  }
}

/** Objects become 'PersistentVolumeClaim default/data'. */
function shortened(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(shortened);
  return nameOf(value) ?? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shortened(item)]));
}

function nameOf(value: object): string | undefined {
  if (!('kind' in value) || !('metadata' in value)) return undefined;
  const { kind, metadata } = value;
  if (typeof kind !== 'string' || metadata === null || typeof metadata !== 'object') return undefined;
  const { namespace, name } = metadata as { readonly namespace?: string; readonly name?: string };
  return namespace === undefined ? `${kind} ${name ?? ''}` : `${kind} ${namespace}/${name ?? ''}`;
}
