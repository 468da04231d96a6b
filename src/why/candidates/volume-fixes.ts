/** What would let a claim have a volume that nearly fits. */
import { annotations } from '../../api/volumes/annotations.ts';
import { showAmount } from '../../api/volumes/capacity.ts';
import type { Claim } from '../../storage/volumes/claim.ts';
import type { Rule } from '../../storage/volumes/match.ts';
import type { WrittenSelector } from '../../storage/volumes/selectors.ts';
import type { Volume } from '../../storage/volumes/volume.ts';
import type { VolumeCandidate } from './volume-candidates.ts';
import { clearClaimRef, deleteObject, kubectl, patchVolume } from '../explanation/commands.ts';
import type { Fix } from '../explanation/explanation.ts';
import { quoted, whereIs } from '../explanation/words.ts';

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

/** Undefined: nothing that anybody should be told to do. */
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
        `with ${volume.attributesClass === '' ? 'no attributes class' : `attributes class ${quoted(volume.attributesClass)}`}: ${pv} would fit`,
      );
    case 'accessModes':
      return widen(claim, volume);
    case 'class':
      return { text: `put ${pv} ${claim.className === '' ? 'into no class' : `into class ${quoted(claim.className)}`}`, commands: [setClass(claim, volume)] };
    case 'selector':
      return label(claim.selector, { text: `label ${pv} as the claim wants it`, line: (labels) => kubectl(undefined, 'label', 'pv', volume.name, ...labels) });
    case 'claimSelector':
      if (volume.claimSelector.type === 'invalid') {
        const command = kubectl(undefined, 'annotate', 'pv', volume.name, `${annotations.claimSelector}-`);
        return { text: `correct the claim selector of ${pv}, or take it away`, commands: [command] };
      }
      return label(volume.claimSelector, {
        text: `label the claim as ${pv} wants it`,
        line: (labels) => kubectl(claim.namespace, 'label', 'pvc', claim.name, ...labels),
      });
    case 'claimedByAnother':
      return reuse(volume);
    case 'nodeAffinity':
      return { text: `add a node in ${whereIs(volume.object)}: ${pv} would do for its pods`, commands: [] };
    case 'deleting':
    case 'phase':
      return undefined;
  }
}

/** What a claim asks for cannot be changed; it can only be made anew. */
export const remake = (claim: Claim, how: string): Fix => ({
  text: `create the claim again ${how}`,
  commands: [deleteObject({ kind: 'pvc', namespace: claim.namespace, name: claim.name })],
});

function widen(claim: Claim, volume: Volume): Fix {
  const modes = [...new Set([...(volume.object.spec.accessModes ?? []), ...(claim.object.spec.accessModes ?? [])])];
  return {
    text: `let pv/${volume.name} have these access modes as well, if its storage can do that`,
    commands: [patchVolume(volume.name, { spec: { accessModes: modes } })],
  };
}

const setClass = (claim: Claim, volume: Volume): string => patchVolume(volume.name, { spec: { storageClassName: claim.className } });

/** Only requirements with a value can be met by setting a label. */
function label(wanted: WrittenSelector, { text, line }: { readonly text: string; readonly line: (labels: readonly string[]) => string }): Fix | undefined {
  if (wanted.type === 'invalid' || wanted.selector.type === 'nothing') return undefined;
  const labels = wanted.selector.requirements.flatMap(({ key, operator, values }) =>
    operator === '=' || operator === '==' || operator === 'in' ? [`${key}=${values[0] ?? ''}`] : operator === 'exists' ? [`${key}=`] : [],
  );
  return labels.length < wanted.selector.requirements.length ? undefined : { text, commands: [line([...labels, '--overwrite'])] };
}

/** Only what nobody has any more may be given away again. */
function reuse(volume: Volume): Fix | undefined {
  if (volume.claim?.uid === '')
    return { text: `give up the reservation of pv/${volume.name} for claim ${volume.claim.key}`, commands: [clearClaimRef(volume.name)] };
  if (volume.phase !== 'Released' && volume.phase !== 'Failed') return undefined;
  return { text: `if the data on pv/${volume.name} is not needed any more, free it`, commands: [clearClaimRef(volume.name)] };
}
