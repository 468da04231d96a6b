import type { Kind } from '../api/kind.ts';
import type { OpenApiDocuments } from '../server/discovery/openapi.ts';
import { discover } from '../server/discovery/resources.ts';
import { kubernetesVersion } from './version.ts';

/** The OpenAPI documents of what discovery shows. What makes them is loaded when somebody first asks. */
export function openApiDocuments(kinds: readonly Kind[]): OpenApiDocuments {
  const versions = new Map(discover(kinds).map((served) => [served.group === '' ? `api/${served.version}` : `apis/${served.group}/${served.version}`, served]));
  const load = () => import('../api/openapi/index.ts');
  return {
    groupVersions: [...versions.keys()],
    v2: async () => (await load()).openApiV2([...versions.values()], `v${kubernetesVersion}`),
    async v2Protobuf() {
      const { encodeOpenApiV2 } = await import('../api/openapi/protobuf.ts');
      return encodeOpenApiV2(await this.v2());
    },
    async v3(groupVersion) {
      const served = versions.get(groupVersion);
      return served === undefined ? undefined : (await load()).openApiV3(served, `v${kubernetesVersion}`);
    },
  };
}
