import { persistentVolumeClaimKind } from '../../api/kinds/core/persistent-volume-claim.ts';
import { volumePopulatorKind } from '../../api/kinds/data-source/volume-populator.ts';
import type { RecordEvent } from '../../client/decision.ts';
import { defineController } from '../../client/controller/define-controller.ts';
import { type Controller, source } from '../../client/controller/loop.ts';
import type { RecordedEvents } from '../../client/events/event-dedup.ts';
import { keyOf } from '../../client/informers/cache.ts';
import type { Informers } from '../../client/informers/informers.ts';
import { type DataSourceValidatorSnapshot, decide, populatedKindOf, type SourceKind } from './decide.ts';

export interface DataSourceValidatorOptions {
  readonly informers: Informers;
  readonly events: RecordedEvents;
}

const kindKey = ({ group, kind }: SourceKind): string => `${group}/${kind}`;

/** Claims whose data source is neither a claim nor a snapshot. Keys are 'namespace/name'. */
export function dataSourceValidator({ informers, events }: DataSourceValidatorOptions): Controller<string, DataSourceValidatorSnapshot, RecordEvent> {
  const claims = informers.cache(persistentVolumeClaimKind);
  const registered = informers.cache(volumePopulatorKind).addIndex(({ sourceKind }) => [kindKey(sourceKind)]);
  const waiting = claims.addIndex((claim) => {
    const kind = populatedKindOf(claim);
    return kind === undefined ? [] : [kindKey(kind)];
  });
  return defineController<string, DataSourceValidatorSnapshot, RecordEvent>({
    name: 'data-source-validator',
    sources: [
      source(persistentVolumeClaimKind, ({ after: claim }) => (claim !== undefined && populatedKindOf(claim) !== undefined ? [keyOf(claim.metadata)] : [])),
      source(volumePopulatorKind, ({ before, after }) =>
        [before, after].flatMap((populator) =>
          populator === undefined ? [] : waiting.get(kindKey(populator.sourceKind)).map(({ metadata }) => keyOf(metadata)),
        ),
      ),
    ],
    snapshot(key) {
      const claim = claims.getKey(key);
      return claim === undefined ? undefined : { claim, isRegistered: (kind) => registered.has(kindKey(kind)), lastEvent: events.lastEvent };
    },
    decide,
    events,
    actions: {},
  });
}
