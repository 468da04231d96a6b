import type { KubeObject } from '../api/object.ts';
import { readYaml, ScenarioFileError } from '../sim/scenario/language/located-yaml.ts';

/** The objects of a manifest, as `kubectl apply -f` takes it: documents separated by ---, and Lists. @throws ScenarioFileError with line and column */
export function readManifest(text: string): readonly KubeObject[] {
  return readYaml('manifest', text).flatMap((written) => {
    const value = written.value as (Partial<KubeObject> & { readonly items?: readonly KubeObject[] }) | null;
    if (typeof value?.apiVersion !== 'string' || typeof value.kind !== 'string')
      throw written.error('an object is expected here, with apiVersion, kind and metadata');
    return value.kind === 'List' ? (value.items ?? []) : [value as KubeObject];
  });
}

export { ScenarioFileError as ManifestError };
