/** Claims whose VolumeAttributesClass is not the one that their volume has, from what the resizer wrote into the claim's status. */
import { csiSourceOf } from '../../api/volumes/csi-translation.ts';
import { currentClass, needsModification, targetClass, wantedClass } from '../../storage/modifier/modify-status.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import { kubectl } from '../explanation/commands.ts';
import type { Diagnosis, Fix } from '../explanation/explanation.ts';
import { describeVolume, quoted } from '../explanation/words.ts';

/** Undefined: the volume has the attributes that the claim wants, or none are wanted. */
export function diagnoseModification(claim: Claim, volume: Volume): Diagnosis | undefined {
  const { object } = claim;
  if (!needsModification(object) || wantedClass(object) === '') return undefined;
  const status = object.status.modifyVolumeStatus?.status;
  const target = status === undefined || targetClass(object) === '' ? wantedClass(object) : targetClass(object);
  const has = currentClass(object) === '' ? 'without a VolumeAttributesClass' : `with VolumeAttributesClass ${quoted(currentClass(object))}`;
  const error = object.status.conditions?.find(({ type }) => type === 'ModifyVolumeError');
  const driver = csiSourceOf(volume.object)?.driver ?? 'no CSI driver';
  const base = `The claim is bound and usable ${has}`;
  const why = error === undefined ? '' : `: ${[error.reason, error.message].filter((text) => text !== undefined).join(', ')}`;
  const facts = [{ label: 'volume', text: `pv/${volume.name}: ${describeVolume(volume)}` }];
  const events: Fix = { text: 'read the events of the claim', commands: [kubectl(claim.namespace, 'events', '--for', `pvc/${claim.name}`)] };
  const another: Fix = {
    text: currentClass(object) === '' ? 'name a class that its driver accepts, or none' : 'name a class that its driver accepts, or its present one again',
    commands: [kubectl(claim.namespace, 'edit', 'pvc', claim.name), kubectl(undefined, 'get', 'volumeattributesclass')],
  };
  switch (status) {
    case 'Pending':
      return {
        verdict: 'stuck',
        code: 'ModifyPending',
        summary: `${base}. VolumeAttributesClass ${quoted(target)} does not exist, or cannot be given to a volume of ${driver}${why}.`,
        facts,
        fixes: [{ text: `create VolumeAttributesClass ${quoted(target)}; then the volume is modified at once`, commands: [] }, another],
        next: { who: 'an administrator', does: 'creates the class, or you name another one' },
      };
    case 'Infeasible':
      return {
        verdict: 'stuck',
        code: 'ModifyInfeasible',
        summary: `${base}, but ${driver} refuses the attributes of ${quoted(target)}${why}.`,
        facts,
        fixes: [another],
        next: { who: 'you', does: `name another class; ${driver} is asked again every five minutes` },
      };
    default:
      return {
        verdict: error === undefined ? 'waiting' : 'stuck',
        code: error === undefined ? 'Modifying' : 'ModifyFailing',
        summary: `${base}, and is being given the attributes of ${quoted(target)} by ControllerModifyVolume${why === '' ? '' : `, which failed last${why}`}.`,
        facts,
        fixes: [events],
        next: { who: driver, does: 'modifies the volume; it is asked again by itself' },
      };
  }
}
