/** The incidents of examples/simulate: their expectations hold in every order of events, and their timelines show what happens. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { examples, lines, play } from './scenarios.ts';

const files = readdirSync(examples).filter((name) => name.endsWith('.yaml'));
const text = (file: string) => readFileSync(path.join(examples, file), 'utf8');

/** In this order, among other lines. */
const timelines: Record<string, readonly RegExp[]> = {
  'multi-attach.yaml': [
    /^attacher pv\/\S+ is attached to node-1$/,
    /^▶ node-1 dies$/,
    /^node node\/node-1 is NotReady$/,
    /^taint-eviction pod\/db-\S+ is Terminating, grace 30s$/,
    /^replicaset pod\/db-\S+ created, uses pvc\/data$/,
    /^scheduler pod\/db-\S+ is assigned to node-2$/,
    /^attachdetach pod\/db-\S+ FailedAttachVolume: Waiting for detach for volume "pvc-\S+" Volume is already used by pod\(s\) db-\S+$/,
    /^waits pod\/db-\S+ pv\/\S+ has to be attached to node\/node-2, but is attached to node\/node-1/,
    /^▶ taint node-1 node\.kubernetes\.io\/out-of-service=nodeshutdown:NoExecute$/,
    /^pod-garbage-collector pod\/db-\S+ is gone$/,
    /^attacher pv\/\S+ is detached from node-1$/,
    /^attacher pv\/\S+ is attached to node-2$/,
    /^node-2 pod\/db-\S+ is Running and ready$/,
  ],
  'pending-by-zone.yaml': [
    /^disks\.example\.com CreateVolume pvc-\S+ in zone-a$/,
    /^pv-controller pvc\/early is Bound to pv\/pvc-\S+$/,
    /^scheduler pod\/stranded FailedScheduling: 0\/2 nodes are available: 1 Insufficient cpu, 1 node\(s\) didn't match PersistentVolume's node affinity\./,
    /^stuck pod\/stranded The node affinity of pv\/pvc-\S+ requires zone zone-a, where no node can run the pod\./,
    /^scheduler pvc\/late has selected-node large$/,
    /^disks\.example\.com CreateVolume pvc-\S+ in zone-b$/,
    /^large pod\/fine is Running and ready$/,
  ],
  'stuck-terminating.yaml': [
    /^you pvc\/patient is Terminating, held by kubernetes\.io\/pvc-protection$/,
    /^stuck pvc\/patient The claim is marked for deletion, but 1 pod still uses it: pod\/uses-patient \(Running\)\./,
    /^▶ remove finalizers of pvc\/hasty$/,
    /^you pvc\/hasty is gone$/,
    /^pv-controller pv\/pvc-\S+ is Released$/,
    /^waits pv\/pvc-\S+ Claim default\/hasty of the volume was deleted\. Its reclaim policy is Delete/,
    /^▶ delete pod\/uses-patient$/,
    /^pvc-protection pvc\/patient is gone$/,
    /^▶ delete pod\/uses-hasty$/,
    /^disks\.example\.com DeleteVolume pvc-\S+$/,
  ],
  'released-not-reusable.yaml': [
    /^pv-controller pvc\/data is Bound to pv\/archive$/,
    /^pvc-protection pvc\/data is gone$/,
    /^pv-controller pv\/archive is Released$/,
    /^stuck pv\/archive Claim default\/data of the volume was deleted\. Its reclaim policy is Retain/,
    /^stuck pvc\/data No volume that fits is Available; pv\/archive would fit, but is Released.*Nearest: pv\/archive: is Released/,
    /^▶ clear claimRef of pv\/archive$/,
    /^pv-controller pvc\/data is Bound to pv\/archive$/,
  ],
  'provisioner-crash.yaml': [
    /^pv-controller volumeintent\/pvc-\S+ records the intent to create the disk$/,
    /^disks\.example\.com CreateVolume pvc-\S+ in zone-a$/,
    /^▶ the controllers crash$/,
    /^▶ the controllers are back$/,
    /^disks\.example\.com CreateVolume pvc-\S+ in zone-a$/,
    /^pv-controller pv\/pvc-\S+ created: 1Gi in zone-a, Delete, for default\/data$/,
    /^pv-controller pvc\/data is Bound to pv\/pvc-\S+$/,
  ],
};

