/** What people, kubelets and schedulers do in scenarios. */
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../src/api/generated/types.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { annotations } from '../../src/api/volumes/annotations.ts';
import { withAnnotations, withFinalizers } from '../../src/storage/volumes/edits.ts';
import type { FakeCluster } from './fake-cluster.ts';

type Step = (world: FakeCluster) => void;

export const create =
  (...objects: readonly KubeObject[]): Step =>
  (world) => {
    for (const object of objects) world.server.create(object);
  };

export const deleteClaim =
  (name: string): Step =>
  (world) => {
    world.server.delete('PersistentVolumeClaim', name, 'default');
  };

export const deleteClass =
  (name: string): Step =>
  (world) => {
    world.server.delete('StorageClass', name);
  };

/** With its finalizers, if it has any. */
export const removeVolume =
  (name: string): Step =>
  (world) => {
    changeVolume(name, (volume) => withFinalizers(volume, []))(world);
    world.server.delete('PersistentVolume', name);
  };

export const changeVolume =
  (name: string, change: (volume: PersistentVolume) => PersistentVolume): Step =>
  (world) => {
    const volume = world.server.get('PersistentVolume', name);
    if (volume === undefined) throw new Error(`there is no volume ${name}`);
    world.server.update(change(volume), undefined, 'spec');
  };

export const changeClaim =
  (name: string, change: (claim: PersistentVolumeClaim) => PersistentVolumeClaim): Step =>
  (world) => {
    const claim = world.server.get('PersistentVolumeClaim', name, 'default');
    if (claim === undefined) throw new Error(`there is no claim ${name}`);
    world.server.update(change(claim), undefined, 'spec');
  };

export const setPolicy = (name: string, persistentVolumeReclaimPolicy: string): Step =>
  changeVolume(name, (volume) => ({ ...volume, spec: { ...volume.spec, persistentVolumeReclaimPolicy } }));

export const clearClaimRef = (name: string): Step =>
  changeVolume(name, (volume) => {
    const { claimRef: _, ...spec } = volume.spec;
    return { ...volume, spec };
  });

export const selectNode = (claim: string, node: string): Step => changeClaim(claim, (object) => withAnnotations(object, { [annotations.selectedNode]: node }));

/** A pod ends, as its kubelet would say. */
export const endPod =
  (name: string, phase: 'Succeeded' | 'Failed', message?: string): Step =>
  (world) => {
    const pod = world.server.get('Pod', name, 'default');
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    const ended: Pod = { ...pod, status: { phase, ...(message === undefined ? {} : { message }) } };
    world.server.update(ended, undefined, 'status');
  };

export const deletePod =
  (name: string): Step =>
  (world) => {
    world.server.delete('Pod', name, 'default');
  };

/** The next calls of the driver fail so. */
export const driverFails =
  (...failures: readonly ('final' | 'unknown')[]): Step =>
  (world) => {
    world.backend.failures.push(...failures);
  };

export const nodeIsFull =
  (node: string): Step =>
  (world) => {
    world.backend.fullNodes.add(node);
  };

/** An invalid status, as an old controller might have left it. */
export const setClaimStatus =
  (name: string, status: PersistentVolumeClaim['status']): Step =>
  (world) => {
    const claim = world.server.get('PersistentVolumeClaim', name, 'default');
    if (claim === undefined) throw new Error(`there is no claim ${name}`);
    const said: PersistentVolumeClaim = { ...claim, status };
    world.server.update(said, undefined, 'status');
  };

export const setVolumePhase =
  (name: string, phase: string): Step =>
  (world) => {
    const volume = world.server.get('PersistentVolume', name);
    if (volume === undefined) throw new Error(`there is no volume ${name}`);
    const said: PersistentVolume = { ...volume, status: { phase } };
    world.server.update(said, undefined, 'status');
  };

export const deleteVolume =
  (name: string): Step =>
  (world) => {
    world.server.delete('PersistentVolume', name);
  };
