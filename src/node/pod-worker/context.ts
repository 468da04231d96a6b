import type { Pod, Service } from '../../api/generated/types.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../client/events/event-recorder.ts';
import type { World } from '../../world/world.ts';
import type { NodeAllocations } from '../allocations.ts';
import type { NodeCaches } from '../cache/node-caches.ts';
import type { PodMounts } from '../contract.ts';
import type { Host } from '../host.ts';
import type { ImageManager } from '../images/image-manager.ts';
import type { Runtime } from '../runtime.ts';

/** What the pods controller of one or many nodes is built with. */
export interface PodsContext {
  readonly world: World;
  /** By name. */
  readonly hosts: ReadonlyMap<string, Host>;
  readonly caches: NodeCaches;
  /** Each node writes under its own name. */
  readonly clientOf: (node: string) => Client;
  readonly recorder: EventRecorder;
  readonly allocations: NodeAllocations;
  readonly runtime: Runtime;
  /** Absent: images are only names, and nothing runs. */
  readonly images?: ImageManager;
  readonly volumes: PodMounts;
  /** The services that containers of the namespace get variables for. */
  readonly services: (namespace: string) => readonly Service[];
  /** In hexadecimal. */
  readonly sha256: (text: string) => string;
  /** Names of services end so: 'cluster.local'. */
  readonly clusterDomain?: string;
  /** The DNS server of the cluster's names; undefined: pods use the host's. */
  readonly nameServer?: string;
  /** As in `PodSandboxSpec`. */
  readonly fromHostLoopback?: boolean;
  /** Resolves once the kernel has the NetworkPolicies of a pod that gets this address; with the reason if it has not. Absent: nothing enforces them. */
  readonly awaitNetworkPolicies?: (pod: Pod, address: string) => Promise<string | undefined>;
  /** A seccomp profile of the node, by its `localhostProfile`. Absent: the runtime has no processes. */
  readonly readSeccompProfile?: (localhostProfile: string) => Promise<Uint8Array>;
}
