import type { Pod } from '../../api/generated/types.ts';
import { persistentVolumeKind } from '../../api/kinds/core/persistent-volume.ts';
import { podKind } from '../../api/kinds/pod/pod.ts';
import type { Client } from '../../client/client.ts';
import { recyclableSource, recyclerNamespace, recyclerPod, recyclerPodName } from '../../storage/reclaimer/recycler-pod.ts';
import { sourceOf } from '../../storage/volumes/source.ts';
import { readVolume } from '../../storage/volumes/volume.ts';
import { forgedLabel } from '../invariants/content.ts';
import type { UserAction } from './plan/user-actions.ts';

/** What a hostile client tries, to get a volume with the data of another claim. Resolves with 'done' or the reason why not. */
export async function forge(client: Client, action: Extract<UserAction, { do: `forge-${string}` }>): Promise<string> {
  const ref = { namespace: recyclerNamespace, name: recyclerPodName(action.volume) };
  if (action.do === 'forge-success') return await claimSuccess(client, ref);
  const found = await client.get(persistentVolumeKind, { name: action.volume });
  const source = found.ok ? recyclableSource(sourceOf(found.value)) : undefined;
  if (!found.ok || source === undefined) return 'there is none';
  const pod = recyclerPod(readVolume(found.value), source);
  if (action.replaces) await client.delete(podKind, ref, { gracePeriodSeconds: 0 });
  const created = await client.create(podKind, { ...pod, metadata: { ...pod.metadata, labels: { [forgedLabel]: 'yes' } } });
  return created.ok ? await claimSuccess(client, ref) : created.reason;
}

/** As the pod's node would. */
async function claimSuccess(client: Client, ref: { readonly namespace: string; readonly name: string }): Promise<string> {
  const found = await client.get(podKind, ref);
  if (!found.ok) return found.reason;
  const { value: pod } = found;
  const terminated = { exitCode: 0, reason: 'Completed', startedAt: null, finishedAt: null };
  const containerStatuses = (pod.spec.containers ?? []).map(({ name, image = '' }) => {
    return { name, image, imageID: '', ready: false, restartCount: 0, state: { terminated }, lastState: {} };
  });
  const ended: Pod = { ...pod, status: { ...pod.status, phase: 'Succeeded', containerStatuses } };
  const written = await client.updateStatus(podKind, ended);
  return written.ok ? 'done' : written.reason;
}
