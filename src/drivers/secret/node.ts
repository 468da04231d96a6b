import type { Secret } from '../../api/generated/types.ts';
import type { NodeDriver } from '../contract.ts';
import type { EmptyDirOptions } from '../empty-dir/node.ts';
import { apiFilesDriver } from '../api-files/api-files-driver.ts';
import { secretPayload } from '../api-files/payload.ts';

export interface SecretOptions extends EmptyDirOptions {
  /** 'namespace/name' */
  readonly secret: (key: string) => Secret | undefined;
}

/** The keys of a Secret as files, in memory: kubernetes.io/secret. */
export function secretNode(options: SecretOptions): NodeDriver {
  return apiFilesDriver(
    {
      name: 'kubernetes.io/secret',
      medium: 'memory',
      payload: ({ volume: { source }, pod }) => {
        const { secretName = '', items = [], defaultMode = 0o644, optional = false } = source.secret ?? {};
        const made = secretPayload(secretName, options.secret(`${pod.metadata.namespace ?? ''}/${secretName}`), { items, defaultMode, optional });
        return made.ok ? { ok: true, value: { payload: made.value } } : made;
      },
    },
    options,
  );
}
