import type { ConfigMap } from '../../api/generated/types.ts';
import type { NodeDriver } from '../contract.ts';
import type { EmptyDirOptions } from '../empty-dir/node.ts';
import { apiFilesDriver } from '../api-files/api-files-driver.ts';
import { configMapPayload } from '../api-files/payload.ts';

export interface ConfigMapOptions extends EmptyDirOptions {
  /** 'namespace/name' */
  readonly configMap: (key: string) => ConfigMap | undefined;
}

/** The keys of a ConfigMap as files: kubernetes.io/configmap. */
export function configMapNode(options: ConfigMapOptions): NodeDriver {
  return apiFilesDriver(
    {
      name: 'kubernetes.io/configmap',
      medium: 'disk',
      payload: ({ volume: { source }, pod }) => {
        const { name = '', items = [], defaultMode = 0o644, optional = false } = source.configMap ?? {};
        const made = configMapPayload(name, options.configMap(`${pod.metadata.namespace ?? ''}/${name}`), { items, defaultMode, optional });
        return made.ok ? { ok: true, value: { payload: made.value } } : made;
      },
    },
    options,
  );
}
