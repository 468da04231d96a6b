import { constants } from 'node:os';
import type { Container, Pod } from '../../api/generated/types.ts';
import type { ContainerSpec } from '../runtime.ts';
import type { ReadyImage } from './image-store.ts';
import type { ImageConfig } from './manifest.ts';
import { findUser } from './users.ts';

/** What an image says, where the container says nothing; or why the container cannot be created. */
export function withImage(spec: ContainerSpec, image: ReadyImage, pod: Pod): ContainerSpec | { readonly error: string } {
  const { config, layers } = image;
  const command = commandOf(spec, config);
  if (command.length === 0) return { error: 'failed to generate spec: no command specified' };
  const found = findUser(userText(spec, config), image);
  if ('error' in found) return { error: `failed to generate user string for container "${spec.name}": ${found.error}` };
  const { uid, gid, memberOf, home } = found;
  const isMerged = pod.spec.securityContext?.supplementalGroupsPolicy !== 'Strict';
  return {
    ...spec,
    command,
    args: [],
    env: [...(home === '' ? [] : [{ name: 'HOME', value: home }]), ...config.env.map(variableOf), ...spec.env],
    workingDir: spec.workingDir === '' ? config.workingDir : spec.workingDir,
    user: { uid, gid: spec.user.gid ?? gid, groups: [...new Set([...spec.user.groups, ...(isMerged ? memberOf : [])])] },
    imageLayers: layers,
    ...(config.stopSignal === '' ? {} : { stopSignal: signalNumber(config.stopSignal) }),
  };
}

/** As Docker and Kubernetes combine them: a command replaces the entrypoint and what follows it. */
function commandOf({ command, args }: ContainerSpec, { entrypoint, command: usual }: ImageConfig): readonly string[] {
  if (command.length > 0) return [...command, ...args];
  return [...entrypoint, ...(args.length > 0 ? args : usual)];
}

/** A uid of the pod counts without the image's group. */
const userText = ({ user: { uid } }: ContainerSpec, { user }: ImageConfig): string => (uid === undefined ? user : String(uid));

function variableOf(text: string): { readonly name: string; readonly value: string } {
  const at = text.indexOf('=');
  return at < 0 ? { name: text, value: '' } : { name: text.slice(0, at), value: text.slice(at + 1) };
}

/** 'SIGQUIT', 'QUIT' or '3'. What is no signal is SIGTERM, as for containerd. */
function signalNumber(text: string): number {
  const name = text.toUpperCase();
  const number = /^\d+$/.test(text) ? Number(text) : (Object.entries(constants.signals).find(([known]) => known === name || known === `SIG${name}`)?.[1] ?? 0);
  return number > 0 && number < 65 ? number : constants.signals.SIGTERM;
}

/** The kubelet's error for a container that must not run as root, as its image does; undefined: there is none. */
export function imageUserViolation(pod: Pod, { name, securityContext: own = {} }: Container, user: string): string | undefined {
  const ofPod = pod.spec.securityContext ?? {};
  if ((own.runAsNonRoot ?? ofPod.runAsNonRoot) !== true || (own.runAsUser ?? ofPod.runAsUser) !== undefined) return undefined;
  const [imageUser = ''] = user.split(':');
  const who = `(pod: "${pod.metadata.name ?? ''}_${pod.metadata.namespace ?? ''}(${pod.metadata.uid ?? ''})", container: ${name})`;
  if (imageUser === '' || Number(imageUser) === 0) return `container has runAsNonRoot and image will run as root ${who}`;
  return /^\d+$/.test(imageUser)
    ? undefined
    : `container has runAsNonRoot and image has non-numeric user (${imageUser}), cannot verify user is non-root ${who}`;
}
