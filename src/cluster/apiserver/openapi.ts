import { apiVersionOf, type Kind } from '../../api/kind.ts';
import type { OpenApiDocuments } from '../../apiserver/discovery/openapi.ts';
import type { Aggregator } from '../../apiserver/aggregator/aggregator.ts';
import { mergeOpenApiV2 } from '../../apiserver/aggregator/merge-openapi.ts';
import { discover } from '../../apiserver/discovery/resources.ts';
import { kubernetesVersion } from '../version.ts';

const noKinds = (): readonly Kind[] => [];

type Remote = Pick<Aggregator, 'discovered' | 'openApi' | 'openApiV2'>;
const noRemote: Remote = { discovered: () => [], openApi: async () => undefined, openApiV2: async () => [] };

/** The OpenAPI documents of the served kinds, and of the servers behind APIServices. Their generator is loaded with the first request. */
export function openApiDocuments(kinds: readonly Kind[], customKinds: () => readonly Kind[] = noKinds, remote: Remote = noRemote): OpenApiDocuments {
  const versionsOf = (described: readonly Kind[]) =>
    new Map(discover(described).map((served) => [served.group === '' ? `api/${served.version}` : `apis/${served.group}/${served.version}`, served]));
  const own = versionsOf(kinds);
  const all = () => (customKinds().length === 0 ? own : versionsOf([...kinds, ...customKinds()]));
  const load = () => import('../../api/openapi/index.ts');
  return {
    get groupVersions() {
      return [...new Set([...all().keys(), ...remote.discovered().map((version) => `apis/${apiVersionOf(version)}`)])];
    },
    async v2() {
      const own = (await load()).openApiV2([...all().values()], `v${kubernetesVersion}`, customKinds());
      return remote.discovered().length === 0 ? own : mergeOpenApiV2(own, await remote.openApiV2());
    },
    async v2Protobuf() {
      const { encodeOpenApiV2 } = await import('../../api/openapi/protobuf.ts');
      return encodeOpenApiV2(await this.v2());
    },
    async v3(groupVersion) {
      const served = all().get(groupVersion);
      if (served === undefined) return remote.openApi(groupVersion);
      const custom = customKinds().filter((kind) => `apis/${apiVersionOf(kind)}` === groupVersion);
      return (await load()).openApiV3(served, `v${kubernetesVersion}`, custom);
    },
  };
}
