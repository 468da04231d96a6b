import type { ConfigMap } from '../../api/generated/types.ts';
import type { NodeDriver } from '../contract.ts';
import type { EmptyDirectoryOptions } from '../mount/empty-directory.ts';
import { apiFilesDriver, withoutExpiry } from '../api-files/api-files-driver.ts';
import { configMapPayload } from '../api-files/payload.ts';

export interface ConfigMapOptions extends EmptyDirectoryOptions {
  /** 'namespace/name' */
  readonly configMap: (key: string) => ConfigMap | undefined;
}

/** kubernetes.io/configmap: the keys of a ConfigMap as files. */
export function configMapNode(options: ConfigMapOptions): NodeDriver {
  return apiFilesDriver(
    {
      name: 'kubernetes.io/configmap',
      medium: 'disk',
      payload: ({ volume: { source }, pod }) => {
        const { name = '', items = [], defaultMode = 0o644, optional = false } = source.configMap ?? {};
        return withoutExpiry(configMapPayload(name, options.configMap(`${pod.metadata.namespace ?? ''}/${name}`), { items, defaultMode, optional }));
      },
    },
    options,
  );
}
