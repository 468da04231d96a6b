import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { OpenApiDocuments } from '../../apiserver/discovery/openapi.ts';
import { discover } from '../../apiserver/discovery/resources.ts';
import { kubernetesVersion } from '../version.ts';

const noKinds = (): readonly Kind[] => [];

/** The OpenAPI documents of the served kinds. Their generator is loaded with the first request. */
export function openApiDocuments(kinds: readonly Kind[], customKinds: () => readonly Kind[] = noKinds): OpenApiDocuments {
  const versionsOf = (described: readonly Kind[]) =>
    new Map(discover(described).map((served) => [served.group === '' ? `api/${served.version}` : `apis/${served.group}/${served.version}`, served]));
  const own = versionsOf(kinds);
  const all = () => (customKinds().length === 0 ? own : versionsOf([...kinds, ...customKinds()]));
  const load = () => import('../../api/openapi/index.ts');
  return {
    get groupVersions() {
      return [...all().keys()];
    },
    v2: async () => (await load()).openApiV2([...all().values()], `v${kubernetesVersion}`, customKinds()),
    async v2Protobuf() {
      const { encodeOpenApiV2 } = await import('../../api/openapi/protobuf.ts');
      return encodeOpenApiV2(await this.v2());
    },
    async v3(groupVersion) {
      const served = all().get(groupVersion);
      if (served === undefined) return undefined;
      const custom = customKinds().filter((kind) => `apis/${apiVersionOf(kind)}` === groupVersion);
      return (await load()).openApiV3(served, `v${kubernetesVersion}`, custom);
    },
  };
}
