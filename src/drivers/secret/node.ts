import type { Secret } from '../../api/generated/types.ts';
import type { NodeDriver } from '../contract.ts';
import type { EmptyDirectoryOptions } from '../mount/empty-directory.ts';
import { apiFilesDriver, withoutExpiry } from '../api-files/api-files-driver.ts';
import { secretPayload } from '../api-files/payload.ts';

export interface SecretOptions extends EmptyDirectoryOptions {
  /** 'namespace/name' */
  readonly secret: (key: string) => Secret | undefined;
}

/** kubernetes.io/secret: the keys of a Secret as files on a tmpfs. */
export function secretNode(options: SecretOptions): NodeDriver {
  return apiFilesDriver(
    {
      name: 'kubernetes.io/secret',
      medium: 'memory',
      payload: ({ volume: { source }, pod }) => {
        const { secretName = '', items = [], defaultMode = 0o644, optional = false } = source.secret ?? {};
        return withoutExpiry(secretPayload(secretName, options.secret(`${pod.metadata.namespace ?? ''}/${secretName}`), { items, defaultMode, optional }));
      },
    },
    options,
  );
}