const launched = /^karpenter nodeclaim\/default-\w+ is launched: m5\.\w+, spot, in eu-west-2[abc]$/;
const runs = /^ip-\S+ pod\/db-0 is Running and ready$/;
Object.assign(timelines, {
  'cloud-attach-limit.yaml': [
    /^karpenter nodeclaim\/\S+ created: one of 2 instance types in eu-west-2a$/,
    /^karpenter nodeclaim\/\S+ is launched/,
    /^ip-\S+ pod\/queue-\d+ is Running/,
  ],
  'cloud-node-replaced.yaml': [
    runs,
    /^karpenter nodeclaim\/\S+ is disrupted: Drifted$/,
    launched,
    /^karpenter pod\/db-0 is Terminating, grace 5s$/,
    /^ebs\.csi\.aws\.com DetachVolume vol-\S+ from i-\S+$/,
    /^ebs\.csi\.aws\.com AttachVolume vol-\S+ to i-\S+$/,
    runs,
    /^\S+ node\/ip-\S+ is gone$/,
  ],
  'cloud-instance-lost.yaml': [
    runs,
    /^▶ the node of pod\/db-0 is lost$/,
    /^node node\/ip-\S+ is NotReady$/,
    /^karpenter node\/ip-\S+ is gone$/,
    launched,
    /^attachdetach pv\/\S+ is being detached from ip-\S+$/,
    runs,
  ],
  'cloud-no-capacity.yaml': [
    runs,
    /^▶ the cloud has no capacity in eu-west-2a for 10m$/,
    /^karpenter pod\/db-0 FailedScheduling: Failed to schedule pod, incompatible with nodepool "default", no instance type has the required offering/,
    /^ip-\S+ pod\/fresh is Running and ready$/,
    /^▶ the cloud has capacity again$/,
    runs,
  ],
  'cloud-spot-exhausted.yaml': [/^karpenter nodeclaim\/\S+ is launched: \S+, on-demand, in/, runs, /^karpenter nodeclaim\/\S+ is launched: \S+, spot, in/],
  'cloud-throttled.yaml': [
    launched,
    /^ebs\.csi\.aws\.com AttachVolume vol-\S+ to i-\S+ RequestLimitExceeded|^ebs\.csi\.aws\.com AttachVolume \S+ to \S+: RequestLimitExceeded/,
    runs,
  ],
  'cloud-stuck-attaching.yaml': [
    /^ebs\.csi\.aws\.com AttachVolume/,
    /^ebs\.csi\.aws\.com DetachVolume vol-\S+ from i-\S+ by force$/,
    /^ebs\.csi\.aws\.com AttachVolume/,
    runs,
  ],
  'cloud-lost-answer.yaml': [launched, runs],
  'cloud-empty-too-soon.yaml': [
    launched,
    runs,
    /^▶ scale statefulset\/db to 0$/,
    /^karpenter nodeclaim\/\S+ is disrupted: Empty$/,
    /^\S+ node\/ip-\S+ is gone$/,
  ],
  'cloud-two-zones.yaml': [
    /^karpenter pod\/torn FailedScheduling: Failed to schedule pod, the volume of persistentvolumeclaim "\w+" and the pod's other volumes are in different places$/,
  ],
  'cloud-zone-dark.yaml': [
    runs,
    /^▶ eu-west-2a goes dark for 20m$/,
    /^karpenter nodeclaim\/\S+ is launched: \S+, spot, in eu-west-2[bc]$/,
    /^▶ eu-west-2a is back$/,
    runs,
  ],
  'cloud-pool-limits.yaml': [/^karpenter pod\/db-\d FailedScheduling: .*limits for nodepool/, /^▶ patch nodepool\/default/, launched],
});

describe.each(files)('%s', (file) => {
  test('has this timeline, and everything is as expected', async () => {
    const played = await play(text(file));
    expect(played.surprises).toEqual([]);
    const timeline = lines(played);
    let from = 0;
    for (const line of timelines[file] ?? [/a timeline that this test knows/]) {
      const at = timeline.findIndex((each, i) => i >= from && line.test(each));
      expect(at, `${String(line)} comes after line ${from} of\n${timeline.map((each, i) => `${i} ${each}`).join('\n')}`).toBeGreaterThanOrEqual(from);
      from = at + 1;
    }
  });

  test('holds in another order of events', async () => {
    expect((await play(text(file), { seed: 2 })).surprises).toEqual([]);
  });

  test('begins with its story and its lesson', () => {
    expect(text(file)).toMatch(/^# .+\?\n#\n# The story: [\s\S]+# The lesson: /);
  });
});
