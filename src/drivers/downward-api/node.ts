import { apiFilesDriver, withoutExpiry } from '../api-files/api-files-driver.ts';
import { downwardApiPayload } from '../api-files/downward-api-payload.ts';
import type { NodeDriver } from '../contract.ts';
import type { EmptyDirectoryOptions } from '../mount/empty-directory.ts';

export interface DownwardApiOptions extends EmptyDirectoryOptions {
  /** The node's allocatable. */
  readonly allocatable: () => Readonly<Record<string, string>>;
}

/** kubernetes.io/downward-api: fields of the pod as files. */
export function downwardApiNode(options: DownwardApiOptions): NodeDriver {
  return apiFilesDriver(
    {
      name: 'kubernetes.io/downward-api',
      medium: 'memory',
      payload: ({ volume: { source }, pod }) => {
        const { items = [], defaultMode = 0o644 } = source.downwardAPI ?? {};
        return withoutExpiry(downwardApiPayload(items, pod, { defaultMode, allocatable: options.allocatable() }));
      },
    },
    options,
  );
}
