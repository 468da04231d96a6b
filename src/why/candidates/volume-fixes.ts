/** What would make a volume that nearly fits match a claim. */
import { annotations } from '../../api/volumes/annotations.ts';
import { showAmount } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { Rule } from '../../storage/volumes/match.ts';
import type { WrittenSelector } from '../../storage/volumes/selectors.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import type { VolumeCandidate } from './volume-candidates.ts';
import { clearClaimRef, clearClaimUid, deleteObject, kubectl, patchVolume } from '../explanation/commands.ts';
import type { Fix } from '../explanation/explanation.ts';
import { quoted, whereIs } from '../explanation/words.ts';

/** Its claim is deleted, and it keeps the claimRef: an administrator may give it back. */
export const isReleased = ({ phase }: Volume): boolean => phase === 'Released' || phase === 'Failed';

/** Of the volumes that are refused for one reason only, the nearest for each reason. */
export function repairsOf(claim: Claim, candidates: readonly VolumeCandidate[], most = 2): readonly Fix[] {
  const fixes = new Map<Rule, Fix>();
  for (const { volume, refusals } of candidates) {
    const [refusal, ...others] = refusals;
    if (fixes.size >= most) break;
    if (refusal === undefined || others.length > 0 || fixes.has(refusal.rule)) continue;
    const fix = repair(claim, volume, refusal.rule);
    if (fix !== undefined) fixes.set(refusal.rule, fix);
  }
  return [...fixes.values()];
}

/** Undefined: there is nothing to advise. */
export function repair(claim: Claim, volume: Volume, rule: Rule): Fix | undefined {
  const pv = `pv/${volume.name}`;
  switch (rule) {
    case 'capacity':
      return remake(claim, `with a request of ${showAmount(volume.capacity)} or less: ${pv} would fit`);
    case 'volumeMode':
      return remake(claim, `with volumeMode ${volume.volumeMode}: ${pv} would fit`);
    case 'attributesClass':
      return remake(
        claim,
        `with ${volume.attributesClass === '' ? 'no VolumeAttributesClass' : `VolumeAttributesClass ${quoted(volume.attributesClass)}`}: ${pv} would fit`,
      );
    case 'accessModes':
      return widen(claim, volume);
    case 'class':
      return { text: `set storageClassName of ${pv} to ${quoted(claim.className)}`, commands: [setClass(claim, volume)] };
    case 'selector':
      return label(claim.selector, {
        text: `label ${pv} as the claim's selector requires`,
        line: (labels) => kubectl(undefined, 'label', 'pv', volume.name, ...labels),
      });
    case 'claimSelector':
      if (volume.claimSelector.type === 'invalid') {
        const command = kubectl(undefined, 'annotate', 'pv', volume.name, `${annotations.claimSelector}-`);
        return { text: `correct the claim selector of ${pv}, or remove it`, commands: [command] };
      }
      return label(volume.claimSelector, {
        text: `label the claim as the claim selector of ${pv} requires`,
        line: (labels) => kubectl(claim.namespace, 'label', 'pvc', claim.name, ...labels),
      });
    case 'claimedByAnother':
      return reuse(claim, volume);
    case 'nodeAffinity':
      return { text: `add a node in ${whereIs(volume.object)}: ${pv} would fit for its pods`, commands: [] };
    case 'deleting':
    case 'phase':
      return undefined;
  }
}

/** The spec of a claim is immutable, so the claim has to be created again. */
export const remake = (claim: Claim, how: string): Fix => ({
  text: `create the claim again ${how}`,
  commands: [deleteObject({ kind: 'pvc', namespace: claim.namespace, name: claim.name })],
});

function widen(claim: Claim, volume: Volume): Fix {
  const modes = [...new Set([...(volume.object.spec.accessModes ?? []), ...(claim.object.spec.accessModes ?? [])])];
  return {
    text: `add these access modes to pv/${volume.name}, if its storage supports them`,
    commands: [patchVolume(volume.name, { spec: { accessModes: modes } })],
  };
}

const setClass = (claim: Claim, volume: Volume): string => patchVolume(volume.name, { spec: { storageClassName: claim.className } });

/** Only requirements with a value can be satisfied by setting a label. */
function label(wanted: WrittenSelector, { text, line }: { readonly text: string; readonly line: (labels: readonly string[]) => string }): Fix | undefined {
  if (wanted.type === 'invalid' || wanted.selector.type === 'nothing') return undefined;
  const labels = wanted.selector.requirements.flatMap(({ key, operator, values }) =>
    operator === '=' || operator === '==' || operator === 'in' ? [`${key}=${values[0] ?? ''}`] : operator === 'exists' ? [`${key}=`] : [],
  );
  return labels.length < wanted.selector.requirements.length ? undefined : { text, commands: [line([...labels, '--overwrite'])] };
}

/** Only a reserved volume, or one whose claim is deleted, may be offered again. */
function reuse(claim: Claim, volume: Volume): Fix | undefined {
  if (volume.claim?.uid === '')
    return { text: `remove the reservation of pv/${volume.name} for claim ${volume.claim.key}`, commands: [clearClaimRef(volume.name)] };
  if (!isReleased(volume)) return undefined;
  if (volume.claim?.key === claim.key)
    return {
      text: `give pv/${volume.name} back to the claim, with the data that the earlier claim of this name left on it`,
      commands: [clearClaimUid(volume.name)],
    };
  return { text: `if the data on pv/${volume.name} is not needed any more, make it Available`, commands: [clearClaimRef(volume.name)] };
}
