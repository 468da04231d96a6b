import type { Endpoints } from '../../api/generated/types.ts';
import {
  attempt,
  done,
  type DriverAnswer,
  failed,
  type NodeDriver,
  type NodePublishVolumeRequest,
  type NodePublishVolumeResponse,
  succeeded,
} from '../contract.ts';
import { type HostWithPrograms, mountByProgram } from '../mount/mount-program.ts';
import { removeMountPoint } from '../mount/node-host.ts';

export interface GlusterfsOptions extends HostWithPrograms {
  /** Undefined: the object does not exist. */
  readonly endpoints: (namespace: string, name: string) => Promise<DriverAnswer<Endpoints | undefined>>;
}

/** kubernetes.io/glusterfs: the servers are in an Endpoints object. */
export function glusterfsNode(options: GlusterfsOptions): NodeDriver {
  return {
    capabilities: { name: 'kubernetes.io/glusterfs', stages: false, mountOptions: true, block: false, requiresRemount: false },
    nodePublishVolume: (request) => attempt(() => publish(options, request)),
    nodeUnpublishVolume: ({ target }) =>
      attempt(async () => {
        await removeMountPoint(options, target);
        return done;
      }),
  };
}

async function publish(options: GlusterfsOptions, { volume, pod, target }: NodePublishVolumeRequest): Promise<DriverAnswer<NodePublishVolumeResponse>> {
  const source: { readonly endpoints?: string; readonly path?: string; readonly endpointsNamespace?: string } = volume.source.glusterfs ?? {};
  const { endpoints: name = '', path = '' } = source;
  // A pod and its claims have the same namespace.
  const namespace = source.endpointsNamespace ?? pod.metadata.namespace ?? '';
  const found = await options.endpoints(namespace, name);
  if (!found.ok) return found;
  if (found.value === undefined) return failed('FailedPrecondition', `endpoints ${JSON.stringify(name)} not found`);
  const [first, ...others] = serversIn(found.value);
  if (first === undefined) return failed('FailedPrecondition', `glusterfs: endpoints ${namespace}/${name} have no addresses`);
  const backups = others.length === 0 ? [] : [`backup-volfile-servers=${others.join(':')}`];
  const wanted = [...new Set([...volume.mountOptions, ...backups, ...(volume.readOnly ? ['ro'] : []), 'log-level=ERROR'])].sort();
  const refused = await mountByProgram(options, { fileSystem: 'glusterfs', source: `${first}:${path}`, target, options: wanted });
  return refused ?? succeeded({ path: target });
}

const serversIn = ({ subsets = [] }: Endpoints): readonly string[] => [
  ...new Set(subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => (ip.includes(':') ? `[${ip}]` : ip)))),
];
