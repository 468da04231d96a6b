import type { StoreProblem } from '../explanation/explanation.ts';

/** Reads what a server says at a path that has no objects. */
export interface PathReader {
  /** Undefined: no answer came. Never rejects. */
  read(path: string): Promise<{ readonly code: number; readonly text: string } | undefined>;
}

/** The checks of /readyz that are about the store: Mooring's, and those of Kubernetes' API server. */
const storeChecks = ['store', 'etcd', 'etcd-readiness'];

/** Undefined: the store works, or the server does not say. */
export async function readStoreProblem(paths: PathReader): Promise<StoreProblem | undefined> {
  const ready = await paths.read('/readyz');
  if (ready === undefined || ready.code === 200) return undefined;
  const check = storeChecks.find((name) => ready.text.includes(`[-]${name} failed`));
  if (check === undefined) return undefined;
  const { code = 0, text = '' } = (await paths.read(`/readyz/${check}`)) ?? {};
  // It may work again already.
  if (code === 200) return undefined;
  const [, reason] = /^internal server error: (.*)$/m.exec(text) ?? [];
  return { check, reason: reason ?? null };
}
