import { configMapNode } from '../../drivers/config-map/node.ts';
import { succeeded } from '../../drivers/contract.ts';
import { csiNode } from '../../drivers/csi/node.ts';
import { downwardApiNode } from '../../drivers/downward-api/node.ts';
import { emptyDirNode } from '../../drivers/empty-dir/node.ts';
import { hostPathNode } from '../../drivers/host-path/node.ts';
import { projectedNode } from '../../drivers/projected/node.ts';
import { secretNode } from '../../drivers/secret/node.ts';
import { type DriverContext, type NodeAgentOptions, type NodeDrivers, startNodeAgent } from '../../node/agent.ts';
import type { NodeHost } from '../../drivers/mount/node-host.ts';
import type { Clock } from '../../world/world.ts';
import { simulatedDiskNode } from '../drivers/simulated-disk-node.ts';
import { nodeRoot, type SimulatedMachine } from '../host/simulated-machine.ts';
import { SimulatedRuntime } from '../host/simulated-runtime.ts';
import type { SimulatedProcess } from '../world/process.ts';

export interface SimulatedAgentOptions extends Pick<NodeAgentOptions, 'host' | 'world' | 'readTransport' | 'eventTransport' | 'nodeTransport' | 'sha256'> {
  readonly process: SimulatedProcess;
  readonly machine: SimulatedMachine;
  /** The CSI driver of the disks. */
  readonly diskDriver: string;
  /** Absent: no CSI driver registers by its socket. */
  readonly plugins?: NonNullable<NodeAgentOptions['plugins']>;
}

/** The real node agent, with volume manager, journal and pod worker, on a simulated machine. */
export function startSimulatedAgent({ process, machine, diskDriver, ...options }: SimulatedAgentOptions): void {
  const { host: files, disk, call } = machine.startProcess(process);
  const onMachine: NodeHost = { mounts: files, files };
  void startNodeAgent({
    ...options,
    machine: onMachine,
    disk,
    root: nodeRoot,
    runtime: new SimulatedRuntime({ process, machine, call }),
    drivers: (context) => driversOn(onMachine, { context, diskDriver, clock: options.world.clock, sha256: options.sha256 }),
  });
}

interface DriverOptions {
  readonly context: DriverContext;
  readonly diskDriver: string;
  readonly clock: Clock;
  readonly sha256: NodeAgentOptions['sha256'];
}

/** The volume types that pods of random worlds have. */
function driversOn(machine: NodeHost, { context, diskDriver, clock, sha256 }: DriverOptions): NodeDrivers {
  const options = { ...machine, ...context, clock, allocatableMemory: '1Gi' };
  // The simulated server signs none.
  const token = async () => succeeded({ token: 'token', expires: Number.MAX_SAFE_INTEGER });
  return {
    drivers: [
      emptyDirNode(options),
      hostPathNode(machine),
      configMapNode(options),
      secretNode(options),
      downwardApiNode(options),
      projectedNode({ ...options, token }),
      csiNode(machine, [simulatedDiskNode(machine, diskDriver)], { ...options, root: nodeRoot, sha256, token }),
    ],
    findDriver: () => undefined,
  };
}
