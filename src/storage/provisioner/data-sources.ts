import type { PersistentVolumeClaim } from '../../api/generated/types.ts';
import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { type ReferenceGrant, referenceGrantKind } from '../../api/kinds/data-source/reference-grant.ts';
import { type VolumePopulator, volumePopulatorKind } from '../../api/kinds/data-source/volume-populator.ts';
import { changedObject, type Index, keyOf } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { type Source, source } from '../../client/controller/loop.ts';
import { type DataSource, dataSourceOf } from '../volumes/data-source.ts';
import type { DataSourceRules } from './data-source-rules.ts';

/** VolumePopulators and ReferenceGrants, and the claims that wait for them. */
export class DataSources implements DataSourceRules {
  readonly #populators: Index<VolumePopulator>;
  readonly #grants: Index<ReferenceGrant>;
  readonly #claimsByKind: Index<PersistentVolumeClaim>;
  readonly #claimsByNamespace: Index<PersistentVolumeClaim>;

  constructor(informers: Informers) {
    this.#populators = informers.cache(volumePopulatorKind).addIndex(({ sourceKind }) => [kindKey(sourceKind)]);
    this.#grants = informers.cache(referenceGrantKind).addIndex(({ metadata }) => [metadata.namespace ?? '']);
    const claims = informers.cache(persistentVolumeClaimKind);
    this.#claimsByKind = claims.addIndex((claim) => sourcesOf(claim).map(kindKey));
    this.#claimsByNamespace = claims.addIndex((claim) => sourcesOf(claim).flatMap(({ namespace }) => (namespace === '' ? [] : [namespace])));
  }

  isRegistered(wanted: DataSource): boolean {
    return this.#populators.has(kindKey(wanted));
  }

  grants(namespace: string): readonly ReferenceGrant[] {
    return this.#grants.get(namespace);
  }

  sources(): readonly Source<string>[] {
    return [
      source(volumePopulatorKind, ({ before, after }) =>
        [before, after].flatMap((each) => (each === undefined ? [] : this.#claims(this.#claimsByKind, kindKey(each.sourceKind)))),
      ),
      source(referenceGrantKind, (change) => this.#claims(this.#claimsByNamespace, changedObject(change).metadata.namespace ?? '')),
    ];
  }

  #claims(index: Index<PersistentVolumeClaim>, key: string): readonly string[] {
    return index.get(key).map(({ metadata }) => keyOf(metadata));
  }
}

const kindKey = ({ group, kind }: Pick<DataSource, 'group' | 'kind'>): string => `${group}/${kind}`;

/** Of a claim that waits for its volume. */
function sourcesOf({ spec, status }: PersistentVolumeClaim): readonly DataSource[] {
  const wanted = dataSourceOf(spec);
  return wanted === undefined || status.phase === 'Bound' || status.phase === 'Lost' ? [] : [wanted];
}
