import type { CSIDriver, PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '../../../../api/generated/types.ts';
import { csiSourceOf, csiSourceOfInline } from '../../../../api/volumes/csi-translation.ts';
import type { Resources } from '../../../objects/resources.ts';
import type { ClusterReader } from '../../../objects/cluster-reader.ts';

/** The token audiences of a pod's volumes: of projected volumes, and of CSIDrivers' tokenRequests. */
export class PodAudiences {
  readonly #resources: Resources;
  readonly #reader: ClusterReader;

  constructor(resources: Resources, reader: ClusterReader) {
    this.#resources = resources;
    this.#reader = reader;
  }

  async has(pod: Pod, audience: string): Promise<boolean> {
    for (const volume of pod.spec.volumes ?? []) {
      const projected = (volume.projected?.sources ?? []).some(
        ({ serviceAccountToken }) => serviceAccountToken !== undefined && (serviceAccountToken.audience ?? '') === audience,
      );
      if (projected || (await this.#asks(await this.#driverOf(volume, pod), audience))) return true;
    }
    return false;
  }

  async #asks(driver: string | undefined, audience: string): Promise<boolean> {
    if (driver === undefined) return false;
    const found = await this.#reader.get<CSIDriver>(this.#resources.require('storage.k8s.io/v1', 'csidrivers'), '', driver);
    return (found?.spec.tokenRequests ?? []).some((request) => request.audience === audience);
  }

  async #driverOf(volume: Volume, { metadata }: Pod): Promise<string | undefined> {
    if (volume.csi !== undefined) return volume.csi.driver;
    const { namespace = '', name = '' } = metadata;
    const claimName = volume.persistentVolumeClaim?.claimName ?? (volume.ephemeral === undefined ? undefined : `${name}-${volume.name}`);
    if (claimName === undefined) return csiSourceOfInline(volume)?.driver;
    const claim = await this.#reader.get<PersistentVolumeClaim>(this.#resources.require('v1', 'persistentvolumeclaims'), namespace, claimName);
    const volumeName = claim?.spec.volumeName ?? '';
    if (volumeName === '') return undefined;
    const bound = await this.#reader.get<PersistentVolume>(this.#resources.require('v1', 'persistentvolumes'), '', volumeName);
    return bound === undefined ? undefined : csiSourceOf(bound)?.driver;
  }
}
