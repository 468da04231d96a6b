import { deleteObject, kubectl, word } from '../../why/explanation/commands.ts';

/** A write that the page offers, and the line of kubectl that does the same. */
export interface Action {
  readonly label: string;
  /** What it does, in a sentence. */
  readonly about: string;
  readonly command: string;
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly contentType?: string;
  readonly body?: object;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

const mergePatch = 'application/merge-patch+json';
const claimPath = ({ namespace, name }: Named): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/persistentvolumeclaims/${encodeURIComponent(name)}`;

export function expandClaim(claim: Named, size: string): Action {
  const body = { spec: { resources: { requests: { storage: size } } } };
  return {
    label: 'Expand',
    about: `The claim asks for ${size}. A volume never becomes smaller again.`,
    command: kubectl(claim.namespace, 'patch', 'pvc', claim.name, '--type', 'merge', '-p', JSON.stringify(body)),
    method: 'PATCH',
    path: claimPath(claim),
    contentType: mergePatch,
    body,
  };
}

export function snapshotClaim({ namespace, name }: Named, snapshot: string): Action {
  const body = {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { name: snapshot, namespace },
    spec: { source: { persistentVolumeClaimName: name } },
  };
  return {
    label: 'Snapshot',
    about: `A VolumeSnapshot "${snapshot}" of the claim is created, with the default VolumeSnapshotClass.`,
    command: `${kubectl(namespace, 'create', '-f', '-')} <<< ${word(JSON.stringify(body))}`,
    method: 'POST',
    path: `/apis/snapshot.storage.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/volumesnapshots`,
    contentType: 'application/json',
    body,
  };
}

/** `reclaimPolicy`: of its volume; undefined: it has none. */
export function deleteClaim(claim: Named, reclaimPolicy: string | undefined): Action {
  const fate =
    reclaimPolicy === undefined ? '' : reclaimPolicy === 'Delete' ? ' Its volume and the data on it are deleted too.' : ` Its volume stays (${reclaimPolicy}).`;
  return {
    label: 'Delete',
    about: `The claim is deleted once no pod uses it any more.${fate}`,
    command: deleteObject({ kind: 'pvc', ...claim }),
    method: 'DELETE',
    path: claimPath(claim),
  };
}

export function cordonNode(name: string, cordon: boolean): Action {
  return {
    label: cordon ? 'Cordon' : 'Uncordon',
    about: cordon ? `${name} gets no new pods; those that it has stay.` : `${name} may get pods again.`,
    command: kubectl(undefined, cordon ? 'cordon' : 'uncordon', name),
    method: 'PATCH',
    path: `/api/v1/nodes/${encodeURIComponent(name)}`,
    contentType: mergePatch,
    body: { spec: { unschedulable: cordon ? true : null } },
  };
}
