import { apiVersionOf, type Kind } from '../../../api/kind.ts';
import { kindByName, kubernetesKinds } from '../../../api/kinds/index.ts';
import { karpenterKinds } from '../../../api/kinds/karpenter/index.ts';

/** The kinds that a scenario can name: those of the autoscaler are served if there is a cloud. */
export const scenarioKinds: readonly Kind[] = [...kubernetesKinds, ...karpenterKinds];

export const scenarioKind = (apiVersion: string, name: string): Kind | undefined =>
  kindByName(apiVersion, name) ?? karpenterKinds.find((kind) => kind.kind === name && apiVersionOf(kind) === apiVersion);
